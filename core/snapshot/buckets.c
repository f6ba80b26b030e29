/* SPDX-License-Identifier: MIT */
/* Merges histograms of several snapshots. Keeps samples only if a region has one source. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/sort.h"
#include "core/snapshot/merge.h"

static int by_low(const void *a, const void *b)
{
	const struct tach_bucket *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/*
 * Converts buckets of a clock with another rate to buckets of the result's clock. An estimated
 * rate differs slightly in each process; without this conversion, no two processes would have a
 * bucket in common.
 */
static void fit_buckets(struct tach_bucket *b, int n, double hz)
{
	for (int i = 0; i < n; i++) {
		struct tach_bucket cell;

		tach__histogram_bounds((b[i].low + b[i].high) / 2 * hz / 1e9, &cell);
		cell.low = cell.low * 1e9 / hz;
		cell.high = cell.high * 1e9 / hz;
		/* The minimum and maximum do not change. */
		b[i].low = i == 0 ? fmin(b[i].low, cell.high) : cell.low;
		b[i].high = i == n - 1 ? fmax(b[i].high, cell.low) : cell.high;
	}
}

/* Sorts buckets and merges those that overlap. The first and the last bucket may have narrower
 * bounds. */
static int join_buckets(struct tach_bucket *all, int n)
{
	int kept = 0;

	tach__heapsort(all, (size_t)n, sizeof *all, by_low);
	for (int i = 1; i < n; i++)
		if (all[i].low <= all[kept].high * (1 + 1e-14)) {
			all[kept].high = fmax(all[kept].high, all[i].high);
			all[kept].count += all[i].count;
		} else {
			all[++kept] = all[i];
		}
	return kept + 1;
}

/* Stores the merged buckets. Reserves twice their size, so that most merges need no new
 * memory. */
static int keep_buckets(struct tach__plain *s, struct tach__plain_buckets *to,
			const struct tach_bucket *all, int n)
{
	if (n > to->room) {
		to->at = tach__arena_get(&s->arena, 2 * (size_t)n * sizeof *to->at);
		to->room = to->at ? 2 * n : 0;
	}
	if (!to->at)
		return TACH_ERR_NOMEM;
	memcpy(to->at, all, (size_t)n * sizeof *all);
	to->count = n;
	return 0;
}

int tach__merge_buckets(struct tach__merge *m, struct tach__plain_buckets *to,
			const struct tach__source *from, int quantity)
{
	int n = tach_snapshot_buckets(from->snapshot, from->region, quantity, NULL, 0), code;
	double hz = m->whole->clock_hz, was = from->snapshot->clock_hz;
	struct tach_bucket *all;

	if (n <= 0)
		return 0;
	all = malloc((size_t)(to->count + n) * sizeof *all);
	if (!all)
		return TACH_ERR_NOMEM;
	if (to->count)
		memcpy(all, to->at, (size_t)to->count * sizeof *all);
	tach_snapshot_buckets(from->snapshot, from->region, quantity, all + to->count, n);
	if (quantity == TACH_QUANTITY_TIME && hz > 0 && was > 0 && hz != was)
		fit_buckets(all + to->count, n, hz);
	n = join_buckets(all, to->count + n);
	code = keep_buckets(m->plain, to, all, n);
	free(all);
	return code;
}

/* Copies the samples of a region if it has only one source, because then they are still
 * valid. */
int tach__merge_samples(struct tach__plain *s, int region, const struct tach__source *from)
{
	const struct tach__plain_region *was = &from->snapshot->plain.region[from->region];

	for (int part = 0; part < 2 && was->sample[part]; part++) {
		struct tach__sample *to =
			tach__arena_get(&s->arena, (size_t)s->nquantities * sizeof *to);

		if (!to)
			return TACH_ERR_NOMEM;
		s->region[region].sample[part] = to;
		for (int q = 0; q < tach_snapshot_nquantities(from->snapshot); q++)
			to[from->map[q]] = was->sample[part][q];
	}
	return 0;
}
