/* SPDX-License-Identifier: MIT */
/* Histograms of the entries of a region, one for each sum. Included by region.h. */
#ifndef TACH_CORE_REGION_HISTOGRAM_H
#define TACH_CORE_REGION_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

struct tach__entry_cost;

uint32_t *tach__histograms_make(uint32_t sums);
size_t tach__histograms_size(uint32_t sums); /* in bytes */
void tach__histograms_free(uint32_t *histograms, uint32_t sums);
/*
 * Adds one entry, minus the cost of measuring it; a negative value counts as 0, as in a report.
 * pairs: number of pairs that completed inside the entry, all and fenced ones. The number of
 * instructions does not depend on the values.
 */
void tach__histograms_add(uint32_t *histograms, const uint64_t *values,
			  const struct tach__entry_cost *cost, int fenced,
			  const uint64_t pairs[2], uint32_t sums);
void tach__histograms_merge(uint32_t *to, const uint32_t *from, uint32_t sums);
/*
 * Writes at most max buckets that have a count; returns the number of such buckets. The unit of
 * time is ticks. The first bucket begins with the minimum, the last one ends with the maximum.
 */
struct tach_bucket;
int tach__histogram_buckets(const uint32_t *histograms, uint32_t sum, struct tach_bucket *out,
			    int max);
/* Writes the bounds of the bucket that contains v. */
void tach__histogram_bounds(double v, struct tach_bucket *out);

#endif
