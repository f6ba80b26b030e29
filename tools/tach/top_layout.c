/* SPDX-License-Identifier: MIT */
/* The columns of `tach top` that fit, and their places. */
#include <stdlib.h>
#include <string.h>
#include "core/base/utf8.h"
#include "core/report/units.h"
#include "tools/tach/screen.h"
#include "tools/tach/top.h"

enum { NAME = 21, NAME_LEAST = 10, EXTRA = 10, EXTRA_MOST = 20, WIDE = 120 };

static int is_rate(const struct tach_snapshot *s, int c)
{
	return c >= TOP_COUNTED && c < TOP_COUNTED + tach_snapshot_nquantities(s) - 1;
}

void top_heading(char *to, size_t size, const struct tach_snapshot *s, int c, int width)
{
	static const char *const fixed[] = {
		[TOP_REGION] = "REGION", [TOP_CALLS] = "CALLS/S", [TOP_TIME] = "TIME%",
		[TOP_SELF] = "SELF%",	 [TOP_THREADS] = "THR",	  [TOP_AVG] = "AVG",
		[TOP_P99] = "P99",
	};
	char name[256];
	const char *after = is_rate(s, c) ? "/S" : "";
	int most = width - (int)strlen(after);

	if (c < TOP_COUNTED) {
		snprintf(to, size, "%s", fixed[c]);
		return;
	}
	tach_printable(top_column_name(s, c), name, sizeof name);
	if (tach__utf8_width(name) > most)
		fit_text(name, sizeof name, top_column_name(s, c), most, 0);
	snprintf(to, size, "%s%s", name, after);
}

/* ---- which ---- */

/* Returns the column of the next name in a list, or -1. *list: the rest, or NULL. */
static int next_named(const struct tach_snapshot *s, const char **list, char name[256])
{
	size_t n = strcspn(*list, ",");

	snprintf(name, 256, "%.*s", (int)n, *list);
	*list = (*list)[n] ? *list + n + 1 : NULL;
	return top_column(s, name);
}

const char *top_unknown_column(const struct top *t, const struct tach_snapshot *s)
{
	static char name[256];

	for (const char *list = t->columns; list;)
		if (next_named(s, &list, name) < TOP_COUNTED)
			return name;
	return NULL;
}

/* Metrics are more useful than counts and come first; ipc is the first of them. */
static int all_extras(const struct tach_snapshot *s, int to[TOP_CELLS])
{
	int first = top_ncolumns(s) - tach_snapshot_nmetrics(s), n = 0;
	int ipc = top_column(s, "ipc");

	if (ipc >= first)
		to[n++] = ipc;
	for (int c = first; c < top_ncolumns(s) && n < TOP_CELLS; c++)
		if (c != ipc)
			to[n++] = c;
	for (int q = tach__column_next(s, 0); q < tach_snapshot_nquantities(s) && n < TOP_CELLS;
	     q = tach__column_next(s, q))
		to[n++] = TOP_COUNTED + q - 1;
	return n;
}

static int find_extras(const struct top *t, const struct tach_snapshot *s, int to[TOP_CELLS])
{
	char name[256];
	int n = 0;

	if (!t->columns)
		return all_extras(s, to);
	for (const char *list = t->columns; list && n < TOP_CELLS;) {
		int c = next_named(s, &list, name);

		if (c >= TOP_COUNTED)
			to[n++] = c;
	}
	return n;
}

/* ---- where ---- */

static int column_width(const struct tach_snapshot *s, int c, int width)
{
	static const int fixed[] = {
		[TOP_CALLS] = 8, [TOP_TIME] = 6, [TOP_SELF] = 6,
		[TOP_AVG] = 8,	 [TOP_P99] = 8,	 [TOP_THREADS] = 4,
	};
	int wanted;

	if (c < TOP_COUNTED)
		return fixed[c];
	wanted = tach__utf8_width(top_column_name(s, c)) + 2 * is_rate(s, c);
	if (width < WIDE || wanted < EXTRA)
		return EXTRA;
	return wanted < EXTRA_MOST ? wanted : EXTRA_MOST;
}

static int longest_name(const struct tach_snapshot *s)
{
	struct tach_region_info info = {.size = sizeof info};
	int most = 0;

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		if (tach__utf8_width(info.name) > most)
			most = tach__utf8_width(info.name);
	return most;
}

/* Returns 0 if there is no room. */
static int add_column(struct top_layout *l, const struct tach_snapshot *s, int c, int width)
{
	int before = l->n ? l->cell[l->n - 1].at + l->cell[l->n - 1].width : l->name;
	int w = column_width(s, c, width);

	if (l->n == TOP_CELLS || before + 1 + w > width)
		return 0;
	l->cell[l->n].column = c;
	l->cell[l->n].at = before + 1;
	l->cell[l->n++].width = w;
	return 1;
}

/* Gives the remaining width to long names. */
static void widen_names(struct top_layout *l, const struct tach_snapshot *s, int width)
{
	int end = l->n ? l->cell[l->n - 1].at + l->cell[l->n - 1].width : l->name;
	int more = longest_name(s) - l->name;

	if (more > width - end)
		more = width - end;
	if (more <= 0)
		return;
	l->name += more;
	for (int i = 0; i < l->n; i++)
		l->cell[i].at += more;
}

void top_layout(const struct top *t, const struct tach_snapshot *s, int width, int first,
		struct top_layout *out)
{
	static const int fixed[] = {TOP_CALLS, TOP_TIME, TOP_SELF, TOP_THREADS, TOP_AVG};
	int extra[TOP_CELLS], n = find_extras(t, s, extra), fits = 1;

	memset(out, 0, sizeof *out);
	out->name = width >= 60 ? NAME : NAME_LEAST;
	out->extras = n;
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed && fits; i++)
		fits = add_column(out, s, fixed[i], width);
	if (t->histograms && fits)
		fits = add_column(out, s, TOP_P99, width);
	for (int i = first; i < n; i++) {
		fits = fits && add_column(out, s, extra[i], width);
		out->more += !fits;
	}
	widen_names(out, s, width);
}
