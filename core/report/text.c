/* SPDX-License-Identifier: MIT */
/*
 * Writes a table for people. Columns are as wide as their content. If the columns do not fit
 * the terminal, the table continues below, and repeats the names. Errors are percentages.
 * Values that are smaller than their error are in parentheses.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/report/nest.h"
#include "core/report/report.h"
#include "core/report/units.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/os/memory.h"

enum { CELL = TACH__SPREAD_MAX, COLUMNS = 100, NAME_LEAST = 12 };

struct table {
	int rows, columns; /* row 0: headings; column 0: names */
	char (*cell)[CELL];
	int *width; /* per column, in characters */
	int most;   /* in one line */
	int ascii;
	int spread;  /* 1: has a column for the spread of call times */
	char *equal; /* for each region, 1: another region has the same name */
	double time; /* self time of all regions */
	int places;  /* 1: each name has its file and line */
	struct tach__nest nest;
};

static char *cell_at(const struct table *t, int row, int column)
{
	return t->cell[(size_t)row * (size_t)t->columns + (size_t)column];
}

static void value_text(char *to, const struct tach_snapshot *s, int q,
		       const struct tach_value *v)
{
	int small = (v->flags & TACH_FLAG_SMALL) != 0;
	char number[TACH__UNIT_MAX], error[TACH__UNIT_MAX];

	tach__unit_value(number, s, q, tach__unit_shown(v));
	tach__unit_error(error, v);
	if (small && !(v->flags & TACH_FLAG_UNBOUNDED))
		snprintf(to, CELL, "(%s)", number);
	else
		snprintf(to, CELL, "%s%s%s", number, *error ? " " : "", error);
}

/* ---- the table ---- */

static int has_nested_region(const struct tach_snapshot *s)
{
	struct tach_region_info info = {0};

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		if (info.nested)
			return 1;
	return 0;
}

/* Copies a name: well-formed, without control characters, and cut after `most` columns. */
static void name_text(char *to, const char *name, int most)
{
	size_t n = 0;
	int width = 0;

	if (!*name) {
		strcpy(to, "\"\"");
		return;
	}
	while (*name) {
		size_t length = tach__utf8_length(name, 4);
		int odd = length == 0 || !tach__utf8_shown(name, length);
		int wide = odd ? 1 : tach__utf8_columns(name);

		if (n + length + sizeof "\u2026" > CELL ||
		    (width + wide + 1 > most && name[length])) {
			strcpy(to + n, "\u2026");
			return;
		}
		width += wide;
		if (odd)
			to[n++] = '?';
		else
			memcpy(to + n, name, length), n += length;
		name += length ? length : 1;
	}
	to[n] = '\0';
}

static void provenance_text(char *to, const struct tach_snapshot *s, int region)
{
	static const char *const word[] = {"rescheduled", "incomplete", "by read(2)",
					   "scaled",	  "mixed",	"lost"};
	struct tach_region_info info = {0};
	const char *kind;
	struct tach_value v;
	char all[8 * CELL]; /* room for more text than the note can have */
	char beside[TACH__BESIDE_MAX];
	size_t n = 0;

	tach_snapshot_region(s, region, &info);
	tach_snapshot_value(s, region, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE, &v);
	if (v.flags & TACH_FLAG_STALE)
		n += (size_t)snprintf(all + n, sizeof all - n, "stale");
	if ((v.flags & TACH_FLAG_INCOMPLETE) && info.provenance[1] == 0)
		n += (size_t)snprintf(all + n, sizeof all - n, "%sincomplete", n ? ", " : "");
	for (int i = 0; i < 6; i++) {
		if (info.provenance[i] == 0)
			continue;
		n += (size_t)snprintf(all + n, sizeof all - n, "%s", n ? ", " : "");
		if (info.provenance[i] != info.calls)
			n += (size_t)snprintf(all + n, sizeof all - n, "%llu ",
					      (unsigned long long)info.provenance[i]);
		n += (size_t)snprintf(all + n, sizeof all - n, "%s", word[i]);
	}
	for (int i = 0; (kind = tach__report_kind(s, region, i)); i++)
		n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? ", " : "", kind);
	if (!n)
		n = (size_t)snprintf(all, sizeof all, "%s",
				     info.calls == 0			? "not measured"
				     : tach_snapshot_nquantities(s) > 1 ? "exact"
									: "clock");
	for (int i = 0; tach__report_other_entries(beside, &info, i); i++)
		n += (size_t)snprintf(all + n, sizeof all - n, ", %s", beside);
	name_text(to, all, CELL);
}

struct named {
	const char *name;
	int region;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Finds regions with equal names, which need their place. Uses pages, because handlers of
 * deadly signals call this. */
static int find_equal(struct table *t, const struct tach_snapshot *s)
{
	int n = tach_snapshot_nregions(s);
	struct named *all = tach__pages((size_t)n * sizeof *all);
	struct tach_region_info info = {0};

	t->equal = tach__pages((size_t)n);
	for (int r = 0; all && r < n; r++) {
		tach_snapshot_region(s, r, &info);
		all[r] = (struct named){info.name, r};
	}
	if (all && t->equal)
		tach__heapsort(all, (size_t)n, sizeof *all, by_name);
	for (int i = 1; all && t->equal && i < n; i++)
		if (by_name(&all[i - 1], &all[i]) == 0)
			t->equal[all[i - 1].region] = t->equal[all[i].region] = 1;
	tach__pages_free(all, (size_t)n * sizeof *all);
	return all && t->equal;
}

/* Writes " parse.c:12", or only the line if the file's name is long. */
static void place_text(char to[CELL], const struct tach_region_info *info, int most)
{
	const char *slash = strrchr(info->file, '/');
	char file[CELL];

	if (!*info->file)
		return;
	name_text(file, slash ? slash + 1 : info->file, NAME_LEAST + 8);
	if (strlen(file) < CELL / 2 && (int)strlen(file) + 6 <= most / 2)
		snprintf(to, CELL, " %s:%u", file, info->line);
	else
		snprintf(to, CELL, " :%u", info->line);
}

/* Indents the name by its depth, but leaves at least half of the space for the name. */
static void region_text(char *to, const struct table *t, int row,
			const struct tach_region_info *info, int most)
{
	int r = t->nest.region[row - 1], depth = t->nest.depth[row - 1];
	int deepest = most / 2 < CELL / 2 ? most / 2 : CELL / 2;
	int indent = 2 * depth <= deepest ? 2 * depth : deepest;
	char place[CELL] = "", name[CELL];
	int left;

	if (t->places || t->equal[r])
		place_text(place, info, most);
	left = most - (int)strlen(place) - indent;
	name_text(name, info->name, left > 4 ? left : 4);
	/* Cuts the name until all fits the bytes of the cell. */
	while (strlen(name) + strlen(place) + (size_t)indent >= CELL)
		name_text(name, info->name, --left > 4 ? left : 4);
	memset(to, ' ', (size_t)indent);
	strcpy(to + indent, name);
	strcat(to, place);
}

/* Entries that were not measured (warm-up, sparse mode) have no values, not even 0. */
static void cell_value(char *to, const struct tach_snapshot *s, int r, int q,
		       enum tach_part part)
{
	struct tach_region_info info = {0};
	struct tach_value v;

	tach_snapshot_region(s, r, &info);
	tach__column_value(s, r, q, part, &v);
	if (info.calls == 0)
		v = (struct tach_value){.value = NAN};
	value_text(to, s, q, &v);
}

static void fill_row(const struct table *t, const struct tach_snapshot *s, int row, int self,
		     int most)
{
	struct tach_region_info info = {0};
	int r = t->nest.region[row - 1], column = 0;

	tach_snapshot_region(s, r, &info);
	region_text(cell_at(t, row, column++), t, row, &info, most);
	tach__unit_count(cell_at(t, row, column++), (double)tach__report_calls(&info));
	for (int q = 0; q < tach__columns(s); q = tach__column_next(s, q)) {
		cell_value(cell_at(t, row, column++), s, r, q, TACH_PART_INCLUSIVE);
		if (q != TACH_QUANTITY_TIME)
			continue;
		if (self)
			cell_value(cell_at(t, row, column++), s, r, TACH_QUANTITY_TIME,
				   TACH_PART_SELF);
		tach__report_per_call(cell_at(t, row, column++), s, r);
		if (t->spread)
			tach__report_spread(cell_at(t, row, column++), s, r);
		tach__report_share(cell_at(t, row, column++), s, r, t->time);
	}
	provenance_text(cell_at(t, row, column), s, r);
}

static void fill_head(const struct table *t, const struct tach_snapshot *s, int self, int most)
{
	int column = 0;

	snprintf(cell_at(t, 0, column++), CELL, "region");
	snprintf(cell_at(t, 0, column++), CELL, "calls");
	for (int q = 0; q < tach__columns(s); q = tach__column_next(s, q)) {
		name_text(cell_at(t, 0, column++), tach__column_name(s, q), most - 2);
		if (q != TACH_QUANTITY_TIME)
			continue;
		if (self)
			snprintf(cell_at(t, 0, column++), CELL, "self");
		snprintf(cell_at(t, 0, column++), CELL, "per call");
		if (t->spread)
			snprintf(cell_at(t, 0, column++), CELL, "least, 90 %%, most");
		snprintf(cell_at(t, 0, column++), CELL, "share");
	}
	snprintf(cell_at(t, 0, column), CELL, "provenance");
}

/* Replaces characters that a terminal with another character set cannot show. */
static void make_ascii(char *cell)
{
	char was[CELL];
	size_t n = 0;

	strcpy(was, cell);
	for (const char *p = was; *p && n + 3 < CELL;) {
		size_t length = tach__utf8_length(p, 4);
		const char *as = strncmp(p, "\u00b1", 2) == 0	? "+-"
				 : strncmp(p, "\u2026", 3) == 0 ? ".."
				 : (unsigned char)*p >= 0x80	? "?"
								: NULL;

		n += as ? (size_t)snprintf(cell + n, 3, "%s", as) : 1;
		if (!as)
			cell[n - 1] = *p;
		p += length ? length : 1;
	}
	cell[n] = '\0';
}

static int make_table(struct table *t, const struct tach_snapshot *s,
		      const struct tach_report_options *opt)
{
	/* On a narrow terminal the name must leave space for a number next to it. */
	int width = t->most = opt->width ? opt->width : COLUMNS;
	int most = width / 2 > NAME_LEAST ? width / 2 : NAME_LEAST;
	int self = has_nested_region(s);

	t->ascii = opt->ascii;
	t->places = opt->places || tach__report_is_enabled("TACH_PLACES");
	if (t->places) /* leave space for the calls, too */
		most = width - NAME_LEAST > most ? width - NAME_LEAST : most;
	t->time = tach__report_self_time(s);
	t->spread = tach__report_spreads(s);
	t->rows = 1 + tach_snapshot_nregions(s);
	t->columns = 5 + self + t->spread;
	for (int q = 0; q < tach__columns(s); q = tach__column_next(s, q))
		t->columns++;
	t->cell = tach__pages((size_t)t->rows * (size_t)t->columns * CELL);
	t->width = tach__pages((size_t)t->columns * sizeof *t->width);
	if (!t->cell || !t->width || !find_equal(t, s) ||
	    !tach__nest_make(&t->nest, s, opt->tree || tach__report_is_enabled("TACH_TREE")))
		return 0;
	fill_head(t, s, self, most);
	for (int row = 1; row < t->rows; row++)
		fill_row(t, s, row, self, most);
	for (int row = 0; row < t->rows; row++)
		for (int column = 0; column < t->columns; column++) {
			int w;

			if (opt->ascii)
				make_ascii(cell_at(t, row, column));
			w = tach__utf8_width(cell_at(t, row, column));
			if (t->width[column] < w)
				t->width[column] = w;
		}
	return 1;
}

/* Names and provenance are left-aligned, numbers right-aligned. */
static void write_cell(struct tach__out *out, const struct table *t, int row, int column)
{
	const char *text = cell_at(t, row, column);
	int pad = t->width[column] - tach__utf8_width(text);
	int left = column == 0 || column == t->columns - 1;
	char cut[CELL];

	/* The last column may be too wide, even if it is the only one next to the names. */
	if (column == t->columns - 1 && tach__utf8_width(text) > t->most - t->width[0] - 2) {
		name_text(cut, text, t->most - t->width[0] - 2 - t->ascii);
		if (t->ascii)
			make_ascii(cut);
		text = cut;
	}
	if (column == 0)
		tach__out(out, "%s%*s", text, pad, "");
	else if (left)
		tach__out(out, "  %s", text);
	else
		tach__out(out, "  %*s%s", pad, "", text);
}

/* Writes the names and columns from..to-1. `last`: also writes the provenance. */
static void write_block(struct tach__out *out, const struct table *t, int from, int to,
			int last, int color)
{
	for (int row = 0; row < t->rows; row++) {
		if (color && row == 0)
			tach__out(out, "\033[1m");
		write_cell(out, t, row, 0);
		for (int column = from; column < to; column++)
			write_cell(out, t, row, column);
		if (last)
			write_cell(out, t, row, t->columns - 1);
		tach__out(out, color && row == 0 ? "\033[0m\n" : "\n");
	}
}

/* The provenance is in the first block, if there is space for it next to another column. */
static void write_table(struct tach__out *out, const struct table *t,
			const struct tach_report_options *opt)
{
	int provenance = t->width[t->columns - 1], end = t->columns - 1, from = 1;
	int first = t->width[0] + 2 + t->width[1] + 2 + provenance <= t->most;

	while (from < end + !first) {
		int last = first && from == 1, to = from;
		int used = t->width[0] + (last ? 2 + provenance : 0);

		while (to < end + !first) {
			used += 2 + t->width[to];
			if (used > t->most && to > from)
				break;
			to++;
		}
		if (from > 1)
			tach__out(out, "\n");
		write_block(out, t, from, to, last, opt->color);
		from = to;
	}
}

void tach__report_text(struct tach__out *out, const struct tach_snapshot *s,
		       const struct tach_report_options *opt)
{
	struct table t = {0};

	if (tach_snapshot_nregions(s) == 0)
		tach__out(out, "No region was entered.\n");
	else if (make_table(&t, s, opt))
		write_table(out, &t, opt);
	else
		out->lacking = 1;
	tach__report_text_histograms(out, s, opt->ascii);
	tach__report_text_notes(out, s, opt);
	tach__report_text_tree(out, s, opt);
	tach__pages_free(t.cell, (size_t)t.rows * (size_t)t.columns * CELL);
	tach__pages_free(t.width, (size_t)t.columns * sizeof *t.width);
	tach__nest_free(&t.nest);
	tach__pages_free(t.equal, (size_t)tach_snapshot_nregions(s));
}
