/* SPDX-License-Identifier: MIT */
/*
 * The contract of this room: tach/change.h, and the statistics for small samples that it uses.
 * They assume no distribution and use no random numbers.
 */
#ifndef TACH_CORE_CHANGE_H
#define TACH_CORE_CHANGE_H

#include <tach/change.h>

/* Default bounds of a change: for time, and for counts. */
#define TACH__BOUND_TIME  0.05
#define TACH__BOUND_COUNT 0.005
/* Maximum probability that any of all comparisons is called worse by chance. */
#define TACH__ALPHA 0.01

/* Returns 1 for events of retired instructions: another run of the program has the same count.
 * Cycles and misses depend on earlier activity of the machine. */
int tach__change_is_repeatable(const char *quantity);

/* ---- stats.c ---- */

void tach__sort(double *x, size_t n);
/*
 * Median of a sorted sample: the middle value, or the mean of the two in the middle; NaN if
 * empty.
 */
double tach__median(const double *sorted, size_t n);
/* Median of |x - center|, not scaled. work: space for n, overwritten. */
double tach__mad(const double *x, size_t n, double center, double *work);
/*
 * Counts the values that are more than k scaled MADs from the median (the MAD times 1.4826
 * estimates a normal deviation). Returns 0 if the MAD is 0: most values are equal, so there is
 * no scale. The values stay in the sample. work: space for n, overwritten.
 */
size_t tach__outliers(const double *x, size_t n, double k, double *work);
/*
 * The interval between two order statistics that covers the median with at least `confidence`,
 * for any distribution. The ranks come from the binomial distribution of the number of values
 * below. Returns the actual coverage. For n < 6 and 95 % the coverage is less than requested,
 * and the interval is the whole range.
 */
double tach__median_interval(const double *sorted, size_t n, double confidence, double *low,
			     double *high);
/*
 * The number of values of a series, in the order of measurement, that contain the information
 * of one independent value: (1 + rho) / (1 - rho), as in an autoregressive series. rho is the
 * rank correlation of neighbours, corrected for bias, plus `margin` standard errors. 1 .. 39;
 * 39 also without memory.
 */
double tach__persistence(const double *x, size_t n, double margin);
/*
 * tach__median_interval for such a series: the distance of the ranks grows with the square root
 * of the persistence. Returns less than requested if even the extremes do not reach the
 * confidence.
 */
double tach__series_interval(const double *sorted, size_t n, double persistence,
			     double confidence, double *low, double *high);
/*
 * Returns the bound of Mann-Whitney's test of na values against nb: the largest number k of
 * pairs in the wrong order such that chance gives at most k in at most the fraction `tail` of
 * cases. -1: even 0 pairs are more likely than that. Exact up to TACH__RANK_EXACT values, then
 * by the normal approximation.
 */
enum { TACH__RANK_EXACT = 128 };
double tach__rank_bound(size_t na, size_t nb, double tail);

/* ---- points.c ---- */

struct tach__change_point {
	size_t at;   /* the first value of the new level */
	size_t seen; /* index of the value that made the point certain: at, or a later one */
	double before, after; /* medians of both levels */
};
/* Bounds that are computed once for many histories. Fill it with zeros before the first use. */
enum { TACH__POINTS_WINDOW = 64 };
struct tach__change_bounds {
	double plus_two[TACH__POINTS_WINDOW][TACH__POINTS_WINDOW]; /* 0: not computed */
};
/*
 * Finds where the values of commits, in their order, moved to another level. out: space for n.
 * bounds NULL: the program repeats these values exactly, so each difference is a point. Later
 * values do not change the `at` of a point. Returns 0 or TACH_ERR_NOMEM.
 */
int tach__change_points(const double *x, size_t n, struct tach__change_bounds *bounds,
			struct tach__change_point *out, size_t *found);

#endif
