/* SPDX-License-Identifier: MIT */
/*
 * Histograms with fixed memory: eight buckets to every power of two, so a quantile is at most
 * 1/16 off. One array of buckets per sum, one after the other. A bucket that is full
 * (UINT32_MAX) stays so.
 */
#include <math.h>
#include <tach/snapshot.h>
#include "core/region/region.h"

enum { SUB = 3, BUCKETS = (64 - SUB + 1) << SUB };

/* Without a branch: what an entry costs the regions around must not depend on its value. */
static unsigned bucket(uint64_t v)
{
	unsigned shift = TACH_HIGHEST(v | 1u << SUB) - SUB;

	return (shift << SUB) + (unsigned)(v >> shift);
}

/* The least and the greatest value that fall into bucket b. */
static void bounds(unsigned b, double *low, double *high)
{
	unsigned power = b >> SUB;

	if (power == 0) {
		*low = *high = b;
		return;
	}
	*low = ldexp((double)((1u << SUB) + (b & ((1u << SUB) - 1))), (int)power - 1);
	*high = *low + ldexp(1, (int)power - 1) - 1;
}

static double middle(unsigned b)
{
	double low, high;

	bounds(b, &low, &high);
	return (low + high) / 2;
}

size_t tach__histograms_size(uint32_t sums)
{
	return (size_t)sums * BUCKETS * sizeof(uint32_t);
}

uint32_t *tach__histograms_make(uint32_t sums)
{
	char *h = tach__pages(tach__histograms_size(sums));

	/* First touches would be the measured code's page faults. */
	for (size_t at = 0; h && at < tach__histograms_size(sums); at += 4096)
		((volatile char *)h)[at] = 0;
	return (uint32_t *)(void *)h;
}

void tach__histograms_free(uint32_t *histograms, uint32_t sums)
{
	tach__pages_free(histograms, tach__histograms_size(sums));
}

void tach__histograms_add(uint32_t *histograms, const uint64_t *values,
			  const struct tach__entry_cost *cost, int fenced,
			  const uint64_t pairs[2], uint32_t sums)
{
	for (uint32_t i = 0; i < sums; i++)
		TACH__SATURATE(
			histograms[i * BUCKETS +
				   bucket(tach__entry_less(cost, values, pairs, i, fenced))]);
}

void tach__histograms_merge(uint32_t *to, const uint32_t *from, uint32_t sums)
{
	for (uint32_t i = 0; i < sums * BUCKETS; i++) {
		uint64_t both = (uint64_t)to[i] + TACH__GET(from[i]);

		to[i] = both < UINT32_MAX ? (uint32_t)both : UINT32_MAX;
	}
}

double tach__histogram_quantile(const uint32_t *histograms, uint32_t sum, double p)
{
	const uint32_t *h = histograms + (size_t)sum * BUCKETS;
	double total = 0, seen = 0, rank;
	unsigned last = 0;

	for (unsigned b = 0; b < BUCKETS; b++)
		total += h[b];
	if (total == 0)
		return NAN;
	rank = ceil(p * total);
	for (unsigned b = 0; b < BUCKETS; b++) {
		if (!h[b])
			continue;
		seen += h[b];
		last = b;
		if (seen >= rank)
			break;
	}
	return middle(last);
}

int tach__histogram_buckets(const uint32_t *histograms, uint32_t sum, struct tach_bucket *out,
			    int max)
{
	const uint32_t *h = histograms + (size_t)sum * BUCKETS;
	int n = 0;

	for (unsigned b = 0; b < BUCKETS; b++) {
		if (!h[b])
			continue;
		if (n < max) {
			bounds(b, &out[n].low, &out[n].high);
			out[n].count = h[b];
		}
		n++;
	}
	return n;
}
