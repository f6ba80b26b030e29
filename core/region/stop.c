/* SPDX-License-Identifier: MIT */
/*
 * STOP: one copy for every number of counters, fenced and not, and what adds an entry to its
 * sums. Whatever has to branch leaves for cold_stop.c.
 */
#include "core/region/edges.h"
#include "core/reader/reader.h"
#include "core/region/region.h"

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
	TACH__STEPS(count + 1, STEP);
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
	return TACH__STEPS(count, STEP);
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
TACH_INLINE void end(struct tach_region_mark *mark, uint32_t count, int fenced, int keeps)
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
		TACH__STEPS(count, STEP);
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
	if (keeps == TACH__KEEPS_WORST)
		tach__worst_add(self, mark, slot, delta, inside, 0, fenced);
	if (keeps == TACH__KEEPS_EACH)
		tach__trace_add(self->record, mark, slot, delta, inside, 0, fenced);
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

/* No field is more than all slots. As many instructions whatever the error. */
static void add_error(const struct tach__hot *self, struct tach__slot *slot, int inner,
		      struct tach__slot *around, uint64_t error, const uint64_t *delta)
{
	struct tach__inexact *own = tach__inexact(slot, self->count);
	uint64_t more = error > delta[self->inexact] ? UINT64_MAX : 0;
	uint64_t outermost = inner ? 0 : UINT64_MAX;

	__asm__("" : "+r"(more), "+r"(outermost));
	error = (delta[self->inexact] & more) | (error & ~more);
	TACH__ADD(own->inclusive, error & outermost);
	TACH__ADD(own->self, error);
	TACH__ADD(tach__inexact(around, self->count)->self, error);
}

/* Whole by itself: between what counts the entry and what tells that it is counted there is
 * one instruction, as nothing waits on the stack. */
static __attribute__((noinline)) void add_reading(struct tach__hot *self,
						  struct tach_region_mark *mark,
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
	} else if (slot->histograms && !slot->task)
		tach__histograms_add(slot->histograms, delta, &self->record->entry_cost, fenced,
				     r->inside, self->count + 1);
	if (slot->sampling && slot->rest == 0 && part == tach__part(slot, self->count, 0))
		sample(self, slot, stack[0], delta);
	if (TACH_UNLIKELY(slot->seq & 1)) {
		/* A signal handler between the stores of the thread it interrupted. */
		to = tach__region_overflow(self, slot, mark->state);
		part = (struct tach__part *)((char *)to + ((char *)part - (char *)slot));
	}
	if (self->inexact)
		add_error(self, to, part != tach__part(to, self->count, 0), stack[0], r->error,
			  delta);
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

void tach__edges_add(struct tach__hot *self, struct tach_region_mark *mark,
		     const struct tach__reading *r, int fenced)
{
	const struct tach__slot *slot = tach__stack(self, mark->state)[1];
	const uint64_t *delta;
	uint64_t lost[TACH__SUMS];

	add_reading(self, mark, r, fenced);
	if (TACH_LIKELY(!self->record->keeps))
		return;
	if (r->flags & TACH_FLAG_LOST) {
		memset(lost, 0, sizeof lost);
		lost[0] = r->delta[0];
	}
	delta = r->flags & TACH_FLAG_LOST ? lost : r->delta;
	if (self->record->worst)
		tach__worst_add(self, mark, slot, delta, r->inside, r->flags, fenced);
	if (self->record->trace)
		tach__trace_add(self->record, mark, slot, delta, r->inside, r->flags, fenced);
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
		if (self->inexact)
			r->error = TACH__GET(tach__reader(self->reader)->topdown.error);
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

#define END(name, count, fenced, keeps)                                                        \
	static void end_##name(struct tach_region_mark *mark)                                  \
	{                                                                                      \
		end(mark, count, fenced, keeps);                                               \
	}
#define INSTANCE(n)                                                                            \
	END(plain_##n, n, 0, 0)                                                                \
	END(fenced_##n, n, 1, 0)                                                               \
	END(worst_##n, n, 0, TACH__KEEPS_WORST) END(each_##n, n, 0, TACH__KEEPS_EACH)
TACH__INSTANCES(INSTANCE)

static void end_plain_any(struct tach_region_mark *mark)
{
	end_any(mark, 0);
}

static void end_fenced_any(struct tach_region_mark *mark)
{
	end_any(mark, 1);
}

#define ROW(n)	 {{end_plain_##n, end_fenced_##n}},
#define WORST(n) {{end_worst_##n, end_fenced_any}},
#define EACH(n)	 {{end_each_##n, end_fenced_any}},
static const struct instance {
	__typeof__(((struct tach__hot *)0)->end[0]) end[2];
} keeping[][TACH__UNROLLED + 1] = {[0] = {TACH__INSTANCES(ROW)},
				   [TACH__KEEPS_WORST] = {TACH__INSTANCES(WORST)},
				   [TACH__KEEPS_EACH] = {TACH__INSTANCES(EACH)}},
			     any = {{end_plain_any, end_fenced_any}};

void tach__stop_choose(struct tach__hot *self, int plain, uint32_t keeps)
{
	const struct instance *instance = &any;

	if (plain && keeps <= TACH__KEEPS_EACH && tach__edges_straight(self))
		instance = &keeping[keeps][self->count];
	memcpy(self->end, instance->end, sizeof self->end);
}
