/* SPDX-License-Identifier: MIT */
/*
 * The rank of this process in a parallel job, from launchers' variables; each case runs in its
 * own process.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/os/rank.h"
#include "tests/check.h"

struct job {
	const char *set[7]; /* NAME, VALUE, ... */
	int rank, count, here;
};

static const struct job jobs[] = {
	{{NULL}, -1, 1, 0},
	{{"OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "8",
	  "OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
	 3,
	 8,
	 4},
	{{"MV2_COMM_WORLD_RANK", "0", "MV2_COMM_WORLD_SIZE", "2", "MV2_COMM_WORLD_LOCAL_SIZE",
	  "1"},
	 0,
	 2,
	 1},
	{{"PMI_RANK", "5", "PMI_SIZE", "16", "MPI_LOCALNRANKS", "6"}, 5, 16, 6},
	{{"SLURM_PROCID", "7", "SLURM_STEP_NUM_TASKS", "9"}, 7, 9, 0},
	{{"PMIX_RANK", "2"}, 2, 1, 0},
	/* The MPI library's own variables have priority over the launcher's. */
	{{"SLURM_PROCID", "7", "OMPI_COMM_WORLD_RANK", "3", "SLURM_STEP_NUM_TASKS", "9"},
	 3,
	 1,
	 0},
	{{"PMIX_RANK", "2", "PMI_RANK", "4"}, 4, 1, 0},
	/* A size without a rank does not indicate a job. */
	{{"OMPI_COMM_WORLD_SIZE", "8", "PMI_SIZE", "4"}, -1, 1, 0},
	/* A value that is not a number counts as unset. */
	{{"OMPI_COMM_WORLD_RANK", "", "PMI_RANK", "1"}, 1, 1, 0},
	{{"OMPI_COMM_WORLD_RANK", "-1", "PMI_RANK", "1"}, 1, 1, 0},
	{{"OMPI_COMM_WORLD_RANK", "3x", "PMI_RANK", "1"}, 1, 1, 0},
	{{"PMI_RANK", "1", "PMI_SIZE", "0", "MPI_LOCALNRANKS", "0"}, 1, 1, 0},
	{{"PMI_RANK", "1", "PMI_SIZE", "1", "MPI_LOCALNRANKS", "x"}, 1, 1, 0},
	/* Ranks are below 1 << 24, with eight digits at most. */
	{{"PMI_RANK", "16777215", "PMI_SIZE", "16777216"}, 16777215, 1, 0},
	{{"PMI_RANK", "16777216"}, -1, 1, 0},
	{{"PMI_RANK", "00000009"}, 9, 1, 0},
	{{"PMI_RANK", "000000009"}, -1, 1, 0},
};

static int holds(const struct job *job)
{
	clearenv();
	for (int i = 0; job->set[i]; i += 2)
		setenv(job->set[i], job->set[i + 1], 1);
	if (tach__rank() != job->rank || tach__rank_count() != job->count ||
	    tach__rank_count_here() != job->here)
		return 1;
	clearenv(); /* looked up once */
	setenv("PMIX_RANK", "77", 1);
	return tach__rank() != job->rank ? 2 : 0;
}

static void what_launchers_set(void)
{
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			_exit(holds(&jobs[i]));
		waitpid(pid, &status, 0);
		CHECK(status == 0, "job %zu: status %#x", i, (unsigned)status);
	}
}

int main(void)
{
	CASE(what_launchers_set);
	return check_done();
}
