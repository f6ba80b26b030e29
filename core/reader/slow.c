/* SPDX-License-Identifier: MIT */
/* The slow paths of the inline reads. They return the same quantity as the fast path: counts
 * since open for read, differences of such counts for end. */
#include <string.h>
#include "core/reader/hybrid.h"
#include "core/reader/reader.h"
#include "core/set/set.h"

const void *tach__thread_token(void)
{
	static uintptr_t last;
	static __thread uintptr_t token;
	uintptr_t none = 0;

	/* If a handler has set the token already, keep it. */
	if (!token)
		__atomic_compare_exchange_n(&token, &none,
					    __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED), 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return (const void *)token;
}

int tach__mine(const struct tach_reader *reader)
{
	return tach__reader(reader)->owner == tach__thread_token();
}

/* Returns 1 if the page has changed since a read failed, and allows reading again. In this case
 * the event had stopped, which makes reads fault on some architectures (TACH_ARCH_FAULTS). */
static int has_changed(struct tach_way way, uint32_t seen)
{
	return TACH_ARCH_FAULTS && TACH_PAGE_LOAD(way.page, index) &&
	       TACH_PAGE_LOAD(way.page, lock) != (seen & ~1u);
}

/* Reads until the page does not change during a read. Returns 1; 2 after several attempts; 0 if
 * user space cannot read it. */
static int sum_of(struct tach_way way, int extend, uint64_t *sum, uint32_t *lock)
{
	int tries = 1;

	for (; !tach__sum(way, extend, sum, lock); tries = 2)
		if (*lock & 1 && !has_changed(way, *lock))
			return 0;
	return tries;
}

int tach__sum_of(struct tach_way way, int extend, uint64_t *sum)
{
	uint32_t lock;

	return sum_of(way, extend, sum, &lock);
}

/* Reads the hardware members by their pages, in member order; returns the worst result of
 * sum_of. */
static int read_pages(const struct tach__reader *r, unsigned n, int extend, uint64_t *sum,
		      uint32_t *lock)
{
	const struct tach__group *g = &r->hard;
	uint32_t ignored;
	int worst = 1;

	if (g->count == 0 || (unsigned)g->member[0] >= n)
		return 0;
	for (int i = 0; i < g->count && g->member[i] < n; i++) {
		int tries = sum_of(r->hot.way[g->member[i]], extend, &sum[g->member[i]],
				   i ? &ignored : lock);

		if (!tries)
			return 0;
		if (tries > worst)
			worst = tries;
	}
	return worst;
}

int tach__reader_is_inline(const struct tach__reader *r)
{
	return r->hot.fast && r->extend == !TACH_MODULAR && !r->topdown.on;
}

static void scatter(const struct tach__group *g, const struct tach__group_read *from,
		    unsigned n, uint64_t *to)
{
	for (int i = 0; i < g->count; i++)
		if (g->member[i] < n)
			to[g->member[i]] = from->value[i];
}

/* Reads the members that an emulator counts and subtracts `from`. The loop's branch is the only
 * one. */
static void read_emulated(const struct tach__reader *r, unsigned n, const uint64_t *from,
			  uint64_t *to)
{
	uint64_t all[TACH__EMULATED_COUNTS];

	tach__emulated_read(r->emulated.counts, all);
	for (unsigned i = 0; i < n; i++)
		if (r->set->member[i].kind == TACH_MEMBER_EMULATED)
			to[i] = all[r->set->member[i].emulated] - from[i];
}

static const uint64_t nothing[TACH_COUNTERS_MAX];

void tach__begin_slow(struct tach_reader *reader, struct tach_mark *mark, unsigned n)
{
	struct tach__reader *r = tach__reader(reader);
	struct tach__group_read now;
	uint32_t lock;
	int tries, left = 100;

	mark->reader = reader;
	mark->lock = 1;
	mark->flags = 0;
	if (!tach__mine(reader)) {
		mark->flags = TACH_FLAG_LOST;
		return;
	}
	/* Reads hardware members last, so that they count the fewest instructions of this
	 * code. */
	if (r->soft.count) {
		mark->flags |= tach__soft_read(r, &now);
		if (!(mark->flags & TACH_FLAG_LOST))
			scatter(&r->soft, &now, n, mark->value);
	}
	if (r->emulated.count)
		read_emulated(r, n, nothing, mark->value);
	if (r->hard.count == 0)
		return;
	if (r->hybrid) {
		tach__hybrid_begin(r, mark, n);
		return;
	}
	if (r->topdown.on) {
		tach__topdown_begin(r, mark, n);
		return;
	}
	/* Repeats until no page changes, so that the same cost is counted each time. */
	do
		tries = read_pages(r, n, r->extend, mark->value, &lock);
	while (tries > 1 && --left);
	if (tries) {
		mark->lock = lock | 1;
		/* The region includes the extra cost of its begin. */
		if (tries > 1 || tach__reader_is_inline(r))
			mark->flags |= TACH_FLAG_RESCHEDULED;
		return;
	}
	mark->flags |= TACH_FLAG_SYSCALL;
	if (tach__read_or_recover(r, &now) <= 0) {
		mark->flags |= TACH_FLAG_LOST;
		return;
	}
	if (!r->slow)
		mark->flags |= tach__turned_off(&r->hard, &now);
	scatter(&r->hard, &now, n, mark->value);
	mark->enabled = now.enabled;
	mark->running = now.running;
}

/*
 * Converts a modular sum to a full count. A counter is normally negative, and then begin's sum
 * is the count plus 2^width. Between its overflow and the interrupt that restarts it, the
 * counter is not negative, and begin's sum is the count (arch/x86/events/core.c,
 * x86_perf_event_set_period). If the difference is negative, 2^width must be added. If not, it
 * must be added only if more than 2^width was counted since. This takes the kernel two
 * overflows, each with an update of the page. It also takes time: no PMU counts EVENTS_MOST
 * events in a ns.
 */
enum { EVENTS_MOST = 64 };
uint64_t tach__reader_unwrap(const struct perf_event_mmap_page *page, uint64_t difference,
			     uint32_t updates)
{
	uint64_t full = page->pmc_width < 64 ? (uint64_t)1 << page->pmc_width : 0;

	if (!full)
		return difference;
	if ((int64_t)difference < 0 ||
	    (updates >= 4 && page->time_running >= full / EVENTS_MOST))
		return difference + full;
	return difference;
}

/*
 * If the count is negative, or the difference is more than was counted since opening, the
 * counter was reset in the meantime.
 */
static uint32_t set_back(uint64_t difference, uint64_t count)
{
	return (difference > count) | (uint32_t)(count >> 63) ? TACH_FLAG_LOST : 0;
}

static uint32_t settle(struct tach__reader *r, const struct tach_mark *mark, int beyond,
		       uint64_t *delta, unsigned n)
{
	uint32_t flags = tach__reader_since(r, mark->lock), lock;
	uint64_t now[TACH_COUNTERS_MAX];
	struct tach__group_read all;

	if (!TACH_MODULAR) {
		for (int i = 0; i < r->hard.count && i < (int)n; i++)
			flags |= set_back(delta[i], mark->value[i] + delta[i]);
		return flags;
	}
	if (!read_pages(r, n, 1, now, &lock)) {
		if (tach__group_read(&r->hard, &all) <= 0)
			return flags | (beyond ? TACH_FLAG_LOST : 0);
		scatter(&r->hard, &all, n, now);
	}
	lock = TACH_PAGE_LOAD(tach__leader_page(r), lock) - mark->lock;
	for (int i = 0; i < r->hard.count && i < (int)n; i++) {
		uint64_t until_now =
			tach__reader_unwrap(r->hot.way[i].page, now[i] - mark->value[i], lock);

		if (beyond)
			delta[i] = until_now - ((until_now - delta[i]) & r->hot.mask);
		flags |= set_back(delta[i], now[i]);
	}
	return flags;
}

uint32_t tach__reader_settle(struct tach__reader *r, const struct tach_mark *mark,
			     uint64_t ticks, uint64_t *delta)
{
	/* The clock of START and STOP ticks about once per ns or more often. */
	return settle(r, mark, ticks >= r->hot.mask / EVENTS_MOST, delta, r->hot.count);
}

/* Computes the differences of the hardware members. The end is read like the begin, if
 * possible. Its counts are full and sign-extended, even if the begin's counts are modular. */
static uint32_t end_hard(struct tach__reader *r, const struct tach_mark *mark, uint64_t *delta,
			 unsigned n)
{
	/* A fast begin leaves mark->flags unset. */
	int by_pages = !(mark->lock & 1) || !(mark->flags & TACH_FLAG_SYSCALL);
	const struct tach__group *g = &r->hard;
	uint32_t lock, flags, begun = mark->lock & ~1u, seen;
	struct tach__group_read now;
	int modular = by_pages && TACH_MODULAR && !r->extend;

	if (by_pages && read_pages(r, n, 1, delta, &lock)) {
		flags = tach__reader_since(r, begun);
		/*
		 * If nothing changed, but a fast end took this path, its counter read faulted.
		 * The cost of that (tach/fault.h) is counted in the region.
		 */
		if (!(mark->lock & 1))
			flags |= flags ? 0 : TACH_FLAG_RESCHEDULED;
		else
			flags |= mark->flags & TACH_FLAG_RESCHEDULED & ~(flags >> 1);
	} else {
		if (tach__group_read(g, &now) <= 0)
			return TACH_FLAG_LOST;
		scatter(g, &now, n, delta);
		flags = TACH_FLAG_SYSCALL |
			(by_pages ? TACH_FLAG_MIXED : mark->flags & TACH_FLAG_INCOMPLETE);
		if (by_pages)
			flags |= tach__note_lag(r, now.enabled - now.running,
						TACH_PAGE_LOAD(tach__leader_page(r), lock),
						begun) |
				 tach__turned_off(g, &now);
	}
	seen = by_pages ? TACH_PAGE_LOAD(tach__leader_page(r), lock) : 0;
	for (int i = 0; i < g->count && g->member[i] < n; i++) {
		uint64_t *d = &delta[g->member[i]], count = *d;

		*d = count - mark->value[g->member[i]];
		if (modular)
			*d = tach__reader_unwrap(r->hot.way[g->member[i]].page, *d,
						 seen - begun);
		flags |= set_back(*d, count);
	}
	if (!by_pages)
		flags |= tach__scale(r, mark, &now, n, delta);
	return flags;
}

static uint32_t end_any_hard(struct tach__reader *r, const struct tach_mark *mark,
			     uint64_t *delta, unsigned n)
{
	if (r->hybrid)
		return tach__hybrid_end(r, mark, delta, n);
	return r->topdown.on ? tach__topdown_end(r, mark, delta, n)
			     : end_hard(r, mark, delta, n);
}

static __attribute__((noinline)) uint32_t
end_slow(struct tach_reader *reader, const struct tach_mark *mark, uint64_t *delta, unsigned n)
{
	struct tach__reader *r = tach__reader(reader);
	struct tach__group_read now;
	uint32_t flags = 0;

	if (!tach__mine(reader) || ((mark->lock & 1) && (mark->flags & TACH_FLAG_LOST))) {
		memset(delta, 0, n * sizeof *delta);
		return TACH_FLAG_LOST;
	}
	if (r->hard.count)
		flags = end_any_hard(r, mark, delta, n);
	if (r->emulated.count)
		read_emulated(r, n, mark->value, delta);
	if (r->soft.count) {
		flags |= tach__soft_read(r, &now);
		for (int i = 0; i < r->soft.count && r->soft.member[i] < n; i++)
			delta[r->soft.member[i]] =
				now.value[i] - mark->value[r->soft.member[i]];
		if (!r->hard.count)
			flags |= mark->flags & TACH_FLAG_INCOMPLETE;
		if (r->hard.count + r->emulated.count == 0)
			flags |= TACH_FLAG_SYSCALL;
	}
	if (flags & TACH_FLAG_LOST)
		memset(delta, 0, n * sizeof *delta);
	return flags;
}

static __attribute__((noinline)) uint32_t end_again(struct tach_reader *reader,
						    const struct tach_mark *mark,
						    uint64_t *delta, unsigned n, uint64_t first)
{
	struct tach__reader *r = tach__reader(reader);
	uint32_t flags;

	for (unsigned i = 1; i < n; i++)
		if (!tach__end_any(reader, mark, delta, i))
			return end_slow(reader, mark, delta, n);
	if (n == 0 || (mark->lock & 1) || !tach__mine(reader) || !tach__reader_is_inline(r))
		return end_slow(reader, mark, delta, n);
	delta[0] = (first - mark->value[0]) & r->hot.mask;
	flags = settle(r, mark, 1, delta, n);
	if (flags & TACH_FLAG_LOST)
		memset(delta, 0, n * sizeof *delta);
	/* The leader's page did not change. Another page did, or an instruction faulted. */
	return flags ? flags : TACH_FLAG_RESCHEDULED;
}

/*
 * The region counts all work before the second read of the counters. So this reads first and
 * does other work afterwards. Most ends on this path belong to rescheduled regions.
 */
uint32_t tach__end_slow(struct tach_reader *reader, const struct tach_mark *mark,
			uint64_t *delta, unsigned n)
{
	uint64_t first;
	uint32_t lock;

	if (TACH_LIKELY(tach__sum(tach__way(reader, 0), !TACH_MODULAR, &first, &lock)))
		return end_again(reader, mark, delta, n, first);
	return end_slow(reader, mark, delta, n);
}

uint32_t tach__read_slow(struct tach_reader *reader, uint64_t *value, unsigned first,
			 unsigned n)
{
	struct tach__reader *r = tach__reader(reader);
	uint64_t all[TACH_COUNTERS_MAX] = {0};
	struct tach__group_read now;
	uint32_t flags = 0, lock;

	if (!tach__mine(reader))
		flags = TACH_FLAG_LOST;
	if (r->hybrid && r->hard.count && !flags)
		flags |= tach__hybrid_read(r, all);
	else if (r->topdown.on && !flags)
		flags |= tach__topdown_read(r, all);
	else if (r->hard.count && !flags && !read_pages(r, TACH_COUNTERS_MAX, 1, all, &lock)) {
		flags |= TACH_FLAG_SYSCALL;
		if (tach__read_or_recover(r, &now) <= 0)
			flags |= TACH_FLAG_LOST;
		else if (now.enabled != now.running)
			flags |= TACH_FLAG_INCOMPLETE;
		if (!(flags & TACH_FLAG_LOST))
			scatter(&r->hard, &now, TACH_COUNTERS_MAX, all);
	}
	if (r->emulated.count && !(flags & TACH_FLAG_LOST)) {
		uint64_t begun[TACH_COUNTERS_MAX];

		for (int i = 0; i < r->set->count; i++)
			begun[i] = r->emulated.begun[r->set->member[i].emulated];
		read_emulated(r, (unsigned)r->set->count, begun, all);
	}
	if (r->soft.count && !(flags & TACH_FLAG_LOST)) {
		if (r->hard.count + r->emulated.count == 0)
			flags |= TACH_FLAG_SYSCALL;
		if (tach__group_read(&r->soft, &now) <= 0)
			flags |= TACH_FLAG_LOST;
		else
			scatter(&r->soft, &now, TACH_COUNTERS_MAX, all);
	}
	if (flags & TACH_FLAG_LOST)
		memset(all, 0, sizeof all);
	memcpy(value, all + first, n * sizeof *value);
	return flags;
}
