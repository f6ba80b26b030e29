/* SPDX-License-Identifier: MIT */
/* Prints an interval of `tach top` as plain lines or JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "core/report/report.h"
#include "core/report/units.h"
#include "core/base/utf8.h"
#include "tools/tach/commands.h"
#include "tools/tach/screen.h"
#include "tools/tach/top.h"

void top_title(char *to, size_t size, const struct top *t, const struct top_look *look, int n)
{
	struct tach_counts counts = {.size = sizeof counts};

	tach_snapshot_counts(look->last, &counts);
	snprintf(to, size, "%.30s (%d)  %d regions  %llu threads  %.2f s", t->command,
		 t->process, n, (unsigned long long)counts.threads, look->seconds);
}

/* ---- plain lines ---- */

static int output_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void print_head(const struct tach_snapshot *s, const struct top_layout *l)
{
	char text[256];

	fit_text(text, sizeof text, "REGION", l->name, 0);
	fputs(text, stdout);
	for (int i = 0; i < l->n; i++) {
		int width = l->cell[i].width;

		top_heading(text, sizeof text, s, l->cell[i].column, width);
		printf(" %*s%s", width - tach__utf8_width(text), "", text);
	}
	putchar('\n');
}

static void print_row(const struct top_look *look, int r, const struct top_layout *l)
{
	struct tach_region_info info = {.size = sizeof info};
	char text[4096];

	tach_snapshot_region(look->between, r, &info);
	fit_text(text, sizeof text, info.name, l->name, 0);
	fputs(text, stdout);
	for (int i = 0; i < l->n; i++) {
		top_cell_text(text, sizeof text, look->between, r, l->cell[i].column,
			      look->seconds);
		printf(" %*s", l->cell[i].width, text);
	}
	putchar('\n');
}

static void print_worst(const struct tach_snapshot *s, const struct top_line *lines, int n)
{
	char text[TOP_WORST + 1][512];
	int shown = top_worst(s, lines, n, text);

	for (int i = 0; shown && i <= shown; i++)
		printf("%s%s\n", i ? "" : "\n", text[i]);
}

void top_table(const struct top *t, const struct top_look *look)
{
	struct top_layout layout;
	struct top_line *lines;
	char title[256];
	int n;

	lines = top_pick(t, look->between, look->seconds, &n);
	if (!lines)
		return;
	top_layout(t, look->between, output_width(), 0, &layout);
	top_title(title, sizeof title, t, look, n);
	printf("%s\n\n", title);
	print_head(look->between, &layout);
	for (int i = 0; i < n; i++)
		print_row(look, lines[i].region, &layout);
	print_worst(look->between, lines, n);
	if (!n)
		puts("no region was entered in this time");
	if (!t->once)
		putchar('\n');
	fflush(stdout);
	free(lines);
}

/* ---- JSON: one object per line ---- */

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

static double quantity_value(const struct tach_snapshot *s, int r, int q, enum tach_part part)
{
	struct tach_value v = {0};

	tach_snapshot_value(s, r, q, part, &v);
	return v.value;
}

static double metric_value(const struct tach_snapshot *s, int r, int m)
{
	struct tach_value v = {0};

	tach_snapshot_derived(s, r, m, TACH_PART_INCLUSIVE, &v);
	return v.value;
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
	tach__json_number(json, "time_ns", quantity_value(s, r, 0, TACH_PART_INCLUSIVE));
	tach__json_number(json, "self_ns", quantity_value(s, r, 0, TACH_PART_SELF));
	tach__json_number(json, "avg_ns", top_cell(s, r, TOP_AVG, seconds));
	tach__json_number(json, "p99_ns", top_cell(s, r, TOP_P99, seconds));
	tach__json_object(json, "counts");
	for (int q = tach__column_next(s, 0); q < tach_snapshot_nquantities(s);
	     q = tach__column_next(s, q))
		tach__json_number(json, tach_snapshot_quantity(s, q),
				  quantity_value(s, r, q, TACH_PART_INCLUSIVE));
	tach__json_end(json);
	tach__json_object(json, "metrics");
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++)
		tach__json_number(json, tach_snapshot_metric(s, m), metric_value(s, r, m));
	tach__json_end(json);
	json_worst(json, s, r);
	tach__json_end(json);
}

void top_json(const struct top *t, const struct top_look *look)
{
	struct tach_counts counts = {.size = sizeof counts};
	const struct tach_snapshot *s = look->between;
	struct top_line *lines;
	struct json_to to;
	int n;

	lines = top_pick(t, s, look->seconds, &n);

	if (!lines)
		return;
	tach_snapshot_counts(s, &counts);
	json_begin(&to, stdout, TACH__JSON_COMPACT);
	tach__json_object(&to.json, NULL);
	tach__json_int(&to.json, "tach-top", 1);
	tach__json_int(&to.json, "pid", t->process);
	tach__json_string(&to.json, "command", t->command);
	tach__json_int(&to.json, "time", (int)time(NULL));
	tach__json_number(&to.json, "seconds", look->seconds);
	tach__json_unsigned(&to.json, "threads", counts.threads);
	tach__json_unsigned(&to.json, "stale", counts.stale);
	tach__json_string(&to.json, "note", tach_snapshot_missing(s));
	tach__json_array(&to.json, "regions");
	for (int i = 0; i < n; i++)
		json_region(&to.json, s, lines[i].region, look->seconds);
	tach__json_end(&to.json);
	tach__json_end(&to.json);
	json_end(&to);
	fflush(stdout);
	free(lines);
}
