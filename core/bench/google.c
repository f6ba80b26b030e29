/* SPDX-License-Identifier: MIT */
/*
 * google-benchmark's JSON (its docs/tools.md). Reads its files. Writes a result that its
 * compare.py can read: each sample is a repetition, so that its U test has the same data as
 * ours.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/bench.h"
#include "core/bench/row.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/json_out.h"

/* ---- writing ---- */

/* Returns NULL if CPU time was not measured. */
static const struct tach__bench_series *cpu_time(const struct tach_bench *b)
{
	for (int i = 1; i < b->nseries; i++)
		if (strcmp(b->series[i].name, TACH__BENCH_CPU) == 0)
			return &b->series[i];
	return NULL;
}

static void write_repetition(struct tach__json_out *json, const struct tach_bench *b,
			     uint32_t k, uint32_t of)
{
	const struct tach__bench_series *time = &b->series[0], *pace = tach__bench_pace(b);
	const struct tach__bench_series *cpu = cpu_time(b);
	double ns = pace->sample[k];
	char rate[64];

	tach__json_object(json, NULL);
	tach__json_string(json, "name", b->name);
	tach__json_string(json, "run_name", b->name);
	tach__json_string(json, "run_type", "iteration");
	tach__json_unsigned(json, "repetitions", of);
	tach__json_unsigned(json, "repetition_index", k);
	tach__json_unsigned(json, "threads", b->threads);
	tach__json_unsigned(json, "iterations", b->iterations);
	tach__json_number(json, "real_time", ns);
	tach__json_number(json, "cpu_time",
			  cpu && k < cpu->samples ? cpu->sample[k] : time->sample[k]);
	tach__json_string(json, "time_unit", "ns");
	if (b->unit) {
		snprintf(rate, sizeof rate, "%.40ss_per_second", b->unit);
		tach__json_number(json, rate, ns > 0 ? b->units * 1e9 / ns : 0);
	}
	for (int i = 1; i < b->nseries; i++) {
		const struct tach__bench_series *s = &b->series[i];

		if (k >= s->samples || s->thread || s == pace || s == cpu)
			continue;
		tach__json_number(json, s->name,
				  !s->rate ? s->sample[k]
				  : ns > 0 ? s->sample[k] * 1e9 / ns
					   : 0);
	}
	tach__json_end(json);
}

void tach__bench_google(struct tach__out *out, const struct tach_bench *b)
{
	/* A result that was read from a file may have different numbers of samples. */
	uint32_t pace = tach__bench_pace(b)->samples, time = b->series[0].samples;
	uint32_t n = pace < time ? pace : time;

	for (uint32_t k = 0; k < n; k++) {
		struct tach__json_out json;

		tach__json_begin(&json, out, TACH__JSON_SPACED);
		write_repetition(&json, b, k, n);
		tach__out_text(out, k + 1 < n ? ",\n" : "");
	}
}

/* ---- reading ---- */

static const char *text_of(const struct tach__json *object, const char *key)
{
	const struct tach__json *v = tach__json_member(object, key);

	return v && v->type == TACH__JSON_STRING ? v->text : "";
}

/* Returns the nanoseconds of one time_unit. */
static double unit_of(const struct tach__json *object)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(text_of(object, "time_unit"), units[i].name) == 0)
			return units[i].ns;
	return 1;
}

static const char *run_name(const struct tach__json *object)
{
	const char *name = text_of(object, "run_name");

	return *name ? name : text_of(object, "name");
}

static int has_failed(const struct tach__json *object)
{
	return tach__json_is_true(object, "error_occurred");
}

/*
 * Collects the times of the file's repetitions. In a file of aggregates it takes the median, or
 * the mean if there is no median. Returns the number of times.
 */
static uint32_t collect_times(const struct tach__json *list, const char *name, double *to)
{
	double median = NAN, mean = NAN;
	uint32_t n = 0;

	for (const struct tach__json *b = list->kid; b; b = b->next) {
		const struct tach__json *time = tach__json_member(b, "real_time");

		if (strcmp(run_name(b), name) != 0 || has_failed(b) || !time ||
		    time->type != TACH__JSON_NUMBER)
			continue;
		if (strcmp(text_of(b, "run_type"), "aggregate") != 0)
			to[n++] = time->number * unit_of(b);
		else if (strcmp(text_of(b, "aggregate_name"), "median") == 0)
			median = time->number * unit_of(b);
		else if (strcmp(text_of(b, "aggregate_name"), "mean") == 0)
			mean = time->number * unit_of(b);
	}
	if (n == 0 && !(isnan(median) && isnan(mean)))
		to[n++] = isnan(median) ? mean : median;
	return n;
}

static int fill(struct tach_bench *b, const struct tach__json *list, const char *name,
		struct tach_error *err)
{
	size_t most = 1;

	for (const struct tach__json *v = list->kid; v; v = v->next)
		most++;
	if (!name)
		name = list->kid ? run_name(list->kid) : "";
	b->confidence = 0.95;
	b->npasses = 1;
	b->threads = 1;
	b->name = strdup(name);
	b->series = calloc(1, sizeof *b->series);
	if (!b->name || !b->series)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	b->nseries = 1;
	b->series[0].name = strdup("time");
	b->series[0].sample = malloc(most * sizeof(double));
	if (!b->series[0].name || !b->series[0].sample)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	b->series[0].samples = collect_times(list, name, b->series[0].sample);
	if (b->series[0].samples)
		return 0;
	return tach__error(err, TACH_ERR_NOTFOUND, list->line, list->column,
			   "no benchmark is called '%s' there", name);
}

int tach_bench_load_google(const char *json, size_t length, const char *name,
			   struct tach_bench **out, struct tach_error *err)
{
	const struct tach__json *list;
	struct tach__arena arena = {0};
	struct tach__json *root;
	int code;

	if (!out || !json)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no text, or nowhere to put it");
	*out = NULL;
	code = tach__json_read(&root, &arena, json, length, err);
	list = code ? NULL : tach__json_member(root, "benchmarks");
	if (!code && (!list || list->type != TACH__JSON_ARRAY))
		code = tach__error(err, TACH_ERR_SYNTAX, root->line, root->column,
				   "not google-benchmark's: there is no list 'benchmarks'");
	if (!code) {
		*out = calloc(1, sizeof **out);
		code = *out ? fill(*out, list, name, err)
			    : tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	tach__arena_free(&arena);
	if (code) {
		tach_bench_free(*out);
		*out = NULL;
	}
	return code;
}
