/* SPDX-License-Identifier: MIT */
/*
 * The edges of regions: one copy for every number of counters, fenced and not.
 *
 * Calibration goes through the same copies, so an empty region shows exactly what a region of
 * the program does: that is what makes instruction counts exact. It asks for code whose number
 * of instructions does not depend on what happened before: nesting and recursion select
 * addresses, not branches. Whatever has to branch leaves for cold.c, which reckons its own
 * cost.
 */
#include "core/region/beacon.h"
#include "core/region/edges.h"
#include "core/reader/reader.h"
#include "core/region/region.h"

/* step(0) && ... && step(n - 1): straight code where n is a constant. */
#define STEPS(n, step)                                                                         \
	__extension__({                                                                        \
		int all = 1;                                                                   \
		if (__builtin_constant_p(n))                                                   \
			all = TACH__EACH(n, step);                                             \
		else                                                                           \
			for (uint32_t at = 0; at < (n) && all; at++)                           \
				all = step(at);                                                \
		all;                                                                           \
	})

/* ---- begin ---- */

TACH_INLINE int read_begin(const struct tach_reader *reader, struct tach_mark *mark,
			   uint32_t count)
{
#define STEP(i) tach__begin_one(reader, mark, i)
	return STEPS(count, STEP);
#undef STEP
}

/* What began in a handler while this did is not nested in it. */
TACH_INLINE int alone(const struct tach__hot *self, const struct tach_region_mark *mark)
{
	return TACH_LIKELY(mark->pairs[0] == TACH__OPERAND(self->pairs[0]));
}

/* mark->pairs is older than `state`, so that it tells whether that is still true. */
TACH_INLINE void open_region(uint64_t state, struct tach_region_mark *mark,
			     struct tach__slot *slot, struct tach__part *part,
			     struct tach__hot *self, uint32_t count, int fenced)
{
	/* A handler's region after this is nested here: the entry first, then the level. */
	TACH__SET(tach__stack(self, state)[1], slot);
	TACH__ORDER();
	TACH__SET(self->state, state + 1);
	TACH__ORDER();
	TACH__SET(part->ceiling, state + 1);
	TACH__SET(part->outer, (uintptr_t)mark);
	mark->state = state;
	mark->part = part;
	mark->end = self->end[fenced];
	if (fenced)
		TACH_FENCE();
	mark->counters.clock = tach_clock();
	if (TACH_UNLIKELY(!read_begin(self->reader, &mark->counters, count) ||
			  !alone(self, mark))) {
		tach__begin_torn(mark, fenced, self);
		return;
	}
	if (fenced)
		TACH_FENCE();
}

/* Behind it comes open_region, in a function of its own: unusual entries go there too. */
TACH_INLINE void begin(struct tach_site *site, struct tach_region_mark *mark,
		       struct tach__slot *slot, struct tach__part *part, struct tach__hot *self,
		       uint32_t count, int fenced, __typeof__(self->open[0]) open)
{
	uint64_t state;

	if (TACH_UNLIKELY((uintptr_t)mark >= part->outer)) {
		tach__begin_unusual(site, mark, slot, fenced, self);
		return;
	}
	memcpy(mark->pairs, self->pairs, sizeof mark->pairs);
	TACH__ORDER();
	state = TACH__GET(self->state);
#ifdef TACH_BELOW
	TACH_BELOW(state, part->ceiling, part, tach__part(slot, count, 1));
#else
	if (TACH__LEVEL(state) >= TACH__LEVEL(part->ceiling))
		part = tach__part(slot, count, 1);
#endif
	open(state, mark, slot, part, self);
}

TACH_INLINE void enter(struct tach_site *site, struct tach_region_mark *mark, int fenced)
{
	uint64_t id = TACH__GET(site->id);
	struct tach__hot *self = tach__self;
	struct tach__slot *slot;

	if (TACH_UNLIKELY(id >= TACH__OPERAND(self->limit))) {
		tach__begin_cold(site, mark, fenced);
		return;
	}
	slot = tach__table(self)[id];
	self->begin[fenced](site, mark, slot, tach__part(slot, 0, 0), self);
}

void tach__region_begin(struct tach_site *site, struct tach_region_mark *mark)
{
	enter(site, mark, 0);
}

void tach__region_begin_fenced(struct tach_site *site, struct tach_region_mark *mark)
{
	enter(site, mark, 1);
}

/* Names that no other copy of the library in the process stands in front of. */
void tach__begin_here(struct tach_site *site, struct tach_region_mark *mark)
	__attribute__((alias("tach__region_begin")));
void tach__begin_fenced_here(struct tach_site *site, struct tach_region_mark *mark)
	__attribute__((alias("tach__region_begin_fenced")));

/* ---- end ---- */

/* A snapshot copies it word by word. */
TACH_INLINE void publish(struct tach__children *to, const struct tach__children *from,
			 uint32_t count)
{
#if defined(__SANITIZE_THREAD__)
	for (size_t i = 0; i < TACH__CHILDREN_WORDS(count); i++)
		TACH__SET(((uint64_t *)to)[i], ((const uint64_t *)from)[i]);
#else
	memcpy(to, from, TACH__CHILDREN_WORDS(count) * sizeof(uint64_t));
#endif
}

TACH_INLINE int add_sum(struct tach__part *part, struct tach__children *around,
			const uint64_t *delta, uint32_t i)
{
	TACH__ADD(part->sum[i], delta[i]);
	TACH__ADD(around->sum[i], delta[i]);
	return 1;
}

TACH_INLINE void add_sums(struct tach__part *part, struct tach__children *around,
			  const uint64_t *delta, uint32_t count)
{
#define STEP(i) add_sum(part, around, delta, i)
	STEPS(count + 1, STEP);
#undef STEP
}

/*
 * Adds one entry to its slot. The stores between the odd and the even sequence pair with the
 * acquire fence of the snapshot's reader: odd becomes visible before the sums change (release
 * fence; compiler-only on x86, DMB ISHST's stronger sibling on arm64), even after they did.
 *
 * The level goes down late: a handler's region that comes before counts as this one's child,
 * whose sums nothing here is amid changing. It goes down by one and keeps the epoch, which such
 * a handler may have advanced.
 *
 * A handler may also leave by siglongjmp, and this is never resumed. So what tells abandoned.c
 * of the entry goes last: the ceiling stays until the entry is counted, the mark's address
 * until the level is right.
 */
TACH_INLINE void add(struct tach__hot *self, struct tach_region_mark *mark,
		     struct tach__slot *slot, struct tach__part *part, struct tach__part *open,
		     uintptr_t rest, struct tach__slot *outside, const uint64_t *delta,
		     const uint64_t *inside, uint32_t count, int fenced)
{
	struct tach__children *around = tach__children(outside, count, 1);

	TACH__ADD(slot->seq, 1);
	TACH__FENCE(__ATOMIC_RELEASE);
	TACH__ADD(part->nested[0], inside[0]);
	TACH__ADD(part->nested[1], inside[1]);
	add_sums(part, around, delta, count);
	publish(tach__children(slot, count, 0), tach__children(slot, count, 1), count);
	TACH__ORDER();
	TACH__ADD(part->calls, 1);
	TACH__SET(open->ceiling, TACH__CEILING_OPEN);
	TACH__FENCE(__ATOMIC_RELEASE);
	TACH__ADD(slot->seq, 1);
	TACH__ADD(around->direct[0], 1);
	if (fenced)
		TACH__ADD(around->direct[1], 1);
	TACH__ORDER();
	TACH__COUNT(self->pairs[0], 1);
	if (fenced)
		TACH__COUNT(self->pairs[1], 1);
	TACH__COUNT(self->state, -1);
	TACH__ORDER();
	TACH__SET(open->outer, rest);
	TACH__ORDER();
	mark->end = NULL;
}

/*
 * Every counter under its own page's lock, which it keeps whatever happened since begin: the
 * differences are right although the group was rescheduled.
 */
TACH_INLINE int read_end(const struct tach_reader *reader, const struct tach_mark *mark,
			 uint64_t *delta, uint32_t count)
{
#define STEP(i) tach__end_any(reader, mark, delta, i)
	return STEPS(count, STEP);
#undef STEP
}

/* Since begin; an odd lock tells that begin took the slow exit. */
TACH_INLINE int rescheduled(const struct tach_reader *reader, const struct tach_mark *mark)
{
	struct tach_way way = tach__way(reader, 0);

	return TACH_UNLIKELY(TACH_PAGE_OPERAND(way.page, lock) != mark->lock);
}

TACH_INLINE int usual(const struct tach__hot *self, const struct tach_region_mark *mark)
{
	return TACH_LIKELY(TACH__GET(self->state) - 1 == mark->state);
}

/*
 * What began and ended in a handler while the counters were read may be in them or not. Asked
 * last.
 */
TACH_INLINE int undisturbed(const struct tach__hot *self, uint64_t pairs)
{
	TACH__ORDER();
	return TACH_LIKELY(pairs == TACH__OPERAND(self->pairs[0]));
}

/*
 * Straight code for `count` counters that are read in user space. What there is of registers is
 * for the counters: the rest waits in the mark, and is still there if all is read again.
 */
TACH_INLINE void end(struct tach_region_mark *mark, uint32_t count, int fenced)
{
	struct tach__hot *self = tach__self;
	const struct tach_reader *reader;
	uint64_t delta[TACH__SUMS]; /* TACH__UNROLLED would do; clang warns before it inlines */
	uint64_t inside[2];
	struct tach__slot **stack, *slot;
	struct tach__part *part;

	inside[0] = TACH__GET(self->pairs[0]);
	TACH__ORDER();
	if (TACH_UNLIKELY(!usual(self, mark))) {
		tach__end_cold(mark, fenced);
		return;
	}
	reader = self->reader;
	if (fenced)
		TACH_FENCE();
	tach__end_clock(mark, tach_clock());
	if (TACH_UNLIKELY(!read_end(reader, &mark->counters, delta + 1, count))) {
		tach__end_torn(mark, fenced);
		return;
	}
	if (fenced)
		TACH_FENCE();
	inside[1] = TACH__GET(self->pairs[1]);
	if (TACH_UNLIKELY(!undisturbed(self, inside[0]))) {
		tach__end_torn(mark, fenced);
		return;
	}
	stack = tach__stack(self, mark->state);
	slot = stack[1];
	if (TACH_UNLIKELY((count && rescheduled(reader, &mark->counters)) || (slot->seq & 1))) {
		if (count && (mark->counters.lock & 1)) {
			tach__end_torn(mark, fenced);
			return;
		}
		/* A tail call with nothing but the mark: no register is kept for it. There are
		 * TACH__UNROLLED at most; clang warns of more before it inlines. */
#define STEP(i)                                                                                \
	(mark->counters.value[(TACH__UNROLLED + (i)) % TACH_COUNTERS_MAX] = delta[1 + (i)], 1)
		STEPS(count, STEP);
#undef STEP
		for (int i = 0; i < 2; i++)
			mark->pairs[i] = inside[i] - mark->pairs[i];
		tach__end_rescheduled(mark, fenced);
		return;
	}
	part = mark->part;
	delta[0] = tach__end_time(mark);
	for (int i = 0; i < 2; i++)
		inside[i] -= mark->pairs[i];
	add(self, mark, slot, part, part, TACH__OUTER_NOBODY, stack[0], delta, inside, count,
	    fenced);
}

/* ---- any number of counters, read in any way; entries that go to histograms too ---- */

/* As many instructions whatever was counted: signed, as unsigned ones convert by two ways. */
static void sample(const struct tach__hot *self, struct tach__slot *slot,
		   struct tach__slot *around, const uint64_t *delta)
{
	struct tach__sampling *s = slot->sampling;
	uint64_t inside = self->record->passed - s->begun;

	TACH__ADD(s->inside, inside);
	TACH__SET(s->below[0], s->below[1]);
	if (around->sampling)
		TACH__ADD(around->sampling->below[1], inside);
	for (uint32_t i = 0; i <= self->count; i++) {
		double square =
			s->square[i] + (double)(int64_t)delta[i] * (double)(int64_t)delta[i];

		__atomic_store(&s->square[i], &square, __ATOMIC_RELAXED);
	}
}

void tach__edges_add(struct tach__hot *self, struct tach_region_mark *mark,
		     const struct tach__reading *r, int fenced)
{
	const uint64_t *delta = r->delta;
	struct tach__slot **stack = tach__stack(self, mark->state), *slot = stack[1],
			  *to = slot;
	struct tach__part *open = mark->part, *part = open, none = {.outer = 0};
	uint64_t lost[TACH__SUMS] = {0};
	uintptr_t mine;

	/* Without a branch, for the regions around: see the head. */
	for (int i = 0; i < 6; i++)
		TACH__ADD(slot->provenance[i], r->flags >> i & 1);
	if (r->flags & TACH_FLAG_LOST) {
		lost[0] = delta[0];
		delta = lost;
	} else if (slot->histograms)
		tach__histograms_add(slot->histograms, delta, &self->record->entry_cost, fenced,
				     r->inside, self->count + 1);
	if (slot->sampling && slot->rest == 0 && part == tach__part(slot, self->count, 0))
		sample(self, slot, stack[0], delta);
	if (TACH_UNLIKELY(slot->seq & 1)) {
		/* A signal handler between the stores of the thread it interrupted. */
		to = tach__region_overflow(self, slot, mark->state);
		part = (struct tach__part *)((char *)to + ((char *)part - (char *)slot));
	}
	/*
	 * One that was taken for lost may have a successor by now. Another address, not a
	 * branch: recursion must take as many instructions as calibration.
	 */
	mine = open->outer == (uintptr_t)mark ? UINTPTR_MAX : 0;
	__asm__("" : "+r"(mine));
	open = (struct tach__part *)(((uintptr_t)open & mine) | ((uintptr_t)&none & ~mine));
	add(self, mark, to, part, open, slot->rest, stack[0], delta, r->inside, self->count,
	    fenced);
}

uint32_t tach__edges_read(const struct tach__hot *self, const struct tach_mark *begun,
			  uint64_t *delta, int fenced)
{
	uint32_t flags = 0, count = self->count;

	if (fenced)
		TACH_FENCE();
	delta[0] = tach_clock() - begun->clock;
	if (count && (!read_end(self->reader, begun, delta + 1, count) || (begun->lock & 1)))
		flags = tach__end_slow(self->reader, begun, delta + 1, count);
	if (fenced)
		TACH_FENCE();
	return flags;
}

int tach__edges_stop(const struct tach__hot *self, const struct tach_region_mark *mark,
		     uint64_t state, struct tach__reading *r, int fenced)
{
	uint64_t pairs;

	do {
		pairs = TACH__GET(self->pairs[0]);
		TACH__ORDER();
		r->flags = tach__edges_read(self, &mark->counters, r->delta, fenced);
		for (int i = 0; i < 2; i++)
			r->inside[i] = TACH__GET(self->pairs[i]) - mark->pairs[i];
		if (TACH_UNLIKELY(TACH__GET(self->state) != state))
			return 0;
	} while (!undisturbed(self, pairs));
	return 1;
}

void tach__edges_since(const struct tach__hot *self, const struct tach_region_mark *mark,
		       struct tach__reading *r)
{
	const struct tach_mark *begun = &mark->counters;

	if (r->flags || self->count == 0 || (begun->lock & 1) ||
	    !rescheduled(self->reader, begun))
		return;
	r->flags = tach__reader_settle(tach__reader(self->reader), begun, r->delta[0],
				       r->delta + 1);
}

static void end_any(struct tach_region_mark *mark, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__reading r;

	if (TACH_UNLIKELY(!usual(self, mark))) {
		tach__end_cold(mark, fenced);
		return;
	}
	if (TACH_UNLIKELY(!tach__edges_stop(self, mark, mark->state + 1, &r, fenced))) {
		tach__end_torn(mark, fenced);
		return;
	}
	/* Where begin took the slow exit, the flags tell already, and its page may be one of
	 * zeros; asked first, so that these take as many instructions whatever they tell. */
	if (TACH_UNLIKELY(self->count && !(mark->counters.lock & 1) && !r.flags &&
			  rescheduled(self->reader, &mark->counters))) {
		tach__end_read(mark, &r, fenced);
		return;
	}
	tach__edges_add(self, mark, &r, fenced);
}

/* ---- the instances ---- */

#define BEGIN(name, count, fenced)                                                             \
	static __attribute__((noinline)) void open_##name(                                     \
		uint64_t state, struct tach_region_mark *mark, struct tach__slot *slot,        \
		struct tach__part *part, struct tach__hot *self)                               \
	{                                                                                      \
		open_region(state, mark, slot, part, self, count, fenced);                     \
	}                                                                                      \
	static void begin_##name(struct tach_site *site, struct tach_region_mark *mark,        \
				 struct tach__slot *slot, struct tach__part *part,             \
				 struct tach__hot *self)                                       \
	{                                                                                      \
		begin(site, mark, slot, part, self, count, fenced, open_##name);               \
	}
#define END(name, count, fenced)                                                               \
	static void end_##name(struct tach_region_mark *mark)                                  \
	{                                                                                      \
		end(mark, count, fenced);                                                      \
	}
#define INSTANCE(n)                                                                            \
	BEGIN(plain_##n, n, 0)                                                                 \
	BEGIN(fenced_##n, n, 1)                                                                \
	END(plain_##n, n, 0)                                                                   \
	END(fenced_##n, n, 1)
INSTANCE(0)
INSTANCE(1)
INSTANCE(2)
INSTANCE(3)
INSTANCE(4)
INSTANCE(5)
INSTANCE(6)
INSTANCE(7)
INSTANCE(8)
BEGIN(plain_any, self->count, 0)
BEGIN(fenced_any, self->count, 1)

static void end_plain_any(struct tach_region_mark *mark)
{
	end_any(mark, 0);
}

static void end_fenced_any(struct tach_region_mark *mark)
{
	end_any(mark, 1);
}

#define ROW(n)                                                                                 \
	{                                                                                      \
		{begin_plain_##n, begin_fenced_##n}, {open_plain_##n, open_fenced_##n},        \
		{                                                                              \
			end_plain_##n, end_fenced_##n                                          \
		}                                                                              \
	}
static const struct instance {
	__typeof__(((struct tach__hot *)0)->begin[0]) begin[2];
	__typeof__(((struct tach__hot *)0)->open[0]) open[2];
	__typeof__(((struct tach__hot *)0)->end[0]) end[2];
} straight[] = {ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7), ROW(8)},
  any = ROW(any);

void tach__edges_choose(struct tach__hot *self, int plain)
{
	uint32_t n = self->count;
	const struct instance *instance = &any;

	/* Where begin is never read inline, straight code would only take its exits. */
	if (n <= TACH__UNROLLED && (n == 0 || tach__reader_inline(tach__reader(self->reader))))
		instance = &straight[n];
	memcpy(self->begin, instance->begin, sizeof self->begin);
	memcpy(self->open, instance->open, sizeof self->open);
	memcpy(self->end, plain ? instance->end : any.end, sizeof self->end);
}
