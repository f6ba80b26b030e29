/* SPDX-License-Identifier: MIT */
/*
 * Reads a group with top-down metrics, and resets it: core/reader/topdown.h explains how the
 * counts are made.
 *
 * A signal handler of this thread may read the same group between any two instructions. So each
 * look reads `turn` before and checks it afterwards. Code that writes the counts, after a
 * read(2) or a look, makes `turn` odd before and even after the write. A handler that finds an
 * odd `turn` uses read(2) and writes only `turn`. The interrupted writer then repeats its work.
 */
#include <string.h>
#include "core/reader/reader.h"

/*
 * After this number of slots, the counters are reset before a region begins. Then the error of
 * its metrics is 2^19 / 255 slots plus 1/255 of its own slots. A core that issues six slots per
 * cycle takes 12 us for them at 3.6 GHz. read(2) takes at most 1 us of these.
 */
enum { SLOTS_MOST = 1 << 18, FIELD_MAX = 255 };
/* RDPMC's operand for all fields (Intel SDM vol. 2, RDPMC): a page's index is one more. */
enum { METRICS = 0x20000000 };

#define GET(word)	 __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define SET(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)

#if TACH_ARCH_FAST && TACH_MODULAR
static int leader_of(const struct tach__topdown *t)
{
	return t->group->member[0];
}

static const struct perf_event_mmap_page *page_of(const struct tach__topdown *t)
{
	return t->way[leader_of(t)].page;
}

/* A field is truncated to 1/255, and again whenever the kernel puts the thread back on a
 * processor, because it then writes both registers. That is at least four steps of the lock. */
uint64_t tach__topdown_unknown(uint64_t slots, uint32_t locks)
{
	return slots * (1 + (uint64_t)locks / 4) / FIELD_MAX + 1;
}

static int counter(struct tach_way way, uint32_t number, uint64_t *value)
{
	uint32_t seen = 0;

	(void)way;
	TACH_COUNTER(way, number, *value, seen);
	return !(seen & 1);
}

/* Where the thread was, as the page shows: on a core of this group, on another core type, or
 * unknown. */
enum place { HERE, AWAY, UNKNOWN };

static enum place place_of(const struct perf_event_mmap_page *page)
{
	if (TACH_PAGE_LOAD(page, index))
		return HERE;
	return page->cap_user_rdpmc ? AWAY : UNKNOWN;
}

/* Notes the counts of a read(2). `before`: the page's lock before that read(2). */
static void note_read(struct tach__topdown *t, const struct tach__group_read *now,
		      uint32_t before)
{
	const struct perf_event_mmap_page *page = page_of(t);
	uint64_t slots = now->value[0] - t->base[leader_of(t)];
	enum place place = place_of(page);
	uint32_t lock = TACH_PAGE_LOAD(page, lock);

	if (lock != before)
		place = UNKNOWN;
	SET(t->after, place == AWAY ? slots : 0);
	if (place == AWAY) {
		if (GET(t->slots) != UINT64_MAX)
			SET(t->slots, slots);
		return;
	}
	SET(t->behind, t->behind + tach__topdown_unknown(slots, lock - t->lock));
	for (int i = 0; i < t->group->count; i++)
		t->base[t->group->member[i]] = t->least[t->group->member[i]] = now->value[i];
	SET(t->slots, place == HERE ? (uint64_t)0 : UINT64_MAX);
	SET(t->lock, lock);
}

static int read_group(struct tach__reader *r, struct tach__group_read *now)
{
	return r->hybrid ? tach__group_read(r->topdown.group, now)
			 : tach__read_or_recover(r, now);
}

/* Reads the group, which resets the counters, and notes the counts. `turn` must be odd before,
 * and is even afterwards. */
static int write_back(struct tach__reader *r, struct tach__group_read *now)
{
	struct tach__topdown *t = &r->topdown;
	uint32_t turn, lock;
	int state;

	do {
		turn = GET(t->turn);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		lock = TACH_PAGE_LOAD(page_of(t), lock);
		state = read_group(r, now);
		if (state > 0)
			note_read(t, now, lock);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (!__atomic_compare_exchange_n(&t->turn, &turn, turn + 1, 0, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return state;
}

int tach__topdown_group(struct tach__reader *r, struct tach__group_read *now)
{
	uint32_t *turn = &r->topdown.turn;
	int state;

	if (!(__atomic_fetch_or(turn, 1, __ATOMIC_RELAXED) & 1))
		return write_back(r, now);
	/*
	 * This handler runs in the middle of another write. The change of `turn` makes that
	 * code read again.
	 */
	state = read_group(r, now);
	__atomic_add_fetch(turn, 2, __ATOMIC_RELAXED);
	return state;
}

int tach__topdown_set_back(struct tach__reader *r, struct tach__look *l)
{
	struct tach__topdown *t = &r->topdown;
	struct tach__group_read now;
	int state = tach__topdown_group(r, &now);

	l->flags = TACH_FLAG_SYSCALL;
	if (state <= 0)
		return state;
	for (int i = 0; i < t->group->count; i++)
		l->count[t->group->member[i]] = now.value[i];
	l->behind = GET(t->behind);
	l->error = 1;
	l->enabled = now.enabled;
	l->running = now.running;
	l->lock = TACH_PAGE_LOAD(page_of(t), lock);
	return 1;
}

/* Reads the members that have counters of their own. */
static int look_at_others(const struct tach__topdown *t, struct tach__look *l)
{
	for (int i = 1; i < t->group->count; i++) {
		int m = t->group->member[i];

		if (!tach__topdown_has(t, m) && !tach__sum_of(t->way[m], 1, &l->count[m]))
			return 0;
	}
	return 1;
}

/* Computes the metrics from l->slots. They never decrease between two resets. */
static void look_at_metrics(const struct tach__topdown *t, uint64_t fields,
			    const uint64_t *least, struct tach__look *l)
{
	for (int i = 1; i < t->group->count; i++) {
		int m = t->group->member[i];
		uint64_t part = fields >> (8 * t->field[m]) & FIELD_MAX;

		if (!tach__topdown_has(t, m))
			continue;
		l->count[m] = t->base[m] + l->slots * part / FIELD_MAX;
		if (l->count[m] < least[m])
			l->count[m] = least[m];
	}
}

/* Notes the counts of a look that saw `turn`. Returns 0 if a handler has changed `turn`
 * since. */
static int store_counts(struct tach__reader *r, const struct tach__look *l, uint32_t turn)
{
	struct tach__topdown *t = &r->topdown;
	struct tach__group_read now;
	uint32_t odd = turn | 1;

	if (!__atomic_compare_exchange_n(&t->turn, &turn, odd, 0, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	SET(t->slots, l->slots);
	for (int i = 1; i < t->group->count; i++)
		if (tach__topdown_has(t, t->group->member[i]))
			t->least[t->group->member[i]] = l->count[t->group->member[i]];
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(&t->turn, &odd, turn, 0, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return 1;
	write_back(r, &now);
	return 0;
}

/* Out of line, so that both ends of a region take the same number of instructions. Slots are
 * read before and after the metrics: if a reset happened in between, the second value is
 * smaller. */
__attribute__((noinline)) int tach__topdown_look(struct tach__reader *r, struct tach__look *l)
{
	struct tach__topdown *t = &r->topdown;
	struct tach_way way = t->way[leader_of(t)];
	uint64_t fields, again, before, least[TACH_COUNTERS_MAX];
	uint32_t turn, number;

	do {
		turn = GET(t->turn);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		/* Read t->slots first, because a handler that looks later stores a greater
		 * value. */
		before = GET(t->slots);
		memcpy(least, t->least, sizeof least);
		l->lock = TACH_PAGE_LOAD(way.page, lock);
		if (turn & 1 || TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number) ||
		    !counter(way, number, &l->slots) || !counter(way, METRICS, &fields) ||
		    !counter(way, number, &again) || !look_at_others(t, l))
			return 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (TACH_PAGE_LOAD(way.page, lock) != l->lock);
	if (l->slots < before || again < l->slots)
		return 0;
	l->count[leader_of(t)] = t->base[leader_of(t)] + l->slots;
	look_at_metrics(t, fields, least, l);
	l->behind = GET(t->behind);
	l->error = tach__topdown_unknown(l->slots, l->lock - GET(t->lock));
	l->flags = 0;
	return store_counts(r, l, turn);
}

static int is_stale(const struct tach__look *l)
{
	return l->error > SLOTS_MOST / FIELD_MAX;
}

int tach__topdown_look_afresh(struct tach__reader *r, struct tach__look *l)
{
	struct tach__look by_read;
	int state;

	if (tach__topdown_look(r, l) && !is_stale(l))
		return 1;
	state = tach__topdown_set_back(r, &by_read);
	if (state <= 0)
		return -1;
	if (tach__topdown_look(r, l))
		return 1;
	*l = by_read;
	return 0;
}

/*
 * If read(2) is cheap compared with the region, this checks the counts with it. Otherwise a
 * read by another process stays unnoticed if enough slots were counted after it. TOLERANCE is
 * the maximum that may be counted between a look at the slots and the read(2) that follows.
 */
enum { TOLERANCE = 1 << 13 };

void tach__topdown_check(struct tach__reader *r, struct tach__look *l)
{
	const struct tach__topdown *t = &r->topdown;
	struct tach_way way = t->way[leader_of(t)];
	struct tach__look now, by_read;
	uint64_t slots;
	uint32_t number;

	if (!is_stale(l) || !tach__topdown_look(r, &now) ||
	    TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number) ||
	    !counter(way, number, &slots) || tach__topdown_set_back(r, &by_read) <= 0)
		return;
	if (slots < now.slots ||
	    by_read.count[leader_of(t)] - now.count[leader_of(t)] - (slots - now.slots) >
		    TOLERANCE)
		*l = by_read;
}
#else
int tach__topdown_look(struct tach__reader *r, struct tach__look *l)
{
	(void)r, (void)l;
	return 0;
}

int tach__topdown_look_afresh(struct tach__reader *r, struct tach__look *l)
{
	(void)r, (void)l;
	return -1;
}

int tach__topdown_set_back(struct tach__reader *r, struct tach__look *l)
{
	(void)r, (void)l;
	return 0;
}

void tach__topdown_check(struct tach__reader *r, struct tach__look *l)
{
	(void)r, (void)l;
}

int tach__topdown_group(struct tach__reader *r, struct tach__group_read *now)
{
	return tach__group_read(r->topdown.group, now);
}

uint64_t tach__topdown_unknown(uint64_t slots, uint32_t locks)
{
	(void)slots, (void)locks;
	return 0;
}
#endif
