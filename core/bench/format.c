/* SPDX-License-Identifier: MIT */
/*
 * A finished benchmark as text, and as JSON. One object is in one line:
 *
 *   "schema"     "tach-bench-1"
 *   "name" "iterations" "passes" "drift" "confidence"
 *   "unit" "units"            if it has units.
 *   "threads"                 if there are several.
 *   "date" "host" "machine"   if known.
 *   "values"     [{name, median, mad, low, high, confidence, empty, resolution, samples,
 *                outliers, flags, pass, sample: [each, in the order taken]}]
 *                A value of one thread has `thread`. A value that is shown per time has
 *                rate 1.
 *   "missing"
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/bench/bench.h"
#include "core/bench/context.h"
#include "core/bench/row.h"
#include "core/base/json_out.h"

/* Works like snprintf: truncates to size, and returns the whole length. */
struct room {
	char *at;
	size_t size, length;
};

static int append(void *context, const char *text, size_t length)
{
	struct room *r = context;

	if (r->length + 1 < r->size) {
		size_t room = r->size - r->length - 1, n = length < room ? length : room;

		memcpy(r->at + r->length, text, n);
		r->at[r->length + n] = '\0';
	}
	r->length += length;
	return 0;
}

/*
 * Writes the time of one unit, and the rate per second: for several threads, the rate of all
 * together.
 */
static void write_rate(struct tach__out *out, const char *unit, double units, double ns)
{
	char label[96], cell[128];

	snprintf(label, sizeof label, "per %.64s, ns", unit);
	tach_printable(label, label, sizeof label);
	tach__bench_rate(cell, sizeof cell, units, ns, unit);
	tach__out(out, "  %-24s %14.4f  %s\n", label, units > 0 ? ns / units : 0, cell);
}

/* Writes the label of a value: times have a unit, threads a number. */
static void label_of(char *label, size_t size, const struct tach_bench_quantity *v)
{
	const char *unit = strncmp(v->name, "time", strlen("time")) == 0 ||
					   strcmp(v->name, TACH__BENCH_CPU) == 0
				   ? ", ns"
				   : "";

	if (v->thread)
		snprintf(label, size, "thread %u: %s%s", v->thread, v->name, unit);
	else
		snprintf(label, size, "%s%s", v->name, unit);
	tach_printable(label, label, size);
}

static void write_rates(struct tach__out *out, const struct tach_bench *b)
{
	struct tach_bench_quantity pace = {.size = sizeof pace}, v = {.size = sizeof v};

	if (tach_bench_value(b, (int)(tach__bench_pace(b) - b->series), &pace) != 0 ||
	    (pace.flags & TACH_FLAG_SMALL))
		return;
	if (b->unit)
		write_rate(out, b->unit, b->units, pace.median);
	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++)
		if (v.rate)
			write_rate(out, v.name, v.median, pace.median);
}

static void format_text(struct tach__out *out, const struct tach_bench *b)
{
	struct tach_bench_quantity v = {.size = sizeof v};
	char label[96], name[128];

	tach_printable(b->name, name, sizeof name);
	tach__out(out, "%s: %llu iterations a sample%s\n", name,
		  (unsigned long long)b->iterations, b->npasses > 1 ? ", several passes" : "");
	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++) {
		label_of(label, sizeof label, &v);
		tach__out(out, "  %-24s %14.4f  +- %-10.4f %5.1f %% in [%.4f, %.4f]  n %u",
			  label, v.median, v.mad, 100 * v.confidence, v.low, v.high, v.samples);
		if (v.outliers)
			tach__out(out, " (%u far off)", v.outliers);
		if (v.flags & TACH_FLAG_SMALL)
			tach__out_text(out,
				       "  below resolution: the body takes no measurable time");
		if (v.flags & TACH_FLAG_CORRECTED)
			tach__out_text(out, "  less one for every interrupt");
		tach__out_text(out, "\n");
	}
	write_rates(out, b);
	if (b->drift > 0.01)
		tach__out(out,
			  "  the passes differ by %.1f %% in instructions: not the same work\n",
			  100 * b->drift);
}

static void write_quantity(struct tach__json_out *json, const struct tach_bench *b, int i,
			   const struct tach_bench_quantity *v)
{
	const struct tach__bench_series *s = &b->series[i];

	tach__json_object(json, NULL);
	tach__json_string(json, "name", v->name);
	tach__json_number(json, "median", v->median);
	tach__json_number(json, "mad", v->mad);
	tach__json_number(json, "low", v->low);
	tach__json_number(json, "high", v->high);
	tach__json_number(json, "confidence", v->confidence);
	tach__json_number(json, "empty", v->empty);
	tach__json_number(json, "resolution", s->resolution);
	tach__json_unsigned(json, "samples", v->samples);
	tach__json_unsigned(json, "outliers", v->outliers);
	tach__json_unsigned(json, "flags", v->flags);
	tach__json_unsigned(json, "pass", v->pass);
	if (v->thread)
		tach__json_unsigned(json, "thread", v->thread);
	if (v->rate)
		tach__json_unsigned(json, "rate", v->rate);
	tach__json_array(json, "sample");
	for (uint32_t k = 0; k < s->samples; k++)
		tach__json_number(json, NULL, s->sample[k]);
	tach__json_end(json);
	tach__json_end(json);
}

static void format_json(struct tach__out *out, const struct tach_bench *b)
{
	struct tach_bench_quantity v = {.size = sizeof v};
	struct tach__json_out json;

	tach__json_begin(&json, out, TACH__JSON_COMPACT);
	tach__json_object(&json, NULL);
	tach__json_string(&json, "schema", "tach-bench-1");
	tach__json_string(&json, "name", b->name);
	tach__json_unsigned(&json, "iterations", b->iterations);
	tach__json_int(&json, "passes", b->npasses);
	tach__json_number(&json, "drift", b->drift);
	tach__json_number(&json, "confidence", b->confidence);
	if (b->unit) {
		tach__json_string(&json, "unit", b->unit);
		tach__json_number(&json, "units", b->units);
	}
	if (b->threads > 1)
		tach__json_unsigned(&json, "threads", b->threads);
	if (*b->date)
		tach__json_string(&json, "date", b->date);
	if (*b->host)
		tach__json_string(&json, "host", b->host);
	if (*b->machine)
		tach__json_string(&json, "machine", b->machine);
	tach__json_array(&json, "values");
	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++)
		write_quantity(&json, b, i, &v);
	tach__json_end(&json);
	tach__json_string(&json, "missing", b->missing);
	tach__json_end(&json);
	tach__out_text(out, "\n");
}

int tach_bench_print(const struct tach_bench *bench, enum tach_bench_format format, char *text,
		     size_t size)
{
	struct room room = {text, size, 0};
	struct tach__out out;

	tach__out_open(&out, append, &room);
	if (size)
		text[0] = '\0';
	if (format == TACH_BENCH_JSON)
		format_json(&out, bench);
	else if (format == TACH_BENCH_ROW)
		tach__bench_row(&out, bench);
	else if (format == TACH_BENCH_HEAD)
		tach__bench_head(&out, bench);
	else if (format == TACH_BENCH_GOOGLE)
		tach__bench_google(&out, bench);
	else if (format == TACH_BENCH_CSV)
		tach__bench_csv(&out, bench);
	else if (format == TACH_BENCH_MARKDOWN)
		tach__bench_markdown(&out, bench);
	else
		format_text(&out, bench);
	tach__out_flush(&out);
	return (int)room.length;
}

int tach_bench_context(enum tach_bench_format format, char *text, size_t size)
{
	struct room room = {text, size, 0};
	struct tach__machine machine;
	struct tach__out out;

	tach__machine_look(&machine, "");
	tach__out_open(&out, append, &room);
	if (size)
		text[0] = '\0';
	if (format == TACH_BENCH_GOOGLE)
		tach__machine_google(&out, &machine);
	else
		tach__machine_text(&out, &machine);
	tach__out_flush(&out);
	return (int)room.length;
}
