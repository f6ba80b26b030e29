/* SPDX-License-Identifier: MIT */
/*
 * `mpirun -n 4 tach run`: every rank has its own tach run, but the job writes one report. Each
 * rank puts its part into a folder of the job, and the rank that finds all parts there joins
 * them.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/os/rank.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"

int run_ranks_wanted(const struct run_arguments *a)
{
	if (tach__rank() < 0 || tach__rank_count() < 2 || a->apart)
		return 0;
	if (a->output || tach__rank_count_here() == tach__rank_count())
		return 1;
	fprintf(stderr,
		"tach run: rank %d: the job has several machines: -o FILE in a folder that all "
		"of "
		"them see makes one report\n",
		tach__rank());
	return 0;
}

void run_ranks_file(struct run_arguments *a)
{
	const char *at = a->output ? strstr(a->output, "%r") : NULL;
	char *to;

	/* Never freed: used until the command ends. */
	if (!at || asprintf(&to, "%.*s%d%s", (int)(at - a->output), a->output,
			    tach__rank() < 0 ? 0 : tach__rank(), at + 2) < 0)
		return;
	a->output = to;
	a->apart = 1;
}

/*
 * Writes the launcher's name for this run, or the launcher's process number if it gives no
 * name.
 */
static void job_name(char *to, size_t size)
{
	static const char *const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
					    "SLURM_JOB_ID", "PMI_JOBID"};
	const char *job = NULL, *step = getenv("SLURM_STEP_ID");

	for (size_t i = 0; i < sizeof names / sizeof *names && !(job && *job); i++)
		job = getenv(names[i]);
	if (job && *job)
		snprintf(to, size, "%.100s%s%.20s", job, step ? "." : "", step ? step : "");
	else
		snprintf(to, size, "%d", (int)getppid());
	for (; *to; to++)
		if (!isalnum((unsigned char)*to) && *to != '.' && *to != '-')
			*to = '_';
}

static void folder_name(const struct run_arguments *a, char *to, size_t size)
{
	const char *temporary = getenv("TMPDIR");
	char job[160];

	job_name(job, sizeof job);
	if (a->output)
		snprintf(to, size, "%s.ranks-%s", a->output, job);
	else
		snprintf(to, size, "%s/tach-ranks-%d-%s",
			 temporary && *temporary ? temporary : "/tmp", (int)geteuid(), job);
}

/*
 * Opens and locks the folder, which must belong to this user. Returns -1 with errno. The last
 * rank of an earlier run may remove it at the same time.
 */
static int enter_folder(const char *folder)
{
	for (;;) {
		struct stat status = {.st_nlink = 0};
		int fd, code = 0;

		if (mkdir(folder, 0700) != 0 && errno != EEXIST)
			return -1;
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX) != 0 || fstat(fd, &status) != 0)
			code = errno;
		else if (status.st_uid != geteuid())
			code = EPERM;
		if (!code && status.st_nlink > 0)
			return fd;
		close(fd);
		errno = code;
		if (code)
			return -1;
	}
}

/* Writes this rank's part, or a marker for a rank without a report. */
static int put(const char *folder, int fd, const struct tach_snapshot *mine)
{
	struct tach_report_options opt = {.format = TACH_FORMAT_JSON};
	struct tach_error err = TACH_ERROR_INIT;
	char file[4400], name[32];
	int none;

	snprintf(name, sizeof name, "%d.none", tach__rank());
	if (!mine) {
		none = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		return none < 0 ? -1 : close(none);
	}
	snprintf(file, sizeof file, "%s/%d.json", folder, tach__rank());
	if (tach_report_file(mine, &opt, file, &err) == 0)
		return 0;
	fprintf(stderr, "tach run: %s\n", err.text);
	return -1;
}

enum what { COUNT, TAKE, REMOVE };

/* Reads the parts in the folder; `what` says how to use them. */
static int look_at_parts(const char *folder, enum what what, struct report_ranks *taken)
{
	DIR *list = opendir(folder);
	struct dirent *d;
	int n = 0;

	while (list && (d = readdir(list))) {
		struct tach_snapshot *one;
		char file[4400];

		/* The name of an incomplete report begins with a dot. */
		if (d->d_name[0] == '.')
			continue;
		n++;
		if (snprintf(file, sizeof file, "%s/%s", folder, d->d_name) >= (int)sizeof file)
			continue;
		if (what == TAKE && strstr(d->d_name, ".json") &&
		    report_load(&one, file, "tach run") == 0)
			report_ranks_add(taken, one, file, "tach run");
		if (what == REMOVE)
			unlink(file);
	}
	if (list)
		closedir(list);
	return n;
}

/* Joins the parts if all are there. Parts that cannot be joined stay. */
static int join_parts(const char *folder, struct tach_snapshot **all)
{
	struct report_ranks ranks = {NULL, 0};
	int code = 0;

	look_at_parts(folder, TAKE, &ranks);
	if (ranks.n && !(*all = report_ranks_join(&ranks, "tach run"))) {
		fprintf(stderr, "tach run: the parts stay in %s\n", folder);
		code = -1;
	} else {
		look_at_parts(folder, REMOVE, NULL);
		rmdir(folder);
	}
	report_ranks_free(&ranks);
	return code;
}

int run_ranks_gather(const struct run_arguments *a, const struct tach_snapshot *mine,
		     struct tach_snapshot **all)
{
	char folder[4200];
	int fd, code;

	*all = NULL;
	folder_name(a, folder, sizeof folder);
	fd = enter_folder(folder);
	code = fd < 0 ? -1 : put(folder, fd, mine);
	if (code)
		fprintf(stderr, "tach run: rank %d: %s: %s\n", tach__rank(), folder,
			strerror(errno));
	if (!code && look_at_parts(folder, COUNT, NULL) == tach__rank_count())
		code = join_parts(folder, all);
	if (fd >= 0)
		close(fd);
	return code;
}
