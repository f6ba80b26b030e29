/* SPDX-License-Identifier: MIT */
/*
 * Histograms with fixed memory. Each power of two has eight buckets, so that the error of a
 * quantile is at most 1/16. Each sum has one array of buckets, followed by the minimum and
 * maximum. A full bucket (UINT32_MAX) stays full.
 */
#include <math.h>
#include <tach/snapshot.h>
#include "core/region/region.h"

enum { SUB = 3, BUCKETS = (64 - SUB + 1) << SUB };

/* An empty histogram is all zeros, so the minimum is stored as its distance from INT64_MAX. */
struct histogram {
	uint32_t count[BUCKETS];
	uint64_t above, most;
};

static struct histogram *histogram_of(const uint32_t *histograms, uint32_t sum)
{
	return (struct histogram *)(uintptr_t)histograms + sum;
}

/*
 * Returns the bucket of a value. It has no branch, because the cost of an entry in enclosing
 * regions must not depend on the value.
 */
static unsigned bucket(uint64_t v)
{
	unsigned shift = TACH_HIGHEST(v | 1u << SUB) - SUB;

	return (shift << SUB) + (unsigned)(v >> shift);
}

/* The minimum and maximum value of bucket b. */
static void bucket_bounds(unsigned b, double *low, double *high)
{
	unsigned power = b >> SUB;

	if (power == 0) {
		*low = *high = b;
		return;
	}
	*low = ldexp((double)((1u << SUB) + (b & ((1u << SUB) - 1))), (int)power - 1);
	*high = *low + ldexp(1, (int)power - 1) - 1;
}

void tach__histogram_bounds(double v, struct tach_bucket *out)
{
	bucket_bounds(bucket(v > 0 && v < 0x1p63 ? (uint64_t)(v + 0.5) : 0), &out->low,
		      &out->high);
}

size_t tach__histograms_size(uint32_t sums)
{
	return (size_t)sums * sizeof(struct histogram);
}

uint32_t *tach__histograms_make(uint32_t sums)
{
	char *h = tach__pages(tach__histograms_size(sums));

	/* Touch the pages now. Otherwise the page faults happen in the measured code. */
	for (size_t at = 0; h && at < tach__histograms_size(sums); at += 4096)
		((volatile char *)h)[at] = 0;
	return (uint32_t *)(void *)h;
}

void tach__histograms_free(uint32_t *histograms, uint32_t sums)
{
	tach__pages_free(histograms, tach__histograms_size(sums));
}

/* Raises *most to v if v is larger, without a branch. Both values are at most INT64_MAX. */
static void raise_maximum(uint64_t *most, uint64_t v)
{
	int64_t more = (int64_t)(v - *most);

	TACH__SET(*most, *most + (uint64_t)(more & ~(more >> 63)));
}

void tach__histograms_add(uint32_t *histograms, const uint64_t *values,
			  const struct tach__entry_cost *cost, int fenced,
			  const uint64_t pairs[2], uint32_t sums)
{
	for (uint32_t i = 0; i < sums; i++) {
		struct histogram *h = histogram_of(histograms, i);
		uint64_t v = tach__entry_net(cost, values, pairs, i, fenced);

		raise_maximum(&h->above, INT64_MAX - v);
		raise_maximum(&h->most, v);
		TACH__SATURATE(h->count[bucket(v)]);
	}
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void tach__histograms_merge(uint32_t *to, const uint32_t *from, uint32_t sums)
{
	for (uint32_t i = 0; i < sums; i++) {
		struct histogram *a = histogram_of(to, i), *b = histogram_of(from, i);

		for (uint32_t k = 0; k < BUCKETS; k++) {
			uint64_t both = (uint64_t)a->count[k] + TACH__GET(b->count[k]);

			a->count[k] = both < UINT32_MAX ? (uint32_t)both : UINT32_MAX;
		}
		a->above = greater(a->above, TACH__GET(b->above));
		a->most = greater(a->most, TACH__GET(b->most));
	}
}

/* The first bucket begins with the minimum, the last one ends with the maximum. */
static void clip_buckets(const struct histogram *h, struct tach_bucket *first,
			 struct tach_bucket *last)
{
	double least = (double)(INT64_MAX - h->above), most = (double)h->most;

	if (first && least >= first->low && least <= first->high)
		first->low = least;
	if (last && most >= last->low && most <= last->high)
		last->high = most;
}

int tach__histogram_buckets(const uint32_t *histograms, uint32_t sum, struct tach_bucket *out,
			    int max)
{
	const struct histogram *h = histogram_of(histograms, sum);
	int n = 0;

	for (unsigned b = 0; b < BUCKETS; b++) {
		if (!h->count[b])
			continue;
		if (n < max) {
			bucket_bounds(b, &out[n].low, &out[n].high);
			out[n].count = h->count[b];
		}
		n++;
	}
	clip_buckets(h, n && max > 0 ? &out[0] : NULL, n && n <= max ? &out[n - 1] : NULL);
	return n;
}
