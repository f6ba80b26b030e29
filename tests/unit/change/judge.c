/* SPDX-License-Identifier: MIT */
/*
 * Verdicts on a few values, computed by hand: four values against four without an overlap are
 * chance in 2 of 70 cases. tests/unit/change/simulated.c tests how often verdicts are right.
 */
#include <math.h>
#include <string.h>
#include <tach/change.h>
#include "core/change/change.h"
#include "tests/check.h"

#define SEPARATE (2.0 / 70)
enum { TURNS = TACH_CHANGE_TURNS, LESS = TACH_CHANGE_LESS, EXACT = TACH_CHANGE_EXACT };

static const struct {
	double old[4], now[4];
	uint32_t flags;
	double bound, alpha;
	enum tach_change verdict;
	double change, low, high;
} by_hand[] = {
	/*
	 * The second smallest and the second largest of 16 ratios: one pair may be in the wrong
	 * order.
	 */
	{{100, 101, 102, 103},
	 {120, 121, 122, 123},
	 TURNS,
	 0.1,
	 SEPARATE,
	 TACH_CHANGE_WORSE,
	 (122 / 102.0 + 121 / 101.0) / 2 - 1,
	 121 / 103.0 - 1,
	 122 / 100.0 - 1},
	{{100, 101, 102, 103},
	 {120, 121, 122, 123},
	 TURNS,
	 0.1,
	 0.028,
	 TACH_CHANGE_UNKNOWN,
	 (122 / 102.0 + 121 / 101.0) / 2 - 1,
	 121 / 103.0 - 1,
	 122 / 100.0 - 1},
	{{100, 101, 102, 103},
	 {120, 121, 122, 123},
	 TURNS,
	 0.3,
	 0.028,
	 TACH_CHANGE_NONE,
	 (122 / 102.0 + 121 / 101.0) / 2 - 1,
	 121 / 103.0 - 1,
	 122 / 100.0 - 1},
	{{120, 121, 122, 123},
	 {100, 101, 102, 103},
	 TURNS,
	 0.1,
	 SEPARATE,
	 TACH_CHANGE_BETTER,
	 (101 / 121.0 + 102 / 122.0) / 2 - 1,
	 100 / 122.0 - 1,
	 103 / 121.0 - 1},
	/* The improvement is too small to be certain, but no value is worse. */
	{{120, 121, 122, 123},
	 {100, 101, 102, 103},
	 TURNS,
	 0.1,
	 0.028,
	 TACH_CHANGE_NONE,
	 (101 / 121.0 + 102 / 122.0) / 2 - 1,
	 100 / 122.0 - 1,
	 103 / 121.0 - 1},
	/* Less is worse. */
	{{120, 121, 122, 123},
	 {100, 101, 102, 103},
	 TURNS | LESS,
	 0.1,
	 SEPARATE,
	 TACH_CHANGE_WORSE,
	 (101 / 121.0 + 102 / 122.0) / 2 - 1,
	 100 / 122.0 - 1,
	 103 / 121.0 - 1},
	{{100, 101, 102, 103},
	 {120, 121, 122, 123},
	 TURNS | LESS,
	 0.1,
	 SEPARATE,
	 TACH_CHANGE_BETTER,
	 (122 / 102.0 + 121 / 101.0) / 2 - 1,
	 121 / 103.0 - 1,
	 122 / 100.0 - 1},
	/* Bounds for values below 0 are relative to their distance from 0. */
	{{-10, -10, -10, -10},
	 {-4, -4, -4, -4},
	 TURNS,
	 0.5,
	 SEPARATE,
	 TACH_CHANGE_WORSE,
	 0.6,
	 0.6,
	 0.6},
	{{-10, -10, -10, -10},
	 {-16, -16, -16, -16},
	 TURNS,
	 0.5,
	 SEPARATE,
	 TACH_CHANGE_BETTER,
	 -0.6,
	 -0.6,
	 -0.6},
	/* Four values that are equal on both sides. */
	{{7, 7, 7, 7}, {7, 7, 7, 7}, 0, 0, 0.0001, TACH_CHANGE_NONE, 0, 0, 0},
	{{0, 0, 0, 0}, {0, 0, 0, 0}, TURNS, 0, 0.01, TACH_CHANGE_NONE, 0, 0, 0},
	/* A value changed from zero to nonzero: no bound allows that. */
	{{0, 0, 0, 0},
	 {1, 2, 3, 4},
	 TURNS,
	 0.5,
	 SEPARATE,
	 TACH_CHANGE_WORSE,
	 INFINITY,
	 INFINITY,
	 INFINITY},
	/* Exact counts: all pairs are compared, and chance is excluded. */
	{{100, 100, 100, 100},
	 {22, 22, 22, 22},
	 EXACT,
	 0.005,
	 1e-9,
	 TACH_CHANGE_BETTER,
	 -0.78,
	 -0.78,
	 -0.78},
	{{1000, 1001, 1000, 1002},
	 {1008, 1009, 1008, 1009},
	 EXACT,
	 0.005,
	 1e-9,
	 TACH_CHANGE_WORSE,
	 NAN,
	 1008 / 1002.0 - 1,
	 1009 / 1000.0 - 1},
	/* One pair is within the bound, so the change may be within it too. */
	{{1000, 1001, 1000, 1004},
	 {1008, 1009, 1008, 1009},
	 EXACT,
	 0.005,
	 1e-9,
	 TACH_CHANGE_UNKNOWN,
	 NAN,
	 1008 / 1004.0 - 1,
	 1009 / 1000.0 - 1},
	/* Counts that vary by more than the bound are not exact. */
	{{100, 102, 101, 103},
	 {120, 121, 122, 123},
	 EXACT | TURNS,
	 0.005,
	 0.028,
	 TACH_CHANGE_UNKNOWN,
	 (122 / 102.0 + 121 / 101.0) / 2 - 1,
	 121 / 103.0 - 1,
	 122 / 100.0 - 1},
	/* A change of exactly the bound is allowed. */
	{{200, 200, 200, 200},
	 {201, 201, 201, 201},
	 EXACT,
	 0.005,
	 0.01,
	 TACH_CHANGE_NONE,
	 0.005,
	 0.005,
	 0.005},
	{{200, 200, 200, 200},
	 {202, 202, 202, 202},
	 EXACT,
	 0.005,
	 0.01,
	 TACH_CHANGE_WORSE,
	 0.01,
	 0.01,
	 0.01},
};

static int is_near(double a, double b)
{
	return isnan(b) || a == b || fabs(a - b) < 1e-3 * fabs(b) + 1e-12;
}

static void verdicts(void)
{
	for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
		struct tach_change_rule rule = {.size = sizeof rule,
						.flags = by_hand[i].flags,
						.bound = by_hand[i].bound,
						.alpha = by_hand[i].alpha};
		struct tach_change_result is = {.size = sizeof is};

		CHECK(tach_change_judge(by_hand[i].old, 4, by_hand[i].now, 4, &rule, &is,
					NULL) == 0);
		CHECK(is.verdict == by_hand[i].verdict, "number %zu: %s", i,
		      tach_change_name(is.verdict));
		CHECK(is_near(is.change, by_hand[i].change) &&
			      is_near(is.low, by_hand[i].low) &&
			      is_near(is.high, by_hand[i].high),
		      "number %zu: %g, %g .. %g, not %g, %g .. %g", i, is.change, is.low,
		      is.high, by_hand[i].change, by_hand[i].low, by_hand[i].high);
	}
}

static struct tach_change_result judge(const double *old, size_t nold, const double *now,
				       size_t nnow, uint32_t flags, double bound)
{
	struct tach_change_rule rule = {.size = sizeof rule, .flags = flags, .bound = bound};
	struct tach_change_result is = {.size = sizeof is};

	CHECK(tach_change_judge(old, nold, now, nnow, &rule, &is, NULL) == 0);
	return is;
}

/* One value decides only if it is an exact count; without a value nothing is decided. */
static void few_values(void)
{
	static const double old[] = {100}, now[] = {101};

	CHECK(judge(old, 1, now, 1, EXACT, 0.005).verdict == TACH_CHANGE_WORSE);
	CHECK(judge(old, 1, old, 1, EXACT, 0).verdict == TACH_CHANGE_NONE);
	CHECK(judge(old, 1, now, 1, 0, 0.5).verdict == TACH_CHANGE_UNKNOWN);
	CHECK(judge(old, 1, old, 1, 0, 0.5).verdict == TACH_CHANGE_UNKNOWN);
	CHECK(judge(old, 0, now, 1, EXACT, 0).verdict == TACH_CHANGE_UNKNOWN);
	CHECK(isnan(judge(old, 1, now, 0, EXACT, 0).change));
	CHECK(judge(old, 1, now, 1, 0, 0).old == 100 && judge(old, 1, now, 1, 0, 0).now == 101);
}

/*
 * If values of one side resemble their predecessors, they prove less, unless the sides
 * alternate.
 */
static void persistent_values(void)
{
	static const double up[] = {1, 2, 3, 4, 5, 6, 7, 8},
			    mixed[] = {13, 17, 11, 15, 18, 12, 16, 14};

	CHECK(judge(up, 8, mixed, 8, 0, 0).verdict == TACH_CHANGE_UNKNOWN);
	CHECK(judge(mixed, 8, up, 8, LESS, 0).verdict == TACH_CHANGE_UNKNOWN);
	CHECK(judge(up, 8, mixed, 8, TURNS, 0).verdict == TACH_CHANGE_WORSE);
	CHECK(judge(mixed, 8, up, 8, LESS | TURNS, 0).verdict == TACH_CHANGE_WORSE);
}

static void bad_input(void)
{
	static const double odd[] = {1, NAN}, fine[] = {1, 2};
	static const struct {
		double bound, alpha;
	} of[] = {{-1, 0.1}, {NAN, 0.1}, {INFINITY, 0.1}, {0, -0.1}, {0, 1}, {0, NAN}};
	struct tach_change_result is = {.size = sizeof is};
	struct tach_change_rule rule = {.size = sizeof rule};
	struct tach_error err = TACH_ERROR_INIT;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		rule.bound = of[i].bound;
		rule.alpha = of[i].alpha;
		CHECK(tach_change_judge(fine, 2, fine, 2, &rule, &is, &err) == TACH_ERR_INVAL &&
			      strstr(err.text, "must be finite"),
		      "number %zu", i);
	}
	rule.bound = rule.alpha = 0;
	CHECK(tach_change_judge(odd, 2, fine, 2, &rule, &is, &err) == TACH_ERR_INVAL);
	CHECK(tach_change_judge(fine, 2, odd, 2, &rule, &is, &err) == TACH_ERR_INVAL);
	CHECK(tach_change_judge(fine, 2, fine, 2, NULL, &is, &err) == TACH_ERR_INVAL);
	CHECK(tach_change_judge(fine, 2, fine, 2, &rule, NULL, &err) == TACH_ERR_INVAL);
}

static void words(void)
{
	static const struct {
		struct tach_change_result is;
		const char *text;
	} of[] = {
		{{0, TACH_CHANGE_WORSE, 1, 2, 1, 1, 1}, "worse"},
		{{0, TACH_CHANGE_BETTER, 2, 1, -0.5, -0.5, -0.5}, "better"},
		{{0, TACH_CHANGE_NONE, 1, 1, 0, 0, 0}, "no change"},
		/* Rounded up, so that the text remains true. */
		{{0, TACH_CHANGE_NONE, 1, 1, 0, -0.0123, 0.0311},
		 "no change larger than 3.2 %"},
		{{0, TACH_CHANGE_NONE, 1, 1, 0, -0.25, 0.01}, "no change larger than 25 %"},
		{{0, TACH_CHANGE_NONE, 1, 1, 0, 0, 0.00001234},
		 "no change larger than 0.0013 %"},
		{{0, TACH_CHANGE_NONE, 1, 1, 0, -INFINITY, 0.01}, "no change for the worse"},
		{{0, TACH_CHANGE_UNKNOWN, 1, 1, 0, -0.014, 0.081},
		 "cannot tell: the change may be from -1.4 % to +8.1 %"},
		{{0, TACH_CHANGE_UNKNOWN, 1, 1, 0, -INFINITY, INFINITY},
		 "cannot tell: too few values"},
		{{0, TACH_CHANGE_UNKNOWN, 1, NAN, NAN, -INFINITY, INFINITY},
		 "cannot tell: there is no value"},
	};
	char text[128];

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		int n = tach_change_text(&of[i].is, text, sizeof text);

		CHECK(strcmp(text, of[i].text) == 0 && n == (int)strlen(of[i].text), "%s",
		      text);
		CHECK(tach_change_text(&of[i].is, text, 5) == n && strlen(text) == 4);
		CHECK(strncmp(of[i].text, tach_change_name(of[i].is.verdict),
			      strlen(tach_change_name(of[i].is.verdict))) == 0);
	}
}

static void counts_that_repeat(void)
{
	static const char *const yes[] = {"instructions",
					  "branches",
					  "skl::INST_RETIRED:ANY_P",
					  "PAPI_TOT_INS",
					  "MEM_INST_RETIRED.ALL_LOADS",
					  "ex_ret_instr",
					  "loads"};
	static const char *const no[] = {"time",
					 "cycles",
					 "branch-misses",
					 "ipc",
					 "page-faults",
					 "cache-misses",
					 "cpu/clk_unhalted/",
					 "MEM_LOAD_RETIRED.L1_HIT",
					 "L1-dcache-loads",
					 ""};

	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		CHECK(tach__change_is_repeatable(yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		CHECK(!tach__change_is_repeatable(no[i]), "%s", no[i]);
}

int main(void)
{
	CASE(verdicts);
	CASE(few_values);
	CASE(persistent_values);
	CASE(bad_input);
	CASE(words);
	CASE(counts_that_repeat);
	return check_done();
}
