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
 * One entry, minus the cost of measuring it, at least 0, like the sums of the report. `pairs`:
 * completed inside it, all and those fenced. As many instructions whatever the values.
 */
void tach__histograms_add(uint32_t *histograms, const uint64_t *values,
			  const struct tach__entry_cost *cost, int fenced,
			  const uint64_t pairs[2], uint32_t sums);
void tach__histograms_merge(uint32_t *to, const uint32_t *from, uint32_t sums);
/*
 * At most max buckets that have a count; how many there are. In ticks, where it is time. The
 * bounds are the buckets', but the first begins with the least value and the last ends with the
 * greatest.
 */
struct tach_bucket;
int tach__histogram_buckets(const uint32_t *histograms, uint32_t sum, struct tach_bucket *out,
			    int max);
/* The bounds of the bucket of a value. */
void tach__histogram_bounds(double v, struct tach_bucket *out);

#endif
