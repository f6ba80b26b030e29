/* SPDX-License-Identifier: MIT */
/*
 * The contract of this room: tach/change.h, and the statistics of small samples behind it.
 * They assume no distribution and draw no random numbers.
 */
#ifndef TACH_CORE_CHANGE_H
#define TACH_CORE_CHANGE_H

#include <tach/change.h>

/* What may change by default: time, and counts. */
#define TACH__BOUND_TIME  0.05
#define TACH__BOUND_COUNT 0.005
/* How many comparisons in all may be called worse by chance. */
#define TACH__ALPHA 0.01

/*
 * Whether a program that runs again counts the same: events of retired instructions. Not cycles
 * nor misses, which depend on what the machine did before.
 */
int tach__change_repeats(const char *quantity);

/* ---- stats.c ---- */

void tach__sort(double *x, size_t n);
/*
 * Of a sorted sample: the middle value, or the mean of the two in the middle; NaN when empty.
 */
double tach__median(const double *sorted, size_t n);
/* Median of |x - center|, not scaled. work: room for n, overwritten. */
double tach__mad(const double *x, size_t n, double center, double *work);
/*
 * How many lie further than k scaled MADs from the median (the MAD times 1.4826 estimates a
 * normal deviation). None where the MAD is 0: most are equal, and there is no scale to judge
 * by. They are not removed. work: room for n, overwritten.
 */
size_t tach__outliers(const double *x, size_t n, double k, double *work);
/*
 * The interval between two order statistics that covers the median with at least `confidence`,
 * whatever the distribution: ranks from the binomial distribution of how many lie below.
 * Returns the coverage it really has. For n < 6 and 95 % that is less than asked, and the
 * interval is the whole range.
 */
double tach__median_interval(const double *sorted, size_t n, double confidence, double *low,
			     double *high);
/*
 * How many values of a series, in the order of their measurement, carry as much information as
 * one independent value: (1 + rho) / (1 - rho), as in an autoregressive series. rho is the rank
 * correlation of neighbours, corrected for bias, plus `margin` standard errors. 1 .. 39; 39
 * also without memory.
 */
double tach__persistence(const double *x, size_t n, double margin);
/*
 * tach__median_interval for such a series: the ranks lie further apart by the square root of
 * the persistence. Returns less than was asked where not even the extremes reach the
 * confidence.
 */
double tach__series_interval(const double *sorted, size_t n, double persistence,
			     double confidence, double *low, double *high);
/*
 * Mann-Whitney's test, of na values against nb: the largest number of pairs that may be in the
 * wrong order if chance brings about so few, or fewer, in a share `tail` of cases at most. -1:
 * not even none. Exact up to TACH__RANK_EXACT values, then by the normal approximation.
 */
enum { TACH__RANK_EXACT = 128 };
double tach__rank_bound(size_t na, size_t nb, double tail);

#endif
