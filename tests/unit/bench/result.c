/* SPDX-License-Identifier: MIT */
/* What results say: values and their intervals, two compared, one judged by another. */
#include <math.h>
#include <string.h>
#include "core/bench/bench.h"
#include "tests/check.h"

/* Results made by hand: what is compared are their samples alone. */
static struct tach_bench made(const char *name, double *x, uint32_t n,
			      struct tach__bench_series *s)
{
	*s = (struct tach__bench_series){
		.name = (char *)(uintptr_t)name, .sample = x, .samples = n};
	return (struct tach_bench){.confidence = 0.95, .nseries = 1, .series = s};
}

static void comparison_says_whether_they_differ(void)
{
	double x[] = {3, 7, 1, 5, 8, 2, 6, 4}, y[] = {13, 17, 11, 15, 18, 12, 16, 14};
	struct tach__bench_series s[2];
	struct tach_bench a = made("time", x, 8, &s[0]), b = made("time", y, 8, &s[1]);
	struct tach_bench_difference d = {.reserved = 7};

	CHECK(tach_bench_compare(&a, &b, 0, &d) == 0 && d.differs && d.shift == 10 &&
		      d.reserved == 0,
	      "%g", d.shift);
	CHECK(tach_bench_compare(&b, &a, 0, &d) == 0 && d.differs && d.shift == -10, "%g",
	      d.shift);
	CHECK(tach_bench_compare(&a, &a, 0, &d) == 0 && !d.differs && d.p == 1, "%g", d.p);
}

/* Where every sample is like the one before, eight are hardly more than one. */
static void a_machine_in_moods_proves_nothing(void)
{
	double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {11, 12, 13, 14, 15, 16, 17, 18};
	struct tach__bench_series s[2];
	struct tach_bench a = made("time", x, 8, &s[0]), b = made("time", y, 8, &s[1]);
	struct tach_bench_difference d;
	struct tach_bench_quantity v = {.size = sizeof v};

	CHECK(tach_bench_compare(&a, &b, 0, &d) == 0 && !d.differs && d.shift == 10, "%g", d.p);
	CHECK(tach_bench_value(&a, 0, &v) == 0 && v.confidence < 0.1 && v.low == 1 &&
		      v.high == 8,
	      "%g", v.confidence);
}

static void a_value_that_may_be_nothing_is_marked(void)
{
	double x[] = {2, -1, 5, 0, 4, 1, 3}, y[] = {4, 1, 7, 2, 6, 3, 5};
	double less[] = {-4, -1, -7, -2, -6, -3, -5};
	struct tach__bench_series s[3];
	struct tach_bench a = made("time", x, 7, &s[0]), b = made("time", y, 7, &s[1]);
	struct tach_bench_quantity v = {.size = sizeof v};
	char text[512];

	CHECK(tach_bench_value(&a, 0, &v) == 0 && v.flags == TACH_FLAG_SMALL, "%x", v.flags);
	CHECK(tach_bench_value(&b, 0, &v) == 0 && v.flags == 0, "%x", v.flags);
	CHECK(v.median == 4 && v.mad == 2 && v.low == 1 && v.high == 7, "%g", v.mad);
	/* What the clock cannot tell is no part of what is known. */
	s[1].resolution = 0.5;
	CHECK(tach_bench_value(&b, 0, &v) == 0 && v.low == 0.5 && v.high == 7.5 && !v.flags,
	      "%g .. %g", v.low, v.high);
	s[1].resolution = 1.5;
	CHECK(tach_bench_value(&b, 0, &v) == 0 && v.flags == TACH_FLAG_SMALL, "%x", v.flags);
	b = made("time", less, 7, &s[2]);
	b.name = text;
	strcpy(text, "less");
	CHECK(tach_bench_value(&b, 0, &v) == 0 && v.flags == TACH_FLAG_SMALL, "%x", v.flags);
	tach_bench_print(&b, TACH_BENCH_TEXT, text + 8, sizeof text - 8);
	CHECK(strstr(text + 8, "below resolution"), "%s", text + 8);
}

/* Of one and three by themselves: half of the four ways to choose one are as extreme. */
static void what_is_as_likely_as_not_differs_not(void)
{
	double x[] = {1}, y[] = {2, 4, 3};
	struct tach__bench_series s[2];
	struct tach_bench a = made("time", x, 1, &s[0]), b = made("time", y, 3, &s[1]);
	struct tach_bench_difference d;

	a.confidence = 0.5;
	CHECK(tach_bench_compare(&a, &b, 0, &d) == 0 && d.p == 0.5 && !d.differs, "%g", d.p);
	a.confidence = 0.49;
	CHECK(tach_bench_compare(&a, &b, 0, &d) == 0 && d.differs, "%g", d.p);
	/* Nothing lies between them. */
	y[0] = y[1] = y[2] = 1;
	a.confidence = 0.001;
	CHECK(tach_bench_compare(&a, &b, 0, &d) == 0 && d.shift == 0 && !d.differs, "%g", d.p);
}

/* One of them, whichever, is enough. */
static void either_may_be_of_a_machine_in_moods(void)
{
	double up[] = {1, 2, 3, 4, 5, 6, 7, 8}, x[] = {13, 17, 11, 15, 18, 12, 16, 14};
	struct tach__bench_series s[2];
	struct tach_bench a = made("time", up, 8, &s[0]), b = made("time", x, 8, &s[1]);
	struct tach_bench_difference d;

	CHECK(tach_bench_compare(&a, &b, 0, &d) == 0 && !d.differs && d.p > 0.5, "%g", d.p);
	CHECK(tach_bench_compare(&b, &a, 0, &d) == 0 && !d.differs && d.p > 0.5, "%g", d.p);
	CHECK(tach_bench_judge(&a, &b, 0, 0.1, 0.01, NULL, NULL) == TACH_BENCH_SAME);
	CHECK(tach_bench_judge(&b, &a, 0, 0.1, 0.01, NULL, NULL) == TACH_BENCH_SAME);
}

static void judged(void)
{
	double x[] = {104, 101, 107, 102, 108, 100, 106, 103}, y[8];
	struct tach__bench_series s[2];
	struct tach_bench a = made("time", x, 8, &s[0]), b = made("time", y, 8, &s[1]);
	double change, detects;

	for (int i = 0; i < 8; i++)
		y[i] = x[i] * 1.2;
	CHECK(tach_bench_judge(&a, &b, 0, 0.05, 0.01, &change, &detects) == TACH_BENCH_WORSE);
	CHECK(fabs(change - 0.2) < 0.02 && detects > 0.05 && detects < 0.2, "%g %g", change,
	      detects);
	CHECK(tach_bench_judge(&b, &a, 0, 0.05, 0.01, &change, NULL) == TACH_BENCH_BETTER);
	CHECK(tach_bench_judge(&a, &b, 0, 0.25, 0.01, NULL, NULL) == TACH_BENCH_SAME);
	CHECK(tach_bench_judge(&a, &a, 0, 0, 0.01, NULL, NULL) == TACH_BENCH_SAME);
	/* As many comparisons as eight samples cannot carry. */
	CHECK(tach_bench_judge(&a, &b, 0, 0.05, 1e-6, NULL, &detects) == TACH_BENCH_SAME);
	CHECK(isinf(detects), "%g", detects);
}

/* Two results may have other values; those with the same number and name go together. */
static void values_go_together_by_name(void)
{
	double x[] = {1, 2};
	struct tach__bench_series more[2], other[1];
	struct tach_bench a = made("time", x, 2, &more[0]), b = made("time", x, 2, &more[0]),
			  c = made("cycles", x, 2, other);
	const struct {
		const struct tach_bench *a, *b;
		int i;
		double bound, alpha;
		int code;
	} of[] = {
		{&a, &a, 1, 0, 0.01, 0},
		{&a, &b, 1, 0, 0.01, TACH_ERR_INVAL},
		{&b, &a, 1, 0, 0.01, TACH_ERR_INVAL},
		{&b, &b, -1, 0, 0.01, TACH_ERR_INVAL},
		{&b, &c, 0, 0, 0.01, TACH_ERR_INVAL},
		{NULL, &b, 0, 0, 0.01, TACH_ERR_INVAL},
		{&b, NULL, 0, 0, 0.01, TACH_ERR_INVAL},
		/* Of a judgement alone. */
		{&b, &b, 0, -1e-9, 0.01, TACH_ERR_INVAL},
		{&b, &b, 0, NAN, 0.01, TACH_ERR_INVAL},
		{&b, &b, 0, 0, 0, TACH_ERR_INVAL},
		{&b, &b, 0, 0, 1, TACH_ERR_INVAL},
		{&b, &b, 0, 0, 0.999, 0},
		{&b, &b, 0, 0, NAN, TACH_ERR_INVAL},
	};

	made("cycles", x, 2, &more[1]);
	a.nseries = 2;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach_bench_difference d;

		CHECK(tach_bench_judge(of[i].a, of[i].b, of[i].i, of[i].bound, of[i].alpha,
				       NULL, NULL) == of[i].code,
		      "number %zu", i);
		if (i < 7)
			CHECK(tach_bench_compare(of[i].a, of[i].b, of[i].i, &d) == of[i].code,
			      "number %zu", i);
	}
}

/* By the time of all threads together, where there is one. */
static void the_pace_is_that_of_all(void)
{
	double x[] = {1};
	struct tach__bench_series s[3];
	struct tach_bench b = made("time", x, 1, &s[0]);

	made("time, al", x, 1, &s[1]);
	made("time, all", x, 1, &s[2]);
	for (b.nseries = 1; b.nseries <= 3; b.nseries++)
		CHECK(tach__bench_pace(&b) == (b.nseries < 3 ? &s[0] : &s[2]), "of %d",
		      b.nseries);
	s[1].name = s[2].name;
	b.nseries = 2;
	CHECK(tach__bench_pace(&b) == &s[1]);
	s[0].samples = 0;
	CHECK(isnan(tach__bench_median(&s[0])) && tach__bench_median(&s[1]) == 1);
}

int main(void)
{
	CASE(comparison_says_whether_they_differ);
	CASE(a_machine_in_moods_proves_nothing);
	CASE(a_value_that_may_be_nothing_is_marked);
	CASE(what_is_as_likely_as_not_differs_not);
	CASE(either_may_be_of_a_machine_in_moods);
	CASE(judged);
	CASE(values_go_together_by_name);
	CASE(the_pace_is_that_of_all);
	return check_done();
}
