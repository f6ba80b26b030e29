/* SPDX-License-Identifier: MIT */
/* The law by which times grow with the argument. */
#include <math.h>
#include <string.h>
#include <tach/bench.h>
#include "tests/check.h"

static double law(int which, double n)
{
	const double is[] = {1, log2(n), n, n * log2(n), n * n, n * n * n};

	return is[which];
}

static void fit_finds_the_law(void)
{
	static const char *const names[] = {"O(1)",	  "O(log n)", "O(n)",
					    "O(n log n)", "O(n^2)",   "O(n^3)"};
	double n[8], t[8], c, e;

	/*
	 * The law is found for exact times, for arguments from 1 on, and with only three
	 * values.
	 */
	for (int i = 0; i < 8; i++)
		n[i] = (double)(1 << i);
	for (int which = 0; which < 6; which++)
		for (size_t count = 3; count <= 8; count++) {
			const char *best;

			for (int i = 0; i < 8; i++)
				t[i] = 3 * law(which, n[i]);
			best = tach_bench_fit(n, t, count, &c, &e);
			CHECK(best && strcmp(best, names[which]) == 0 && fabs(c - 3) < 1e-12 &&
				      e < 1e-12,
			      "%s, not %s, of %zu: %g, %g", best, names[which], count, c, e);
		}
	for (int which = 0; which < 6; which++) {
		const char *best;

		for (int i = 0; i < 8; i++) {
			n[i] = (double)(16 << i);
			/* 1 % to and fro */
			t[i] = 3 * law(which, n[i]) * (i % 2 ? 1.01 : 0.99);
		}
		best = tach_bench_fit(n, t, 8, &c, &e);
		CHECK(best && strcmp(best, names[which]) == 0, "%s, not %s", best,
		      names[which]);
		CHECK(fabs(c / 3 - 1) < 0.02 && e > 0.005 && e < 0.03, "%s %g %g", best, c, e);
	}
	CHECK(!tach_bench_fit(n, t, 2, &c, &e) && isnan(c) && isnan(e));
}

/* Times 1, 2 and 3: their mean is 2; the differences are 1, 0 and 1. */
static void the_first_of_equals(void)
{
	static const double n[] = {1, 1, 1}, t[] = {1, 2, 3};
	double c, e;
	const char *best = tach_bench_fit(n, t, 3, &c, &e);

	CHECK(best && strcmp(best, "O(1)") == 0, "%s", best);
	CHECK(fabs(c - 2) < 1e-12 && fabs(e - sqrt(2.0 / 3) / 2) < 1e-12, "%g %g", c, e);
}

int main(void)
{
	CASE(fit_finds_the_law);
	CASE(the_first_of_equals);
	return check_done();
}
