/* SPDX-License-Identifier: MIT */
/* `tach report --diff`: two runs side by side, region by region and quantity by quantity. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/report/deliver.h"
#include "tools/tach/commands.h"
#include "tools/tach/report.h"

enum verdict { SAME, BEYOND, ONLY_OLD, ONLY_NEW };

struct line {
	const char *region, *quantity;
	int is_time;
	double old, new, error; /* error: of the difference */
	enum verdict verdict;
};

struct diff {
	const struct tach_snapshot *old, *new;
	enum tach_format format;
	struct json_to to;
	int width;   /* of the longest region's name */
	int beyond;  /* differences beyond the error bars */
	int written; /* lines */
};

static const char *const verdicts[] = {"within error", "differs", "only in old", "only in new"};

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
	d->beyond += l->verdict != SAME;
	d->written++;
}

/* ---- what there is to compare ---- */

/* A snapshot's regions by name, and those of one name in their own order. */
struct place {
	struct tach_region_info info;
	int region;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->info.name, y->info.name);

	if (!order)
		order = strcmp(x->info.file, y->info.file);
	if (!order)
		order = (x->info.line > y->info.line) - (x->info.line < y->info.line);
	return order ? order : (x->region > y->region) - (x->region < y->region);
}

static struct place *places_of(const struct tach_snapshot *s)
{
	int n = tach_snapshot_nregions(s);
	struct place *all = calloc((size_t)n + 1, sizeof *all);

	for (int r = 0; all && r < n; r++) {
		tach_snapshot_region(s, r, &all[r].info);
		all[r].region = r;
	}
	if (all)
		qsort(all, (size_t)n, sizeof *all, by_place);
	return all;
}

/* The first that does not come before `like`; n: all do. */
static int first_from(const struct place *all, int n, const struct place *like)
{
	int low = 0, high = n;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (by_place(&all[middle], like) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Regions of the same name may differ in their lines: programs change between runs. -1: none.
 */
static int find_region(const struct place *all, int n, const struct tach_region_info *like)
{
	struct place wanted = {.info = *like, .region = 0};
	int at = first_from(all, n, &wanted);

	if (at < n && strcmp(all[at].info.name, like->name) == 0 &&
	    strcmp(all[at].info.file, like->file) == 0 && all[at].info.line == like->line)
		return all[at].region;
	wanted.info.file = "";
	wanted.info.line = 0;
	at = first_from(all, n, &wanted);
	return at < n && strcmp(all[at].info.name, like->name) == 0 ? all[at].region : -1;
}

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

/* Counts are compared as they are: a run that is twice as long counts twice as much. */
static void compare(struct diff *d, const struct tach_region_info *info, int old_region,
		    int new_region)
{
	int n = tach_snapshot_nquantities(d->old) + tach_snapshot_nmetrics(d->old);

	for (int q = 0; q < n; q++) {
		int first = tach_snapshot_nquantities(d->old);
		const char *name = q < first ? tach_snapshot_quantity(d->old, q)
					     : tach_snapshot_metric(d->old, q - first);
		int other = find_quantity(d->new, name);
		struct line l = {.region = info->name, .quantity = name, .is_time = q == 0};
		struct tach_value a, b;

		if (other < 0)
			continue;
		value_of(d->old, old_region, q, &a);
		value_of(d->new, new_region, other, &b);
		l.old = a.value;
		l.new = b.value;
		l.error = a.error + b.error;
		l.verdict = fabs(b.value - a.value) > l.error ? BEYOND : SAME;
		if (isnan(a.value) != isnan(b.value))
			l.verdict = BEYOND;
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
		tach__out(&d->to.out,
			  "\n%d of %d differ by more than their error bars together.\n",
			  d->beyond, d->written);
	}
}

static int write_all(struct diff *d, tach_sink sink, void *context)
{
	struct place *old_places = places_of(d->old), *new_places = places_of(d->new);
	struct tach_region_info info = {0};
	int code = TACH_ERR_NOMEM;

	tach__out_open(&d->to.out, sink, context);
	tach__json_begin(&d->to.json, &d->to.out, TACH__JSON_SPACED);
	if (old_places && new_places) {
		head(d);
		for (int r = 0; tach_snapshot_region(d->old, r, &info) == 0; r++) {
			int other =
				find_region(new_places, tach_snapshot_nregions(d->new), &info);

			if (other < 0)
				alone(d, d->old, r, info.name);
			else
				compare(d, &info, r, other);
		}
		for (int r = 0; tach_snapshot_region(d->new, r, &info) == 0; r++)
			if (find_region(old_places, tach_snapshot_nregions(d->old), &info) < 0)
				alone(d, d->new, r, info.name);
		foot(d);
		code = tach__out_flush(&d->to.out);
	}
	free(old_places);
	free(new_places);
	return code;
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

int report_diff(const struct tach_snapshot *old, const struct tach_snapshot *new,
		enum tach_format format, const char *file)
{
	struct diff d = {.old = old, .new = new, .format = format};
	int code = file ? write_file(&d, file) : write_stream(&d, stdout);

	if (code) {
		fprintf(stderr, "tach report: %s%s%s\n", file ? file : "", file ? ": " : "",
			tach_strerror(code));
		return EXIT_NO;
	}
	return d.beyond ? EXIT_NO : EXIT_DONE;
}
