/* SPDX-License-Identifier: MIT */
/* All details of one region, and the help, as lines of the live view. */
#include <stdio.h>
#include <string.h>
#include "core/base/utf8.h"
#include "core/report/report.h"
#include "core/report/units.h"
#include "tools/tach/commands.h"
#include "tools/tach/screen.h"
#include "tools/tach/top.h"

enum { NAME = 24, CELL = 12 };

static void print_name(FILE *to, const char *name)
{
	char text[256];

	fit_text(text, sizeof text, name, NAME, 0);
	fputs(text, to);
}

/* ---- details ---- */

/* Finds the same region in the interval; -1: not there. */
static int find_between(const struct top_look *look, const struct tach_region_info *like)
{
	struct tach_region_info info = {.size = sizeof info};

	for (int r = 0; look->between && tach_snapshot_region(look->between, r, &info) == 0;
	     r++)
		if (info.line == like->line && strcmp(info.name, like->name) == 0 &&
		    strcmp(info.file, like->file) == 0)
			return r;
	return -1;
}

static void print_fixed(FILE *to, const struct top_look *look, int between)
{
	static const struct {
		int column;
		const char *name;
	} all[] = {{TOP_CALLS, "calls/s"},
		   {TOP_TIME, "time %"},
		   {TOP_SELF, "self %"},
		   {TOP_AVG, "average"},
		   {TOP_P99, "p99"}};

	fprintf(to, "\nIn the last %.2f s:", look->seconds);
	for (size_t i = 0; i < sizeof all / sizeof *all && between >= 0; i++) {
		char text[64];

		top_cell_text(text, sizeof text, look->between, between, all[i].column,
			      look->seconds);
		fprintf(to, "%s %s %s", i ? "," : "", all[i].name, text);
	}
	fputs(between < 0 ? " no call\n" : "\n", to);
}

/* Sparse mode and turns scale a value up to all entries, so it is divided by all calls. */
static double per_call(const struct tach_region_info *info, double value)
{
	double calls = (double)(info->calls + info->skipped);

	return calls > 0 ? value / calls : 0;
}

static void print_quantity(FILE *to, const struct top_look *look, int between, int region,
			   int q)
{
	const struct tach_snapshot *s = look->last;
	struct tach_region_info info = {.size = sizeof info};
	char rate[64] = "-", whole[TACH__UNIT_MAX], call[TACH__UNIT_MAX];
	struct tach_value v = {0};
	int c = TOP_COUNTED + q - 1, metric = q >= tach_snapshot_nquantities(s);

	tach_snapshot_region(s, region, &info);
	tach__column_value(s, region, q, TACH_PART_INCLUSIVE, &v);
	if (between >= 0)
		top_cell_text(rate, sizeof rate, look->between, between, c, look->seconds);
	tach__unit_value(whole, s, q, tach__unit_shown(&v));
	tach__unit_value(call, s, q, per_call(&info, tach__unit_shown(&v)));
	print_name(to, tach__column_name(s, q));
	fprintf(to, " %*s %*s %*s", CELL, rate, CELL, metric ? "" : call, CELL, whole);
	for (const struct tach__flag_name *f = tach__flag_names; f->name; f++)
		if (v.flags & f->flag)
			fprintf(to, " %s", f->name);
	fputc('\n', to);
}

static void print_quantities(FILE *to, const struct top_look *look, int between, int region)
{
	const struct tach_snapshot *s = look->last;
	int n = tach_snapshot_nquantities(s), all = n + tach_snapshot_nmetrics(s);

	for (int q = tach__column_next(s, 0), last = 0; q < all;
	     last = q, q = tach__column_next(s, q)) {
		if (last == 0 || (q >= n && last < n))
			fprintf(to, "\n%-*s %*s %*s %*s\n", NAME, q < n ? "COUNTER" : "METRIC",
				CELL, q < n ? "PER SECOND" : "INTERVAL", CELL,
				q < n ? "PER CALL" : "", CELL, "SINCE START");
		print_quantity(to, look, between, region, q);
	}
}

void top_details(FILE *to, const struct top_look *look, int region, int ascii)
{
	const struct tach_snapshot *s = look->last;
	struct tach_region_info info = {.size = sizeof info};
	char name[256], count[TACH__UNIT_MAX];
	struct tach__out out;
	int between;

	tach_snapshot_region(s, region, &info);
	between = find_between(look, &info);
	tach_printable(info.name, name, sizeof name);
	fprintf(to, "\n%s", name);
	if (*info.file)
		fprintf(to, "  %s:%u", info.file, info.line);
	if (*info.function)
		fprintf(to, "  in %s", info.function);
	tach__unit_count(count, (double)info.entries);
	fprintf(to, "\n%s calls since the start, in %u thread%s\n", count, info.threads,
		info.threads == 1 ? "" : "s");
	print_fixed(to, look, between);
	print_quantities(to, look, between, region);
	tach__out_open(&out, stream_sink, to);
	tach__report_text_histogram(&out, s, region, ascii);
	tach__report_text_worst(&out, s, region, ascii);
	tach__out_flush(&out);
	if (tach_snapshot_buckets(s, region, TACH_QUANTITY_TIME, NULL, 0) <= 0)
		fputs("\nNo histogram: the program was started without "
		      "TACH_HISTOGRAMS=1.\n",
		      to);
	if (tach_snapshot_worst_by(s) < 0)
		fputs("\nNo worst entries: the program was started without TACH_WORST=N.\n",
		      to);
}

/* ---- long lines ---- */

/* Breaks at words, and indents the following lines. */
static void wrap_line(FILE *to, const char *line, int length, int width)
{
	int used = 0, blank = 0;

	while (length > 0) {
		int n = 0, wide;
		char word[512];

		while (n < length && line[n] != ' ')
			n++;
		snprintf(word, sizeof word, "%.*s", n, line);
		wide = tach__utf8_width(word);
		if (used && used + blank + wide > width) {
			fputs("\n    ", to);
			used = 4;
			blank = 0;
		}
		fprintf(to, "%*s%s", blank, "", word);
		used += blank + wide;
		line += n;
		for (blank = 0; n < length && *line == ' '; line++, n++)
			blank++;
		length -= n;
	}
	fputc('\n', to);
}

void top_wrap(FILE *to, const char *text, int width)
{
	while (*text) {
		int length = (int)strcspn(text, "\n");

		if (length > width)
			wrap_line(to, text, length, width);
		else
			fprintf(to, "%.*s\n", length, text);
		text += length + (text[length] == '\n');
	}
}

/* ---- help ---- */

void top_help(FILE *to, const struct top_look *look)
{
	static const char text[] =
		"\n"
		"  q            quit; back from this page\n"
		"  h            this page\n"
		"  s, S         sort by the next column, by the one before\n"
		"  r            reverse the order\n"
		"  f            filter: type part of a name or a pattern such as get_*;\n"
		"               Enter keeps it, Escape drops it\n"
		"  space        pause, go on\n"
		"  p, Enter     details of the marked region: counters, histogram, worst "
		"entries\n"
		"  up, down     mark another region (also PgUp, PgDn, Home, End)\n"
		"  left, right  scroll counters and metrics\n"
		"\n"
		"  CALLS/S      entries that ended, per second\n"
		"  TIME%        time inside with nested regions; 100 is one thread all the "
		"time\n"
		"  SELF%        the same without nested regions\n"
		"  THR          threads that ever entered it\n"
		"  AVG, P99     time of an entry: the average, and what 99 of 100 do not "
		"exceed\n"
		"  NAME/S       a counter, per second; other columns are metrics\n"
		"  ~            scaled or incomplete: the details say which\n"
		"  -            no value\n";

	fputs(text, to);
	if (*tach_snapshot_missing(look->last))
		fprintf(to, "\nAbout this process: %s\n", tach_snapshot_missing(look->last));
}
