/* SPDX-License-Identifier: MIT */
/*
 * `tach report --diff`: two programs side by side, region by region and quantity by quantity.
 * Of several runs of each the decision of `tach gate` says what differs; of one run each
 * nothing can, for a report knows how well its run was measured, not how the next one would be.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/bench/decide.h"
#include "core/report/deliver.h"
#include "tools/tach/commands.h"
#include "tools/tach/report.h"

enum verdict { SAME, ONE_RUN, CHANCE, BEYOND, TOO_FEW, ONLY_OLD, ONLY_NEW, VERDICTS };

/* How many runs without a difference may have one. */
#define ALPHA 0.01

struct line {
	const char *region, *quantity;
	int is_time;
	double old, new, error; /* error: of the difference */
	enum verdict verdict;
};

struct side {
	const struct report_side *runs;
	struct report_place **places; /* of each run */
	struct tach_snapshot *merged; /* NULL: there is one run */
	const struct tach_snapshot *all;
	struct report_place *place; /* of all */
	double *value;		    /* room for one of each run */
};

struct diff {
	struct side side[2];		       /* old, new */
	const struct tach_snapshot *old, *new; /* all runs together */
	int comparisons;
	enum tach_format format;
	struct json_to to;
	int width;   /* of the longest region's name */
	int beyond;  /* differences */
	int few;     /* lines for which there are too few runs */
	int written; /* lines */
};

static const char *const verdicts[VERDICTS] = {"within error", "one run",      "no difference",
					       "differs",      "too few runs", "only in old",
					       "only in new"};

/* ---- one line ---- */

static double relative(const struct line *l)
{
	return l->old != 0 ? (l->new - l->old) / fabs(l->old) : NAN;
}

static void print_text(struct diff *d, const struct line *l)
{
	char percent[32] = "-", name[256], quantity[256];

	tach_printable(l->region, name, sizeof name);
	tach_printable(l->is_time ? "time (ns)" : l->quantity, quantity, sizeof quantity);
	if (isfinite(relative(l)))
		snprintf(percent, sizeof percent, "%+.2f%%", 100 * relative(l));
	tach__out(&d->to.out, "%-*s  %-24s  %14.6g  %14.6g  %+14.6g  %10s  %s\n", d->width,
		  name, quantity, l->old, l->new, l->new - l->old, percent,
		  verdicts[l->verdict]);
}

static void print_csv(struct diff *d, const struct line *l)
{
	const double number[] = {l->old, l->new, l->new - l->old, relative(l), l->error};
	struct tach__out *out = &d->to.out;

	tach__out_csv_string(out, l->region);
	tach__out_text(out, ",");
	tach__out_csv_string(out, l->is_time ? "time_ns" : l->quantity);
	for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
		tach__out_text(out, ",");
		tach__out_number(out, number[i], "");
	}
	tach__out(out, ",%s\r\n", verdicts[l->verdict]);
}

static void print_json(struct diff *d, const struct line *l)
{
	struct tach__json_out *json = &d->to.json;

	tach__json_line(json, 2);
	tach__json_object(json, NULL);
	tach__json_string(json, "region", l->region);
	tach__json_string(json, "quantity", l->quantity);
	tach__json_number(json, "old", l->old);
	tach__json_number(json, "new", l->new);
	tach__json_number(json, "difference", l->new - l->old);
	tach__json_number(json, "relative", relative(l));
	tach__json_number(json, "error", l->error);
	tach__json_string(json, "verdict", verdicts[l->verdict]);
	tach__json_end(json);
}

static void print(struct diff *d, const struct line *l)
{
	if (d->format == TACH_FORMAT_TEXT)
		print_text(d, l);
	else if (d->format == TACH_FORMAT_CSV)
		print_csv(d, l);
	else
		print_json(d, l);
	d->beyond += l->verdict == BEYOND || l->verdict >= ONLY_OLD;
	d->few += l->verdict == TOO_FEW;
	d->written++;
}

/* ---- what there is to compare ---- */

/* Number of a quantity or, counted on, of a metric; -1: it has none of that name. */
static int find_quantity(const struct tach_snapshot *s, const char *name)
{
	int n = tach_snapshot_nquantities(s);

	for (int q = 0; q < n; q++)
		if (strcmp(tach_snapshot_quantity(s, q), name) == 0)
			return q;
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++)
		if (strcmp(tach_snapshot_metric(s, m), name) == 0)
			return n + m;
	return -1;
}

static void value_of(const struct tach_snapshot *s, int region, int q, struct tach_value *v)
{
	int n = tach_snapshot_nquantities(s);

	if (q < n)
		tach_snapshot_value(s, region, q, TACH_PART_INCLUSIVE, v);
	else
		tach_snapshot_derived(s, region, q - n, TACH_PART_INCLUSIVE, v);
}

/* What each run of a side that has it took. */
static struct tach__values values_of(const struct side *s, const struct tach_region_info *info,
				     const char *quantity)
{
	struct tach__values v = {s->value, 0};

	for (int i = 0; i < s->runs->n; i++) {
		const struct tach_snapshot *run = s->runs->list[i];
		int region = report_place_find(s->places[i], tach_snapshot_nregions(run), info);
		int q = find_quantity(run, quantity);
		struct tach_value value;

		if (region < 0 || q < 0)
			continue;
		value_of(run, region, q, &value);
		if (!isnan(value.value) && !(value.flags & TACH_FLAG_LOST))
			s->value[v.n++] = value.value;
	}
	return v;
}

/* Of several runs: as tach gate decides, without a bound. */
static void decide(const struct diff *d, struct line *l, const struct tach_region_info *info)
{
	struct tach__values a = values_of(&d->side[0], info, l->quantity);
	struct tach__values b = values_of(&d->side[1], info, l->quantity);
	struct tach__rule rule = {.bound = 0, .alpha = ALPHA / d->comparisons};
	struct tach__decision is;

	l->old = l->new = l->error = NAN;
	l->verdict = a.n || b.n ? BEYOND : CHANCE;
	if (!a.n || !b.n)
		return;
	tach__decide(&is, &rule, a, b);
	l->old = is.old;
	l->new = is.now;
	l->error = tach__detectable(&is, &rule, a, b) * fabs(is.old);
	l->verdict = is.verdict == TACH__SAME ? CHANCE : BEYOND;
	if (tach__least_p(a.n, b.n) > rule.alpha)
		l->verdict = TOO_FEW;
}

/* Counts are compared as they are: a run that is twice as long counts twice as much. The first
 * time they are only numbered. */
static void compare(struct diff *d, const struct tach_region_info *info, int old_region,
		    int new_region, int count_only)
{
	int first = tach_snapshot_nquantities(d->old);
	int n = first + tach_snapshot_nmetrics(d->old);

	for (int q = 0; q < n; q++) {
		const char *name = q < first ? tach_snapshot_quantity(d->old, q)
					     : tach_snapshot_metric(d->old, q - first);
		int other = find_quantity(d->new, name);
		struct line l = {.region = info->name, .quantity = name, .is_time = q == 0};
		struct tach_value a, b;

		if (other < 0)
			continue;
		d->comparisons += count_only;
		if (count_only)
			continue;
		value_of(d->old, old_region, q, &a);
		value_of(d->new, new_region, other, &b);
		l.old = a.value;
		l.new = b.value;
		l.error = a.error + b.error;
		l.verdict = fabs(b.value - a.value) > l.error ? ONE_RUN : SAME;
		if (isnan(a.value) != isnan(b.value))
			l.verdict = BEYOND;
		if (d->side[0].runs->n > 1 || d->side[1].runs->n > 1)
			decide(d, &l, info);
		print(d, &l);
	}
}

/* A region that only one of them has: its time stands for it. */
static void alone(struct diff *d, const struct tach_snapshot *s, int region, const char *name)
{
	struct line l = {.region = name, .quantity = "time", .is_time = 1};
	struct tach_value v;

	tach_snapshot_value(s, region, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
	l.verdict = s == d->old ? ONLY_OLD : ONLY_NEW;
	*(s == d->old ? &l.old : &l.new) = v.value;
	l.error = v.error;
	print(d, &l);
}

static void widen(struct diff *d, const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		if ((int)strlen(info.name) > d->width)
			d->width = (int)strlen(info.name);
}

static void head(struct diff *d)
{
	struct tach__out *out = &d->to.out;

	d->width = (int)strlen("region");
	widen(d, d->old);
	widen(d, d->new);
	if (d->format == TACH_FORMAT_CSV) {
		tach__out_text(out,
			       "region,quantity,old,new,difference,relative,error,verdict\r\n");
	} else if (d->format == TACH_FORMAT_JSON) {
		tach__json_object(&d->to.json, NULL);
		tach__json_int(&d->to.json, "tach-diff", 1);
		tach__json_array(&d->to.json, "lines");
	} else {
		tach__out(out, "%-*s  %-24s  %14s  %14s  %14s  %10s  %s\n", d->width, "region",
			  "quantity", "old", "new", "difference", "relative", "verdict");
	}
}

static void foot(struct diff *d)
{
	if (d->format == TACH_FORMAT_JSON) {
		tach__json_line(&d->to.json, 0);
		tach__json_end(&d->to.json);
		tach__json_int(&d->to.json, "differences", d->beyond);
		tach__json_end(&d->to.json);
		tach__out_text(&d->to.out, "\n");
	} else if (d->format == TACH_FORMAT_TEXT) {
		tach__out(&d->to.out, "\n%d of %d differ.", d->beyond, d->written);
		if (d->side[0].runs->n == 1 && d->side[1].runs->n == 1)
			tach__out_text(&d->to.out,
				       " Of one run each no report can tell a change from "
				       "chance: give folders of runs, or use tach gate.");
		else
			tach__out(&d->to.out,
				  " At most %g %% of comparisons without a change say so.",
				  100 * ALPHA);
		tach__out_text(&d->to.out, "\n");
	}
}

/* Every region that both have, and then those of one alone. */
static void walk(struct diff *d, int count_only)
{
	struct tach_region_info info = {0};
	int n_old = tach_snapshot_nregions(d->old), n_new = tach_snapshot_nregions(d->new);

	for (int r = 0; tach_snapshot_region(d->old, r, &info) == 0; r++) {
		int other = report_place_find(d->side[1].place, n_new, &info);

		if (other >= 0)
			compare(d, &info, r, other, count_only);
		else if (!count_only)
			alone(d, d->old, r, info.name);
	}
	for (int r = 0; !count_only && tach_snapshot_region(d->new, r, &info) == 0; r++)
		if (report_place_find(d->side[0].place, n_old, &info) < 0)
			alone(d, d->new, r, info.name);
}

static int write_all(struct diff *d, tach_sink sink, void *context)
{
	tach__out_open(&d->to.out, sink, context);
	tach__json_begin(&d->to.json, &d->to.out, TACH__JSON_SPACED);
	head(d);
	walk(d, 0);
	foot(d);
	return tach__out_flush(&d->to.out);
}

static int write_stream(struct diff *d, FILE *to)
{
	int code = to ? write_all(d, stream_sink, to) : -errno;

	if (to && (to == stdout ? fflush(to) : fclose(to)) != 0 && !code)
		code = -errno;
	return code;
}

/* A file has the older text or all of the new one; a pipe's reader is waited for. */
static int write_file(struct diff *d, const char *file)
{
	struct tach__buffer text = {0};
	struct stat status;
	int code;

	if (stat(file, &status) == 0 && !S_ISREG(status.st_mode))
		return write_stream(d, fopen(file, "we"));
	code = write_all(d, tach__buffer_sink, &text);
	if (!code)
		code = tach__deliver_file(file, 0, &text);
	tach__buffer_free(&text);
	return code;
}

static void close_side(struct side *s)
{
	for (int i = 0; s->places && i < s->runs->n; i++)
		free(s->places[i]);
	free(s->places);
	free(s->place);
	free(s->value);
	tach_snapshot_free(s->merged);
}

/* 0; -1: printed, or no memory. */
static int open_side(struct side *s, const struct report_side *runs)
{
	s->runs = runs;
	s->all = runs->list[0];
	if (runs->n > 1 && report_merge(&s->merged, runs->list, runs->n, "tach report") != 0)
		return -1;
	if (s->merged)
		s->all = s->merged;
	s->place = report_places(s->all);
	s->value = calloc((size_t)runs->n, sizeof *s->value);
	s->places = calloc((size_t)runs->n, sizeof *s->places);
	if (!s->place || !s->value || !s->places)
		return -1;
	for (int i = 0; i < runs->n; i++)
		if (!(s->places[i] = report_places(runs->list[i])))
			return -1;
	return 0;
}

int report_diff(const struct report_side *old, const struct report_side *new,
		enum tach_format format, const char *file)
{
	struct diff d = {.format = format};
	int code = TACH_ERR_NOMEM;

	if (open_side(&d.side[0], old) == 0 && open_side(&d.side[1], new) == 0) {
		d.old = d.side[0].all;
		d.new = d.side[1].all;
		walk(&d, 1);
		code = file ? write_file(&d, file) : write_stream(&d, stdout);
	}
	close_side(&d.side[0]);
	close_side(&d.side[1]);
	if (code) {
		fprintf(stderr, "tach report: %s%s%s\n", file ? file : "", file ? ": " : "",
			tach_strerror(code));
		return EXIT_NO;
	}
	return d.beyond ? EXIT_NO : d.few ? EXIT_USAGE : EXIT_DONE;
}
