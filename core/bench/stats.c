/* SPDX-License-Identifier: MIT */
/* Order statistics: median, MAD, intervals of the median, Mann-Whitney, Hodges-Lehmann. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/maths.h"
#include "core/bench/stats.h"

/* A normal deviation is 1.4826 times its median absolute deviation: 1 / inverse-cdf(3/4). */
#define MAD_TO_SIGMA 1.482602218505602

/*
 * Of an estimated correlation: the margin, in units of its standard error, and the largest
 * value that is used.
 */
#define MARGIN		1.0
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

/*
 * P(X = i) of the binomial distribution (n, 1/2), one after the other from i = 0. 2^-n
 * underflows beyond n = 1074: the exponent is kept apart.
 */
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

/*
 * The rank k of the interval x[k - 1] .. x[n - k], and in *tail how likely each end misses the
 * median. Where not even the extremes reach the confidence, the extremes.
 */
static size_t interval_rank(size_t n, double confidence, double *tail)
{
	struct binomial p = {1, -(int)n};
	size_t k = 0;

	*tail = 0;
	while (k < n / 2) {
		double next = *tail + binomial_value(&p);

		/* Do not lose a rank to rounding. */
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
		/* The extremes of as many samples as these are worth. */
		if (reach >= half - 1)
			reached = 1 - tach__exp(M_LN2 * (1 - (double)n / persistence));
	}
	*low = sorted[k - 1];
	*high = sorted[n - k];
	return reached > 0 ? reached : 0;
}

/* One value and the sample it came from; after ranking, twice its midrank, an integer. */
struct ranked {
	double value;
	size_t twice_rank;
	size_t from; /* which it was, before they were sorted */
};

static int by_ranked_value(const void *a, const void *b)
{
	return by_value(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/* Sorts and ranks all values; returns the sum of t^3 - t over groups of t ties. */
static double rank_all(struct ranked *r, size_t n)
{
	double ties = 0;

	qsort(r, n, sizeof *r, by_ranked_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && r[end].value == r[i].value;)
			end++;
		for (size_t j = i; j < end; j++)
			r[j].twice_rank = i + 1 + end; /* ranks i+1 .. end */
		t = (double)(end - i);
		ties += t * t * t - t;
	}
	return ties;
}

/* Of ranks, so that no outlier decides: the correlation of each sample with the next. */
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

double tach__persistence(const double *x, size_t n)
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
		rho += (1 + 4 * rho) / (double)n + MARGIN / sqrt((double)n);
	if (!(rho > 0))
		return 1;
	return rho < RHO_MAX ? (1 + rho) / (1 - rho) : PERSISTENCE_MAX;
}

/*
 * ways[m * (top + 1) + s]: how many choices of m of the values seen so far have doubled ranks
 * that add up to s. Counts are doubles: C(64, 32) is below 2^61, the quotient needs no
 * exactness beyond the 53 bits they have.
 */
static double exact_tail(const struct ranked *r, size_t n, size_t na, size_t observed)
{
	size_t top = n * (n + 1), used = 0;
	double *ways = calloc((na + 1) * (top + 1), sizeof *ways);
	double total = 0, extreme = 0;
	size_t center = na * (n + 1), distance;

	if (!ways)
		return -1;
	distance = observed > center ? observed - center : center - observed;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		size_t w = r[i].twice_rank;

		used += w;
		for (size_t m = i + 1 < na ? i + 1 : na; m > 0; m--)
			for (size_t s = used; s >= w; s--)
				ways[m * (top + 1) + s] += ways[(m - 1) * (top + 1) + s - w];
	}
	for (size_t s = 0; s <= top; s++) {
		double c = ways[na * (top + 1) + s];

		total += c;
		if ((s > center ? s - center : center - s) >= distance)
			extreme += c;
	}
	free(ways);
	return extreme / total;
}

static double normal_tail(size_t na, size_t nb, double ties, size_t observed)
{
	double n = (double)(na + nb), product = (double)na * (double)nb;
	double variance = product / 12 * (n + 1 - ties / (n * (n - 1)));
	double distance = fabs((double)observed / 2 - (double)na * (n + 1) / 2) - 0.5;

	if (variance <= 0 || distance <= 0)
		return 1;
	return tach__erfc(distance / sqrt(variance) / M_SQRT2);
}

double tach__mann_whitney(const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb, observed = 0;
	struct ranked *r;
	double ties, p;

	if (na == 0 || nb == 0)
		return 1;
	r = calloc(n, sizeof *r);
	if (!r)
		return -1;
	for (size_t i = 0; i < n; i++) {
		r[i].from = i;
		r[i].value = i < na ? a[i] : b[i - na];
	}
	ties = rank_all(r, n);
	for (size_t i = 0; i < n; i++)
		observed += r[i].from < na ? r[i].twice_rank : 0;
	p = n <= TACH__EXACT_MAX ? exact_tail(r, n, na, observed)
				 : normal_tail(na, nb, ties, observed);
	free(r);
	return p;
}

/* The normal deviate that has p, by halving; erfc(28) is 0 in doubles. */
double tach__persistent_p(double p, double persistence)
{
	double low = 0, high = 28;

	if (persistence <= 1 || p >= 1 || p < 0)
		return p;
	for (int i = 0; i < 60; i++) {
		double middle = low / 2 + high / 2;

		if (tach__erfc(middle) > p)
			low = middle;
		else
			high = middle;
	}
	return tach__erfc(low / sqrt(persistence));
}

/* How many of b - a are at most `least`, of both sorted: where a rises, the differences fall.
 */
static size_t at_most(const double *a, size_t na, const double *b, size_t nb, double least)
{
	size_t pairs = 0;

	for (size_t i = 0, j = 0; i < na; i++) {
		while (j < nb && b[j] - a[i] <= least)
			j++;
		pairs += j;
	}
	return pairs;
}

/* Doubles as integers of the same order, and back. */
static int64_t ordinal(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double of_ordinal(int64_t n)
{
	double x;

	n = n < 0 ? INT64_MIN - n : n;
	memcpy(&x, &n, sizeof x);
	return x;
}

/* The difference that has k below it or as large: halving what lies between the extremes. */
static double difference(const double *a, size_t na, const double *b, size_t nb, size_t k)
{
	int64_t low = ordinal(b[0] - a[na - 1]), high = ordinal(b[nb - 1] - a[0]);

	while (low < high) {
		int64_t middle = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);

		if (at_most(a, na, b, nb, of_ordinal(middle)) > k)
			high = middle;
		else
			low = middle + 1;
	}
	return of_ordinal(low);
}

double tach__shift(const double *a, size_t na, const double *b, size_t nb)
{
	double *x = malloc(na * sizeof *x + 1), *y = malloc(nb * sizeof *y + 1), shift = NAN;
	size_t pairs = na * nb;

	if (x && y && pairs) {
		memcpy(x, a, na * sizeof *a);
		memcpy(y, b, nb * sizeof *b);
		tach__sort(x, na);
		tach__sort(y, nb);
		shift = difference(x, na, y, nb, pairs / 2);
		if (pairs % 2 == 0)
			shift = shift / 2 + difference(x, na, y, nb, pairs / 2 - 1) / 2;
	}
	free(x);
	free(y);
	return shift;
}
