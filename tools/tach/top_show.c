/* SPDX-License-Identifier: MIT */
/* What `tach top` shows of an interval: a table that fits the terminal, or JSON. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "core/report/report.h"
#include "tools/tach/commands.h"
#include "tools/tach/top.h"

enum { NAME = 22, CELL = 11, FIXED = NAME + 10 + 8 + 8 + 8, HEAD = 4, WORST = 5 };

/* Columns: these, then the quantities after time, then the metrics. */
enum { CALLS, TIME, SELF, THREADS, COUNTED };
static const char *const fixed[] = {"calls", "time", "self", "threads"};

struct line {
	int region;
	double key;
};

static int nquantities(const struct tach_snapshot *s)
{
	return tach_snapshot_nquantities(s) - 1;
}

static int ncolumns(const struct tach_snapshot *s)
{
	return COUNTED + nquantities(s) + tach_snapshot_nmetrics(s);
}

static const char *column_name(const struct tach_snapshot *s, int c)
{
	if (c < COUNTED)
		return fixed[c];
	c -= COUNTED;
	return c < nquantities(s) ? tach_snapshot_quantity(s, c + 1)
				  : tach_snapshot_metric(s, c - nquantities(s));
}

int top_column(const struct tach_snapshot *s, const char *name)
{
	for (int c = 0; c < ncolumns(s); c++)
		if (strcmp(column_name(s, c), name) == 0)
			return c;
	return -1;
}

static double quantity(const struct tach_snapshot *s, int r, int q, enum tach_part part)
{
	struct tach_value v = {0};

	tach_snapshot_value(s, r, q, part, &v);
	return v.value;
}

/* Per second, but metrics, which are what they are, and times: seconds in a second. */
static double cell(const struct tach_snapshot *s, int r, int c, double seconds)
{
	struct tach_region_info info = {.size = sizeof info};
	struct tach_value v = {0};

	tach_snapshot_region(s, r, &info);
	switch (c) {
	case CALLS:
		return (double)info.entries / seconds;
	case TIME:
		return quantity(s, r, 0, TACH_PART_INCLUSIVE) / 1e9 / seconds;
	case SELF:
		return quantity(s, r, 0, TACH_PART_SELF) / 1e9 / seconds;
	case THREADS:
		return info.threads;
	default:
		c -= COUNTED;
		if (c < nquantities(s))
			return quantity(s, r, c + 1, TACH_PART_INCLUSIVE) / seconds;
		tach_snapshot_derived(s, r, c - nquantities(s), TACH_PART_INCLUSIVE, &v);
		return v.value;
	}
}

/* NaN, of a division by zero, comes last. */
static int by_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	double p = isnan(x->key) ? -1 : x->key, q = isnan(y->key) ? -1 : y->key;

	return p != q ? (p < q) - (p > q) : x->region - y->region;
}

/* Regions that did something and are asked for, in their order. */
static int pick(const struct top *t, const struct tach_snapshot *s, double seconds,
		struct line *lines)
{
	int n = 0, column = top_column(s, t->sort);

	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		struct tach_region_info info = {.size = sizeof info};

		tach_snapshot_region(s, r, &info);
		if (info.entries && (!t->filter || fnmatch(t->filter, info.name, 0) == 0))
			lines[n++] = (struct line){r, cell(s, r, column, seconds)};
	}
	qsort(lines, (size_t)n, sizeof *lines, by_key);
	return n;
}

static struct line *lines_new(const struct tach_snapshot *s)
{
	struct line *lines = calloc((size_t)tach_snapshot_nregions(s) + 1, sizeof *lines);

	if (!lines)
		fputs("tach top: out of memory\n", stderr);
	return lines;
}

/* ---- the table ---- */

static void number(char to[CELL + 1], double v)
{
	static const char prefix[] = " kMGTPE";
	int p = 0;

	if (isnan(v)) {
		snprintf(to, CELL + 1, "%*s", CELL - 1, "-");
		return;
	}
	for (; fabs(v) >= 9999.5 && prefix[p + 1]; p++)
		v /= 1000;
	if (p == 0 && v == floor(v))
		snprintf(to, CELL + 1, "%*.0f", CELL - 1, v);
	else
		snprintf(to, CELL + 1, p ? "%*.4g%c" : "%*.4g", p ? CELL - 2 : CELL - 1, v,
			 prefix[p]);
}

static void terminal(int *rows, int *columns)
{
	struct winsize size;

	*rows = 0;
	*columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		*rows = size.ws_row;
		*columns = size.ws_col;
	}
}

/* Metrics say more than counts, and come first where there is no room for all. */
static int shown_column(const struct tach_snapshot *s, int i)
{
	int m = tach_snapshot_nmetrics(s);

	return COUNTED + (i < m ? nquantities(s) + i : i - m);
}

static void heading(const struct top *t, const struct tach_snapshot *s, double seconds, int n,
		    int extra)
{
	struct tach_counts counts = {.size = sizeof counts};
	char head[128];

	tach_snapshot_counts(s, &counts);
	snprintf(head, sizeof head, "%.30s (%d)  %d regions  %llu threads  %.2f s", t->command,
		 t->process, n, (unsigned long long)counts.threads, seconds);
	printf("%s\n\n%-*s %9s %7s %7s %7s", head, NAME - 1, "REGION", "CALLS/S", "TIME%",
	       "SELF%", "THREADS");
	for (int i = 0; i < extra; i++) {
		int c = shown_column(s, i), rate = c < COUNTED + nquantities(s);

		printf(" %*.*s%s", CELL - 1 - 2 * rate, CELL - 1 - 2 * rate, column_name(s, c),
		       rate ? "/S" : "");
	}
	putchar('\n');
}

static void row(const struct tach_snapshot *s, int r, double seconds, int extra)
{
	struct tach_region_info info = {.size = sizeof info};
	char text[CELL + 1], name[256];

	tach_snapshot_region(s, r, &info);
	tach_printable(info.name, name, sizeof name);
	number(text, cell(s, r, CALLS, seconds));
	printf("%-*.*s %9s %7.1f %7.1f %7.0f", NAME - 1, NAME - 1, name, text + (CELL - 1 - 9),
	       100 * cell(s, r, TIME, seconds), 100 * cell(s, r, SELF, seconds),
	       cell(s, r, THREADS, seconds));
	for (int i = 0; i < extra; i++) {
		number(text, cell(s, r, shown_column(s, i), seconds));
		printf(" %s", text);
	}
	putchar('\n');
}

/* Of the regions at the top, those that came in this time: the first of each, then the next. */
static void worst_table(const struct tach_snapshot *s, const struct line *lines, int n)
{
	struct tach_worst w = {.size = sizeof w};
	int by = tach_snapshot_worst_by(s), shown = 0;
	char name[256], in[256], value[CELL + 1];

	for (int k = 0; by >= 0 && k < WORST && shown < WORST; k++)
		for (int i = 0; i < n && shown < WORST; i++) {
			struct tach_region_info info = {.size = sizeof info};

			if (tach_snapshot_worst(s, lines[i].region, k, &w) != 0)
				continue;
			if (!shown++)
				printf("\n%-*s %*.*s %-15s %-18s %s\n", NAME - 1, "WORST",
				       CELL - 1, CELL - 1,
				       by ? tach_snapshot_quantity(s, by) : "time ns", "THREAD",
				       "TAG", "IN");
			tach_snapshot_region(s, lines[i].region, &info);
			tach_printable(info.name, name, sizeof name);
			tach_printable(w.parent, in, sizeof in);
			number(value, tach_snapshot_worst_value(s, lines[i].region, k, by));
			printf("%-*.*s %s %-15.15s %#-18llx %.12s\n", NAME - 1, NAME - 1, name,
			       value, w.thread_name, (unsigned long long)w.tag, in);
		}
}

void top_table(const struct top *t, const struct tach_snapshot *s, double seconds)
{
	struct line *lines = lines_new(s);
	int rows, columns, n, extra;

	if (!lines)
		return;
	terminal(&rows, &columns);
	n = pick(t, s, seconds, lines);
	extra = columns > FIXED ? (columns - FIXED) / CELL : 0;
	if (extra > ncolumns(s) - COUNTED)
		extra = ncolumns(s) - COUNTED;
	if (rows && !t->once)
		fputs("\033[H\033[J", stdout);
	heading(t, s, seconds, n, extra);
	for (int i = 0; i < n && (!rows || t->once || i < rows - HEAD); i++)
		row(s, lines[i].region, seconds, extra);
	worst_table(s, lines, n);
	if (!n)
		puts("no region was entered in this time");
	if (!rows && !t->once)
		putchar('\n');
	fflush(stdout);
	free(lines);
}

/* ---- JSON: an object a line ---- */

static void json_worst(struct tach__json_out *json, const struct tach_snapshot *s, int r)
{
	struct tach_worst w = {.size = sizeof w};

	if (tach_snapshot_worst_by(s) < 0)
		return;
	tach__json_array(json, "worst");
	for (int i = 0; tach_snapshot_worst(s, r, i, &w) == 0; i++)
		tach__report_json_worst(json, s, r, i, &w);
	tach__json_end(json);
}

static void json_region(struct tach__json_out *json, const struct tach_snapshot *s, int r,
			double seconds)
{
	struct tach_region_info info = {.size = sizeof info};

	tach_snapshot_region(s, r, &info);
	tach__json_object(json, NULL);
	tach__json_string(json, "name", info.name);
	tach__json_string(json, "file", info.file);
	tach__json_unsigned(json, "line", info.line);
	tach__json_unsigned(json, "entries", info.entries);
	tach__json_unsigned(json, "threads", info.threads);
	tach__json_number(json, "time_ns", quantity(s, r, 0, TACH_PART_INCLUSIVE));
	tach__json_number(json, "self_ns", quantity(s, r, 0, TACH_PART_SELF));
	tach__json_object(json, "counts");
	for (int q = 1; q <= nquantities(s); q++)
		tach__json_number(json, tach_snapshot_quantity(s, q),
				  quantity(s, r, q, TACH_PART_INCLUSIVE));
	tach__json_end(json);
	tach__json_object(json, "metrics");
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++)
		tach__json_number(json, tach_snapshot_metric(s, m),
				  cell(s, r, COUNTED + nquantities(s) + m, seconds));
	tach__json_end(json);
	json_worst(json, s, r);
	tach__json_end(json);
}

void top_json(const struct top *t, const struct tach_snapshot *s, double seconds)
{
	struct tach_counts counts = {.size = sizeof counts};
	struct line *lines = lines_new(s);
	struct json_to to;
	int n;

	if (!lines)
		return;
	tach_snapshot_counts(s, &counts);
	n = pick(t, s, seconds, lines);
	json_begin(&to, stdout, TACH__JSON_COMPACT);
	tach__json_object(&to.json, NULL);
	tach__json_int(&to.json, "tach-top", 1);
	tach__json_int(&to.json, "pid", t->process);
	tach__json_string(&to.json, "command", t->command);
	tach__json_int(&to.json, "time", (int)time(NULL));
	tach__json_number(&to.json, "seconds", seconds);
	tach__json_unsigned(&to.json, "threads", counts.threads);
	tach__json_unsigned(&to.json, "stale", counts.stale);
	tach__json_string(&to.json, "note", tach_snapshot_missing(s));
	tach__json_array(&to.json, "regions");
	for (int i = 0; i < n; i++)
		json_region(&to.json, s, lines[i].region, seconds);
	tach__json_end(&to.json);
	tach__json_end(&to.json);
	json_end(&to);
	fflush(stdout);
	free(lines);
}
