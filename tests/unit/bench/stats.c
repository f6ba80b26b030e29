/* SPDX-License-Identifier: MIT */
/* core/bench/stats.c against values worked out by hand or by full enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/stats.h"
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
	/* Median 10, MAD 1: with k = 5 the fence stands at 10 +- 7.413. */
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
	/* 1 + 6 of 64 at either end: all the confidence that was asked for, and no more. */
	CHECK(tach__median_interval(x, 6, 1 - 14.0 / 64, &low, &high) == 1 - 14.0 / 64 &&
	      low == 2 && high == 5);
	CHECK(tach__median_interval(x, 1, 0.95, &low, &high) == 0 && low == 1 && high == 1);
	CHECK(tach__median_interval(x, 0, 0.95, &low, &high) == 0 && isnan(low));
}

/* Every way to choose na of n positions: the definition of the permutation test. */
static double enumerate(const double *a, int na, const double *b, int nb)
{
	int n = na + nb, hits = 0, total = 0, twice[16], center = na * (n + 1), observed = 0;
	double all[16];

	memcpy(all, a, (size_t)na * sizeof *a);
	memcpy(all + na, b, (size_t)nb * sizeof *b);
	for (int i = 0; i < n; i++) {
		twice[i] = 1;
		for (int j = 0; j < n; j++)
			twice[i] += (all[j] < all[i]) * 2 + (all[j] == all[i]);
		observed += i < na ? twice[i] : 0;
	}
	for (int set = 0; set < 1 << n; set++) {
		int sum = 0;

		if (__builtin_popcount((unsigned)set) != na)
			continue;
		for (int i = 0; i < n; i++)
			sum += set >> i & 1 ? twice[i] : 0;
		total++;
		hits += abs(sum - center) >= abs(observed - center);
	}
	return (double)hits / total;
}

static void mann_whitney_is_exact(void)
{
	static const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
	static const double ties[] = {1, 1, 2, 2, 2, 9}, more[] = {2, 2, 3, 1, 4, 4, 4};
	static const double c[] = {3, 1, 4, 1.5, 5.9}, d[] = {2.6, 5.3, 5.8, 9.7, 9.3};

	CHECK(near(tach__mann_whitney(a, 4, b, 4), 2.0 / 70), "complete separation");
	CHECK(near(tach__mann_whitney(b, 4, a, 4), 2.0 / 70), "in either order");
	CHECK(near(tach__mann_whitney(a, 4, a, 4), 1), "the same sample");
	CHECK(near(tach__mann_whitney(ties, 6, more, 7), enumerate(ties, 6, more, 7)));
	CHECK(near(tach__mann_whitney(c, 5, d, 5), enumerate(c, 5, d, 5)));
	CHECK(near(tach__mann_whitney(c, 1, d, 5), enumerate(c, 1, d, 5)));
	CHECK(tach__mann_whitney(a, 0, b, 4) == 1);
}

static void normal_approximation_agrees_with_exact(void)
{
	double a[40], b[40];
	double exact, approximate;

	/*
	 * 32 + 32 values are done exactly, 33 + 32 no longer: both must tell nearly the same.
	 */
	for (int i = 0; i < 40; i++) {
		a[i] = i * 7 % 31;
		b[i] = i * 11 % 31 + 5;
	}
	exact = tach__mann_whitney(a, 32, b, 32);
	approximate = tach__mann_whitney(a, 33, b, 32);
	CHECK(exact > 0.001 && exact < 0.2, "%g", exact);
	CHECK(fabs(exact - approximate) < 0.02, "%g and %g", exact, approximate);
	for (int i = 0; i < 40; i++)
		a[i] = b[i] = 5;
	CHECK(tach__mann_whitney(a, 40, b, 40) == 1, "all equal: no variance");
	/* Apart altogether: 2 of C(64, 32) ways, of which the normal tail makes far more. */
	for (int i = 0; i < 40; i++)
		b[i] = 6;
	exact = tach__mann_whitney(a, 32, b, 32);
	approximate = tach__mann_whitney(a, 33, b, 32);
	CHECK(fabs(exact / (2 / 1.832624140942590e18) - 1) < 1e-9, "%g", exact);
	CHECK(approximate > 1e-17, "%g", approximate);
}

/* W, and p by the normal approximation with ties and continuity: worked out apart from this. */
static void normal_approximation_knows_ties(void)
{
	double a[40], b[35];

	for (int i = 0; i < 40; i++)
		a[i] = i * 7 % 4;
	for (int i = 0; i < 35; i++)
		b[i] = i * 11 % 5;
	CHECK(fabs(tach__mann_whitney(a, 40, b, 35) - 0.12907843354345) < 1e-9,
	      "%.12f; 0.138480324 without the ties", tach__mann_whitney(a, 40, b, 35));
}

/*
 * Ranks 1 2 3 4 5: rho = (2*1 + 1*0 + 0 + 1*2) / 10 = 0.4; corrected by (1 + 1.6) / 5 and 1 /
 * sqrt(5) it is 1.37: the most. 3 1 5 2 4: (0*-2 + -2*2 + 2*-1 + -1*1) / 10 = -0.7;
 * alternating samples are worth no less than independent ones.
 */
static void persistence_by_hand(void)
{
	static const double up[] = {10, 20, 21, 22, 900}, mixed[] = {3, 1, 5, 2, 4};
	static const double same[] = {7, 7, 7, 7};
	double block[100], rho = 0, want;

	CHECK(near(tach__persistence(up, 5), 39));
	CHECK(tach__persistence(mixed, 5) == 1 && tach__persistence(same, 4) == 1);
	CHECK(tach__persistence(up, 2) == 1 && tach__persistence(up, 0) == 1, "nothing to see");
	/* Two values in blocks of 4: of 99 neighbours 24 differ, each product is +-1. */
	for (int i = 0; i < 100; i++)
		block[i] = i / 4 % 2;
	/*
	 * 52 zeros and 48 ones: their ranks' distances from the middle are -24 and +26 (x 2).
	 */
	want = 52 * 48.0 * 48 + 48 * 52.0 * 52;
	for (int i = 1; i < 100; i++)
		rho += (block[i] > 0 ? 52 : -48) * (block[i - 1] > 0 ? 52.0 : -48.0) / want;
	rho += (1 + 4 * rho) / 100 + 0.1;
	CHECK(near(tach__persistence(block, 100), (1 + rho) / (1 - rho)), "%g",
	      tach__persistence(block, 100));
}

static void a_persistent_series_has_a_wider_interval(void)
{
	double x[31], low, high, c;

	for (int i = 0; i < 31; i++)
		x[i] = i + 1;
	/* Ranks 10 and 22 of independent samples: 5.5 from the middle; four times, 11. */
	c = tach__series_interval(x, 31, 4, 0.95, &low, &high);
	CHECK(low == 4 && high == 28 && fabs(c - 0.9705506275) < 1e-9, "%g %g %g", low, high,
	      c);
	/* 31 / 10 samples: 1 - 2^(1 - 3.1). */
	c = tach__series_interval(x, 31, 10, 0.95, &low, &high);
	CHECK(low == 1 && high == 31 && fabs(c - (1 - pow(2, -2.1))) < 1e-9, "%g", c);
	CHECK(tach__series_interval(x, 31, 39, 0.95, &low, &high) == 0, "not one sample");
}

/* Normal deviates 1.96 and 1.96 / 2. */
static void persistence_weakens_a_test(void)
{
	CHECK(fabs(tach__persistent_p(0.05, 4) - 0.327086) < 1e-5, "%g",
	      tach__persistent_p(0.05, 4));
	CHECK(fabs(tach__persistent_p(0.05, 1.5) - erfc(1.959963985 / sqrt(1.5) / M_SQRT2)) <
	      1e-8);
	CHECK(tach__persistent_p(0.05, 1) == 0.05 && tach__persistent_p(1, 9) == 1);
	CHECK(tach__persistent_p(-1, 9) == -1, "no memory is no probability");
	/* As far out as is looked for. */
	CHECK(tach__persistent_p(0, 4) < 1e-80 && tach__persistent_p(0, 4) > 0);
}

static void shift_by_hand(void)
{
	/* Differences 9 8 19 18 29 28: median 18.5. */
	static const double a[] = {1, 2}, b[] = {10, 20, 30};

	CHECK(tach__shift(a, 2, b, 3) == 18.5);
	CHECK(isnan(tach__shift(a, 0, b, 3)));
}

/* Against all differences, sorted: with ties, both signs, fractions, odd and even numbers. */
static void shift_is_the_median_difference(void)
{
	static double a[30], b[30], all[900];

	srand(5);
	for (int run = 0; run < 400; run++) {
		size_t na = 1 + (size_t)rand() % 30, nb = 1 + (size_t)rand() % 30, n = 0;
		double step = run % 3 == 0 ? 1 : run % 3 == 1 ? 1e-9 : 1e300;

		for (size_t i = 0; i < 30; i++) {
			a[i] = (rand() % 40 - 20) * step / (1 + run % 7);
			b[i] = (rand() % 40 - 10) * step / (1 + run % 5);
		}
		for (size_t i = 0; i < na; i++)
			for (size_t j = 0; j < nb; j++)
				all[n++] = b[j] - a[i];
		tach__sort(all, n);
		CHECK(tach__shift(a, na, b, nb) == tach__median(all, n), "run %d: %g, not %g",
		      run, tach__shift(a, na, b, nb), tach__median(all, n));
	}
}

/* Of 100,000 each, which are ten thousand million differences. */
static void shift_of_many(void)
{
	enum { MANY = 100000 };
	static double a[MANY], b[MANY];

	for (int i = 0; i < MANY; i++) {
		a[i] = i * 7919 % MANY;
		b[i] = i * 7 % MANY + 0.25;
	}
	CHECK(tach__shift(a, MANY, b, MANY) == 0.25, "%g", tach__shift(a, MANY, b, MANY));
}

int main(void)
{
	CASE(medians);
	CASE(mad_by_hand);
	CASE(outliers_are_what_the_rule_says);
	CASE(interval_has_the_ranks_of_the_tables);
	CASE(mann_whitney_is_exact);
	CASE(normal_approximation_agrees_with_exact);
	CASE(normal_approximation_knows_ties);
	CASE(persistence_by_hand);
	CASE(a_persistent_series_has_a_wider_interval);
	CASE(persistence_weakens_a_test);
	CASE(shift_by_hand);
	CASE(shift_is_the_median_difference);
	CASE(shift_of_many);
	return check_done();
}
