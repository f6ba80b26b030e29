/* SPDX-License-Identifier: MIT */
/* `tach run -p PID`: counters for the threads of a running process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"
#include "tools/tach/run_outside.h"
#include "tools/tach/top.h"

enum { THREADS_MOST = 1 << 16, ATTEMPTS = 20 };

struct threads {
	pid_t *id;
	int n;
};

static int list_threads(pid_t process, struct threads *t)
{
	char path[64];
	struct dirent *d;
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%d/task", (int)process);
	t->n = 0;
	folder = opendir(path);
	while (folder && (d = readdir(folder)) && t->n < THREADS_MOST)
		if (atoi(d->d_name) > 0)
			t->id[t->n++] = atoi(d->d_name);
	if (folder)
		closedir(folder);
	return t->n;
}

static int is_among(pid_t thread, const struct threads *t)
{
	for (int i = 0; i < t->n; i++)
		if (t->id[i] == thread)
			return 1;
	return 0;
}

static void name_target(struct run_target *t, pid_t process)
{
	char path[64], name[32] = "?";
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)process, (int)t->thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
	if (n > 0)
		name[n - (name[n - 1] == '\n')] = '\0';
	if (fd >= 0)
		close(fd);
	snprintf(t->row, sizeof t->row, "(thread %d %s)", (int)t->thread, name);
}

/*
 * Returns true if the kernel lets this process count itself: then the rights over the other
 * process are missing.
 */
static int can_count_itself(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .size = sizeof attr,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* perf_event_open(2) needs CAP_PERFMON, or the right to read the process by ptrace(2). */
static int refuse_process(pid_t process, int code)
{
	if (code == ESRCH)
		fprintf(stderr, "tach run: there is no process %d\n", (int)process);
	else if ((code == EACCES || code == EPERM) && can_count_itself())
		fprintf(stderr,
			"tach run: process %d may not be counted: that needs its user and all "
			"its capabilities, or CAP_PERFMON, or root\n",
			(int)process);
	else if (code == EMFILE)
		fprintf(stderr,
			"tach run: process %d has more threads than there are descriptors for "
			"their counters; ulimit -n allows more, fewer events need fewer\n",
			(int)process);
	else
		return 0;
	return RUN_FAILED;
}

static void drop_targets(struct run_outside *o)
{
	for (int k = 0; k < o->ntargets; k++) {
		for (int i = 0; i < TACH_COUNTERS_MAX; i++)
			if (o->target[k]->fd[i] >= 0)
				close(o->target[k]->fd[i]);
		free(o->target[k]);
	}
	o->ntargets = 0;
}

/* Opens counters for every thread in the list, and skips threads that have ended. */
static int open_all(struct run_outside *o, pid_t process, const struct threads *t)
{
	for (int i = 0; i < t->n; i++) {
		struct run_target *target = run_outside_target(o, t->id[i]);
		int code;

		if (!target)
			return RUN_FAILED;
		name_target(target, process);
		code = run_outside_count(o, target, 0);
		if (code == ESRCH) {
			o->ntargets--;
			free(target);
		} else if (code && refuse_process(process, code)) {
			return RUN_FAILED;
		} else if (code) {
			run_outside_note(o, code);
		}
	}
	return o->ntargets ? 0 : refuse_process(process, ESRCH);
}

static int has_new_threads(pid_t process, const struct threads *before, struct threads *after)
{
	list_threads(process, after);
	for (int i = 0; i < after->n; i++)
		if (!is_among(after->id[i], before))
			return 1;
	return 0;
}

/*
 * A thread inherits the counters that its creator has when the thread starts. If a thread
 * started while counters were opened, it may have inherited some of them, so all are opened
 * again.
 */
static int attach(struct run_outside *o, pid_t process)
{
	struct threads before = {calloc(THREADS_MOST, sizeof(pid_t)), 0};
	struct threads after = {calloc(THREADS_MOST, sizeof(pid_t)), 0};
	int code = before.id && after.id ? 0 : RUN_FAILED, more = 1;

	for (int attempt = 0; attempt < ATTEMPTS && more && !code; attempt++) {
		drop_targets(o);
		if (!list_threads(process, &before))
			code = refuse_process(process, ESRCH);
		else
			code = open_all(o, process, &before);
		more = has_new_threads(process, &before, &after);
	}
	if (!code && more && !*o->note)
		snprintf(o->note, sizeof o->note,
			 "threads of process %d started all the time while counters were "
			 "opened: "
			 "some may be counted twice, or not at all",
			 (int)process);
	free(before.id);
	free(after.id);
	return code;
}

int run_attach(struct run_outside *o, const struct run_arguments *a)
{
	char name[64];

	top_command(a->process, name, sizeof name);
	snprintf(o->row, sizeof o->row, "(process %d %s)", (int)a->process, name);
	o->per_target = a->rows == RUN_THREADS;
	o->attached = 1;
	return attach(o, a->process);
}

/* ---- without a program ---- */

/* Each event of each thread needs a descriptor. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int report_counts(const struct run_arguments *a, struct run_outside *o, double seconds)
{
	struct tach_snapshot *whole = run_outside_take(o, seconds);
	int code = !whole ||
		   report_write(whole, a->format, a->output, STDERR_FILENO, "tach run") != 0;

	tach_snapshot_free(whole);
	return code;
}

/* Counts until the process ends or a signal stops it. */
int run_process(const struct run_arguments *a)
{
	struct run_series series = {.interval = 0};
	struct run_outside *o = run_outside_forbidden() ? NULL : run_outside_new(a);
	int signals = run_series_signals(), code = !o;

	raise_descriptors();
	code = code || run_attach(o, a) != 0;
	if (!code && a->interval > 0)
		code = run_series_begin(&series, a);
	if (!code) {
		run_outside_open(o, a->process);
		run_series_watch(&series, o, a->process, signals);
		run_outside_end(o);
	}
	if (!code)
		code = a->interval > 0 ? run_series_end(&series, a)
				       : report_counts(a, o, series.at);
	if (!code)
		fprintf(stderr, "process %d was counted for %.3f s\n", (int)a->process,
			series.at);
	run_outside_free(o);
	return code ? RUN_FAILED : EXIT_DONE;
}
