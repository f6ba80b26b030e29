/* SPDX-License-Identifier: MIT */
/* Writes samples in the formats of other tools. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/os/buffer.h"
#include "tools/tach/commands.h"
#include "tools/tach/samples.h"

/* All series of one region and place. */
struct benchmark {
	struct series *const *list;
	size_t n;
	char name[512];
	const struct series *time; /* NULL: not measured */
};

static const struct series *find(const struct benchmark *b, const char *quantity)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->list[i]->quantity, quantity) == 0)
			return b->list[i];
	return NULL;
}

/* ---- google-benchmark: one object for each repetition, times in nanoseconds ---- */

/* Names that have another meaning in google-benchmark's format than a counter. */
static int is_reserved(const char *quantity)
{
	static const char *const words[] = {"name",
					    "run_name",
					    "run_type",
					    "family_index",
					    "repetitions",
					    "repetition_index",
					    "threads",
					    "iterations",
					    "real_time",
					    "cpu_time",
					    "time_unit",
					    "label",
					    "error_occurred",
					    "error_message",
					    "big_o",
					    "rms",
					    "aggregate_name",
					    "aggregate_unit",
					    "time",
					    "cpu time",
					    "per_family_instance_index"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], quantity) == 0)
			return 1;
	return 0;
}

static void write_google(struct tach__json_out *json, const struct benchmark *b)
{
	const struct series *cpu = find(b, "cpu time");

	for (size_t i = 0; i < b->time->n; i++) {
		tach__json_line(json, 4);
		tach__json_object(json, NULL);
		tach__json_string(json, "name", b->name);
		tach__json_string(json, "run_name", b->name);
		tach__json_string(json, "run_type", "iteration");
		tach__json_unsigned(json, "repetitions", b->time->n);
		tach__json_unsigned(json, "repetition_index", i);
		tach__json_unsigned(json, "threads", 1);
		tach__json_unsigned(json, "iterations", 1);
		tach__json_number(json, "real_time", b->time->value[i]);
		tach__json_number(json, "cpu_time",
				  cpu && i < cpu->n ? cpu->value[i] : b->time->value[i]);
		tach__json_string(json, "time_unit", "ns");
		for (size_t k = 0; k < b->n; k++)
			if (!is_reserved(b->list[k]->quantity) && i < b->list[k]->n)
				tach__json_number(json, b->list[k]->quantity,
						  b->list[k]->value[i]);
		tach__json_end(json);
	}
}

/* ---- hyperfine: seconds ---- */

static double mean_of(const struct series *s)
{
	double sum = 0;

	for (size_t i = 0; s && i < s->n; i++)
		sum += s->value[i];
	return s ? sum / (double)s->n : NAN;
}

static void write_hyperfine(struct tach__json_out *json, const struct benchmark *b)
{
	double mean = mean_of(b->time), least = INFINITY, most = -INFINITY, squares = 0;

	for (size_t i = 0; i < b->time->n; i++) {
		least = fmin(least, b->time->value[i]);
		most = fmax(most, b->time->value[i]);
		squares += (b->time->value[i] - mean) * (b->time->value[i] - mean);
	}
	tach__json_line(json, 4);
	tach__json_object(json, NULL);
	tach__json_string(json, "command", b->name);
	tach__json_number(json, "mean", mean / 1e9);
	tach__json_number(json, "stddev", sqrt(squares / ((double)b->time->n - 1)) / 1e9);
	tach__json_number(json, "median", series_median(b->time).median / 1e9);
	tach__json_number(json, "user", mean_of(find(b, "user")) / 1e9);
	tach__json_number(json, "system", mean_of(find(b, "system")) / 1e9);
	tach__json_number(json, "min", least / 1e9);
	tach__json_number(json, "max", most / 1e9);
	tach__json_array(json, "times");
	for (size_t i = 0; i < b->time->n; i++)
		tach__json_number(json, NULL, b->time->value[i] / 1e9);
	tach__json_end(json);
	tach__json_end(json);
}

/* ---- Bencher and github-action-benchmark: a median, and an interval that contains it ---- */

static void write_bmf(struct tach__json_out *json, const struct benchmark *b)
{
	tach__json_line(json, 2);
	tach__json_object(json, b->name);
	for (size_t i = 0; i < b->n; i++) {
		const struct series *s = b->list[i];
		struct series_median is = series_median(s);

		/* Bencher's own measure of time in nanoseconds. */
		tach__json_object(json, s == b->time ? "latency" : s->quantity);
		tach__json_number(json, "value", is.median);
		tach__json_number(json, "lower_value", is.low);
		tach__json_number(json, "upper_value", is.high);
		tach__json_end(json);
	}
	tach__json_end(json);
}

/* Omits metrics, because for some of them a larger value is better. */
static void write_github(struct tach__json_out *json, const struct benchmark *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct series *s = b->list[i];
		struct series_median is = series_median(s);
		char text[sizeof b->name + 300];

		if (s->kind == SERIES_METRIC)
			continue;
		tach__json_line(json, 2);
		tach__json_object(json, NULL);
		snprintf(text, sizeof text, "%s: %.290s", b->name, s->quantity);
		tach__json_string(json, "name", text);
		tach__json_string(json, "unit", s->kind == SERIES_TIME ? "ns" : s->quantity);
		tach__json_number(json, "value", is.median);
		snprintf(text, sizeof text, "\u00b1 %.2f",
			 fmax(is.high - is.median, is.median - is.low));
		tach__json_string(json, "range", text);
		tach__json_end(json);
	}
}

/* ---- all ---- */

static const struct format {
	const char *name, *list; /* list: name of the member with the benchmarks; NULL: none */
	int is_array, needs_time;
	void (*write)(struct tach__json_out *json, const struct benchmark *b);
} formats[] = {{"google-benchmark", "benchmarks", 1, 1, write_google},
	       {"hyperfine", "results", 1, 1, write_hyperfine},
	       {"bmf", NULL, 0, 0, write_bmf},
	       {"github-action-benchmark", NULL, 1, 0, write_github}};

int samples_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void open_list(struct tach__json_out *json, const struct format *f)
{
	char version[64];

	if (f->list)
		tach__json_object(json, NULL);
	if (f->write == write_google) {
		snprintf(version, sizeof version, "tach %s", tach_version());
		tach__json_object(json, "context");
		tach__json_string(json, "executable", version);
		tach__json_end(json);
	}
	if (f->is_array)
		tach__json_array(json, f->list);
	else
		tach__json_object(json, f->list);
}

/* Returns how many regions were written. */
static size_t write_all(struct samples *s, const struct format *f, struct tach__out *out,
			size_t *left_out)
{
	struct tach__json_out json;
	size_t written = 0;

	*left_out = 0;
	samples_mark_twins(s);
	samples_sort(s);
	tach__json_begin(&json, out, TACH__JSON_SPACED);
	open_list(&json, f);
	for (size_t from = 0, end; from < s->n; from = end) {
		struct benchmark b = {.list = s->list + from};

		series_label(s->list[from], s->list[from]->twin, b.name, sizeof b.name);
		for (end = from + 1;
		     end < s->n && series_share_place(s->list[from], s->list[end]);)
			end++;
		b.n = end - from;
		b.time = find(&b, "time");
		if (b.time || !f->needs_time)
			f->write(&json, &b);
		written += b.time || !f->needs_time;
		*left_out += !b.time && f->needs_time;
	}
	tach__json_end(&json);
	if (f->list)
		tach__json_end(&json);
	tach__out_text(out, "\n");
	return written;
}

int samples_convert(char *const *files, int n, int format, const char *output)
{
	static const char who[] = "tach report";
	struct tach__buffer text = {0};
	struct samples s = {0};
	size_t written, left_out;
	struct tach__out out;
	int code = 0;

	for (int i = 0; i < n && !code; i++)
		code = samples_load(&s, files[i], who);
	if (!code) {
		tach__out_open(&out, tach__buffer_sink, &text);
		written = write_all(&s, &formats[format], &out, &left_out);
		if (left_out || !written)
			fprintf(stderr, "%s: %s: %zu regions have no time and are left out%s\n",
				who, formats[format].name, left_out,
				written ? "" : ": nothing is written");
		code = written && tach__out_flush(&out) == 0
			       ? deliver(who, output, stdout, &text)
			       : -1;
	}
	tach__buffer_free(&text);
	samples_free(&s);
	return code ? EXIT_NO : EXIT_DONE;
}
