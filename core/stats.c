/* SPDX-License-Identifier: MIT */
/* Order statistics: median, MAD, interval of the median, Mann-Whitney, Hodges-Lehmann. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/maths.h"
#include "core/stats.h"

/* A normal deviation is 1.4826 times its median absolute deviation: 1 / inverse-cdf(3/4). */
#define MAD_TO_SIGMA 1.482602218505602

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

size_t tach__trim(double *sorted, size_t n, double k, double *work)
{
	double median = tach__median(sorted, n);
	double reach = k * MAD_TO_SIGMA * tach__mad(sorted, n, median, work);
	size_t first = 0, end = n;

	if (n == 0 || reach == 0)
		return n;
	while (sorted[first] < median - reach)
		first++;
	while (sorted[end - 1] > median + reach)
		end--;
	memmove(sorted, sorted + first, (end - first) * sizeof *sorted);
	return end - first;
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

double tach__median_interval(const double *sorted, size_t n, double confidence, double *low,
			     double *high)
{
	struct binomial p = {1, -(int)n};
	double tail = 0; /* P(X < k): one end of the interval misses the median */
	size_t k = 0;

	*low = *high = NAN;
	if (n == 0)
		return 0;
	while (k < n / 2) {
		double next = tail + binomial_value(&p);

		/* Do not lose a rank to rounding. */
		if (2 * next > 1 - confidence + 1e-12)
			break;
		tail = next;
		binomial_next(&p, n, k++);
	}
	if (k == 0) { /* not even the extremes reach the confidence: say what they do reach */
		tail = binomial_value(&p);
		k = 1;
	}
	*low = sorted[k - 1];
	*high = sorted[n - k];
	return n == 1 ? 0 : 1 - 2 * tail;
}

/* One value and the sample it came from; after ranking, twice its midrank, an integer. */
struct ranked {
	double value;
	size_t twice_rank;
	int from_b;
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
		r[i].from_b = i >= na;
		r[i].value = i < na ? a[i] : b[i - na];
	}
	ties = rank_all(r, n);
	for (size_t i = 0; i < n; i++)
		observed += r[i].from_b ? 0 : r[i].twice_rank;
	p = n <= TACH__EXACT_MAX ? exact_tail(r, n, na, observed)
				 : normal_tail(na, nb, ties, observed);
	free(r);
	return p;
}

double tach__shift(const double *a, size_t na, const double *b, size_t nb)
{
	double *d = malloc(na * nb * sizeof *d + 1), shift;

	if (!d)
		return NAN;
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			d[i * nb + j] = b[j] - a[i];
	tach__sort(d, na * nb);
	shift = tach__median(d, na * nb);
	free(d);
	return shift;
}
