/* SPDX-License-Identifier: MIT */
/*
 * Statistics of small samples that assume no distribution: medians, their spread, their
 * confidence intervals, and whether two samples differ. Deterministic: no random resampling.
 */
#ifndef TACH_CORE_BENCH_STATS_H
#define TACH_CORE_BENCH_STATS_H

#include <stddef.h>

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
 * Returns the coverage it really has, which for n < 6 and 95 % is less than asked (the whole
 * range).
 */
double tach__median_interval(const double *sorted, size_t n, double confidence, double *low,
			     double *high);
/*
 * How many samples of a series, in the order in which they were taken, carry as much
 * information as one independent sample: (1 + rho) / (1 - rho), where rho is the rank
 * correlation of neighbours, corrected for bias and with a margin, as an autoregressive series
 * has it; 1 .. 39. 39 also where memory for it is missing.
 */
double tach__persistence(const double *x, size_t n);
/*
 * tach__median_interval for such a series: the ranks lie further apart by the square root of
 * the persistence. Returns less than was asked where not even the extremes reach the
 * confidence.
 */
double tach__series_interval(const double *sorted, size_t n, double persistence,
			     double confidence, double *low, double *high);
/*
 * Mann-Whitney: the two-sided probability of rank sums at least this far apart if both samples
 * came from one distribution. Exact, ties included, up to TACH__EXACT_MAX values in all; above
 * that by the normal approximation with correction for ties and continuity. 1 for an empty
 * sample, negative when there is no memory.
 */
enum { TACH__EXACT_MAX = 64 };
double tach__mann_whitney(const double *a, size_t na, const double *b, size_t nb);
/* The same probability where only one sample in `persistence` carries new information. */
double tach__persistent_p(double p, double persistence);
/* Hodges-Lehmann: the median of all differences b - a, exactly; (na + nb) log. NaN for an empty
 * sample or no memory. */
double tach__shift(const double *a, size_t na, const double *b, size_t nb);

#endif
