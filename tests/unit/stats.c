/* SPDX-License-Identifier: MIT */
/* core/stats.c against values worked out by hand or by full enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/stats.h"
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

static void trim_removes_what_the_rule_says(void)
{
	/* Median 10, MAD 1: with k = 5 the fence stands at 10 +- 7.413. */
	double x[] = {2.5, 2.6, 9, 9, 10, 10, 10, 11, 11, 17.4, 17.5}, work[11];
	double same[] = {7, 7, 7, 7, 1000};
	size_t n = tach__trim(x, 11, 5, work);

	CHECK(n == 9, "%zu remain", n);
	CHECK(x[0] == 2.6 && x[n - 1] == 17.4);
	CHECK(tach__trim(same, 5, 5, work) == 5, "a MAD of 0 gives no scale");
	CHECK(tach__trim(same, 0, 5, work) == 0);
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

	/* 32 + 32 values are done exactly, 33 + 32 no longer: both must tell nearly the same.
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
}

static void shift_by_hand(void)
{
	/* Differences 9 8 19 18 29 28: median 18.5. */
	static const double a[] = {1, 2}, b[] = {10, 20, 30};

	CHECK(tach__shift(a, 2, b, 3) == 18.5);
	CHECK(isnan(tach__shift(a, 0, b, 3)));
}

int main(void)
{
	CASE(medians);
	CASE(mad_by_hand);
	CASE(trim_removes_what_the_rule_says);
	CASE(interval_has_the_ranks_of_the_tables);
	CASE(mann_whitney_is_exact);
	CASE(normal_approximation_agrees_with_exact);
	CASE(shift_by_hand);
	return check_done();
}
