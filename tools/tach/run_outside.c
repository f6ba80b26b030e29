/* SPDX-License-Identifier: MIT */
/*
 * Counters opened from outside: `tach run` opens them for the program, and its children inherit
 * them. No code of ours runs in the program, so the program may be statically linked, and no
 * signal can lose counts. But one row contains everything, and the kernel may multiplex the
 * counters.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach/reader.h>
#include "core/uncore/uncore.h"
#include "tools/tach/commands.h"
#include "tools/tach/run.h"
#include "tools/tach/run_outside.h"

/* The default events; the machine may not count all of them, and those are skipped. */
static const char usual_events[] =
	"cycles,instructions,branch_misses=branch-misses,cache_misses=cache-misses,"
	"page_faults=page-faults,context_switches=context-switches";
static const char usual_metrics[] = "ipc = instructions / cycles";

static const char *given(const char *argument, const char *variable)
{
	const char *value = argument ? argument : getenv(variable);

	return value && *value ? value : NULL;
}

static int make_set(struct run_outside *o, struct tach_set_options *opt, const char *events)
{
	struct perf_event_attr attrs[TACH_COUNTERS_MAX];
	struct tach_set_member members[TACH_COUNTERS_MAX];
	struct tach_error err = TACH_ERROR_INIT;
	const char *metrics = opt->metrics;

	tach__uncore_members(o->boxes.uncore, opt, members, attrs);
	if (tach_set_create(opt, &o->set, &err) == 0)
		return 0;
	/* If the events without the metrics make a set, the error is in the metrics. */
	opt->metrics = NULL;
	if (metrics && tach_set_create(opt, &o->set, NULL) == 0)
		events = metrics;
	complain("tach run", events, &err);
	return RUN_FAILED;
}

static int make(struct run_outside *o, struct tach_set_options *opt)
{
	char *threads = NULL, *boxes = NULL;
	const char *events = opt->events ? opt->events : "";
	int code = RUN_FAILED;

	if (!(opt->flags & TACH_SET_OPTIONAL)) {
		threads = strdup(events);
		boxes = run_boxes_wanted(events, opt->metrics);
		if (!threads || !boxes) {
			fprintf(stderr, "tach run: %s\n", strerror(errno));
			goto out;
		}
		run_boxes_blank(threads, 1);
		run_boxes_blank(boxes, 0);
		opt->events = threads;
		if (run_boxes_open(&o->boxes, boxes, events) != 0)
			goto out;
	}
	code = make_set(o, opt, events);
out:
	free(threads);
	free(boxes);
	return code;
}

static struct run_outside *blank(const char *row)
{
	struct run_outside *o = calloc(1, sizeof *o);

	if (!o) {
		fprintf(stderr, "tach run: %s\n", strerror(errno));
		return NULL;
	}
	snprintf(o->row, sizeof o->row, "%s", row);
	return o;
}

int run_outside_forbidden(void)
{
	pid_t child;
	int status = 0;

	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		return 0;
	child = fork();
	if (child == 0) {
		syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		return 0;
	fprintf(stderr, "tach run: a seccomp filter kills processes that call perf_event_open: "
			"only the numbers that the kernel keeps for every program are shown\n");
	return 1;
}

struct run_outside *run_outside_new(const struct run_arguments *a)
{
	struct run_outside *o = blank("(whole program)");
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	int own = a->events || a->metrics; /* as without --outside */

	opt.events = own ? a->events : getenv("TACH_EVENTS");
	opt.metrics = own ? a->metrics : given(NULL, "TACH_METRICS");
	opt.flags = TACH_SET_MULTIPLEX;
	if (!opt.events && !opt.metrics) {
		opt.events = usual_events;
		opt.metrics = usual_metrics;
		opt.flags |= TACH_SET_OPTIONAL;
	}
	if (o && make(o, &opt) != 0) {
		run_outside_free(o);
		return NULL;
	}
	if (o)
		snprintf(o->note, sizeof o->note, "%s", tach_set_missing(o->set));
	return o;
}

struct run_outside *run_ambient_new(const char *list)
{
	struct run_outside *o = blank("(whole machine)");
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__ambient ambient;

	if (!o)
		return NULL;
	if (tach__ambient_open(&ambient, list, &err) != 0) {
		complain("tach run", list, &err);
		run_outside_free(o);
		return NULL;
	}
	o->boxes.uncore = ambient.uncore;
	o->set = ambient.set;
	for (int i = 0; i < tach_set_count(o->set); i++)
		if (tach__uncore_member(o->boxes.uncore, o->set, i) < 0) {
			snprintf(o->note + strlen(o->note), sizeof o->note - strlen(o->note),
				 "%s%s", *o->note ? ", " : "", tach_set_name(o->set, i));
			snprintf(o->row, sizeof o->row, "(machine and program)");
		}
	if (*o->note)
		snprintf(o->note + strlen(o->note), sizeof o->note - strlen(o->note),
			 ": of the program alone");
	return o;
}

/* The library's message about a member that cannot be opened is better than errno's. */
void run_outside_note(struct run_outside *o, int code)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;

	if (*o->note)
		return;
	if (tach_reader_open(o->set, &reader, &err) == 0)
		tach_reader_close(reader);
	snprintf(o->note, sizeof o->note, "%s", *err.text ? err.text : strerror(code));
}

struct run_target *run_outside_target(struct run_outside *o, pid_t thread)
{
	struct run_target **more =
		realloc(o->target, (size_t)(o->ntargets + 1) * sizeof(*o->target));
	struct run_target *t = calloc(1, sizeof *t);

	if (more)
		o->target = more;
	if (!more || !t) {
		fprintf(stderr, "tach run: %s\n", strerror(errno));
		free(t);
		return NULL;
	}
	t->thread = thread;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		t->fd[i] = -1;
	o->target[o->ntargets++] = t;
	return t;
}

int run_outside_count(struct run_outside *o, struct run_target *t, int disabled)
{
	int code = 0;

	for (int i = 0; i < tach_set_count(o->set); i++) {
		struct perf_event_attr attr = *tach_set_attr(o->set, i);

		if (tach__uncore_member(o->boxes.uncore, o->set, i) >= 0)
			continue;
		attr.size = sizeof attr;
		attr.inherit = 1;
		attr.disabled = attr.enable_on_exec = disabled != 0;
		attr.pinned = attr.exclusive = 0;
		attr.sample_period = 0;
		attr.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		t->fd[i] = (int)syscall(SYS_perf_event_open, &attr, t->thread, -1, -1,
					PERF_FLAG_FD_CLOEXEC);
		if (t->fd[i] < 0 && !code)
			code = errno;
	}
	return code;
}

void run_outside_open(struct run_outside *o, pid_t process)
{
	struct run_target *t;
	int code;

	if (!o)
		return;
	if (o->attached) {
		run_boxes_start(&o->boxes);
		run_outside_read(o);
		run_outside_mark(o);
		return;
	}
	t = run_outside_target(o, process);
	code = t ? run_outside_count(o, t, 1) : 0;
	if (code)
		run_outside_note(o, code);
	run_boxes_start(&o->boxes);
}

void run_outside_end(struct run_outside *o)
{
	if (!o)
		return;
	run_boxes_stop(&o->boxes);
	run_boxes_note(&o->boxes, o->note, sizeof o->note);
}

/* ---- reading ---- */

static void read_one(int fd, struct run_count *to)
{
	uint64_t r[3];

	to->lost = fd < 0 || read(fd, r, sizeof r) != (ssize_t)sizeof r;
	if (!to->lost)
		*to = (struct run_count){r[0], r[1], r[2], 0};
}

void run_outside_read(struct run_outside *o)
{
	run_boxes_read(&o->boxes);
	for (int k = 0; k < o->ntargets; k++)
		for (int i = 0; i < tach_set_count(o->set); i++)
			read_one(o->target[k]->fd[i], &o->target[k]->now[i]);
}

void run_outside_mark(struct run_outside *o)
{
	memcpy(o->boxes.last, o->boxes.count, sizeof o->boxes.count);
	for (int k = 0; k < o->ntargets; k++)
		memcpy(o->target[k]->last, o->target[k]->now, sizeof o->target[k]->now);
}

void run_outside_free(struct run_outside *o)
{
	if (!o)
		return;
	for (int k = 0; k < o->ntargets; k++) {
		for (int i = 0; i < TACH_COUNTERS_MAX; i++)
			if (o->target[k]->fd[i] >= 0)
				close(o->target[k]->fd[i]);
		free(o->target[k]);
	}
	free(o->target);
	run_boxes_close(&o->boxes);
	tach_set_free(o->set);
	free(o);
}
