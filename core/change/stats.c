/* SPDX-License-Identifier: MIT */
/* Order statistics: median, MAD, intervals of the median, the bound of Mann-Whitney's test. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/maths.h"
#include "core/change/change.h"

/* A normal deviation is 1.4826 times its median absolute deviation: 1 / inverse-cdf(3/4). */
#define MAD_TO_SIGMA 1.482602218505602

/* The largest correlation that is used. */
#define RHO_MAX		0.95
#define PERSISTENCE_MAX ((1 + RHO_MAX) / (1 - RHO_MAX))

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void tach__sort(double *x, size_t n)
{
	qsort(x, n, sizeof *x, by_value);
}

double tach__median(const double *sorted, size_t n)
{
	if (n == 0)
		return NAN;
	return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

double tach__mad(const double *x, size_t n, double center, double *work)
{
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(x[i] - center);
	tach__sort(work, n);
	return tach__median(work, n);
}

size_t tach__outliers(const double *x, size_t n, double k, double *work)
{
	double median, reach;
	size_t far = 0;

	memcpy(work, x, n * sizeof *x);
	tach__sort(work, n);
	median = tach__median(work, n);
	reach = k * MAD_TO_SIGMA * tach__mad(x, n, median, work);
	for (size_t i = 0; i < n && reach > 0; i++)
		far += fabs(x[i] - median) > reach;
	return far;
}

/* P(X = i) of the binomial distribution (n, 1/2), for i from 0 on. 2^-n underflows for n above
 * 1074, so the exponent is separate. */
struct binomial {
	double fraction;
	int exponent;
};

static double binomial_value(const struct binomial *p)
{
	return ldexp(p->fraction, p->exponent);
}

static void binomial_next(struct binomial *p, size_t n, size_t i)
{
	int exponent;

	p->fraction = frexp(p->fraction * (double)(n - i) / (double)(i + 1), &exponent);
	p->exponent += exponent;
}

/* The rank k of the interval x[k - 1] .. x[n - k], and in *tail the probability that each end
 * misses the median. If even the extremes do not reach the confidence, returns the extremes. */
static size_t interval_rank(size_t n, double confidence, double *tail)
{
	struct binomial p = {1, -(int)n};
	size_t k = 0;

	*tail = 0;
	while (k < n / 2) {
		double next = *tail + binomial_value(&p);

		/* Rounding must not lose a rank. */
		if (2 * next > 1 - confidence + 1e-12)
			break;
		*tail = next;
		binomial_next(&p, n, k++);
	}
	if (k == 0) {
		*tail = binomial_value(&p);
		k = 1;
	}
	return k;
}

double tach__median_interval(const double *sorted, size_t n, double confidence, double *low,
			     double *high)
{
	return tach__series_interval(sorted, n, 1, confidence, low, high);
}

double tach__series_interval(const double *sorted, size_t n, double persistence,
			     double confidence, double *low, double *high)
{
	double tail, half = (double)n / 2, reach, reached;
	size_t k;

	*low = *high = NAN;
	if (n == 0)
		return 0;
	k = interval_rank(n, confidence, &tail);
	reached = n == 1 ? 0 : 1 - 2 * tail;
	if (persistence > 1 && n > 1) {
		reach = (half - (double)k) * sqrt(persistence);
		k = reach < half - 1 ? (size_t)(half - reach) : 1;
		/* Use the extremes of the equivalent number of independent samples. */
		if (reach >= half - 1)
			reached = 1 - tach__exp(M_LN2 * (1 - (double)n / persistence));
	}
	*low = sorted[k - 1];
	*high = sorted[n - k];
	return reached > 0 ? reached : 0;
}

/* One value and its sample; after ranking, twice its midrank, an integer. */
struct ranked {
	double value;
	size_t twice_rank;
	size_t from; /* its index before sorting */
};

static int by_ranked_value(const void *a, const void *b)
{
	return by_value(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/* Sorts and ranks all values. */
static void rank_all(struct ranked *r, size_t n)
{
	qsort(r, n, sizeof *r, by_ranked_value);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && r[end].value == r[i].value;)
			end++;
		for (size_t j = i; j < end; j++)
			r[j].twice_rank = i + 1 + end; /* ranks i+1 .. end */
	}
}

/* Uses ranks, so that no outlier decides: the correlation of each sample with the next one. */
static double rank_correlation(struct ranked *r, double *rank, size_t n)
{
	double together = 0, all = 0;

	rank_all(r, n);
	for (size_t i = 0; i < n; i++)
		rank[r[i].from] = (double)r[i].twice_rank - ((double)n + 1);
	for (size_t i = 0; i < n; i++) {
		all += rank[i] * rank[i];
		together += i ? rank[i] * rank[i - 1] : 0;
	}
	return all > 0 ? together / all : -1;
}

double tach__persistence(const double *x, size_t n, double margin)
{
	struct ranked *r = calloc(n + 1, sizeof *r);
	double *rank = calloc(n + 1, sizeof *rank), rho = -1;

	for (size_t i = 0; r && i < n; i++)
		r[i] = (struct ranked){.value = x[i], .from = i};
	if (r && rank && n > 2)
		rho = rank_correlation(r, rank, n);
	free(r);
	free(rank);
	if (!r || !rank)
		return PERSISTENCE_MAX;
	/* The estimate's bias (Kendall: -(1 + 4 rho) / n), and a margin for its own error. */
	if (rho > -1)
		rho += (1 + 4 * rho) / (double)n + margin / sqrt((double)n);
	if (!(rho > 0))
		return 1;
	return rho < RHO_MAX ? (1 + rho) / (1 - rho) : PERSISTENCE_MAX;
}

/*
 * The probability of each number of pairs in the wrong order: the coefficients of the Gaussian
 * binomial (na + nb over na), built factor by factor. It uses only low powers. These depend
 * only on lower ones and are small, so doubles hold them exactly.
 */
static double exact_bound(size_t na, size_t nb, double tail)
{
	size_t top = na * nb / 2;
	double *ways = calloc(top + 1, sizeof *ways), all = 1, sum = 0;
	size_t k;

	if (!ways)
		return -1;
	ways[0] = 1;
	for (size_t i = 1; i <= na; i++) {
		for (size_t u = top; u >= nb + i; u--)
			ways[u] -= ways[u - nb - i];
		for (size_t u = i; u <= top; u++)
			ways[u] += ways[u - i];
		all *= (double)(nb + i) / (double)i;
	}
	/* Rounding must not lose a pair. */
	for (k = 0; k <= top && (sum += ways[k]) <= tail * all * (1 + 1e-12); k++)
		;
	free(ways);
	return (double)k - 1;
}

static double normal_bound(size_t na, size_t nb, double tail)
{
	double pairs = (double)na * (double)nb, low = 0, high = 28, k; /* erfc(28) is 0 */

	for (int i = 0; i < 60; i++) {
		double middle = low / 2 + high / 2;

		if (tach__erfc(middle) > 2 * tail)
			low = middle;
		else
			high = middle;
	}
	k = floor(pairs / 2 - high * M_SQRT2 * sqrt(pairs * (double)(na + nb + 1) / 12) - 0.5);
	return k < 0 ? -1 : k;
}

double tach__rank_bound(size_t na, size_t nb, double tail)
{
	if (na == 0 || nb == 0)
		return -1;
	return na + nb <= TACH__RANK_EXACT ? exact_bound(na, nb, tail)
					   : normal_bound(na, nb, tail);
}
