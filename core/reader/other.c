/* SPDX-License-Identifier: MIT */
/*
 * Reads the end of a region from another thread.
 *
 * All counts come by read(2), which any thread may use with any descriptor: the kernel asks the
 * processor that runs the thread (kernel/events/core.c, perf_event_read). The thread executes
 * no code for this. Its reader does not change, except `turn` of top-down metrics.
 *
 * Events that other code turned off are not detected here: their time does not advance, as for
 * a thread that waits.
 */
#include <string.h>
#include "core/reader/hybrid.h"
#include "core/reader/reader.h"
#include "core/set/set.h"

/*
 * read(2) of a group with top-down metrics resets its counters. An odd `turn` makes the thread
 * use read(2), too, from now on. If `turn` is odd already, the thread is in the middle of a
 * read(2). Then another odd value makes it read again (core/reader/topdown_look.c).
 */
static int read_topdown(struct tach__topdown *t, struct tach__group_read *now)
{
	uint32_t was = __atomic_fetch_or(&t->turn, 1, __ATOMIC_SEQ_CST);
	int state = tach__group_read(t->group, now);

	if (was & 1)
		__atomic_add_fetch(&t->turn, 2, __ATOMIC_SEQ_CST);
	return state;
}

static int read_group(struct tach__reader *r, const struct tach__group *g,
		      struct tach__group_read *now)
{
	return r->topdown.on && g == r->topdown.group ? read_topdown(&r->topdown, now)
						      : tach__group_read(g, now);
}

/* Reads all hardware members. Reads the first group of a hybrid first, and takes `enabled` from
 * it. */
static int read_hard(struct tach__reader *r, struct tach__group_read *all)
{
	const struct tach__group *g = &r->hard;
	struct tach__group_read now;
	int n = r->hybrid ? r->hybrid->n : 1, first = r->hybrid ? r->hybrid->first : 0;

	memset(all, 0, sizeof *all);
	for (int k = 0; k < n; k++) {
		if (r->hybrid)
			g = &r->hybrid->core[k].group;
		if (!g->count)
			continue;
		if (read_group(r, g, &now) <= 0)
			return 0;
		for (int i = 0; i < g->count; i++)
			all->value[g->member[i]] += now.value[i];
		all->running += now.running;
		if (k == first)
			all->enabled = now.enabled;
	}
	return 1;
}

/* Returns the flags of the region. It reads the lag first, because the thread writes it last
 * (core/reader/lag.c). */
static uint32_t since(const struct tach__reader *r, const struct tach__group_read *now,
		      uint32_t begun)
{
	uint64_t lag = __atomic_load_n(&r->lag, __ATOMIC_ACQUIRE);
	uint32_t grown = __atomic_load_n(&r->grown_lock, __ATOMIC_RELAXED);

	if (now->enabled - now->running > lag || (int32_t)(grown - begun) > 0)
		return TACH_FLAG_INCOMPLETE;
	return TACH_PAGE_LOAD(tach__leader_page(r), lock) != begun ? TACH_FLAG_RESCHEDULED : 0;
}

static uint32_t hybrid_since(const struct tach__hybrid *h, const struct tach__group_read *now,
			     uint32_t begun)
{
	uint32_t everywhere = h->members;
	int64_t lag = (int64_t)(now->enabled - now->running);

	for (int k = 0; k < h->n; k++)
		everywhere &= h->core[k].members;
	return (int32_t)(h->grown - begun) > 0 || lag > h->core[h->first].lag ||
			       everywhere != h->members
		       ? TACH_FLAG_INCOMPLETE
		       : TACH_FLAG_RESCHEDULED;
}

/* Returns the error. A metric that decreased by less than its error did not count. */
static uint64_t settle_topdown(const struct tach__reader *r, const struct tach_mark *mark,
			       uint64_t *delta)
{
	const struct tach__topdown *t = &r->topdown;
	uint64_t error = tach__topdown_unknown(delta[t->group->member[0]], 4);

	for (int m = 0; m < r->set->count; m++)
		if (tach__topdown_has(t, m) && -delta[m] <= error * tach__topdown_steps(t, m))
			delta[m] = 0;
	return error + (mark->flags & TACH_FLAG_SYSCALL ? 0 : mark->enabled);
}

static uint32_t end_hard(struct tach__reader *r, const struct tach_mark *mark, uint64_t *delta,
			 uint64_t *error)
{
	int slow = (mark->lock & 1) != 0, by_read = slow && (mark->flags & TACH_FLAG_SYSCALL);
	int modular = TACH_MODULAR && !by_read && !r->extend && !r->hybrid && !r->topdown.on;
	uint32_t flags = TACH_FLAG_SYSCALL, begun = mark->lock & ~1u, updates = 0;
	uint32_t members = r->hybrid ? r->hybrid->members : 0;
	struct tach__group_read now;

	if (!read_hard(r, &now))
		return TACH_FLAG_LOST;
	for (int i = 0; i < r->hard.count && !r->hybrid; i++)
		members |= 1u << r->hard.member[i];
	if (modular)
		updates = TACH_PAGE_LOAD(tach__leader_page(r), lock) - begun;
	for (int m = 0; m < r->set->count; m++) {
		if (!(members >> m & 1))
			continue;
		delta[m] = now.value[m] - mark->value[m];
		if (modular)
			delta[m] = tach__reader_unwrap(r->hot.way[m].page, delta[m], updates);
		/*
		 * The difference is more than was counted since opening, so the counter was
		 * reset.
		 */
		if (delta[m] > now.value[m] &&
		    !(r->topdown.on && tach__topdown_has(&r->topdown, m)))
			flags |= TACH_FLAG_LOST;
	}
	if (r->topdown.on)
		*error = settle_topdown(r, mark, delta);
	if (by_read)
		return flags | (mark->flags & TACH_FLAG_INCOMPLETE) |
		       tach__scale(r, mark, &now, (unsigned)r->set->count, delta);
	return flags | TACH_FLAG_MIXED |
	       (r->hybrid ? hybrid_since(r->hybrid, &now, begun) : since(r, &now, begun));
}

uint32_t tach__reader_end_other(const struct tach_reader *reader, const struct tach_mark *mark,
				uint64_t *delta, uint64_t *error)
{
	struct tach__reader *r = tach__reader(reader);
	uint64_t all[TACH__EMULATED_COUNTS];
	struct tach__group_read now;
	uint32_t flags = 0;

	*error = 0;
	if ((mark->lock & 1) && (mark->flags & TACH_FLAG_LOST))
		flags = TACH_FLAG_LOST;
	if (r->hard.count && !flags)
		flags = end_hard(r, mark, delta, error);
	if (r->emulated.count) {
		tach__emulated_read(r->emulated.counts, all);
		for (int i = 0; i < r->set->count; i++)
			if (r->set->member[i].kind == TACH_MEMBER_EMULATED)
				delta[i] = all[r->set->member[i].emulated] - mark->value[i];
	}
	if (r->soft.count) {
		if (tach__group_read(&r->soft, &now) <= 0)
			flags |= TACH_FLAG_LOST;
		else
			for (int i = 0; i < r->soft.count; i++)
				delta[r->soft.member[i]] =
					now.value[i] - mark->value[r->soft.member[i]];
		if (r->hard.count + r->emulated.count == 0)
			flags |= TACH_FLAG_SYSCALL;
	}
	if (flags & TACH_FLAG_LOST)
		memset(delta, 0, (size_t)r->set->count * sizeof *delta);
	return flags;
}
