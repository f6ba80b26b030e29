/* SPDX-License-Identifier: MIT */
/* The counts between two snapshots of the same process. */
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

static void take(double *from, double what)
{
	*from = *from > what ? *from - what : 0;
}

static void take_value(struct tach_value *v, const struct tach_value *old)
{
	take(&v->value, old->value);
	take(&v->raw, old->raw);
	take(&v->overhead, old->overhead);
	take(&v->error, old->error);
	v->flags &= ~TACH_FLAG_SMALL;
	if (v->error > 0 && v->value <= v->error)
		v->flags |= TACH_FLAG_SMALL;
}

/*
 * The bounds of a bucket move as the clock's frequency becomes better known, by much less than
 * the distance to the next bucket, which is a sixteenth.
 */
static int is_same_bucket(const struct tach_bucket *a, const struct tach_bucket *b)
{
	return a->low == b->low || fabs(a->low - b->low) < b->low / 64;
}

/* Both by ascending value; a bucket that had a count has it still. */
static void take_buckets(struct tach__plain_buckets *b, const struct tach__plain_buckets *old)
{
	int n = 0;

	for (int i = 0, o = 0; i < b->count; i++) {
		while (o < old->count && old->at[o].low < b->at[i].low &&
		       !is_same_bucket(&old->at[o], &b->at[i]))
			o++;
		if (o < old->count && is_same_bucket(&old->at[o], &b->at[i]))
			take_count(&b->at[i].count, old->at[o].count);
		if (b->at[i].count)
			b->at[n++] = b->at[i];
	}
	b->count = n;
}

static void take_info(struct tach_region_info *info, const struct tach_region_info *old)
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

static void take_region(struct tach__plain *p, int region, const struct tach__plain_region *old)
{
	struct tach__plain_region *r = &p->region[region];

	take_info(&r->info, &old->info);
	tach__plain_worst_since(r, old);
	for (int q = 0; q < p->nquantities; q++) {
		take_value(&r->value[0][q], &old->value[0][q]);
		take_value(&r->value[1][q], &old->value[1][q]);
		take_buckets(&r->histogram[q], &old->histogram[q]);
	}
	for (int m = 0; m < p->nmetrics; m++) {
		tach__plain_derive(p, region, m, TACH_PART_INCLUSIVE);
		tach__plain_derive(p, region, m, TACH_PART_SELF);
	}
}

/* Sums begin anew when another set is configured. */
static int is_another(const struct tach__plain *a, const struct tach__plain *b)
{
	int another = a->nquantities != b->nquantities;

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
	if (code || is_another(&newer->plain, &older->plain))
		return code;
	known = sorted(&older->plain);
	if (!known) {
		tach_snapshot_free(*out);
		*out = NULL;
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	p = &(*out)->plain;
	for (int r = 0; r < p->nregions; r++) {
		const struct tach__plain_region *key = &p->region[r];
		const struct tach__plain_region **old = bsearch(
			&key, known, (size_t)older->plain.nregions, sizeof *known, by_place);

		if (old && (*old)->info.entries <= key->info.entries)
			take_region(p, r, *old);
	}
	free(known);
	return 0;
}
