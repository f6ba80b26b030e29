/* SPDX-License-Identifier: MIT */
/* Worst entries of a snapshot: taken from rows, merged, and read. */
#include <math.h>
#include <string.h>
#include <time.h>
#include "core/base/sized.h"
#include "core/base/sort.h"
#include "core/snapshot/snapshot.h"

/* ---- reading ---- */

static const struct tach__plain_worst *worst_at(const struct tach_snapshot *s, int region,
						int i)
{
	const struct tach__plain *p = &s->plain;

	if (region < 0 || region >= p->nregions || i < 0 || i >= p->region[region].nworst)
		return NULL;
	return &p->region[region].worst[i];
}

int tach_snapshot_worst(const struct tach_snapshot *s, int region, int number,
			struct tach_worst *out)
{
	const struct tach__plain_worst *w = worst_at(s, region, number);

	if (!w || !tach__sized(out, TACH__STRUCT(tach_worst), NULL))
		return TACH_ERR_INVAL;
	tach__sized_done(out, &w->info, TACH__STRUCT(tach_worst));
	return 0;
}

double tach_snapshot_worst_value(const struct tach_snapshot *s, int region, int number,
				 int quantity)
{
	const struct tach__plain_worst *w = worst_at(s, region, number);

	return w && quantity >= 0 && quantity < s->plain.nquantities ? w->value[quantity] : NAN;
}

int tach_snapshot_worst_by(const struct tach_snapshot *s)
{
	return s->plain.worst - 1;
}

/* ---- rows ---- */

struct moment {
	uint64_t ticks;
	double seconds;
};

/* Uses the closest of several pairs: preemption widens the gap between the two clock reads. */
static struct moment read_clocks(void)
{
	struct moment best = {0, 0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = tach_clock(), width;
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		width = tach_clock() - before;
		if (width >= least)
			continue;
		least = width;
		best = (struct moment){before + width / 2,
				       (double)t.tv_sec + (double)t.tv_nsec / 1e9};
	}
	return best;
}

static int by_key(const void *a, const void *b)
{
	const struct tach__kept *x = *(struct tach__kept *const *)a,
				*y = *(struct tach__kept *const *)b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->begun > y->begun) - (x->begun < y->begun);
}

/* Converts ticks to seconds, relative to the moment m. */
static double seconds_at(const struct tach_snapshot *s, struct moment m, uint64_t ticks)
{
	double since = (double)(int64_t)(m.ticks - ticks);

	return m.seconds - (s->clock_hz > 0 ? since / s->clock_hz : 0);
}

static const char *parent_of(const struct tach_snapshot *s, const struct tach__kept *kept)
{
	if (kept->parent < TACH__SITE_FIRST)
		return "";
	return s->sites ? s->sites[kept->parent].name
			: tach__site_at((uint32_t)kept->parent)->name;
}

void tach__plain_worst_take(const struct tach_snapshot *s, struct tach__plain_region *to,
			    const struct tach__row *row)
{
	const struct tach__kept *order[TACH__WORST_MOST];
	struct moment m = read_clocks();
	uint32_t lost;

	for (to->nworst = 0; to->nworst < (int)row->worst->n; to->nworst++)
		order[to->nworst] = tach__worst_at(row->worst, (uint64_t)to->nworst);
	tach__heapsort(order, (size_t)to->nworst, sizeof *order, by_key);
	for (int i = 0; i < to->nworst; i++) {
		struct tach__plain_worst *w = &to->worst[i];
		const struct tach__kept *kept = order[i];

		w->info.size = sizeof w->info;
		w->info.flags = (uint32_t)kept->flags;
		w->info.at = seconds_at(s, m, kept->begun);
		w->begun = kept->begun;
		w->info.tag = kept->tag;
		w->info.thread = (int)kept->thread;
		memcpy((char *)(uintptr_t)w->info.thread_name, kept->name,
		       sizeof kept->name - 1);
		w->info.parent = parent_of(s, kept);
		lost = w->info.flags & TACH_FLAG_LOST;
		for (uint32_t q = 0; q < row->worst->sums; q++)
			w->value[q] = q == 0 ? (double)kept->sum[q] * 1e9 / s->clock_hz
				      : lost ? NAN
					     : (double)kept->sum[q];
	}
}

/* ---- several snapshots ---- */

static double key_of(const struct tach__plain_worst *w, int by)
{
	double v = w->value[by];

	return isnan(v) ? -1 : v;
}

static int copy_one(struct tach__plain *p, struct tach__plain_worst *to,
		    const struct tach__plain_worst *from, int nfrom, const int *map)
{
	to->info = from->info;
	to->begun = from->begun;
	to->info.thread_name = tach__arena_copy(&p->arena, from->info.thread_name);
	to->info.parent = tach__arena_copy(&p->arena, from->info.parent);
	to->value = tach__arena_get(&p->arena, (size_t)p->nquantities * sizeof *to->value);
	if (!to->info.thread_name || !to->info.parent || !to->value)
		return TACH_ERR_NOMEM;
	for (int q = 0; q < p->nquantities; q++)
		to->value[q] = NAN;
	for (int q = 0; q < nfrom; q++)
		to->value[map[q]] = from->value[q];
	return 0;
}

/* Merges the two lists, which are both sorted. */
int tach__plain_worst_add(struct tach__plain *p, int region, const struct tach__plain *other,
			  int other_region, const int *map)
{
	struct tach__plain_region *to = &p->region[region];
	const struct tach__plain_region *from = &other->region[other_region];
	int most = to->nworst > from->nworst ? to->nworst : from->nworst, a = 0, b = 0;
	struct tach__plain_worst *all;

	if (!from->nworst || !other->worst)
		return 0;
	if (!p->worst)
		p->worst = 1 + map[other->worst - 1];
	if (p->worst != 1 + map[other->worst - 1])
		return 0;
	all = tach__arena_get(&p->arena, (size_t)most * sizeof *all);
	if (!all)
		return TACH_ERR_NOMEM;
	for (int i = 0; i < most; i++) {
		int ours =
			a < to->nworst && (b == from->nworst ||
					   key_of(&to->worst[a], p->worst - 1) >=
						   key_of(&from->worst[b], other->worst - 1));

		if (ours)
			all[i] = to->worst[a++];
		else if (copy_one(p, &all[i], &from->worst[b++], other->nquantities, map) != 0)
			return TACH_ERR_NOMEM;
	}
	to->worst = all;
	to->nworst = most;
	return 0;
}

/*
 * Compares entries by the tick at which they started. Saved reports lack the tick, so their
 * times are compared. These differ slightly for one entry if the clock's frequency is an
 * estimate, which improves.
 */
static int is_same(const struct tach__plain_worst *a, const struct tach__plain_worst *b)
{
	if (a->info.thread != b->info.thread || a->info.tag != b->info.tag)
		return 0;
	if (a->begun && b->begun)
		return a->begun == b->begun;
	return fabs(a->info.at - b->info.at) < 1e-3 &&
	       fabs(a->value[0] - b->value[0]) <= 1e-2 * a->value[0];
}

static int has_entry(const struct tach__plain_worst *w, const struct tach__plain_region *r)
{
	for (int i = 0; i < r->nworst; i++)
		if (is_same(w, &r->worst[i]))
			return 1;
	return 0;
}

void tach__plain_worst_since(struct tach__plain_region *region,
			     const struct tach__plain_region *older)
{
	int n = 0;

	for (int i = 0; i < region->nworst; i++)
		if (!has_entry(&region->worst[i], older))
			region->worst[n++] = region->worst[i];
	region->nworst = n;
}
