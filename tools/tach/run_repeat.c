/* SPDX-License-Identifier: MIT */
/* `tach run -r N`: runs commands in turns and shows statistics of their runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/change/change.h"
#include "core/os/buffer.h"
#include "tools/tach/commands.h"
#include "tools/tach/compare.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"
#include "tools/tach/samples.h"

/* One command, and its values in all runs. */
struct side {
	struct run_arguments of;
	struct run_found found;
	struct samples samples;
	/* The comparison with the first command, for the other commands. */
	struct comparison against_first;
	char name[256];
	int status;
};

struct repeat {
	struct side *side;
	size_t n;
	int runs;
};

struct row {
	const struct series *of;
	const struct compare_line *versus; /* NULL: not compared */
	size_t side;
	struct series_median is;
	double mean;
};

static void add_own(struct samples *to, const char *quantity, double ns)
{
	samples_add(to,
		    &(struct series){.region = (char *)"(command)",
				     .file = (char *)"",
				     .quantity = (char *)quantity,
				     .kind = SERIES_TIME},
		    ns);
}

static double nanoseconds_of(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static void take_run(struct samples *to, const struct run_reports *reports,
		     const struct run_outcome *o)
{
	add_own(to, "time", o->seconds * 1e9);
	add_own(to, "user", nanoseconds_of(o->usage.ru_utime));
	add_own(to, "system", nanoseconds_of(o->usage.ru_stime));
	if (reports->whole)
		samples_take(to, reports->whole, NULL, NULL);
}

static void put_row(struct row *to, const struct series *of, const struct compare_line *versus,
		    size_t side)
{
	*to = (struct row){of, versus, side, series_median(of), 0};
	for (size_t i = 0; i < of->n; i++)
		to->mean += of->value[i] / (double)of->n;
}

/* Puts the rows of one region and quantity below each other, one for each command. */
static size_t list_rows(const struct repeat *r, struct row *row)
{
	const struct samples *first = &r->side[0].samples;
	size_t n = 0;

	for (size_t i = 0; i <= first->n; i++) {
		const struct series *of = i < first->n ? first->list[i] : NULL;

		if (of)
			put_row(&row[n++], of, NULL, 0);
		for (size_t k = 1; k < r->n; k++) {
			const struct comparison *c = &r->side[k].against_first;

			for (size_t j = 0; j < c->n; j++)
				if (c->line[j].now && c->line[j].old == of)
					put_row(&row[n++], c->line[j].now, &c->line[j], k);
		}
	}
	return n;
}

static void format_change(const struct row *row, char number[32], char verdict[COMPARE_CELL])
{
	*number = *verdict = '\0';
	if (!row->versus)
		return;
	if (isfinite(row->versus->is.change))
		snprintf(number, 32, "%+.2f %%", 100 * row->versus->is.change);
	compare_text(row->versus, verdict, COMPARE_CELL);
}

static int widest_text(int width, const char *text, int most)
{
	int length = (int)strnlen(text, (size_t)most);

	return width > length ? width : length;
}

/* Widens the columns of names up to the longest name that still leaves room for the numbers. */
static void widen_labels(const struct row *row, size_t n, int width[2])
{
	for (size_t i = 0; i < n; i++) {
		char label[256];

		series_label(row[i].of, row[i].of->twin, label, sizeof label);
		width[0] = widest_text(width[0], label, 24);
		tach_printable(row[i].of->quantity, label, sizeof label);
		width[1] = widest_text(width[1], label, 20);
	}
}

static void write_text(struct tach__out *out, const struct repeat *r, const struct row *row,
		       size_t n)
{
	int several = r->n > 1, width[2] = {6, 8}; /* of "region", "quantity" */

	for (size_t i = 0; several && i < r->n; i++)
		tach__out(out, "%zu: %s\n", i + 1, r->side[i].name);
	widen_labels(row, n, width);
	tach__out(out, "%-*s %-*s %s%5s %10s %10s %10s %6s %10s%s\n", width[0], "region",
		  width[1], "quantity", several ? "command " : "", "runs", "median", "from",
		  "to", "sure", "mean", several ? "     change verdict" : "");
	for (size_t i = 0; i < n; i++) {
		const struct row *l = &row[i];
		char name[256], quantity[256], cell[4][32], number[32], verdict[COMPARE_CELL];
		const double value[] = {l->is.median, l->is.low, l->is.high, l->mean};

		series_label(l->of, l->of->twin, name, sizeof name);
		tach_printable(l->of->quantity, quantity, sizeof quantity);
		for (int k = 0; k < 4; k++)
			series_value(l->of, value[k], cell[k], sizeof cell[k]);
		tach__out(out, "%-*s %-*s ", width[0], name, width[1], quantity);
		if (several)
			tach__out(out, "%7zu ", l->side + 1);
		tach__out(out, "%5zu %10s %10s %10s %5.1f%% %10s", l->of->n, cell[0], cell[1],
			  cell[2], 100 * l->is.confidence, cell[3]);
		format_change(l, number, verdict);
		if (l->versus)
			tach__out(out, " %10s %s", number, verdict);
		tach__out_text(out, "\n");
	}
	tach__out(out,
		  "%d runs. The median lies between 'from' and 'to' with the confidence "
		  "shown, for any distribution, if runs do not drift. Below 95%% these are "
		  "the extremes; 6 runs reach 95%%.\n",
		  r->runs);
	for (size_t i = 1; i < r->n; i++)
		compare_sentences(out, &r->side[i].against_first);
}

static void write_csv(struct tach__out *out, const struct repeat *r, const struct row *row,
		      size_t n)
{
	int several = r->n > 1;

	tach__out(out, "region,file,line,quantity,runs,median,low,high,confidence,mean%s\r\n",
		  several ? ",command,change,verdict" : "");
	for (size_t i = 0; i < n; i++) {
		const struct row *l = &row[i];
		const double number[] = {l->is.median, l->is.low, l->is.high, l->is.confidence,
					 l->mean};
		char quantity[300];

		snprintf(quantity, sizeof quantity, "%s%s", l->of->quantity,
			 l->of->kind == SERIES_TIME ? "_ns" : "");
		series_csv(out, l->of, quantity);
		tach__out(out, ",%zu", l->of->n);
		for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
			tach__out_text(out, ",");
			tach__out_number(out, number[k], "");
		}
		if (several) {
			tach__out_text(out, ",");
			tach__out_csv_string(out, r->side[l->side].name);
			tach__out_text(out, ",");
			tach__out_number(out, l->versus ? l->versus->is.change : NAN, "");
			tach__out(out, ",%s", l->versus ? compare_name(l->versus) : "");
		}
		tach__out_text(out, "\r\n");
	}
}

static void write_json(struct tach__json_out *json, const struct repeat *r,
		       const struct row *row, size_t n)
{
	tach__json_object(json, NULL);
	tach__json_int(json, "tach-run-repeat", 1);
	tach__json_int(json, "runs", r->runs);
	tach__json_array(json, "series");
	for (size_t i = 0; i < n; i++) {
		const struct row *l = &row[i];

		tach__json_line(json, 2);
		tach__json_object(json, NULL);
		if (r->n > 1)
			tach__json_string(json, "command", r->side[l->side].name);
		series_json(json, l->of, 0);
		tach__json_string(json, "kind", series_kinds[l->of->kind]);
		tach__json_number(json, "median", l->is.median);
		tach__json_number(json, "low", l->is.low);
		tach__json_number(json, "high", l->is.high);
		tach__json_number(json, "confidence", l->is.confidence);
		tach__json_number(json, "mean", l->mean);
		if (l->versus) {
			tach__json_number(json, "change", l->versus->is.change);
			tach__json_string(json, "verdict", compare_name(l->versus));
		}
		series_json_values(json, l->of, l->of->n);
		tach__json_end(json);
	}
	tach__json_end(json);
	tach__json_end(json);
}

static int write_table(const struct run_arguments *a, const struct repeat *r)
{
	struct tach__buffer buffer = {0};
	struct tach__json_out to;
	struct tach__out out;
	struct row *row;
	size_t n = 0;
	int code;

	for (size_t i = 0; i < r->n; i++)
		n += r->side[i].samples.n;
	row = malloc(n * sizeof *row + 1);
	if (!row)
		return fputs("tach run: out of memory\n", stderr), RUN_FAILED;
	samples_mark_twins(&r->side[0].samples);
	n = list_rows(r, row);
	tach__out_open(&out, tach__buffer_sink, &buffer);
	if (a->format == TACH_FORMAT_TEXT) {
		write_text(&out, r, row, n);
	} else if (a->format == TACH_FORMAT_CSV) {
		write_csv(&out, r, row, n);
	} else {
		tach__json_begin(&to, &out, TACH__JSON_SPACED);
		write_json(&to, r, row, n);
		tach__out_text(&out, "\n");
	}
	code = tach__out_flush(&out);
	if (!code)
		code = deliver("tach run", a->output, stderr, &buffer);
	tach__buffer_free(&buffer);
	free(row);
	return code ? RUN_FAILED : 0;
}

/* Compares each command with the first. */
static int compare_sides(struct repeat *r)
{
	static const struct compare_options options = {
		.who = "tach run", .alpha = TACH__ALPHA, .in_turns = 1};
	int code = 0;

	for (size_t i = 1; i < r->n && !code; i++) {
		struct comparison *c = &r->side[i].against_first;

		c->old_name = r->side[0].name;
		c->now_name = r->side[i].name;
		code = compare(c, &options, &r->side[0].samples, &r->side[i].samples);
	}
	return code ? RUN_FAILED : 0;
}

/* ---- the runs ---- */

/* Returns the reason why there is no further run, or 0 to continue. */
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

/* Returns 0 to continue, or the exit status. */
static int run_side(struct side *s, int run)
{
	struct run_arguments this = s->of;
	struct run_reports reports = {0};
	struct run_outcome outcome = {0};
	int code = run_once(&this, &s->found, &reports, &outcome);

	if (!code && run == 0)
		s->status = run_status(&outcome);
	if (!code && is_over(&outcome, run, s->status))
		code = run ? RUN_FAILED : run_status(&outcome);
	else if (!code)
		take_run(&s->samples, &reports, &outcome);
	tach_snapshot_free(reports.whole);
	return code;
}

static void name_side(struct side *s)
{
	size_t n = 0;

	for (char **word = s->of.program; *word && n < sizeof s->name; word++)
		n += (size_t)snprintf(s->name + n, sizeof s->name - n, "%s%s", n ? " " : "",
				      *word);
	tach_printable(s->name, s->name, sizeof s->name);
}

/* Fills all sides. Returns 0, or the exit status after printing an error. */
static int open_sides(struct repeat *r, const struct run_arguments *a,
		      const struct run_found *found)
{
	char **program = a->program;
	int code = 0;

	for (size_t i = 0; i < r->n && !code; i++) {
		struct side *s = &r->side[i];

		s->of = *a;
		s->of.program = program;
		name_side(s);
		if (i == 0)
			s->found = *found;
		else
			code = run_find(&s->of, &s->found);
		while (*program)
			program++;
		program++;
	}
	return code;
}

/*
 * Alternates the commands, and which of them runs first, so that drift affects all equally. If
 * standard input is a file, each run starts at the same position.
 */
static int run_all(const struct repeat *r)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	int code = 0;

	for (int i = 0; i < r->runs && !code; i++)
		for (size_t k = 0; k < r->n && !code; k++) {
			if ((i || k) && input >= 0)
				lseek(STDIN_FILENO, input, SEEK_SET);
			code = run_side(&r->side[i % 2 ? r->n - 1 - k : k], i);
		}
	return code;
}

int run_repeat(const struct run_arguments *a, const struct run_found *found)
{
	struct repeat r = {calloc(a->ncommands, sizeof *r.side), a->ncommands, a->repeat};
	int code = r.side ? open_sides(&r, a, found) : RUN_FAILED, status = 0;

	if (!code)
		code = run_all(&r);
	if (!code)
		code = compare_sides(&r);
	if (!code)
		code = write_table(a, &r);
	for (size_t i = 0; r.side && i < r.n; i++) {
		status = status ? status : r.side[i].status;
		compare_free(&r.side[i].against_first);
		samples_free(&r.side[i].samples);
	}
	free(r.side);
	return code ? code : status;
}
