/* SPDX-License-Identifier: MIT */
/*
 * Reading a group with top-down metrics: core/reader/topdown.h says how counts come about.
 *
 * A signal handler of this thread may read the same group between any two instructions. What is
 * looked at stands between two looks at `turn`; who writes to what stands here, after a read(2)
 * of the group or a look, makes it odd before and even behind. A handler that finds it odd
 * reads by read(2) and writes nothing but `turn`: then who made it odd does that again.
 */
#include <string.h>
#include "core/reader/reader.h"
#include "core/reader/topdown.h"
#include "core/set/set.h"

/*
 * Slots after which a region does not begin before the counters were set back: its metrics then
 * are known to 2^19 / 255 slots and a 255th of its own. On a core that issues six a cycle it is
 * 12 us at 3.6 GHz, of which read(2) takes one or less.
 */
enum { SLOTS_MOST = 1 << 18, FIELD_MAX = 255 };
/* RDPMC's operand for all fields (Intel SDM vol. 2, RDPMC): a page's index is one more. */
enum { METRICS = 0x20000000 };

#define GET(word)	 __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define SET(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)

/* What one look gave: counts, and how far off the metrics are, in slots. */
struct look {
	uint64_t count[TACH_COUNTERS_MAX];
	uint64_t slots, error, behind;
	uint64_t enabled, running; /* by read(2) only */
	uint32_t lock, flags;
};

#if TACH_ARCH_FAST && TACH_MODULAR
static const struct perf_event_mmap_page *page_of(const struct tach__reader *r)
{
	return r->hot.way[r->hard.member[0]].page;
}

static int is_metric(const struct tach__topdown *t, int member)
{
	return (int)(t->members >> member & 1);
}

/*
 * How far off counts are that `slots` slots were added up to: a field is cut to a 255th, and
 * once more whenever the kernel puts the thread back on a processor, as it then writes both
 * registers. That is four steps of the lock at least.
 */
static uint64_t unknown(uint64_t slots, uint32_t locks)
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

/* Reads the group, which sets back, and writes that down; `turn` is odd, and even behind. */
static int write_back(struct tach__reader *r, struct look *l, struct tach__group_read *now)
{
	struct tach__topdown *t = &r->topdown;
	const struct tach__group *g = &r->hard;
	uint64_t slots;
	uint32_t turn;
	int state;

	do {
		turn = GET(t->turn);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		l->lock = TACH_PAGE_LOAD(page_of(r), lock);
		state = tach__read_or_recover(r, now);
		if (state > 0) {
			slots = now->value[0] - t->base[g->member[0]];
			SET(t->behind, t->behind + unknown(slots, l->lock - t->lock));
			for (int i = 0; i < g->count; i++)
				t->base[g->member[i]] = t->least[g->member[i]] = now->value[i];
			SET(t->slots, (uint64_t)0);
			SET(t->lock, l->lock);
		}
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (!__atomic_compare_exchange_n(&t->turn, &turn, turn + 1, 0, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return state;
}

/* Reads the group, which sets back: 1, 0 in error state, a negated errno. */
static int set_back(struct tach__reader *r, struct look *l)
{
	struct tach__topdown *t = &r->topdown;
	const struct tach__group *g = &r->hard;
	struct tach__group_read now;
	int state;

	memset(l, 0, sizeof *l);
	l->flags = TACH_FLAG_SYSCALL;
	/* Amid another's writing, which will see that it has to read again. */
	if (__atomic_fetch_or(&t->turn, 1, __ATOMIC_RELAXED) & 1) {
		state = tach__read_or_recover(r, &now);
		__atomic_add_fetch(&t->turn, 2, __ATOMIC_RELAXED);
	} else {
		state = write_back(r, l, &now);
	}
	if (state <= 0)
		return state;
	for (int i = 0; i < g->count; i++)
		l->count[g->member[i]] = now.value[i];
	l->behind = GET(t->behind);
	l->error = 1;
	l->enabled = now.enabled;
	l->running = now.running;
	l->lock = TACH_PAGE_LOAD(page_of(r), lock);
	return 1;
}

/* The members that are counters of their own. */
static int look_at_others(const struct tach__reader *r, struct look *l)
{
	for (int i = 1; i < r->hard.count; i++) {
		int m = r->hard.member[i];

		if (!is_metric(&r->topdown, m) && !tach__sum_of(r->hot.way[m], 1, &l->count[m]))
			return 0;
	}
	return 1;
}

/* Metrics of so many slots: never less than before, since it was set back. */
static void look_at_metrics(const struct tach__reader *r, uint64_t fields,
			    const uint64_t *least, struct look *l)
{
	const struct tach__topdown *t = &r->topdown;

	for (int i = 1; i < r->hard.count; i++) {
		int m = r->hard.member[i];
		uint64_t part = fields >> (8 * tach__topdown_field(r, m)) & FIELD_MAX;

		if (!is_metric(t, m))
			continue;
		l->count[m] = t->base[m] + l->slots * part / FIELD_MAX;
		if (l->count[m] < least[m])
			l->count[m] = least[m];
	}
}

/* Writes down what was counted in that turn: 0 if a handler has set it back since. */
static int keep(struct tach__reader *r, const struct look *l, uint32_t turn)
{
	struct tach__topdown *t = &r->topdown;
	struct tach__group_read now;
	uint32_t odd = turn | 1;
	struct look again;

	if (!__atomic_compare_exchange_n(&t->turn, &turn, odd, 0, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	SET(t->slots, l->slots);
	for (int i = 1; i < r->hard.count; i++)
		if (is_metric(t, r->hard.member[i]))
			t->least[r->hard.member[i]] = l->count[r->hard.member[i]];
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(&t->turn, &odd, turn, 0, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return 1;
	write_back(r, &again, &now);
	return 0;
}

/*
 * Out of line, so that both ends of a region take as many instructions. In user space, whole: 0
 * if that cannot be, or another reader has set the counters back. Slots are looked at on both
 * sides of the metrics: a setting back in between would show as less.
 */
static __attribute__((noinline)) int look(struct tach__reader *r, struct look *l)
{
	struct tach__topdown *t = &r->topdown;
	struct tach_way way = r->hot.way[r->hard.member[0]];
	uint64_t fields, again, before, least[TACH_COUNTERS_MAX];
	uint32_t turn, number;

	do {
		turn = GET(t->turn);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		/* First: a handler may look behind this, and finds more. */
		before = GET(t->slots);
		memcpy(least, t->least, sizeof least);
		l->lock = TACH_PAGE_LOAD(way.page, lock);
		if (turn & 1 || TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number) ||
		    !counter(way, number, &l->slots) || !counter(way, METRICS, &fields) ||
		    !counter(way, number, &again) || !look_at_others(r, l))
			return 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (TACH_PAGE_LOAD(way.page, lock) != l->lock);
	if (l->slots < before || again < l->slots)
		return 0;
	l->count[r->hard.member[0]] = t->base[r->hard.member[0]] + l->slots;
	look_at_metrics(r, fields, least, l);
	l->behind = GET(t->behind);
	l->error = unknown(l->slots, l->lock - GET(t->lock));
	l->flags = 0;
	return keep(r, l, turn);
}

static int is_stale(const struct look *l)
{
	return l->error > SLOTS_MOST / FIELD_MAX;
}

/* In user space if that can be, else by read(2): 0 if neither can. */
static int count(struct tach__reader *r, struct look *l)
{
	return look(r, l) || set_back(r, l) > 0;
}

static void scatter(const struct tach__reader *r, const struct look *l, unsigned n,
		    uint64_t *to)
{
	for (int i = 0; i < r->hard.count; i++)
		if (r->hard.member[i] < n)
			to[r->hard.member[i]] = l->count[r->hard.member[i]];
}

/* As tach__turned_off has it: time enabled stands still. */
static uint32_t turned_off(struct tach__reader *r, struct look *l)
{
	uint64_t enabled = l->enabled;
	struct look again;

	if (set_back(r, &again) <= 0)
		return 0;
	again.flags = l->flags;
	*l = again;
	return again.enabled == enabled ? TACH_FLAG_INCOMPLETE : 0;
}

void tach__topdown_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n)
{
	struct look l, by_read;

	if (!look(r, &l) || is_stale(&l)) {
		if (set_back(r, &by_read) <= 0) {
			mark->flags |= TACH_FLAG_LOST;
			return;
		}
		if (!look(r, &l)) {
			l = by_read;
			if (r->hot.fast)
				mark->flags |= turned_off(r, &l);
		}
	}
	mark->flags |= l.flags;
	mark->lock = l.lock | 1;
	scatter(r, &l, n, mark->value);
	/* Times are of ends by read(2); else how far off this one is. */
	mark->enabled = l.flags ? l.enabled : l.error;
	mark->running = l.flags ? l.running : l.behind;
}

/*
 * A region that was long enough for read(2) not to matter is checked by it: a reading by
 * another process after which as many slots were counted again shows nowhere else. TOLERANCE is
 * what may be counted between a look at the slots alone and the read(2) right behind it.
 */
enum { TOLERANCE = 1 << 13 };

static void check(struct tach__reader *r, struct look *l)
{
	int leader = r->hard.member[0];
	struct tach_way way = r->hot.way[leader];
	struct look now, by_read;
	uint64_t slots;
	uint32_t number;

	if (!is_stale(l) || !look(r, &now) ||
	    TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number) ||
	    !counter(way, number, &slots) || set_back(r, &by_read) <= 0)
		return;
	if (slots < now.slots ||
	    by_read.count[leader] - now.count[leader] - (slots - now.slots) > TOLERANCE)
		*l = by_read;
}

static uint32_t difference(const struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t error, const struct look *l, uint64_t *delta, unsigned n)
{
	uint32_t flags = 0;

	for (int i = 0; i < r->hard.count; i++) {
		unsigned m = r->hard.member[i];

		if (m >= n)
			continue;
		delta[m] = l->count[m] - mark->value[m];
		/* What was set back in between may have been taken for more than it was. */
		if (is_metric(&r->topdown, (int)m) &&
		    mark->value[m] - l->count[m] <= error * tach__topdown_steps(r, (int)m))
			delta[m] = 0;
		/* More than since it was opened: the events were reset. */
		if (delta[m] > l->count[m])
			flags = TACH_FLAG_LOST;
	}
	return flags;
}

uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t *delta, unsigned n)
{
	uint32_t flags, by_read = mark->flags & TACH_FLAG_SYSCALL, begun = mark->lock & ~1u;
	struct tach__group_read now = {.count = 0};
	int leader = r->hard.member[0];
	struct look l;
	uint64_t error;

	if (!count(r, &l))
		return TACH_FLAG_LOST;
	flags = tach__reader_since(r, begun);
	check(r, &l);
	error = l.error +
		(by_read ? unknown(l.count[leader] - mark->value[leader], l.lock - begun)
			 : mark->enabled + l.behind - mark->running);
	SET(r->topdown.error, error);
	if (l.flags && !by_read)
		flags |= turned_off(r, &l);
	if (by_read | l.flags)
		flags = (flags & TACH_FLAG_INCOMPLETE) | TACH_FLAG_SYSCALL |
			(by_read != l.flags ? TACH_FLAG_MIXED : 0);
	flags |= mark->flags & TACH_FLAG_INCOMPLETE;
	flags |= difference(r, mark, error, &l, delta, n);
	if (by_read && l.flags) {
		now.enabled = l.enabled;
		now.running = l.running;
		flags |= tach__scale(r, mark, &now, n, delta);
	}
	return flags;
}

uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all)
{
	struct tach__topdown *t = &r->topdown;
	struct look l;

	if (!count(r, &l))
		return TACH_FLAG_SYSCALL | TACH_FLAG_LOST;
	for (int i = 0; i < r->hard.count; i++) {
		int m = r->hard.member[i];

		if (is_metric(t, m) && l.count[m] < t->shown[m])
			l.count[m] = t->shown[m];
		t->shown[m] = all[m] = l.count[m];
	}
	SET(t->error, l.error + l.behind);
	if (l.flags && l.enabled != l.running)
		l.flags |= TACH_FLAG_INCOMPLETE;
	return l.flags;
}

void tach__topdown_start(struct tach__reader *r)
{
	struct look l;

	set_back(r, &l);
	SET(r->topdown.behind, (uint64_t)0);
}
#else
void tach__topdown_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n)
{
	(void)r, (void)n;
	mark->flags |= TACH_FLAG_LOST;
}

uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *mark,
			   uint64_t *delta, unsigned n)
{
	(void)r, (void)mark, (void)delta, (void)n;
	return TACH_FLAG_LOST;
}

uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all)
{
	(void)r, (void)all;
	return TACH_FLAG_LOST;
}

void tach__topdown_start(struct tach__reader *r)
{
	(void)r;
}
#endif
