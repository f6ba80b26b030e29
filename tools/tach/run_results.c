/* SPDX-License-Identifier: MIT */
/* The shared memory into which processes write their reports: tools/run/results.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/run/results.h"
#include "tools/tach/run.h"

/*
 * Programs rarely use such high numbers. The kernel's table of descriptors grows to this size
 * in each process.
 */
enum { HIGH = 1000 };

static int move_up(int fd)
{
	struct rlimit limit;
	int high = HIGH, up;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < HIGH)
		high = (int)(limit.rlim_cur / 2);
	up = fcntl(fd, F_DUPFD, high);
	if (up < 0)
		return fd;
	close(fd);
	return up;
}

/* As many areas as RLIMIT_FSIZE permits; only touched pages use memory. */
static off_t size_of(void)
{
	off_t size = RUN_HEAD + (off_t)RUN_AREAS * RUN_AREA;
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= (rlim_t)size)
		return size;
	return (off_t)limit.rlim_cur;
}

int run_results_open(void)
{
	/*
	 * The memory is sealed: otherwise a process could truncate it, and SIGBUS would end
	 * this command and all processes that map it.
	 */
	int fd = memfd_create("tach-run", MFD_ALLOW_SEALING), code = 0;
	off_t size = size_of();
	struct stat status;
	char value[80];

	if (fd < 0 || size < RUN_HEAD + RUN_AREA)
		code = fd < 0 ? errno : EFBIG;
	else if (ftruncate(fd, size) != 0 || fstat(fd, &status) != 0 ||
		 fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		code = errno;
	if (code) {
		fprintf(stderr,
			"tach run: no memory to share with the program: %s; counting from "
			"outside\n",
			strerror(code));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fd = move_up(fd);
	snprintf(value, sizeof value, "%d %lu %d", fd, (unsigned long)status.st_ino,
		 (int)getpid());
	setenv(RUN_RESULTS, value, 1);
	return fd;
}

struct results {
	int fd;
	off_t area; /* the current area */
	struct run_reports *reports;
	pid_t program;
	int (*take)(void *, const char *, size_t);
	void *context;
};

static int take_text(const struct results *r, const struct run_entry *e)
{
	char *text = malloc((size_t)e->length + 1);
	int code = -1;

	if (text && pread(r->fd, text, e->length, r->area + e->text) == (ssize_t)e->length)
		code = r->take(r->context, text, e->length);
	free(text);
	return code;
}

static void add_gone(struct run_reports *reports, int process)
{
	int i = 0;

	while (i < RUN_GONE && reports->gone[i])
		i++;
	if (i < RUN_GONE)
		reports->gone[i] = process;
}

/* Checks every value, because a process may have written any bytes. */
static int collect_one(const struct results *r, const struct run_entry *e)
{
	struct run_reports *reports = r->reports;

	if (e->state == RUN_FREE)
		return 0;
	reports->began++;
	if (e->state == RUN_BEGAN) {
		add_gone(reports, e->process);
		reports->running += e->process != r->program && kill(e->process, 0) == 0;
		return 0;
	}
	if (e->state == RUN_NO_MEMORY) {
		add_gone(reports, e->process);
		reports->no_memory++;
		return 0;
	}
	if (e->text > RUN_AREA || e->length > RUN_AREA - e->text)
		return 0;
	reports->left++;
	reports->confined += e->state == RUN_CONFINED;
	reports->of_program |= e->process == r->program;
	return take_text(r, e);
}

int run_results_collect(int fd, struct run_reports *reports, pid_t program,
			int (*take)(void *, const char *, size_t), void *context)
{
	struct results r = {fd, RUN_HEAD, reports, program, take, context};
	struct run_head head;
	struct run_area area;
	int code = 0;

	if (fd < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
		return 0;
	for (uint32_t n = 0; n < head.areas && !code; n++, r.area += RUN_AREA) {
		/* More areas were requested than exist. */
		if (pread(fd, &area, sizeof area, r.area) != (ssize_t)sizeof area) {
			reports->began += (int)(head.areas - n);
			break;
		}
		for (int why = 0; why < RUN_REASONS; why++) {
			const struct run_programs *p = &area.unmeasured[why];

			if (p->n && !reports->unmeasured[why])
				snprintf(reports->first_unmeasured[why],
					 sizeof reports->first_unmeasured[why], "%.*s",
					 RUN_NAME, p->first);
			reports->unmeasured[why] += p->n;
		}
		for (int i = 0; i < RUN_ENTRIES && !code; i++)
			code = collect_one(&r, &area.entry[i]);
	}
	return code;
}
