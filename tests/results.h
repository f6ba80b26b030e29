/* SPDX-License-Identifier: MIT */
/* Makes results of benchmarks from their JSON, and shows them. */
#ifndef TESTS_RESULTS_H
#define TESTS_RESULTS_H

#include <string.h>
#include <tach/bench.h>
#include "tests/check.h"

/*
 * In JSON, a value with five equal samples. The extremes of five samples miss the median in 2
 * of 32 cases, less than a requested confidence of 0.9 permits.
 */
#define RESULT_OF_FIVE(name, median, low, high, empty, resolution, flags, more)                \
	"{\"name\":\"" name "\",\"median\":" median ",\"mad\":0,\"low\":" low                  \
	",\"high\":" high ",\"confidence\":0.9375,\"empty\":" empty                            \
	",\"resolution\":" resolution ",\"samples\":5,\"outliers\":0,\"flags\":" flags         \
	",\"pass\":0," more "\"sample\":[" median "," median "," median "," median "," median  \
	"]}"

/* Returns NULL after failing the test. */
static inline struct tach_bench *result_of(const char *json)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b;

	CHECK(tach_bench_load(json, strlen(json), &b, &err) == 0, "%d:%d: %s: %s", err.line,
	      err.column, err.text, json);
	return b;
}

/* The result is valid until the next call. */
/* Omits the date and the machine, which JSON has before its values. */
static inline const char *shown(const struct tach_bench *b, enum tach_bench_format format)
{
	static char text[8192];
	int n = tach_bench_print(b, format, text, sizeof text);
	char *date = strstr(text, "\"date\":"),
	     *values = date ? strstr(date, "\"values\"") : NULL;

	CHECK(n == (int)strlen(text), "%d", n);
	if (values)
		memmove(date, values, strlen(values) + 1);
	return text;
}

/* The text of the result in this JSON. */
static inline void show(const char *json, enum tach_bench_format format, const char *want)
{
	struct tach_bench *b = result_of(json);
	const char *is = b ? shown(b, format) : "nothing";

	CHECK(strcmp(is, want) == 0, "\n%s\nnot\n%s", is, want);
	tach_bench_free(b);
}

#endif
