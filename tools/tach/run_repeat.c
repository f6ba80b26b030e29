/* SPDX-License-Identifier: MIT */
/* `tach run -r N`: runs the program several times, and shows statistics of its runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/change/change.h"
#include "core/report/deliver.h"
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"
#include "tools/tach/samples.h"

/* Statistics of one series of values. */
struct line {
	const struct series *of;
	struct series_median is;
	double mean;
};

/* ---- what a run took ---- */

static void add_own(struct samples *to, const char *quantity, double ns)
{
	samples_add(to,
		    &(struct series){.region = (char *)"(command)",
				     .file = (char *)"",
				     .quantity = (char *)quantity,
				     .kind = SERIES_TIME},
		    ns);
}

static double nanoseconds(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static void take(struct samples *to, const struct run_reports *reports,
		 const struct run_outcome *o)
{
	add_own(to, "time", o->seconds * 1e9);
	add_own(to, "user", nanoseconds(o->usage.ru_utime));
	add_own(to, "system", nanoseconds(o->usage.ru_stime));
	if (reports->whole)
		samples_take(to, reports->whole, NULL, NULL);
}

/* ---- statistics ---- */

static struct line judge(const struct series *of)
{
	struct line l = {.of = of, .is = series_median(of)};

	for (size_t i = 0; i < of->n; i++)
		l.mean += of->value[i] / (double)of->n;
	return l;
}

static void text(struct tach__out *out, struct samples *s, int runs)
{
	tach__out(out, "%-24s %-20s %5s %10s %10s %10s %6s %10s\n", "region", "quantity",
		  "runs", "median", "from", "to", "sure", "mean");
	samples_mark_twins(s);
	for (size_t i = 0; i < s->n; i++) {
		struct line l = judge(s->list[i]);
		char name[256], quantity[256], cell[4][32];
		const double value[] = {l.is.median, l.is.low, l.is.high, l.mean};

		series_label(l.of, l.of->twin, name, sizeof name);
		tach_printable(l.of->quantity, quantity, sizeof quantity);
		for (int k = 0; k < 4; k++)
			series_value(l.of, value[k], cell[k], sizeof cell[k]);
		tach__out(out, "%-24s %-20s %5zu %10s %10s %10s %5.1f%% %10s\n", name, quantity,
			  l.of->n, cell[0], cell[1], cell[2], 100 * l.is.confidence, cell[3]);
	}
	tach__out(out,
		  "%d runs. The median lies between 'from' and 'to' with the confidence "
		  "shown, for any distribution, if runs do not drift. Below 95%% these are "
		  "the extremes; 6 runs reach 95%%.\n",
		  runs);
}

static void csv(struct tach__out *out, const struct samples *s)
{
	tach__out_text(out, "region,file,line,quantity,runs,median,low,high,confidence,"
			    "mean\r\n");
	for (size_t i = 0; i < s->n; i++) {
		struct line l = judge(s->list[i]);
		const double number[] = {l.is.median, l.is.low, l.is.high, l.is.confidence,
					 l.mean};
		char quantity[300];

		snprintf(quantity, sizeof quantity, "%s%s", l.of->quantity,
			 l.of->kind == SERIES_TIME ? "_ns" : "");
		tach__out_csv_string(out, l.of->region);
		tach__out_text(out, ",");
		tach__out_csv_string(out, l.of->file);
		tach__out(out, ",%u,", l.of->line);
		tach__out_csv_string(out, quantity);
		tach__out(out, ",%zu", l.of->n);
		for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
			tach__out_text(out, ",");
			tach__out_number(out, number[k], "");
		}
		tach__out_text(out, "\r\n");
	}
}

static void json(struct tach__json_out *json, const struct samples *s, int runs)
{
	tach__json_object(json, NULL);
	tach__json_int(json, "tach-run-repeat", 1);
	tach__json_int(json, "runs", runs);
	tach__json_array(json, "series");
	for (size_t i = 0; i < s->n; i++) {
		struct line l = judge(s->list[i]);

		tach__json_line(json, 2);
		tach__json_object(json, NULL);
		tach__json_string(json, "region", l.of->region);
		tach__json_string(json, "file", l.of->file);
		tach__json_unsigned(json, "line", l.of->line);
		tach__json_string(json, "quantity", l.of->quantity);
		tach__json_string(json, "kind", series_kinds[l.of->kind]);
		tach__json_number(json, "median", l.is.median);
		tach__json_number(json, "low", l.is.low);
		tach__json_number(json, "high", l.is.high);
		tach__json_number(json, "confidence", l.is.confidence);
		tach__json_number(json, "mean", l.mean);
		tach__json_array(json, "values");
		for (size_t k = 0; k < l.of->n; k++)
			tach__json_number(json, NULL, l.of->value[k]);
		tach__json_end(json);
		tach__json_end(json);
	}
	tach__json_end(json);
	tach__json_end(json);
}

static int write_table(const struct run_arguments *a, struct samples *s)
{
	struct tach__buffer buffer = {0};
	struct tach__json_out to;
	struct tach__out out;
	int code;

	tach__out_open(&out, tach__buffer_sink, &buffer);
	if (a->format == TACH_FORMAT_TEXT) {
		text(&out, s, a->repeat);
	} else if (a->format == TACH_FORMAT_CSV) {
		csv(&out, s);
	} else {
		tach__json_begin(&to, &out, TACH__JSON_SPACED);
		json(&to, s, a->repeat);
		tach__out_text(&out, "\n");
	}
	code = tach__out_flush(&out);
	if (!code)
		code = deliver("tach run", a->output, stderr, &buffer);
	tach__buffer_free(&buffer);
	return code ? RUN_FAILED : 0;
}

/* ---- the runs ---- */

/* Returns the reason why further runs would differ, or 0 to continue. */
static int is_over(const struct run_outcome *o, int run, int first)
{
	int status = run_status(o);

	if (o->exec_failed)
		return 1;
	if (WIFSIGNALED(o->status))
		fprintf(stderr, "tach run: run %d was ended by signal %d (%s)\n", run + 1,
			WTERMSIG(o->status), strsignal(WTERMSIG(o->status)));
	else if (status != first)
		fprintf(stderr,
			"tach run: run %d ended with status %d, the first with %d: the command "
			"must do the same in each run\n",
			run + 1, status, first);
	return WIFSIGNALED(o->status) || status != first;
}

/* If standard input is a file, each run starts at the same position. */
int run_repeat(struct run_arguments *a, const struct run_found *found)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	struct samples samples = {0};
	int code = 0, over = 0, status = 0;

	for (int i = 0; i < a->repeat && !code && !over; i++) {
		struct run_arguments this = *a;
		struct run_reports reports = {0};
		struct run_outcome outcome = {0};

		if (i && input >= 0)
			lseek(STDIN_FILENO, input, SEEK_SET);
		code = run_once(&this, found, &reports, &outcome);
		if (!code && i == 0)
			status = run_status(&outcome);
		if (!code)
			over = is_over(&outcome, i, status);
		if (!code && !over)
			take(&samples, &reports, &outcome);
		else if (!code && i == 0)
			status = run_status(&outcome);
		tach_snapshot_free(reports.whole);
		if (over && i)
			code = RUN_FAILED;
	}
	if (!code && !over)
		code = write_table(a, &samples);
	samples_free(&samples);
	return code ? code : status;
}
