/* SPDX-License-Identifier: MIT */
/* Computes the counts between two snapshots of the same process. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/base/sort.h"
#include "core/snapshot/snapshot.h"

static int by_place(const void *a, const void *b)
{
	const struct tach__plain_region *x = *(struct tach__plain_region *const *)a,
					*y = *(struct tach__plain_region *const *)b;

	return tach__place_order(&x->info, &y->info);
}

static const struct tach__plain_region **sorted(const struct tach__plain *p)
{
	const struct tach__plain_region **all = calloc((size_t)p->nregions + 1, sizeof *all);

	for (int r = 0; all && r < p->nregions; r++)
		all[r] = &p->region[r];
	if (all)
		tach__heapsort(all, (size_t)p->nregions, sizeof *all, by_place);
	return all;
}

static void take_count(uint64_t *from, uint64_t what)
{
	*from = *from > what ? *from - what : 0;
}

static void subtract(double *from, double what)
{
	*from = *from > what ? *from - what : 0;
}

#define ROUNDED 1e-12 /* relative rounding error of bounds */

static double bucket_middle(const struct tach_bucket *b)
{
	return (b->low + b->high) / 2;
}

/* A region in the newer and in the older snapshot. */
struct pair {
	const struct tach_snapshot *now, *then;
	struct tach__plain_region *r;
	const struct tach__plain_region *old;
	struct tach_region_info was; /* info of the newer region before the subtraction */
	double unit; /* the factor that converts the older times to the new rate */
};

/* Returns the factor that converts older times to the new rate. The rate may be an estimate,
 * which improves. */
static double unit_of(const struct tach_snapshot *now, const struct tach_snapshot *then)
{
	return now->clock_hz > 0 && then->clock_hz > 0 ? then->clock_hz / now->clock_hz : 1;
}

/* Subtracts values that were counted in all entries. */
static void take_counted(struct tach_value *v, const struct tach_value *old, double unit)
{
	subtract(&v->value, old->value * unit);
	subtract(&v->raw, old->raw * unit);
	subtract(&v->overhead, old->overhead * unit);
}

/* Computes an estimate as if sampling had begun with the older snapshot. This is better than
 * the difference of two estimates. */
static void take_sampled(struct tach_value *v, const struct tach_value *old,
			 struct tach__sample *s, const struct tach__sample *was, double unit,
			 int multiplexed)
{
	double by = tach__sample_scale(s), old_by = tach__sample_scale(was);
	double *const of[] = {&v->value, &v->raw, &v->overhead};
	const double then[] = {old->value, old->raw, old->overhead};

	tach__sample_since(s, was, unit);
	for (int i = 0; i < 3; i++) {
		*of[i] /= by;
		subtract(of[i], then[i] * unit / old_by);
		*of[i] *= tach__sample_scale(s);
	}
	if (!multiplexed)
		v->flags &= ~(uint32_t)TACH_FLAG_UNBOUNDED;
	v->error = s->fixed * tach__sample_scale(s) + s->extra;
	tach__value_sampled(v, tach__sample_error(s));
	if (v->share)
		v->share = s->seen < s->all ? (uint32_t)fmax(1, 1e6 * s->seen / s->all) : 0;
}

static int is_estimate(const struct tach_value *v, const struct tach_region_info *info)
{
	return v->share || info->skipped;
}

static double clock_error(const struct tach_snapshot *s, const struct tach_region_info *info,
			  double ns)
{
	return tach__snapshot_clock_error(s, (double)info->outermost, 1, ns);
}

static void take_value(const struct pair *p, int part, int q)
{
	struct tach_value *v = &p->r->value[part][q];
	const struct tach_value *old = &p->old->value[part][q];
	struct tach__sample *s = p->r->sample[part];
	const struct tach__sample *was = p->old->sample[part];
	int is_time = q == TACH_QUANTITY_TIME;
	double unit = is_time ? p->unit : 1, scale = 1;

	v->flags |= old->flags & TACH_FLAG_STALE;
	if (s && was) {
		take_sampled(v, old, s + q, was + q, unit, p->was.provenance[3] != 0);
		scale = tach__sample_scale(s + q);
	} else if (is_estimate(v, &p->was) || is_estimate(old, &p->old->info)) {
		/* The samples are unknown, so the error of all entries remains. */
		take_counted(v, old, unit);
		is_time = 0;
	} else {
		double ns = is_time ? clock_error(p->now, &p->was, v->value) : 0;
		double old_ns = is_time ? clock_error(p->then, &p->old->info, old->value) : 0;

		subtract(&v->error, ns);
		subtract(&v->error, fmax(old->error - old_ns, 0) * unit);
		take_counted(v, old, unit);
	}
	if (is_time)
		v->error += tach__snapshot_clock_error(p->now, (double)p->r->info.outermost,
						       scale, v->value);
	tach__value_judge(v);
}

/*
 * Subtracts the older buckets. Both lists are sorted by value. Each older bucket still exists,
 * but the first and the last may have wider bounds now. So a bucket is found by the middle of
 * the older one.
 */
static void take_buckets(struct tach__plain_buckets *b, const struct tach__plain_buckets *old,
			 double unit)
{
	int n = 0;

	for (int i = 0, o = 0; i < b->count; i++) {
		double least = b->at[i].low * (1 - ROUNDED),
		       most = b->at[i].high * (1 + ROUNDED);

		for (; o < old->count && bucket_middle(&old->at[o]) * unit <= most; o++)
			if (bucket_middle(&old->at[o]) * unit >= least)
				take_count(&b->at[i].count, old->at[o].count);
		if (b->at[i].count)
			b->at[n++] = b->at[i];
	}
	b->count = n;
}

static void subtract_info(struct tach_region_info *info, const struct tach_region_info *old)
{
	take_count(&info->entries, old->entries);
	take_count(&info->calls, old->calls);
	take_count(&info->outermost, old->outermost);
	take_count(&info->skipped, old->skipped);
	take_count(&info->excluded, old->excluded);
	take_count(&info->nested, old->nested);
	take_count(&info->lost, old->lost);
	for (int i = 0; i < 6; i++)
		take_count(&info->provenance[i], old->provenance[i]);
}

static void take_region(struct tach_snapshot *now, const struct tach_snapshot *then, int region,
			const struct tach__plain_region *old)
{
	struct tach__plain *plain = &now->plain;
	struct tach__plain_region *r = &plain->region[region];
	struct pair p = {now, then, r, old, r->info, unit_of(now, then)};

	subtract_info(&r->info, &old->info);
	tach__plain_worst_since(r, old);
	for (int q = 0; q < plain->nquantities; q++) {
		for (int part = 0; part < 2; part++)
			take_value(&p, part, q);
		take_buckets(&r->histogram[q], &old->histogram[q],
			     q == TACH_QUANTITY_TIME ? p.unit : 1);
	}
	for (int m = 0; m < plain->nmetrics; m++) {
		tach__plain_derive(plain, region, m, TACH_PART_INCLUSIVE);
		tach__plain_derive(plain, region, m, TACH_PART_SELF);
	}
}

/* Subtracts counts. `stale` is added, because a stale copy in either snapshot makes the
 * difference wrong. */
static void take_counts(struct tach_snapshot *now, const struct tach_snapshot *then)
{
	take_count(&now->refused, then->refused);
	take_count(&now->lost, then->lost);
	now->stale += then->stale;
}

/* Sums restart when a set is configured, even if the set is the same. */
static int is_another(const struct tach_snapshot *x, const struct tach_snapshot *y)
{
	const struct tach__plain *a = &x->plain, *b = &y->plain;
	int another = a->nquantities != b->nquantities ||
		      (x->generation && y->generation && x->generation != y->generation);

	for (int q = 0; !another && q < a->nquantities; q++)
		another = strcmp(a->quantity[q], b->quantity[q]) != 0;
	return another;
}

int tach_snapshot_since(const struct tach_snapshot *newer, const struct tach_snapshot *older,
			struct tach_snapshot **out, struct tach_error *err)
{
	const struct tach__plain_region **known;
	struct tach__plain *p;
	int code;

	if (!newer || !older || !out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "no snapshot, or nowhere to put it");
	code = tach_snapshot_merge(&newer, 1, out, err);
	if (code || is_another(newer, older))
		return code;
	known = sorted(&older->plain);
	if (!known) {
		tach_snapshot_free(*out);
		*out = NULL;
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	p = &(*out)->plain;
	take_counts(*out, older);
	for (int r = 0; r < p->nregions; r++) {
		const struct tach__plain_region *key = &p->region[r];
		const struct tach__plain_region **old = bsearch(
			&key, known, (size_t)older->plain.nregions, sizeof *known, by_place);

		if (old && (*old)->info.entries <= key->info.entries)
			take_region(*out, older, r, *old);
	}
	free(known);
	return 0;
}
