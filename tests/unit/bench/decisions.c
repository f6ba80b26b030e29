/* SPDX-License-Identifier: MIT */
/*
 * Decisions on a few values, worked out by hand: four against four that overlap nowhere are
 * chance in 2 of 70 cases. How often decisions are right: tests/unit/bench/decide.c.
 */
#include <math.h>
#include "core/bench/decide.h"
#include "tests/check.h"

#define SEPARATE (2.0 / 70)

static void least_probabilities(void)
{
	CHECK(tach__least_p(4, 4) == SEPARATE && tach__least_p(1, 3) == 0.5 &&
	      tach__least_p(1, 1) == 1);
	CHECK(tach__least_p(0, 5) == 1 && tach__least_p(5, 0) == 1 && tach__least_p(0, 0) == 1);
}

/* The change is what all differences have in the middle, relative to the old median. */
static void verdicts(void)
{
	static const struct {
		double a[4], b[4];
		struct tach__rule rule;
		enum tach__verdict verdict;
		double change, p;
	} of[] = {
		/* Differences are from 0.1 to 0.8, in the middle 0.4, of 1.35. */
		{{1.1, 1.5, 1.3, 1.4},
		 {1.6, 1.8, 1.7, 1.9},
		 {0, SEPARATE, 0, 1},
		 TACH__WORSE,
		 0.4 / 1.35,
		 SEPARATE},
		{{1.1, 1.5, 1.3, 1.4},
		 {1.6, 1.8, 1.7, 1.9},
		 {0, 0.028, 0, 1},
		 TACH__SAME,
		 0.4 / 1.35,
		 SEPARATE},
		{{1.6, 1.8, 1.7, 1.9},
		 {1.1, 1.5, 1.3, 1.4},
		 {0, SEPARATE, 0, 1},
		 TACH__BETTER,
		 -0.4 / 1.75,
		 1},
		{{1.6, 1.8, 1.7, 1.9},
		 {1.1, 1.5, 1.3, 1.4},
		 {0, 0.028, 0, 1},
		 TACH__SAME,
		 -0.4 / 1.75,
		 1},
		/* Less is worse. */
		{{1.6, 1.8, 1.7, 1.9},
		 {1.1, 1.5, 1.3, 1.4},
		 {0, SEPARATE, 1, 1},
		 TACH__WORSE,
		 -0.4 / 1.75,
		 SEPARATE},
		{{1.1, 1.5, 1.3, 1.4},
		 {1.6, 1.8, 1.7, 1.9},
		 {0, SEPARATE, 1, 1},
		 TACH__BETTER,
		 0.4 / 1.35,
		 1},
		/* A bound of half: 2 is raised to 3, and lowered to 1, and so on. */
		{{2, 8, 4, 6},
		 {12.1, 12.2, 12.3, 12.4},
		 {0.5, SEPARATE, 0, 1},
		 TACH__WORSE,
		 7.25 / 5,
		 SEPARATE},
		{{2, 8, 4, 6},
		 {11.9, 12.2, 12.3, 12.4},
		 {0.5, 0.028, 0, 1},
		 TACH__SAME,
		 7.15 / 5,
		 4.0 / 70},
		{{2, 8, 4, 6}, {7, 7, 7, 7}, {0.5, 0.9, 0, 1}, TACH__SAME, 2.0 / 5, 1},
		{{2, 8, 4, 6},
		 {0.5, 0.6, 0.8, 0.7},
		 {0.5, SEPARATE, 0, 1},
		 TACH__BETTER,
		 -4.35 / 5,
		 1},
		{{2, 8, 4, 6},
		 {0.5, 0.6, 0.8, 0.7},
		 {0.5, SEPARATE, 1, 1},
		 TACH__WORSE,
		 -4.35 / 5,
		 SEPARATE},
		/* Below 0: relative to how far it is from it. */
		{{-1.1, -1.5, -1.3, -1.4},
		 {-0.6, -0.8, -0.7, -0.9},
		 {0, SEPARATE, 0, 1},
		 TACH__WORSE,
		 0.6 / 1.35,
		 SEPARATE},
		/* -10 is raised by a half to -5, and lowered to -15. */
		{{-10, -10, -10, -10},
		 {-6, -7, -8, -9},
		 {0.5, SEPARATE, 0, 1},
		 TACH__SAME,
		 0.25,
		 1},
		{{-10, -10, -10, -10},
		 {-4, -3, -2, -1},
		 {0.5, SEPARATE, 0, 1},
		 TACH__WORSE,
		 0.75,
		 SEPARATE},
		{{-10, -10, -10, -10},
		 {-14, -11, -13, -12},
		 {0.5, SEPARATE, 0, 1},
		 TACH__SAME,
		 -0.25,
		 1},
		{{-10, -10, -10, -10},
		 {-16, -17, -18, -19},
		 {0.5, SEPARATE, 0, 1},
		 TACH__BETTER,
		 -0.75,
		 1},
		{{-10, -10, -10, -10},
		 {-10, -10, -10, -10},
		 {0.5, 0.9, 0, 1},
		 TACH__SAME,
		 0,
		 1},
		{{0, 0, 0, 0},
		 {0.1, 0.2, 0.3, 0.4},
		 {0.5, SEPARATE, 0, 1},
		 TACH__WORSE,
		 NAN,
		 SEPARATE},
		/*
		 * Where the middle of all differences is 0 nothing is worse or better, though
		 * ranks are as likely as 4 in 7 to be that far apart.
		 */
		{{0, 0, 0, -5}, {0, 0, 5, 0}, {0, 0.6, 0, 1}, TACH__SAME, NAN, 1},
		{{0, 0, 5, 0}, {0, 0, 0, -5}, {0, 0.6, 0, 1}, TACH__SAME, NAN, 1},
		{{1, 1, 1, -4}, {2, 2, 5, 2}, {1, 0.6, 0, 1}, TACH__SAME, 1, 1},
		{{2, 2, 2, 5}, {1, 1, -4, 1}, {0.5, 0.6, 0, 1}, TACH__SAME, -0.5, 1},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach__values a = {of[i].a, 4}, b = {of[i].b, 4};
		struct tach__decision is;

		tach__decide(&is, &of[i].rule, a, b);
		CHECK(is.verdict == of[i].verdict && fabs(is.p - of[i].p) < 1e-12,
		      "number %zu: %d, not %d; %g, not %g", i, is.verdict, of[i].verdict, is.p,
		      of[i].p);
		CHECK(isnan(of[i].change) ? isnan(is.change)
					  : fabs(is.change - of[i].change) < 1e-12,
		      "number %zu: %g, not %g", i, is.change, of[i].change);
	}
}

static void medians_are_told(void)
{
	static const double x[] = {4, 1, 9, 2}, y[] = {7, 5, 6};
	struct tach__rule rule = {.alpha = 0.01};
	struct tach__values a = {x, 4}, b = {y, 3};
	struct tach__decision is;

	tach__decide(&is, &rule, a, b);
	CHECK(is.old == 3 && is.now == 6, "%g, %g", is.old, is.now);
}

/*
 * The one whose values hang together decides how little both are worth, unless they were taken
 * in turns.
 */
static void moods_are_of_either(void)
{
	static const double up[] = {1, 2, 3, 4, 5, 6, 7, 8},
			    mixed[] = {13, 17, 11, 15, 18, 12, 16, 14};
	struct tach__values of[] = {{up, 8}, {mixed, 8}};

	for (int i = 0; i < 2; i++)
		for (int in_turns = 0; in_turns < 2; in_turns++) {
			struct tach__rule rule = {
				.alpha = 0.01, .less = i, .in_turns = in_turns};
			struct tach__decision is;

			tach__decide(&is, &rule, of[i], of[!i]);
			CHECK(is.verdict == (in_turns ? TACH__WORSE : TACH__SAME), "%d, %d: %d",
			      i, in_turns, is.verdict);
			CHECK(isinf(tach__detectable(&is, &rule, of[i], of[!i])) == !in_turns);
		}
}

/*
 * Four are worse when they are above the four old ones, raised by the bound, without a tie.
 * They begin where they are no worse: the middle of all differences is 0.
 */
static void changes_that_would_be_found(void)
{
	static const struct {
		double a[4], b[4];
		struct tach__rule rule;
		double found;
	} of[] = {
		/* By more than 3 of 101.5. */
		{{101, 103, 100, 102}, {101, 103, 100, 102}, {0, 0.03, 0, 1}, 3 / 101.5},
		/* Where they are now is of no account. */
		{{101, 103, 100, 102}, {51, 53, 50, 52}, {0, 0.03, 0, 1}, 3 / 101.5},
		/* Above 113.3, from 110.15. */
		{{101, 103, 100, 102},
		 {101, 103, 100, 102},
		 {0.1, 0.03, 0, 1},
		 0.1 + 3.15 / 101.5},
		/* Below 90, from 92.85. */
		{{101, 103, 100, 102},
		 {101, 103, 100, 102},
		 {0.1, 0.03, 1, 1},
		 0.1 + 2.85 / 101.5},
		{{-101, -103, -100, -102},
		 {-101, -103, -100, -102},
		 {0, 0.03, 0, 1},
		 3 / 101.5},
		{{-101, -103, -100, -102},
		 {-101, -103, -100, -102},
		 {0.1, 0.03, 0, 1},
		 0.1 + 2.85 / 101.5},
		{{0.5, 0.5, 0.5, 0.5}, {-3000, -3000, -3000, -3000}, {0, 0.03, 0, 1}, 0},
		/* Fewer than four cannot show it. */
		{{101, 103, 100, 102}, {101, 103, 100, 102}, {0, 0.028, 0, 1}, INFINITY},
		{{101, 103, 100, 102}, {101, 103, 100, 102}, {0, SEPARATE, 0, 1}, 3 / 101.5},
		/* Up to 1024 times what was. */
		{{1, 701, 1, 1}, {1, 1, 1, 1}, {0, 0.03, 0, 1}, 700},
		{{1, 701, 1, 1}, {-5000, -5000, -5000, -5000}, {0, 0.03, 0, 1}, 700},
		{{1, 1024.5, 1, 1}, {1, 1, 1, 1}, {0, 0.03, 0, 1}, 1023.5},
		{{1, 1025.5, 1, 1}, {1, 1, 1, 1}, {0, 0.03, 0, 1}, INFINITY},
		{{0, 0, 0, 0}, {1, 2, 3, 4}, {0, 0.03, 0, 1}, INFINITY},
		{{0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}, {0, 0.03, 0, 1}, 0},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach__values a = {of[i].a, 4}, b = {of[i].b, 4};
		struct tach__decision is;
		double found;

		tach__decide(&is, &of[i].rule, a, b);
		found = tach__detectable(&is, &of[i].rule, a, b);
		CHECK(isinf(of[i].found)
			      ? isinf(found)
			      : found >= of[i].found - 1e-12 && found < of[i].found + 1e-4,
		      "number %zu: %g, not %g", i, found, of[i].found);
	}
}

int main(void)
{
	CASE(least_probabilities);
	CASE(verdicts);
	CASE(medians_are_told);
	CASE(moods_are_of_either);
	CASE(changes_that_would_be_found);
	return check_done();
}
