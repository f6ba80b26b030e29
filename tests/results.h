/* SPDX-License-Identifier: MIT */
/* Benchmarks' results: made of their JSON, and shown. */
#ifndef TESTS_RESULTS_H
#define TESTS_RESULTS_H

#include <string.h>
#include <tach/bench.h>
#include "tests/check.h"

/* NULL: the test has failed. */
static inline struct tach_bench *result_of(const char *json)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b;

	CHECK(tach_bench_load(json, strlen(json), &b, &err) == 0, "%d:%d: %s: %s", err.line,
	      err.column, err.text, json);
	return b;
}

/* Until the next call. */
static inline const char *shown(const struct tach_bench *b, enum tach_bench_format format)
{
	static char text[8192];
	int n = tach_bench_print(b, format, text, sizeof text);

	CHECK(n == (int)strlen(text), "%d", n);
	return text;
}

/* What the result in this JSON is shown as. */
static inline void show(const char *json, enum tach_bench_format format, const char *want)
{
	struct tach_bench *b = result_of(json);
	const char *is = b ? shown(b, format) : "nothing";

	CHECK(strcmp(is, want) == 0, "\n%s\nnot\n%s", is, want);
	tach_bench_free(b);
}

#endif
