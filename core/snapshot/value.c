/* SPDX-License-Identifier: MIT */
/* Reads a snapshot: names, regions, values, metrics, distributions. */
#include <math.h>
#include "core/base/sized.h"
#include "core/snapshot/snapshot.h"

/*
 * A clock read is off by up to one tick. These errors are independent, so they add up as a
 * random walk.
 */
double tach__snapshot_clock_error(const struct tach_snapshot *s, double entries, double scale,
				  double ns)
{
	double tick = s->clock_hz > 0 ? 1e9 / s->clock_hz : 0;

	return sqrt(entries) * tick * scale + ns * s->clock_error;
}

void tach__value_sampled(struct tach_value *v, double error)
{
	if (isnan(error))
		v->flags |= TACH_FLAG_UNBOUNDED;
	else
		v->error += error;
}

void tach__value_judge(struct tach_value *v)
{
	v->flags &= ~(uint32_t)TACH_FLAG_SMALL;
	if (v->flags & TACH_FLAG_UNBOUNDED && v->error < v->value)
		v->error = v->value;
	if (v->error > 0 && v->value <= v->error)
		v->flags |= TACH_FLAG_SMALL;
}

static const struct tach__plain_region *region_at(const struct tach_snapshot *s, int region)
{
	return region >= 0 && region < s->plain.nregions ? &s->plain.region[region] : NULL;
}

int tach_snapshot_nregions(const struct tach_snapshot *s)
{
	return s->plain.nregions;
}

int tach_snapshot_nquantities(const struct tach_snapshot *s)
{
	return s->plain.nquantities;
}

int tach_snapshot_nmetrics(const struct tach_snapshot *s)
{
	return s->plain.nmetrics;
}

const char *tach_snapshot_quantity(const struct tach_snapshot *s, int quantity)
{
	return quantity >= 0 && quantity < s->plain.nquantities ? s->plain.quantity[quantity]
								: NULL;
}

const char *tach_snapshot_metric(const struct tach_snapshot *s, int metric)
{
	return metric >= 0 && metric < s->plain.nmetrics ? s->plain.metric[metric].name : NULL;
}

const char *tach_snapshot_missing(const struct tach_snapshot *s)
{
	return s->note;
}

int tach_snapshot_counts(const struct tach_snapshot *s, struct tach_counts *counts)
{
	const struct tach_counts ours = {.threads = s->threads,
					 .refused = s->refused,
					 .lost = s->lost,
					 .stale = s->stale,
					 .unopened = s->unopened,
					 .reports = s->reports,
					 .clock_hz = s->clock_hz,
					 .missing_processes = s->missing_processes,
					 .missing_threads = s->missing_threads};

	if (!tach__sized(counts, TACH__STRUCT(tach_counts), NULL))
		return TACH_ERR_INVAL;
	tach__sized_done(counts, &ours, TACH__STRUCT(tach_counts));
	return 0;
}

int tach_snapshot_region(const struct tach_snapshot *s, int region,
			 struct tach_region_info *out)
{
	const struct tach__plain_region *r = region_at(s, region);

	if (!r || !tach__sized(out, TACH__STRUCT(tach_region_info), NULL))
		return TACH_ERR_INVAL;
	tach__sized_done(out, &r->info, TACH__STRUCT(tach_region_info));
	return 0;
}

/* `number` counts quantities, then metrics. */
static int value_at(const struct tach_snapshot *s, int region, int number, enum tach_part part,
		    struct tach_value *value)
{
	const struct tach__plain_region *r = region_at(s, region);

	if (!r || !value || part > TACH_PART_SELF)
		return TACH_ERR_INVAL;
	*value = r->value[part][number];
	return 0;
}

int tach_snapshot_value(const struct tach_snapshot *s, int region, int quantity,
			enum tach_part part, struct tach_value *value)
{
	if (quantity < 0 || quantity >= s->plain.nquantities)
		return TACH_ERR_INVAL;
	return value_at(s, region, quantity, part, value);
}

int tach_snapshot_derived(const struct tach_snapshot *s, int region, int metric,
			  enum tach_part part, struct tach_value *value)
{
	if (metric < 0 || metric >= s->plain.nmetrics)
		return TACH_ERR_INVAL;
	return value_at(s, region, s->plain.nquantities + metric, part, value);
}

static const struct tach__plain_buckets *buckets_at(const struct tach_snapshot *s, int region,
						    int quantity)
{
	const struct tach__plain_region *r = region_at(s, region);

	return r && quantity >= 0 && quantity < s->plain.nquantities ? &r->histogram[quantity]
								     : NULL;
}

/* Finds the bucket of quantile p, and the value within it. NULL: there is no bucket. */
static const struct tach_bucket *find_quantile(const struct tach__plain_buckets *h, double p,
					       double *value)
{
	double total = 0, seen = 0, rank;

	if (!h || !(p >= 0 && p <= 1))
		return NULL;
	for (int b = 0; b < h->count; b++)
		total += (double)h->at[b].count;
	rank = fmax(ceil(p * total), 1);
	for (int b = 0; b < h->count; b++) {
		const struct tach_bucket *at = &h->at[b];
		/* Assumes that values are spread evenly in the bucket. */
		double place = (rank - seen - 0.5) / (double)at->count;

		seen += (double)at->count;
		if (seen < rank)
			continue;
		/* The minimum and the maximum are known exactly. */
		if (total > 1 && rank == 1)
			place = 0;
		if (total > 1 && rank == total)
			place = 1;
		*value = place == 1 ? at->high : at->low + (at->high - at->low) * place;
		return at;
	}
	return NULL;
}

double tach_snapshot_quantile(const struct tach_snapshot *s, int region, int quantity, double p)
{
	double value;

	return find_quantile(buckets_at(s, region, quantity), p, &value) ? value : NAN;
}

double tach__snapshot_resolution(const struct tach_snapshot *s, int region, int quantity,
				 double p)
{
	double value;
	const struct tach_bucket *at =
		find_quantile(buckets_at(s, region, quantity), p, &value);

	if (!at)
		return NAN;
	if (value == tach_snapshot_quantile(s, region, quantity, 0) ||
	    value == tach_snapshot_quantile(s, region, quantity, 1))
		return 0;
	return fmax(value - at->low, at->high - value);
}

int tach_snapshot_buckets(const struct tach_snapshot *s, int region, int quantity,
			  struct tach_bucket *buckets, int max)
{
	const struct tach__plain_buckets *h = buckets_at(s, region, quantity);

	if (!h || (!buckets && max > 0))
		return TACH_ERR_INVAL;
	for (int b = 0; b < h->count && b < max; b++)
		buckets[b] = h->at[b];
	return h->count;
}
