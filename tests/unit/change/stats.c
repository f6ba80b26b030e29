/* SPDX-License-Identifier: MIT */
/* core/change/stats.c, compared with values computed by hand or by full enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/change/change.h"
#include "tests/check.h"

static int near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void medians(void)
{
	double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, big[] = {1.7e308, 1.7e308};

	tach__sort(odd, 3);
	tach__sort(even, 4);
	CHECK(tach__median(odd, 3) == 5);
	CHECK(tach__median(even, 4) == 2.5);
	CHECK(tach__median(big, 2) == 1.7e308, "the mean must not overflow");
	CHECK(isnan(tach__median(odd, 0)));
}

static void mad_by_hand(void)
{
	/* Median 4; distances 3 2 1 0 1 2 5 -> sorted 0 1 1 2 2 3 5. */
	double x[] = {1, 2, 3, 4, 5, 6, 9}, work[7];

	CHECK(tach__mad(x, 7, 4, work) == 2);
}

static void outliers_are_what_the_rule_says(void)
{
	/* Median 10, MAD 1: with k = 5 the limits are 10 +- 7.413. */
	double x[] = {11, 2.5, 10, 2.6, 9, 17.5, 9, 10, 11, 17.4, 10}, work[11];
	double same[] = {7, 7, 1000, 7, 7};

	CHECK(tach__outliers(x, 11, 5, work) == 2, "2.5 and 17.5");
	CHECK(tach__outliers(x, 11, 4.9, work) == 4);
	CHECK(x[0] == 11 && x[5] == 17.5, "nothing is removed or moved");
	CHECK(tach__outliers(same, 5, 5, work) == 0, "a MAD of 0 gives no scale");
	CHECK(tach__outliers(same, 0, 5, work) == 0);
}

static void interval_has_the_ranks_of_the_tables(void)
{
	/* Ranks and coverages as printed in tables of the sign test. */
	static const struct {
		size_t n, low, high;
		double coverage;
	} want[] = {
		{6, 1, 6, 0.96875},	    {8, 1, 8, 0.9921875},
		{9, 2, 8, 0.9609375},	    {10, 2, 9, 0.978515625},
		{15, 4, 12, 0.96484375},    {20, 6, 15, 0.958610534668},
		{31, 10, 22, 0.9705506275}, {100, 40, 61, 0.9647998},
	};
	double x[100], low, high;

	for (int i = 0; i < 100; i++)
		x[i] = i + 1;
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		double c = tach__median_interval(x, want[i].n, 0.95, &low, &high);

		CHECK(low == (double)want[i].low && high == (double)want[i].high,
		      "n = %zu: ranks %g and %g", want[i].n, low, high);
		CHECK(fabs(c - want[i].coverage) < 1e-7, "n = %zu: coverage %.10f", want[i].n,
		      c);
	}
	CHECK(near(tach__median_interval(x, 5, 0.95, &low, &high), 0.9375));
	CHECK(low == 1 && high == 5, "too few: the whole range, and its true coverage");
	/* 1 + 6 of 64 cases at either end are exactly the requested confidence. */
	CHECK(tach__median_interval(x, 6, 1 - 14.0 / 64, &low, &high) == 1 - 14.0 / 64 &&
	      low == 2 && high == 5);
	CHECK(tach__median_interval(x, 1, 0.95, &low, &high) == 0 && low == 1 && high == 1);
	CHECK(tach__median_interval(x, 0, 0.95, &low, &high) == 0 && isnan(low));
}

/*
 * Returns the probability of `most` pairs or fewer in the wrong order: tries every way to
 * choose na of n ranks.
 */
static double enumerate(int na, int nb, int most)
{
	int n = na + nb, hits = 0, total = 0;

	for (int set = 0; set < 1 << n; set++) {
		int wrong = 0, above = 0;

		if (__builtin_popcount((unsigned)set) != na)
			continue;
		for (int i = n - 1; i >= 0; i--)
			if (set >> i & 1)
				wrong += nb - above;
			else
				above++;
		total++;
		hits += wrong <= most;
	}
	return (double)hits / total;
}

static void rank_bound_is_exact(void)
{
	static const double tails[] = {0.2, 0.05, 0.025, 0.01, 0.001};

	for (int na = 1; na < 9; na++)
		for (int nb = 1; nb < 9; nb++)
			for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
				int k = (int)tach__rank_bound((size_t)na, (size_t)nb, tails[t]);

				CHECK((k < 0 || enumerate(na, nb, k) <= tails[t]) &&
					      enumerate(na, nb, k + 1) > tails[t],
				      "%d and %d, %g: %d", na, nb, tails[t], k);
			}
	/* Two of 70 ways have no overlap, one in each direction. */
	CHECK(tach__rank_bound(4, 4, 1.0 / 70) == 0 && tach__rank_bound(4, 4, 0.9 / 70) == -1);
	CHECK(tach__rank_bound(0, 4, 0.5) == -1 && tach__rank_bound(4, 0, 0.5) == -1);
	/*
	 * Tables of the Mann-Whitney test: 20 and 20 values, two-sided 5 %; 12 and 12 values,
	 * two-sided 1 %.
	 */
	CHECK(tach__rank_bound(20, 20, 0.025) == 127 && tach__rank_bound(12, 12, 0.005) == 27);
}

/*
 * 64 + 64 values are computed exactly, 65 + 64 are not: both must give nearly the same result.
 */
static void normal_approximation_agrees_with_exact(void)
{
	static const double tails[] = {0.2, 0.05, 0.005};

	for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
		double exact = tach__rank_bound(64, 64, tails[t]);
		double approximate = tach__rank_bound(65, 64, tails[t]);

		/* One more value adds 64 pairs; fewer than half of them may be wrong. */
		CHECK(approximate - exact >= 12 && approximate - exact <= 32, "%g: %g and %g",
		      tails[t], exact, approximate);
	}
	CHECK(tach__rank_bound(65, 64, 1e-300) == -1);
}

/*
 * Ranks 1 2 3 4 5: rho = (2*1 + 1*0 + 0 + 1*2) / 10 = 0.4; corrected by (1 + 1.6) / 5 and 1 /
 * sqrt(5) it is 1.37, the maximum. Ranks 3 1 5 2 4: (0*-2 + -2*2 + 2*-1 + -1*1) / 10 = -0.7;
 * alternating samples count as much as independent ones.
 */
static void persistence_by_hand(void)
{
	static const double up[] = {10, 20, 21, 22, 900}, mixed[] = {3, 1, 5, 2, 4};
	static const double same[] = {7, 7, 7, 7};
	double block[100], rho = 0, want;

	CHECK(near(tach__persistence(up, 5, 1), 39));
	/* Without the margin 0.4 + 2.6 / 5. */
	CHECK(near(tach__persistence(up, 5, 0), 1.92 / 0.08));
	CHECK(tach__persistence(mixed, 5, 1) == 1 && tach__persistence(same, 4, 1) == 1);
	CHECK(tach__persistence(up, 2, 1) == 1 && tach__persistence(up, 0, 1) == 1,
	      "nothing to see");
	/*
	 * Two values in blocks of 4: of 99 pairs of neighbours 24 differ, and each product is
	 * +-1.
	 */
	for (int i = 0; i < 100; i++)
		block[i] = i / 4 % 2;
	/*
	 * 52 zeros and 48 ones: their ranks' distances from the middle are -24 and +26 (x 2).
	 */
	want = 52 * 48.0 * 48 + 48 * 52.0 * 52;
	for (int i = 1; i < 100; i++)
		rho += (block[i] > 0 ? 52 : -48) * (block[i - 1] > 0 ? 52.0 : -48.0) / want;
	rho += (1 + 4 * rho) / 100 + 0.1;
	CHECK(near(tach__persistence(block, 100, 1), (1 + rho) / (1 - rho)), "%g",
	      tach__persistence(block, 100, 1));
}

static void a_persistent_series_has_a_wider_interval(void)
{
	double x[31], low, high, c;

	for (int i = 0; i < 31; i++)
		x[i] = i + 1;
	/*
	 * Ranks 10 and 22 for independent samples, 5.5 from the middle; the fourfold deviation
	 * gives 11.
	 */
	c = tach__series_interval(x, 31, 4, 0.95, &low, &high);
	CHECK(low == 4 && high == 28 && fabs(c - 0.9705506275) < 1e-9, "%g %g %g", low, high,
	      c);
	/* 31 / 10 samples: 1 - 2^(1 - 3.1). */
	c = tach__series_interval(x, 31, 10, 0.95, &low, &high);
	CHECK(low == 1 && high == 31 && fabs(c - (1 - pow(2, -2.1))) < 1e-9, "%g", c);
	CHECK(tach__series_interval(x, 31, 39, 0.95, &low, &high) == 0, "not one sample");
}

int main(void)
{
	CASE(medians);
	CASE(mad_by_hand);
	CASE(outliers_are_what_the_rule_says);
	CASE(interval_has_the_ranks_of_the_tables);
	CASE(rank_bound_is_exact);
	CASE(normal_approximation_agrees_with_exact);
	CASE(persistence_by_hand);
	CASE(a_persistent_series_has_a_wider_interval);
	return check_done();
}
