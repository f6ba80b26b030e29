/* SPDX-License-Identifier: MIT */
/* Writes a comparison as a table, JSON and CSV, and its output file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/report/deliver.h"
#include "tools/tach/commands.h"
#include "tools/tach/compare.h"

static void format_percent(char *to, size_t size, double share)
{
	if (isfinite(share))
		snprintf(to, size, "%+.2f %%", 100 * share);
	else
		snprintf(to, size, "-");
}

static double signed_bound(const struct compare_line *l)
{
	return l->rule.less ? -l->rule.bound : l->rule.bound;
}

void compare_cells(const struct compare_line *l, char cell[COMPARE_COLUMNS][COMPARE_CELL])
{
	const struct series *s = compare_series(l);

	series_label(s, l->twin, cell[0], COMPARE_CELL);
	tach_printable(s->quantity, cell[1], COMPARE_CELL);
	series_value(s, l->is.old, cell[2], COMPARE_CELL);
	series_value(s, l->is.now, cell[3], COMPARE_CELL);
	format_percent(cell[4], COMPARE_CELL, l->is.change);
	format_percent(cell[5], COMPARE_CELL,
		       l->verdict == COMPARE_UNJUDGED ? NAN : signed_bound(l));
	compare_text(l, cell[6], COMPARE_CELL);
}

static const char *const heads[COMPARE_COLUMNS] = {"region", "quantity", "old",	   "new",
						   "change", "bound",	 "verdict"};

/* Width on a terminal, in characters, not bytes. */
static int width_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void put_cell(struct tach__out *out, const char *text, int width, int left)
{
	int blanks = width - width_of(text);

	blanks = blanks > 0 ? blanks : 0;
	if (left)
		tach__out(out, "%s%*s", text, blanks, "");
	else
		tach__out(out, "%*s%s", blanks, "", text);
}

/* ---- sentences below a table ---- */

static void put_side(struct tach__out *out, const struct samples *s, const char *name)
{
	size_t fewest, most;
	char shown[COMPARE_CELL];

	samples_range(s, &fewest, &most);
	tach_printable(name, shown, sizeof shown);
	tach__out(out, "%s: ", shown);
	if (fewest != most)
		tach__out(out, "%zu to ", fewest);
	tach__out(out, "%zu %s%s", most, s->of ? s->of : "run", most == 1 ? "" : "s");
}

static void put_count(struct tach__out *out, size_t n, const char *what)
{
	if (n)
		tach__out(out, ", %zu %s", n, what);
}

/* Explains why one run is not enough. */
static void put_advice(struct tach__out *out, const struct comparison *c)
{
	size_t fewest[2], most[2];

	samples_range(c->old, &fewest[0], &most[0]);
	samples_range(c->now, &fewest[1], &most[1]);
	if (c->count[COMPARE_UNKNOWN] && (most[0] == 1 || most[1] == 1))
		tach__out_text(
			out,
			"One run of each side is enough only for exact counts: compare folders "
			"with a report of each run, or use tach gate.\n");
}

void compare_sentences(struct tach__out *out, const struct comparison *c)
{
	if (!c->judged) {
		tach__out(out,
			  "No comparison was possible: no region has a quantity on both "
			  "sides%s%s.\n",
			  *c->now->missing ? ": " : "", c->now->missing);
	} else {
		tach__out(out, "%zu of %zu comparisons worse", c->count[COMPARE_WORSE],
			  c->judged);
		put_count(out, c->count[COMPARE_BETTER], "better");
		put_count(out, c->count[COMPARE_UNKNOWN], "undecided");
		put_count(out, c->count[COMPARE_GONE], "gone");
		put_count(out, c->count[COMPARE_NEW], "new");
		tach__out_text(out, ".\n");
	}
	put_side(out, c->old, c->old_name);
	tach__out_text(out, "; ");
	put_side(out, c->now, c->now_name);
	if (*c->now->how)
		tach__out(out, "; %s", c->now->how);
	tach__out(out, ".\nAt most %g %% of comparisons without a change are called worse.\n",
		  100 * c->options->alpha);
	put_advice(out, c);
}

/* ---- formats ---- */

static void write_text(struct tach__out *out, const struct comparison *c)
{
	int width[COMPARE_COLUMNS];
	char cell[COMPARE_COLUMNS][COMPARE_CELL];

	for (int k = 0; k < COMPARE_COLUMNS; k++)
		width[k] = width_of(heads[k]);
	for (size_t i = 0; i < c->n; i++) {
		compare_cells(&c->line[i], cell);
		for (int k = 0; k < COMPARE_COLUMNS; k++)
			if (width_of(cell[k]) > width[k])
				width[k] = width_of(cell[k]);
	}
	for (size_t i = 0; i <= c->n; i++) {
		if (i)
			compare_cells(&c->line[i - 1], cell);
		for (int k = 0; k < COMPARE_COLUMNS; k++) {
			const char *text = i ? cell[k] : heads[k];

			tach__out_text(out, k ? "  " : "");
			put_cell(out, text, k == COMPARE_COLUMNS - 1 ? 0 : width[k],
				 k < 2 || k == COMPARE_COLUMNS - 1);
		}
		tach__out_text(out, "\n");
	}
	tach__out_text(out, "\n");
	compare_sentences(out, c);
}

static const char *unit_of(const struct series *s)
{
	return s->kind == SERIES_TIME ? "ns" : s->kind == SERIES_METRIC ? "" : "count";
}

static void put_json_side(struct tach__json_out *json, const char *key, const struct samples *s,
			  const char *name)
{
	size_t fewest, most;

	samples_range(s, &fewest, &most);
	tach__json_object(json, key);
	tach__json_string(json, "name", name);
	tach__json_string(json, "of", s->of ? s->of : "run");
	tach__json_unsigned(json, "fewest", fewest);
	tach__json_unsigned(json, "most", most);
	tach__json_string(json, "counted", s->how);
	tach__json_string(json, "missing", s->missing);
	tach__json_end(json);
}

static void put_json_line(struct tach__json_out *json, const struct compare_line *l)
{
	const struct series *s = compare_series(l);
	char text[COMPARE_CELL];

	tach__json_line(json, 2);
	tach__json_object(json, NULL);
	series_json(json, s, 0);
	tach__json_string(json, "unit", unit_of(s));
	tach__json_number(json, "old", l->is.old);
	tach__json_number(json, "new", l->is.now);
	tach__json_number(json, "change", l->is.change);
	tach__json_number(json, "low", l->is.low);
	tach__json_number(json, "high", l->is.high);
	tach__json_number(json, "bound", signed_bound(l));
	tach__json_string(json, "verdict", compare_name(l));
	compare_text(l, text, sizeof text);
	tach__json_string(json, "text", text);
	tach__json_end(json);
}

static void write_json(struct tach__out *out, const struct comparison *c)
{
	struct tach__json_out json;

	tach__json_begin(&json, out, TACH__JSON_SPACED);
	tach__json_object(&json, NULL);
	tach__json_unsigned(&json, "tach-diff", 2);
	tach__json_int(&json, "status", compare_status(c));
	tach__json_unsigned(&json, "judged", c->judged);
	tach__json_unsigned(&json, "worse", c->count[COMPARE_WORSE]);
	tach__json_unsigned(&json, "better", c->count[COMPARE_BETTER]);
	tach__json_unsigned(&json, "cannot_tell", c->count[COMPARE_UNKNOWN]);
	tach__json_unsigned(&json, "gone", c->count[COMPARE_GONE]);
	tach__json_unsigned(&json, "new", c->count[COMPARE_NEW]);
	tach__json_number(&json, "alpha", c->options->alpha);
	put_json_side(&json, "old", c->old, c->old_name);
	put_json_side(&json, "now", c->now, c->now_name);
	tach__json_array(&json, "comparisons");
	for (size_t i = 0; i < c->n; i++)
		put_json_line(&json, &c->line[i]);
	tach__json_line(&json, 0);
	tach__json_end(&json);
	tach__json_end(&json);
	tach__out_text(out, "\n");
}

static void write_csv(struct tach__out *out, const struct comparison *c)
{
	tach__out_text(out, "region,file,line,quantity,unit,old,new,change,low,high,bound,"
			    "verdict\r\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_line *l = &c->line[i];
		const struct series *s = compare_series(l);
		const double number[] = {l->is.old, l->is.now,	l->is.change,
					 l->is.low, l->is.high, signed_bound(l)};

		series_csv(out, s, s->quantity);
		tach__out(out, ",%s", unit_of(s));
		for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
			tach__out_text(out, ",");
			tach__out_number(out, number[k], "");
		}
		tach__out(out, ",%s\r\n", compare_name(l));
	}
}

/* ---- where it goes ---- */

static int write_to(const struct comparison *c, enum compare_format format, tach_sink sink,
		    void *context)
{
	static void (*const writers[COMPARE_FORMATS])(struct tach__out *,
						      const struct comparison *) = {
		write_text,    write_json,	 write_csv,
		compare_junit, compare_markdown, compare_html};
	struct tach__out out;

	tach__out_open(&out, sink, context);
	writers[format](&out, c);
	return tach__out_flush(&out);
}

static int write_stream(const struct comparison *c, enum compare_format format, FILE *to)
{
	int code = to ? write_to(c, format, stream_sink, to) : -errno;

	if (to && (to == stdout ? fflush(to) : fclose(to)) != 0 && !code)
		code = -errno;
	return code;
}

/*
 * Replaces a file atomically: it contains either the old text or the complete new text. Writing
 * to a pipe waits for its reader.
 */
static int write_file(const struct comparison *c, const char *file)
{
	enum compare_format format = compare_suffix(c->options, file);
	struct tach__buffer text = {0};
	struct stat status;
	int code;

	if (stat(file, &status) == 0 && !S_ISREG(status.st_mode))
		return write_stream(c, format, fopen(file, "we"));
	code = write_to(c, format, tach__buffer_sink, &text);
	if (!code)
		code = tach__deliver_file(file, 0, &text);
	tach__buffer_free(&text);
	return code;
}

static int print_failure(const struct comparison *c, int code, const char *file)
{
	if (code)
		fprintf(stderr, "%s: %s%s%s\n", c->options->who, file ? file : "",
			file ? ": " : "", tach_strerror(code));
	return code ? EXIT_USAGE : 0;
}

int compare_write(const struct comparison *c)
{
	const struct compare_options *o = c->options;
	int status = 0;

	if (!o->noutputs)
		return print_failure(c, write_stream(c, o->format, stdout), NULL);
	for (size_t i = 0; i < o->noutputs && !status; i++)
		status = print_failure(c, write_file(c, o->output[i]), o->output[i]);
	return status;
}
