/* SPDX-License-Identifier: MIT */
/*
 * Values and intervals of results, comparison of two results, and the verdict of one against
 * another.
 */
#include <math.h>
#include <string.h>
#include "core/bench/bench.h"
#include "tests/check.h"

/* Results made by hand: only their samples are compared. */
static struct tach_bench made(const char *name, double *x, uint32_t n,
			      struct tach__bench_series *s)
{
	*s = (struct tach__bench_series){
		.name = (char *)(uintptr_t)name, .sample = x, .samples = n};
	return (struct tach_bench){.confidence = 0.95, .nseries = 1, .series = s};
}

/* If each sample resembles the previous one, eight samples prove hardly more than one. */
static void dependent_samples_prove_no_difference(void)
{
	double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct tach__bench_series s[1];
	struct tach_bench a = made("time", x, 8, &s[0]);
	struct tach_bench_quantity v = {.size = sizeof v};

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
	/* Time below the clock's resolution does not count as known. */
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

static void judge_gives_the_verdict(void)
{
	double x[] = {104, 101, 107, 102, 108, 100, 106, 103}, y[8];
	struct tach__bench_series s[2];
	struct tach_bench a = made("time", x, 8, &s[0]), b = made("time", y, 8, &s[1]);
	struct tach_change_result is = {.size = sizeof is};

	for (int i = 0; i < 8; i++)
		y[i] = x[i] * 1.2;
	CHECK(tach_bench_judge(&a, &b, 0, 0.05, 0.01, &is) == 0 &&
	      is.verdict == TACH_CHANGE_WORSE);
	CHECK(fabs(is.change - 0.2) < 0.02 && is.low > 0.15 && is.high < 0.25, "%g %g", is.low,
	      is.high);
	CHECK(tach_bench_judge(&b, &a, 0, 0.05, 0.01, &is) == 0 &&
	      is.verdict == TACH_CHANGE_BETTER);
	CHECK(tach_bench_judge(&a, &b, 0, 0.25, 0.01, &is) == 0 &&
	      is.verdict == TACH_CHANGE_NONE);
	CHECK(tach_bench_judge(&a, &a, 0, 0.06, 0.01, &is) == 0 &&
	      is.verdict == TACH_CHANGE_NONE && is.change == 0);
	/* More comparisons than eight samples can decide. */
	CHECK(tach_bench_judge(&a, &b, 0, 0.05, 1e-6, &is) == 0 &&
	      is.verdict == TACH_CHANGE_UNKNOWN);
}

/* The usual bounds: 5 % for times, 0.5 % for the rest. */
static void usual_bounds(void)
{
	static const struct {
		const char *name;
		double change;
		enum tach_change verdict;
	} of[] = {{"time", 0.04, TACH_CHANGE_NONE},	 {"time", 0.06, TACH_CHANGE_WORSE},
		  {"time, all", 0.04, TACH_CHANGE_NONE}, {"cpu time", 0.04, TACH_CHANGE_NONE},
		  {"cycles", 0.04, TACH_CHANGE_WORSE},	 {"cycles", 0.004, TACH_CHANGE_NONE},
		  {"cycles", -0.006, TACH_CHANGE_BETTER}};
	double x[12], y[12];

	for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
		struct tach__bench_series s[2];
		struct tach_bench a = made(of[k].name, x, 12, &s[0]),
				  b = made(of[k].name, y, 12, &s[1]);
		struct tach_change_result is = {.size = sizeof is};

		for (int i = 0; i < 12; i++) {
			x[i] = 1000;
			y[i] = 1000 * (1 + of[k].change);
		}
		CHECK(tach_bench_judge(&a, &b, 0, -1, 0.01, &is) == 0 &&
			      is.verdict == of[k].verdict,
		      "number %zu: %s", k, tach_change_name(is.verdict));
	}
}

/* One sample of an exact instruction count is enough; one sample of another value is not. */
static void exact_counts_need_one_sample(void)
{
	static const struct {
		const char *name;
		uint32_t flags;
		enum tach_change verdict;
	} of[] = {{"instructions", 0, TACH_CHANGE_WORSE},
		  {"instructions", TACH_FLAG_CORRECTED, TACH_CHANGE_WORSE},
		  {"instructions", TACH_FLAG_INCOMPLETE, TACH_CHANGE_UNKNOWN},
		  {"cycles", 0, TACH_CHANGE_UNKNOWN}};
	double x[] = {100}, y[] = {101};

	for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
		struct tach__bench_series s[2];
		struct tach_bench a = made(of[k].name, x, 1, &s[0]),
				  b = made(of[k].name, y, 1, &s[1]);
		struct tach_change_result is = {.size = sizeof is};

		s[1].flags = of[k].flags;
		CHECK(tach_bench_judge(&a, &b, 0, -1, 0.01, &is) == 0 &&
			      is.verdict == of[k].verdict,
		      "number %zu: %s", k, tach_change_name(is.verdict));
	}
}

/*
 * Results may have values in another order; values with equal names and threads are compared.
 */
static void values_go_together_by_name(void)
{
	double one[] = {1, 1, 1, 1, 1, 1, 1, 1}, two[] = {2, 2, 2, 2, 2, 2, 2, 2};
	struct tach__bench_series more[3], other[1];
	struct tach_bench a = made("time", one, 8, &more[0]), b = made("cycles", two, 8, other);
	struct tach_change_result is = {.size = sizeof is};

	made("cycles", two, 8, &more[1]);
	made("time", two, 8, &more[2]);
	more[2].thread = 1;
	a.nseries = 3;
	CHECK(tach_bench_judge(&a, &b, 0, 0, 0.01, &is) == 0 && is.old == 2 && is.now == 2);
	CHECK(tach_bench_judge(&a, &a, 2, 0, 0.01, &is) == 0 && is.old == 2);
	CHECK(tach_bench_judge(&b, &a, 0, 0, 0.01, &is) == TACH_ERR_NOTFOUND);
	CHECK(tach_bench_judge(&b, &a, 1, 0, 0.01, &is) == 0 && is.old == 2);
	CHECK(tach_bench_judge(&b, &a, 2, 0, 0.01, &is) == TACH_ERR_NOTFOUND);
	CHECK(tach_bench_judge(&b, &b, -1, 0, 0.01, &is) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(&b, &b, 1, 0, 0.01, &is) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(NULL, &b, 0, 0, 0.01, &is) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(&b, NULL, 0, 0, 0.01, &is) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(&b, &b, 0, 0, 0.01, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(&b, &b, 0, 0, 1, &is) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(&b, &b, 0, NAN, 0.01, &is) == 0 && is.verdict == 0);
}

/* Rates use the common time of all threads, if the result has one. */
static void rates_use_the_time_of_all_threads(void)
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
	CASE(dependent_samples_prove_no_difference);
	CASE(a_value_that_may_be_nothing_is_marked);
	CASE(judge_gives_the_verdict);
	CASE(usual_bounds);
	CASE(exact_counts_need_one_sample);
	CASE(values_go_together_by_name);
	CASE(rates_use_the_time_of_all_threads);
	return check_done();
}
