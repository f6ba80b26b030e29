/* SPDX-License-Identifier: MIT */
/*
 * Counters opened from outside: by `tach run` for the program and, inherited, for all that it
 * starts. Nothing runs in the program, so it may be statically linked, and no signal can take
 * what was counted; but there is one row for everything, and counters are the kernel's to share
 * out.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <tach/reader.h>
#include "tools/tach/report.h"
#include "tools/tach/run.h"

struct run_outside {
	struct tach_set *set;
	char note[512];
	int fd[TACH_COUNTERS_MAX];
};

/* What a program is usually asked about; what the machine cannot count is left out. */
static const char usual_events[] =
	"cycles,instructions,branch_misses=branch-misses,cache_misses=cache-misses,"
	"page_faults=page-faults,context_switches=context-switches";
static const char usual_metrics[] = "ipc = instructions / cycles";

static const char *given(const char *argument, const char *variable)
{
	const char *value = argument ? argument : getenv(variable);

	return value && *value ? value : NULL;
}

struct run_outside *run_outside_new(const struct run_arguments *a)
{
	struct run_outside *o = calloc(1, sizeof *o);
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	int own = a->events || a->metrics; /* as without --outside */

	opt.events = own ? a->events : getenv("TACH_EVENTS");
	opt.metrics = own ? a->metrics : given(NULL, "TACH_METRICS");
	opt.flags = TACH_SET_MULTIPLEX;
	if (!opt.events && !opt.metrics) {
		opt.events = usual_events;
		opt.metrics = usual_metrics;
		opt.flags |= TACH_SET_OPTIONAL;
	}
	if (!o || tach_set_create(&opt, &o->set, &err) != 0) {
		fprintf(stderr, "tach run: %s\n", o ? err.text : strerror(errno));
		free(o);
		return NULL;
	}
	snprintf(o->note, sizeof o->note, "%s", tach_set_missing(o->set));
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		o->fd[i] = -1;
	return o;
}

/* Why a member cannot be opened the library can say better than errno. */
static void note_failure(struct run_outside *o, int code)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;

	if (*o->note)
		return;
	if (tach_reader_open(o->set, &reader, &err) == 0)
		tach_reader_close(reader);
	snprintf(o->note, sizeof o->note, "%s", *err.text ? err.text : strerror(code));
}

void run_outside_open(struct run_outside *o, pid_t process)
{
	for (int i = 0; i < tach_set_count(o->set); i++) {
		struct perf_event_attr attr = *tach_set_attr(o->set, i);

		attr.size = sizeof attr;
		attr.disabled = attr.enable_on_exec = attr.inherit = 1;
		attr.pinned = attr.exclusive = 0;
		attr.sample_period = 0;
		attr.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		o->fd[i] = (int)syscall(SYS_perf_event_open, &attr, process, -1, -1,
					PERF_FLAG_FD_CLOEXEC);
		if (o->fd[i] < 0)
			note_failure(o, errno);
	}
}

/* ---- the report ---- */

static void string(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			fprintf(to, "\\u%04x", (unsigned)*text);
		else
			fputc(*text, to);
	fputc('"', to);
}

/* Scaled where others had the counter for a while. */
static void counted(FILE *to, int fd)
{
	struct {
		uint64_t count, enabled, running;
	} r = {0, 0, 0};
	const char *flags = "\"syscall\"";

	if (fd < 0 || read(fd, &r, sizeof r) != (ssize_t)sizeof r || (r.enabled && !r.running))
		flags = "\"lost\"";
	else if (r.running < r.enabled) {
		r.count = (uint64_t)((double)r.count * (double)r.enabled / (double)r.running);
		flags = "\"syscall\", \"scaled\"";
	}
	fprintf(to,
		": {\"value\": %llu, \"raw\": %llu, \"overhead\": 0, \"error\": 0, "
		"\"flags\": [%s]}",
		(unsigned long long)r.count, (unsigned long long)r.count, flags);
}

static void part(FILE *to, const struct run_outside *o, const char *name, double seconds)
{
	fprintf(to,
		", \"%s\": {\"time\": {\"value\": %.0f, \"raw\": %.0f, \"overhead\": 0, "
		"\"error\": 0, \"flags\": []}",
		name, seconds * 1e9, seconds * 1e9);
	for (int i = 0; i < tach_set_count(o->set); i++) {
		fprintf(to, ", ");
		string(to, tach_set_name(o->set, i));
		counted(to, o->fd[i]);
	}
	for (int m = 0; m < tach_set_nmetrics(o->set); m++) {
		fprintf(to, ", ");
		string(to, tach_set_metric_name(o->set, m));
		fprintf(to, ": {\"value\": null, \"raw\": null, \"overhead\": 0, \"error\": 0, "
			    "\"flags\": []}");
	}
	fprintf(to, "}");
}

/* Whole, however long it is. */
static void formula(FILE *to, const struct tach_formula *f)
{
	int length = tach_formula_print(f, TACH_FORMULA_INFIX, NULL, 0);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);

	if (text) {
		tach_formula_print(f, TACH_FORMULA_INFIX, text, (size_t)length + 1);
		fprintf(to, ", \"formula\": ");
		string(to, text);
	}
	free(text);
}

/* Schema 1 of tach-report(5); values of metrics come when it is merged. */
static void print(FILE *to, const struct run_outside *o, double seconds)
{
	int lost = 0;

	fprintf(to, "{\"tach\": 1, \"note\": ");
	string(to, o->note);
	fprintf(to,
		", \"clock\": {\"hz\": 1e9, \"estimate\": false}, \"threads\": 0, "
		"\"refused\": 0, \"lost\": 0, \"stale\": 0, \"unopened\": 0, \"reports\": 1, "
		"\"quantities\": [{\"name\": \"time\"}");
	for (int i = 0; i < tach_set_count(o->set); i++) {
		lost |= o->fd[i] < 0;
		fprintf(to, ", {\"name\": ");
		string(to, tach_set_name(o->set, i));
		fprintf(to, "}");
	}
	fprintf(to, "], \"metrics\": [");
	for (int m = 0; m < tach_set_nmetrics(o->set); m++) {
		fprintf(to, "%s{\"name\": ", m ? ", " : "");
		string(to, tach_set_metric_name(o->set, m));
		formula(to, tach_set_metric(o->set, m));
		fprintf(to, "}");
	}
	fprintf(to,
		"], \"regions\": [{\"name\": \"(whole program)\", \"file\": \"\", "
		"\"function\": \"\", \"line\": 0, \"fenced\": false, \"entries\": 1, "
		"\"calls\": 1, \"outermost\": 1, \"skipped\": 0, \"excluded\": 0, "
		"\"nested\": 0, \"threads\": 0, \"provenance\": {\"%s\": 1}",
		lost ? "lost" : "syscall");
	part(to, o, "inclusive", seconds);
	part(to, o, "self", seconds);
	fprintf(to, "}]}\n");
}

struct tach_snapshot *run_outside_take(struct run_outside *o, double seconds)
{
	struct tach_snapshot *one = NULL, *whole = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	char *text = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	if (to) {
		print(to, o, seconds);
		fclose(to);
	}
	if (!text || tach_snapshot_load(text, length, &one, &err) != 0)
		fprintf(stderr, "tach run: %s\n", text ? err.text : strerror(errno));
	else
		report_merge(&whole, &one, 1, "tach run");
	tach_snapshot_free(one);
	free(text);
	return whole;
}

void run_outside_free(struct run_outside *o)
{
	if (!o)
		return;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		if (o->fd[i] >= 0)
			close(o->fd[i]);
	tach_set_free(o->set);
	free(o);
}
