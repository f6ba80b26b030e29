/* SPDX-License-Identifier: MIT */
/* Benchmark results (--json) as an HTML page: a table, and plots over the argument. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/json.h"
#include "core/report/page.h"
#include "core/report/report.h"
#include "core/report/units.h"
#include "tools/tach/commands.h"
#include "tools/tach/report.h"

enum { WIDTH = 460, HEIGHT = 240, LEFT = 74, RIGHT = 14, TOP = 14, BASE = HEIGHT - 44 };

struct result {
	const struct tach__json *object;
	const char *name;
	size_t family;	 /* length of the name without the argument */
	double argument; /* NaN: none */
};

struct results {
	struct tach__arena arena;
	struct result *all;
	size_t n;
};

/* ---- reading ---- */

static const char *word(const struct tach__json *object, const char *key)
{
	const struct tach__json *it = tach__json_member(object, key);

	return it && it->type == TACH__JSON_STRING ? it->text : "";
}

static double get_number(const struct tach__json *object, const char *key)
{
	const struct tach__json *it = object ? tach__json_member(object, key) : NULL;

	return it && it->type == TACH__JSON_NUMBER ? it->number : NAN;
}

static int add_result(struct results *r, const struct tach__json *object)
{
	struct result *more = realloc(r->all, (r->n + 1) * sizeof *more), *to;
	const char *slash;
	char *end;

	if (!more)
		return -1;
	r->all = more;
	to = &more[r->n++];
	to->object = object;
	to->name = word(object, "name");
	slash = strrchr(to->name, '/');
	to->argument = slash ? strtod(slash + 1, &end) : NAN;
	if (slash && (end == slash + 1 || *end))
		to->argument = NAN;
	to->family = isnan(to->argument) ? strlen(to->name) : (size_t)(slash - to->name);
	return 0;
}

int report_bench_is(const char *text)
{
	text += strspn(text, " \t\r\n");
	return strncmp(text, "{\"schema\":\"tach-bench-", 22) == 0;
}

/* An object a line. */
static int read_all(struct results *r, const char *text, const char *file)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__json *object;
	int line = 1;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n', line++) {
		size_t length = strcspn(text, "\n");

		if (strspn(text, " \t\r\n") >= length)
			continue;
		if (tach__json_read(&object, &r->arena, text, length, &err) != 0) {
			fprintf(stderr, "tach report: %s:%d:%d: %s\n", file, line, err.column,
				err.text);
			return -1;
		}
		if (strcmp(word(object, "schema"), "tach-bench-1") != 0) {
			fprintf(stderr, "tach report: %s:%d: no result of a benchmark\n", file,
				line);
			return -1;
		}
		if (add_result(r, object) != 0)
			return -1;
	}
	return 0;
}

/* ---- writing ---- */

static int is_time(const char *quantity)
{
	return strncmp(quantity, "time", 4) == 0 || strcmp(quantity, "cpu time") == 0;
}

static void format_value(char to[TACH__UNIT_MAX], const char *quantity, double value)
{
	if (!isfinite(value))
		strcpy(to, "-");
	else if (is_time(quantity))
		tach__unit_time(to, value);
	else
		snprintf(to, TACH__UNIT_MAX, "%.4g", value);
}

static const struct tach__json *value_of(const struct result *r, const char *quantity)
{
	const struct tach__json *values = tach__json_member(r->object, "values");

	for (const struct tach__json *v = values ? values->kid : NULL; v; v = v->next)
		if (strcmp(word(v, "name"), quantity) == 0)
			return v;
	return NULL;
}

struct axis {
	double from, to; /* logarithms, if the axis is logarithmic */
	int is_log;
};

static double position_on(const struct axis *a, double v)
{
	v = a->is_log ? log10(v) : v;
	return a->to > a->from ? fmin(fmax((v - a->from) / (a->to - a->from), 0), 1) : 0.5;
}

static void stretch_axis(struct axis *a, double least, double most, double far, int from_zero)
{
	a->is_log = least > 0 && most / least >= far;
	a->from = a->is_log ? log10(least) : from_zero ? fmin(least, 0) : least;
	a->to = a->is_log ? log10(most) : most;
}

static void write_coordinate(struct tach__out *out, const char *name, double v)
{
	int tenths = (int)(v * 10 + 0.5);

	tach__out(out, " %s=\"%d.%d\"", name, tenths / 10, tenths % 10);
}

static double x_of(const struct axis *x, double v)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * position_on(x, v);
}

static double y_of(const struct axis *y, double v)
{
	return BASE - (BASE - TOP) * position_on(y, v);
}

static void write_label(struct tach__out *out, double x, double y, const char *anchor,
			const char *words)
{
	tach__out_text(out, "<text");
	write_coordinate(out, "x", x);
	write_coordinate(out, "y", y);
	tach__out(out, " text-anchor=\"%s\">", anchor);
	tach__report_html_text(out, words);
	tach__out_text(out, "</text>");
}

static void write_line(struct tach__out *out, const char *class, double x1, double y1,
		       double x2, double y2)
{
	tach__out(out, "<line class=\"%s\"", class);
	write_coordinate(out, "x1", x1);
	write_coordinate(out, "y1", y1);
	write_coordinate(out, "x2", x2);
	write_coordinate(out, "y2", y2);
	tach__out_text(out, "/>");
}

static void write_axes(struct tach__out *out, const struct axis *x, const struct axis *y,
		       const char *quantity)
{
	char words[TACH__UNIT_MAX + 160];

	write_line(out, "axis", LEFT, BASE, WIDTH - RIGHT, BASE);
	write_line(out, "axis", LEFT, TOP, LEFT, BASE);
	for (int i = 0; i <= 3; i++) {
		double v = y->from + (y->to - y->from) * i / 3;
		char unit[TACH__UNIT_MAX];

		format_value(unit, quantity, y->is_log ? pow(10, v) : v);
		write_label(out, LEFT - 6, BASE - (BASE - TOP) * i / 3.0 + 4, "end", unit);
	}
	snprintf(words, sizeof words, "argument%s \u00b7 upwards: %.80s of an iteration%s",
		 x->is_log ? ", logarithmic" : "", quantity, y->is_log ? ", logarithmic" : "");
	write_label(out, (LEFT + WIDTH) / 2.0, HEIGHT - 6, "middle", words);
}

/* Plots results first..first+n-1, which belong to one family. */
static void write_plot(struct tach__out *out, const struct result *first, size_t n,
		       const char *quantity)
{
	double least = INFINITY, most = -INFINITY, low = INFINITY, high = -INFINITY, before = 0;
	struct axis x, y;
	char family[160];

	snprintf(family, sizeof family, "%.*s", (int)first->family, first->name);
	for (size_t i = 0; i < n; i++) {
		const struct tach__json *v = value_of(&first[i], quantity);

		least = fmin(least, first[i].argument);
		most = fmax(most, first[i].argument);
		low = fmin(low, fmin(get_number(v, "low"), get_number(v, "median")));
		high = fmax(high, fmax(get_number(v, "high"), get_number(v, "median")));
	}
	if (!(most > least) || !isfinite(low) || !isfinite(high))
		return;
	stretch_axis(&x, least, most, 8, 0);
	stretch_axis(&y, low, high, 50, 1);
	tach__out_text(out, "<figure class=\"card\"><h3>");
	tach__report_html_text(out, family);
	tach__out_text(out, "</h3><p>");
	tach__report_html_text(out, quantity);
	tach__out(out,
		  "</p><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Result over "
		  "argument\">",
		  WIDTH, HEIGHT);
	write_axes(out, &x, &y, quantity);
	for (size_t i = 0; i < n; i++) {
		const struct tach__json *v = value_of(&first[i], quantity);
		double px = x_of(&x, first[i].argument), median = get_number(v, "median");
		char unit[TACH__UNIT_MAX], argument[40];

		if (!isfinite(median))
			continue;
		if (i && isfinite(before))
			write_line(out, "trend", x_of(&x, first[i - 1].argument), before, px,
				   y_of(&y, median));
		before = y_of(&y, median);
		write_line(out, "error", px, y_of(&y, get_number(v, "low")), px,
			   y_of(&y, get_number(v, "high")));
		format_value(unit, quantity, median);
		tach__out_text(out, "<circle class=\"point\" r=\"4\"");
		write_coordinate(out, "cx", px);
		write_coordinate(out, "cy", before);
		tach__out(out, "><title>%s</title></circle>", unit);
		snprintf(argument, sizeof argument, "%.6g", first[i].argument);
		write_label(out, px, BASE + 16,
			    i == 0	 ? "start"
			    : i + 1 == n ? "end"
					 : "middle",
			    argument);
	}
	tach__out_text(out, "</svg></figure>\n");
}

static void write_plots(struct tach__out *out, const struct results *r)
{
	int any = 0;

	for (size_t i = 0, n; i < r->n; i += n) {
		const struct result *first = &r->all[i];
		const struct tach__json *values = tach__json_member(first->object, "values");

		n = 1;
		while (i + n < r->n && !isnan(first->argument) && !isnan(first[n].argument) &&
		       first[n].family == first->family &&
		       strncmp(first[n].name, first->name, first->family) == 0)
			n++;
		if (n == 1)
			continue;
		if (!any++)
			tach__out_text(
				out,
				"<h2>Results over their argument <small>median, and an "
				"interval that has it</small></h2>\n<div class=\"grid\">\n");
		for (const struct tach__json *v = values ? values->kid : NULL; v; v = v->next)
			write_plot(out, first, n, word(v, "name"));
	}
	if (any)
		tach__out_text(out, "</div>\n");
}

static void write_cell(struct tach__out *out, const char *key, const char *quantity,
		       double value)
{
	char unit[TACH__UNIT_MAX];

	format_value(unit, quantity, value);
	tach__out(out, "<td data-k=\"%s\">", key);
	tach__report_html_text(out, unit);
	tach__out_text(out, "</td>");
}

static void write_table(struct tach__out *out, const struct results *r)
{
	tach__out_text(
		out,
		"<h2>Results</h2>\n<div class=\"card scroll\"><table id=\"worst\">"
		"<thead><tr><th scope=\"col\">benchmark</th><th scope=\"col\">quantity</th>"
		"<th scope=\"col\">median</th><th scope=\"col\">low</th>"
		"<th scope=\"col\">high</th><th scope=\"col\">samples</th></tr></thead>\n"
		"<tbody>\n");
	for (size_t i = 0; i < r->n; i++) {
		const struct tach__json *values = tach__json_member(r->all[i].object, "values");

		for (const struct tach__json *v = values ? values->kid : NULL; v; v = v->next) {
			const char *quantity = word(v, "name");

			tach__out_text(out, "<tr><th scope=\"row\">");
			tach__report_html_text(out, r->all[i].name);
			tach__out_text(out, "</th><td data-k=\"quantity\">");
			tach__report_html_text(out, quantity);
			tach__out_text(out, "</td>");
			write_cell(out, "median", quantity, get_number(v, "median"));
			write_cell(out, "low", quantity, get_number(v, "low"));
			write_cell(out, "high", quantity, get_number(v, "high"));
			write_cell(out, "samples", "", get_number(v, "samples"));
			tach__out_text(out, "</tr>\n");
		}
	}
	tach__out_text(out, "</tbody></table></div>\n");
}

static void write_origin(struct tach__out *out, const struct result *first)
{
	static const char *const key[] = {"host", "machine", "date"};
	static const char *const name[] = {"Host", "Machine", "Date"};

	tach__out_text(out, "<dl class=\"origin\">");
	for (int i = 0; i < 3; i++) {
		const char *what = word(first->object, key[i]);
		char day[16], hour[16], date[64];

		if (!*what)
			continue;
		/* Shows the date in the same form as other pages. */
		if (i == 2 && sscanf(what, "%15[0-9-]T%15[0-9:]+00:00", day, hour) == 2) {
			snprintf(date, sizeof date, "%s %s UTC", day, hour);
			what = date;
		}
		tach__out(out, "<div><dt>%s</dt><dd>", name[i]);
		tach__report_html_text(out, what);
		tach__out_text(out, "</dd></div>");
	}
	tach__out_text(out, "</dl>\n");
}

static void write_page(struct tach__out *out, const struct results *r)
{
	tach__page_begin(out);
	tach__out_text(out, "tach benchmarks");
	tach__page_heading(out, NULL, "benchmarks", 0);
	if (r->n)
		write_origin(out, r->all);
	write_plots(out, r);
	write_table(out, r);
	tach__out_text(out, "</main>\n<footer>Everything here is in this one file.</footer>\n"
			    "</body>\n</html>\n");
}

int report_bench(const char *json, const char *file, FILE *to)
{
	struct results r = {.n = 0};
	struct tach__out out;
	int code = read_all(&r, json, file);

	if (!code) {
		tach__out_open(&out, stream_sink, to);
		write_page(&out, &r);
		code = tach__out_flush(&out);
		if (code)
			fprintf(stderr, "tach report: %s\n", tach_strerror(code));
	}
	free(r.all);
	tach__arena_free(&r.arena);
	return code ? -1 : 0;
}
