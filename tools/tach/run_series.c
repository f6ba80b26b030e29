/* SPDX-License-Identifier: MIT */
/* `tach run -I SECONDS`: prints the counts of each interval as it ends. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "core/base/flags.h"
#include "core/report/units.h"
#include "tools/tach/commands.h"
#include "tools/tach/run.h"
#include "tools/tach/run_outside.h"

enum { STAMP = 10, CELL_LEAST = 10, NAME = 24 };

int run_series_begin(struct run_series *s, const struct run_arguments *a)
{
	*s = (struct run_series){.interval = a->interval, .format = a->format, .to = stderr};
	if (a->output)
		s->to = fopen(a->output, "we");
	if (s->to)
		return 0;
	fprintf(stderr, "tach run: %s: %s\n", a->output, strerror(errno));
	return RUN_FAILED;
}

int run_series_end(struct run_series *s, const struct run_arguments *a)
{
	int bad = s->code || ferror(s->to);

	if (s->to != stderr && fclose(s->to) != 0)
		bad = 1;
	if (bad && a->output)
		fprintf(stderr, "tach run: %s: %s\n", a->output,
			strerror(s->code ? s->code : EIO));
	return bad ? RUN_FAILED : 0;
}

/* ---- an interval's rows ---- */

static int column_width(const struct tach_snapshot *s, int q)
{
	int n = (int)strlen(tach__column_name(s, q));

	return n > CELL_LEAST ? n : CELL_LEAST;
}

/* Omits the time, because it equals the interval. */
static void text_heading(const struct run_series *s, const struct tach_snapshot *shot, int rows)
{
	fprintf(s->to, "%*s", STAMP, "time (s)");
	if (rows)
		fprintf(s->to, "  %-*s", NAME, "row");
	for (int q = tach__column_next(shot, 0); q < tach__columns(shot);
	     q = tach__column_next(shot, q))
		fprintf(s->to, "  %*s ", column_width(shot, q), tach__column_name(shot, q));
	putc('\n', s->to);
}

/* A star marks a scaled value. */
static void text_row(const struct run_series *s, const struct tach_snapshot *shot, int r,
		     int rows)
{
	struct tach_region_info info = {0};
	char name[256];

	fprintf(s->to, "%*.3f", STAMP, s->at);
	tach_snapshot_region(shot, r, &info);
	tach_printable(info.name, name, sizeof name);
	if (rows)
		fprintf(s->to, "  %-*.*s", NAME, NAME, name);
	for (int q = tach__column_next(shot, 0); q < tach__columns(shot);
	     q = tach__column_next(shot, q)) {
		char number[TACH__UNIT_MAX];
		struct tach_value v;

		tach__column_value(shot, r, q, TACH_PART_INCLUSIVE, &v);
		tach__unit_value(number, shot, q, tach__unit_shown(&v));
		fprintf(s->to, "  %*s%c", column_width(shot, q), number,
			v.flags & TACH_FLAG_SCALED ? '*' : ' ');
	}
	putc('\n', s->to);
}

static void csv_value(const struct run_series *s, struct tach__out *out, const char *row,
		      const char *name, const struct tach_value *v)
{
	tach__out(out, "%.6f,%.6f,", s->at, s->seconds);
	tach__out_csv_string(out, row);
	tach__out_text(out, ",");
	tach__out_csv_string(out, name);
	tach__out_text(out, ",");
	tach__out_number(out, tach__unit_shown(v), "");
	tach__out_text(out, ",\"");
	tach__out_flags(out, v->flags, " ");
	tach__out_text(out, "\"\r\n");
}

static void write_csv(struct run_series *s, const struct tach_snapshot *shot)
{
	struct tach_region_info info = {0};
	struct tach__out out;

	tach__out_open(&out, stream_sink, s->to);
	if (!s->rows)
		tach__out_text(&out, "time_s,seconds,row,quantity,value,flags\r\n");
	for (int r = 0; tach_snapshot_region(shot, r, &info) == 0; r++)
		for (int q = tach__column_next(shot, 0); q < tach__columns(shot);
		     q = tach__column_next(shot, q)) {
			struct tach_value v;

			tach__column_value(shot, r, q, TACH_PART_INCLUSIVE, &v);
			csv_value(s, &out, info.name, tach__column_name(shot, q), &v);
		}
	tach__out_flush(&out);
}

static void json_value(struct tach__json_out *json, const char *name,
		       const struct tach_value *v)
{
	tach__json_object(json, name);
	tach__json_number(json, "value", tach__unit_shown(v));
	tach__json_flags(json, v->flags);
	tach__json_end(json);
}

static void write_json(const struct run_series *s, const struct tach_snapshot *shot)
{
	struct tach_region_info info = {0};
	struct json_to to;

	json_begin(&to, s->to, TACH__JSON_COMPACT);
	tach__json_object(&to.json, NULL);
	tach__json_int(&to.json, "tach-run", 1);
	tach__json_number(&to.json, "at", clock_seconds(CLOCK_REALTIME));
	tach__json_number(&to.json, "time_s", s->at);
	tach__json_number(&to.json, "seconds", s->seconds);
	tach__json_string(&to.json, "note", tach_snapshot_missing(shot));
	tach__json_array(&to.json, "rows");
	for (int r = 0; tach_snapshot_region(shot, r, &info) == 0; r++) {
		tach__json_object(&to.json, NULL);
		tach__json_string(&to.json, "name", info.name);
		tach__json_object(&to.json, "values");
		for (int q = tach__column_next(shot, 0); q < tach__columns(shot);
		     q = tach__column_next(shot, q)) {
			struct tach_value v;

			tach__column_value(shot, r, q, TACH_PART_INCLUSIVE, &v);
			json_value(&to.json, tach__column_name(shot, q), &v);
		}
		tach__json_end(&to.json);
		tach__json_end(&to.json);
	}
	tach__json_end(&to.json);
	tach__json_end(&to.json);
	json_end(&to);
}

static void write_text(struct run_series *s, const struct tach_snapshot *shot)
{
	int n = tach_snapshot_nregions(shot);

	if (!s->rows)
		text_heading(s, shot, n > 1);
	for (int r = 0; r < n; r++)
		text_row(s, shot, r, n > 1);
}

static void end_interval(struct run_series *s, struct run_outside *o)
{
	double now = clock_seconds(CLOCK_MONOTONIC) - s->begun;
	struct tach_snapshot *shot;

	s->seconds = now - s->at;
	s->at = now;
	shot = run_outside_take(o, s->seconds);
	if (!shot)
		return;
	run_outside_mark(o);
	if (!s->rows && s->format != TACH_FORMAT_JSON && *tach_snapshot_missing(shot))
		fprintf(stderr, "tach run: %s\n", tach_snapshot_missing(shot));
	if (s->format == TACH_FORMAT_JSON)
		write_json(s, shot);
	else if (s->format == TACH_FORMAT_CSV)
		write_csv(s, shot);
	else
		write_text(s, shot);
	s->rows++;
	if (fflush(s->to) != 0 && !s->code)
		s->code = errno;
	tach_snapshot_free(shot);
}

/* ---- waiting ---- */

/* Also works with kernels without pidfd (before 5.3). */
static int has_ended(pid_t process)
{
	siginfo_t info = {.si_pid = 0};

	if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		return info.si_pid != 0;
	return kill(process, 0) != 0 && errno == ESRCH;
}

/* Milliseconds until the current interval ends; if the program was delayed, skips intervals. */
static int until_next(struct run_series *s)
{
	double now = clock_seconds(CLOCK_MONOTONIC) - s->begun;

	if (s->next <= now)
		s->next += ceil((now - s->next) / s->interval) * s->interval;
	if (s->next <= now)
		s->next += s->interval;
	return (int)ceil((s->next - now) * 1000);
}

void run_series_watch(struct run_series *s, struct run_outside *o, pid_t process, int signals)
{
	struct pollfd on[] = {
		{.fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN},
		{.fd = signals, .events = POLLIN}};
	int slice = on[0].fd < 0 ? 50 : -1, over = 0;

	/*
	 * If the reader closes the pipe, the program still continues; it has its own SIGPIPE.
	 */
	signal(SIGPIPE, SIG_IGN);
	s->begun = clock_seconds(CLOCK_MONOTONIC);
	s->next = s->interval;
	while (!over) {
		int rest = s->interval > 0 ? until_next(s) : -1;
		int wait = slice > 0 && (rest < 0 || slice < rest) ? slice : rest;
		int n = poll(on, 2, wait);

		over = n > 0 || has_ended(process);
		if (s->interval > 0 && (over || (n == 0 && wait == rest)))
			end_interval(s, o);
		/* The reader has gone, and there is no program to wait for. */
		over |= signals >= 0 && s->interval > 0 && ferror(s->to);
	}
	if (s->interval <= 0)
		s->at = clock_seconds(CLOCK_MONOTONIC) - s->begun;
	if (on[0].fd >= 0)
		close(on[0].fd);
}

int run_series_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	/* An ignored hangup (nohup) stays ignored. */
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}
