/* SPDX-License-Identifier: MIT */
/* The rank of this process in a parallel job. */
#include <stdlib.h>
#include <string.h>
#include "core/os/environment.h"
#include "core/os/rank.h"

/*
 * The launchers' variables. An MPI library's own ones are before the ones of its starter: Open
 * MPI (mpirun(1)), MVAPICH, hydra of MPICH and Intel MPI (PMI_*), anything with PMIx, Slurm
 * (srun(1), "OUTPUT ENVIRONMENT VARIABLES").
 */
static const struct {
	const char *rank, *count, *here;
} launchers[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL},
	{"PMIX_RANK", NULL, NULL},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers, MOST = 1 << 24 };

/* Returns the variable's number, or -1 if it is not set or not a number. */
static int get_number(const char *name)
{
	const char *value = name ? tach__environment(name) : NULL;
	size_t n = value ? strspn(value, "0123456789") : 0;

	return n && n < 9 && !value[n] && atoi(value) < MOST ? atoi(value) : -1;
}

/* Returns the index of the first variable that is set, or -1. */
static int find_launcher(void)
{
	for (int i = 0; i < LAUNCHERS; i++)
		if (get_number(launchers[i].rank) >= 0)
			return i;
	return -1;
}

int tach__rank(void)
{
	static int known; /* 2 + the rank; 0: not looked up yet */
	int now = __atomic_load_n(&known, __ATOMIC_RELAXED), at;

	if (!now) {
		at = find_launcher();
		now = 2 + (at < 0 ? -1 : get_number(launchers[at].rank));
		__atomic_store_n(&known, now, __ATOMIC_RELAXED);
	}
	return now - 2;
}

int tach__rank_count(void)
{
	int at = find_launcher(), count = at < 0 ? -1 : get_number(launchers[at].count);

	return count > 0 ? count : 1;
}

int tach__rank_count_here(void)
{
	int at = find_launcher(), count = at < 0 ? -1 : get_number(launchers[at].here);

	return count > 0 ? count : 0;
}
