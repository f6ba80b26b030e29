/* SPDX-License-Identifier: MIT */
/* The columns of `tach top`: names, values, order. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/report/units.h"
#include "tools/tach/top.h"

static const char *const fixed[] = {
	[TOP_REGION] = "region",   [TOP_CALLS] = "calls", [TOP_TIME] = "time",
	[TOP_SELF] = "self",	   [TOP_AVG] = "avg",	  [TOP_P99] = "p99",
	[TOP_THREADS] = "threads",
};

static int count_quantities(const struct tach_snapshot *s)
{
	return tach_snapshot_nquantities(s) - 1;
}

int top_ncolumns(const struct tach_snapshot *s)
{
	return TOP_COUNTED + count_quantities(s) + tach_snapshot_nmetrics(s);
}

const char *top_column_name(const struct tach_snapshot *s, int c)
{
	return c < TOP_COUNTED ? fixed[c] : tach__column_name(s, c - TOP_COUNTED + 1);
}

int top_column(const struct tach_snapshot *s, const char *name)
{
	if (strcmp(name, "elapsed_ns") == 0) /* its name in formulas */
		return TOP_TIME;
	for (int c = 0; c < top_ncolumns(s); c++)
		if (strcmp(top_column_name(s, c), name) == 0)
			return c;
	return -1;
}

/* ---- values ---- */

/*
 * An entry counts when it ends, and slots are not read at the same moment. So an interval can
 * seem to contain more time than its threads had: limit the value.
 */
static double time_share(const struct tach_snapshot *s, int r, enum tach_part part,
			 double seconds, double threads)
{
	struct tach_value v = {0};
	double share;

	tach_snapshot_value(s, r, TACH_QUANTITY_TIME, part, &v);
	share = v.value / 1e9 / seconds;
	return share < threads ? share : threads;
}

/* The average of outermost entries, because the sum of inclusive times contains only these. */
static double average_time(const struct tach_snapshot *s, int r,
			   const struct tach_region_info *info)
{
	struct tach_value v = {0};
	double entries = (double)info->outermost;

	tach_snapshot_value(s, r, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
	if (info->calls)
		entries *= (double)(info->calls + info->skipped) / (double)info->calls;
	return entries > 0 ? v.value / entries : NAN;
}

static double count_of(const struct tach_snapshot *s, int r, int q, double seconds)
{
	struct tach_value v = {0};
	double value;

	tach__column_value(s, r, q, TACH_PART_INCLUSIVE, &v);
	value = tach__unit_shown(&v);
	return q < tach_snapshot_nquantities(s) ? value / seconds : value;
}

double top_cell(const struct tach_snapshot *s, int r, int c, double seconds)
{
	struct tach_region_info info = {.size = sizeof info};

	tach_snapshot_region(s, r, &info);
	switch (c) {
	case TOP_REGION:
		return 0;
	case TOP_CALLS:
		return (double)info.entries / seconds;
	case TOP_TIME:
		return time_share(s, r, TACH_PART_INCLUSIVE, seconds, info.threads);
	case TOP_SELF:
		return time_share(s, r, TACH_PART_SELF, seconds, info.threads);
	case TOP_THREADS:
		return info.threads;
	case TOP_AVG:
		return average_time(s, r, &info);
	case TOP_P99:
		return info.entries ? tach_snapshot_quantile(s, r, TACH_QUANTITY_TIME, 0.99)
				    : NAN;
	default:
		return info.calls ? count_of(s, r, c - TOP_COUNTED + 1, seconds) : NAN;
	}
}

/* ---- as text ---- */

static void number_text(char *to, size_t size, double v)
{
	static const char prefix[] = " kMGTPE";
	int p = 0;

	for (; fabs(v) >= 9999.5 && prefix[p + 1]; p++)
		v /= 1000;
	if (p == 0 && v == floor(v))
		snprintf(to, size, "%.0f", v);
	else if (p == 0)
		snprintf(to, size, "%.4g", v);
	else
		snprintf(to, size, "%.4g%c", v, prefix[p]);
}

/* "12.35us": no blank, so that lines split into columns. */
static void time_text(char *to, size_t size, double ns)
{
	char unit[TACH__UNIT_MAX], *blank;

	tach__unit_time(unit, ns);
	blank = strchr(unit, ' ');
	if (blank)
		*blank = '\0';
	snprintf(to, size, "%s%s", unit, blank ? blank + 1 : "");
}

/* Returns true if counters took turns or did not count all the time. */
static int is_rough(const struct tach_snapshot *s, int r, int c)
{
	struct tach_value v = {0};

	if (c < TOP_COUNTED)
		return 0;
	tach__column_value(s, r, c - TOP_COUNTED + 1, TACH_PART_INCLUSIVE, &v);
	return (v.flags & (TACH_FLAG_SCALED | TACH_FLAG_INCOMPLETE | TACH_FLAG_LOST |
			   TACH_FLAG_SMALL)) != 0;
}

void top_cell_text(char *to, size_t size, const struct tach_snapshot *s, int r, int c,
		   double seconds)
{
	double v = top_cell(s, r, c, seconds);

	if (isnan(v))
		snprintf(to, size, "-");
	else if (c == TOP_TIME || c == TOP_SELF)
		snprintf(to, size, "%.1f", 100 * v);
	else if (c == TOP_AVG || c == TOP_P99)
		time_text(to, size, v);
	else if (is_rough(s, r, c)) {
		*to = '~';
		number_text(to + 1, size - 1, v);
	} else
		number_text(to, size, v);
}

/* ---- order ---- */

struct order {
	const struct tach_snapshot *s;
	int by_name, reverse;
};

static int compare_names(const struct tach_snapshot *s, int x, int y)
{
	struct tach_region_info a = {.size = sizeof a}, b = {.size = sizeof b};

	tach_snapshot_region(s, x, &a);
	tach_snapshot_region(s, y, &b);
	return strcmp(a.name, b.name);
}

/* The largest first; NaN is last in either order. */
static int compare_lines(const void *a, const void *b, void *context)
{
	const struct top_line *x = a, *y = b;
	const struct order *o = context;
	int order;

	if (o->by_name)
		order = compare_names(o->s, x->region, y->region);
	else if (isnan(x->key) || isnan(y->key))
		return isnan(x->key) - isnan(y->key) ?: x->region - y->region;
	else
		order = (x->key < y->key) - (x->key > y->key);
	return (o->reverse ? -order : order) ?: x->region - y->region;
}

static int is_wanted(const struct top *t, const struct tach_region_info *info)
{
	return (info->entries || t->idle) &&
	       (!t->filter || fnmatch(t->filter, info->name, 0) == 0);
}

struct top_line *top_pick(const struct top *t, const struct tach_snapshot *s, double seconds,
			  int *n)
{
	int column = top_column(s, t->sort);
	struct top_line *lines = calloc((size_t)tach_snapshot_nregions(s) + 1, sizeof *lines);
	struct order o = {s, column == TOP_REGION, t->reverse};

	*n = 0;
	if (!lines)
		fputs("tach top: out of memory\n", stderr);
	for (int r = 0; lines && r < tach_snapshot_nregions(s); r++) {
		struct tach_region_info info = {.size = sizeof info};

		tach_snapshot_region(s, r, &info);
		if (is_wanted(t, &info))
			lines[(*n)++] = (struct top_line){
				r, top_cell(s, r, column < 0 ? TOP_TIME : column, seconds)};
	}
	if (lines)
		qsort_r(lines, (size_t)*n, sizeof *lines, compare_lines, &o);
	return lines;
}
