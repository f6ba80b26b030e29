/* SPDX-License-Identifier: MIT */
/* STOP: one copy for each number of counters, fenced and unfenced. Code that has to branch is
 * in cold_stop.c. */
#include "core/region/add.h"
#include "core/region/edges.h"
#include "core/region/reads.h"
#include "core/reader/reader.h"
#include "core/region/region.h"

TACH_INLINE int is_innermost(const struct tach__hot *self, const struct tach_region_mark *mark)
{
	return TACH_LIKELY(TACH__GET(self->state) - 1 == mark->state);
}

/*
 * Returns 0 if a handler completed a region during the reads, which may include a part of it.
 * Call it after the reads.
 */
TACH_INLINE int no_handler_completed(const struct tach__hot *self, uint64_t pairs)
{
	TACH__ORDER();
	return TACH_LIKELY(pairs == TACH__OPERAND(self->pairs[0]));
}

/*
 * Straight code for `count` counters that are read in user space. The counters use all
 * registers. All other values stay in the mark, where a second read finds them.
 */
TACH_INLINE void end(struct tach_region_mark *mark, uint32_t count, int fenced, int keeps,
		     int cached)
{
	struct tach__hot *self = tach__self;
	const struct tach_reader *reader;
	/* TACH__UNROLLED would be enough, but clang warns before it inlines */
	uint64_t delta[TACH__SUMS];
	struct tach__slot **stack, *slot, *around;
	struct tach__part *part;
	tach__pairs inside = tach__pairs_of(self->pairs);

	TACH__ORDER();
	if (TACH_UNLIKELY(!is_innermost(self, mark))) {
		tach__end_cold(mark, fenced);
		return;
	}
	reader = self->reader;
	if (fenced)
		TACH_FENCE();
	if (TACH_UNLIKELY(cached &&
			  !tach__known_end(self, &mark->counters, delta + 1, count))) {
		tach__end_moved(mark, fenced);
		return;
	}
	if (TACH_UNLIKELY(!cached &&
			  !tach__end_reads(reader, &mark->counters, delta + 1, count))) {
		tach__end_torn(mark, fenced);
		return;
	}
	delta[0] = tach_clock() - mark->counters.clock;
	if (fenced)
		TACH_FENCE();
	if (TACH_UNLIKELY(!no_handler_completed(self, inside[0]))) {
		tach__end_torn(mark, fenced);
		return;
	}
	inside -= tach__pairs_of(mark->pairs);
	if (count && !cached && tach__lock_has_changed(reader, &mark->counters))
		goto unusual;
	stack = tach__stack(self, mark->state);
	slot = stack[1];
	around = stack[0];
	if (TACH_UNLIKELY(TACH__TAKE(self, slot->seq))) {
	unusual:
		if (count && (mark->counters.lock & 1)) {
			tach__end_torn(mark, fenced);
			return;
		}
		tach__store_reading(mark, delta, count);
		memcpy(mark->pairs, &inside, sizeof inside);
		tach__end_rescheduled(mark, fenced);
		return;
	}
	part = mark->part;
	tach__entry_add(self, mark, slot, part, part, TACH__OUTER_NONE, around, delta, inside,
			count, fenced);
	if (keeps) {
		uint64_t pairs[2];

		memcpy(pairs, &inside, sizeof pairs);
		if (keeps == TACH__KEEPS_WORST)
			tach__worst_add(self, mark, slot, delta, pairs, 0, fenced);
		if (keeps == TACH__KEEPS_EACH)
			tach__trace_add(self->record, mark, slot, delta, pairs, 0, fenced);
	}
}

/* STOP of a flat region without nested regions. It changes no sums of enclosing regions, nested
 * regions or recursions. The order of stores is the same as in tach__entry_add. */
TACH_INLINE void end_flat(struct tach_region_mark *mark, uint32_t count)
{
	struct tach__hot *self = tach__self;
	uint64_t delta[TACH__SUMS];
	struct tach__slot *slot;
	struct tach__part *part;

	if (TACH_UNLIKELY(!is_innermost(self, mark))) {
		tach__end_not_flat(mark, TACH__FLAT_STATE);
		return;
	}
	if (TACH_UNLIKELY(!tach__known_end(self, &mark->counters, delta + 1, count))) {
		tach__end_not_flat(mark, TACH__FLAT_MOVED);
		return;
	}
	delta[0] = tach_clock() - mark->counters.clock;
	if (TACH_UNLIKELY(!no_handler_completed(self, mark->pairs[0]))) {
		tach__end_not_flat(mark, TACH__FLAT_INSIDE);
		return;
	}
	part = mark->part;
	slot = (struct tach__slot *)(void *)((char *)part - offsetof(struct tach__slot, word));
	if (TACH_UNLIKELY(TACH__TAKE(self, slot->seq))) {
		tach__end_not_flat(mark, TACH__FLAT_TORN);
		return;
	}
	TACH__FENCE(__ATOMIC_RELEASE);
#define STEP(i) tach__sum_add(part, NULL, delta, i, count)
	TACH__STEPS(count + 1, STEP);
#undef STEP
	TACH__ORDER();
	TACH__ADD(slot->flat, 1);
	TACH__SET(part->ceiling, TACH__CEILING_OPEN);
	TACH__FENCE(__ATOMIC_RELEASE);
	TACH__ADD(slot->seq, 1);
	TACH__ORDER();
	tach__entry_leave(self, 0);
	TACH__ORDER();
	tach__entry_close(mark, part, TACH__OUTER_NONE);
}

/* ---- any number of counters, read in any way; entries may also go to histograms ---- */

/* Takes the same number of instructions for all counts. The counts are signed, because
 * compilers convert unsigned numbers to double with a branch. */
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
		int64_t more = (int64_t)(delta[i] - s->most[i]);

		__atomic_store(&s->square[i], &square, __ATOMIC_RELAXED);
		TACH__SET(s->most[i], s->most[i] + (uint64_t)(more & ~(more >> 63)));
	}
}

/*
 * Limits the error to the number of slots. Takes the same number of instructions for each
 * error.
 */
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

/*
 * Adds a reading to the sums. Not inlined: in tach__entry_add, the instruction after the one
 * that counts the entry must mark it as counted. Inlined code would reload a value from the
 * stack between the two.
 */
static __attribute__((noinline)) void add_reading(struct tach__hot *self,
						  struct tach_region_mark *mark,
						  const struct tach__reading *r, int fenced)
{
	const uint64_t *delta = r->delta;
	struct tach__slot **stack = tach__stack(self, mark->state), *slot = stack[1],
			  *to = slot;
	struct tach__part *open = mark->part, *part = open, none = {.outer = 0};
	uintptr_t mine;

	/* No branch, because enclosing regions include this code: see edges.h. */
	for (int i = 0; i < 6; i++)
		TACH__ADD(slot->provenance[i], r->flags >> i & 1);
	if (slot->histograms && !slot->task && !(r->flags & TACH_FLAG_LOST))
		tach__histograms_add(slot->histograms, delta, &self->record->entry_cost, fenced,
				     r->inside, self->count + 1);
	if (slot->sampling && slot->rest == 0 && part == tach__part(slot, self->count, 0))
		sample(self, slot, stack[0], delta);
	if (TACH_UNLIKELY(slot->seq & 1)) {
		/* This signal handler interrupted its thread between the stores. */
		to = tach__region_overflow(self, slot, mark->state);
		part = (struct tach__part *)((char *)to + ((char *)part - (char *)slot));
	}
	if (self->inexact)
		add_error(self, to, part != tach__part(to, self->count, 0), stack[0], r->error,
			  delta);
	/*
	 * If an entry was counted as lost, a later entry may have its part. This selects
	 * another address instead of branching, because recursion must take the same number of
	 * instructions as in calibration.
	 */
	mine = open->outer == (uintptr_t)mark ? UINTPTR_MAX : 0;
	__asm__("" : "+r"(mine));
	open = (struct tach__part *)(((uintptr_t)open & mine) | ((uintptr_t)&none & ~mine));
	TACH__COUNT(self, to->seq, 1);
	tach__entry_add(self, mark, to, part, open, slot->rest, stack[0], delta,
			tach__pairs_of(r->inside), self->count, fenced);
}

void tach__edges_add(struct tach__hot *self, struct tach_region_mark *mark,
		     struct tach__reading *r, int fenced)
{
	const struct tach__slot *slot = tach__stack(self, mark->state)[1];

	/* The counts of a lost entry are unknown. */
	if (r->flags & TACH_FLAG_LOST)
		memset(r->delta + 1, 0, self->count * sizeof *r->delta);
	add_reading(self, mark, r, fenced);
	if (TACH_LIKELY(!self->record->keeps))
		return;
	if (self->record->worst)
		tach__worst_add(self, mark, slot, r->delta, r->inside, r->flags, fenced);
	if (self->record->trace)
		tach__trace_add(self->record, mark, slot, r->delta, r->inside, r->flags,
				fenced);
}

uint32_t tach__edges_read(const struct tach__hot *self, const struct tach_mark *begun,
			  uint64_t *delta, int fenced)
{
	uint32_t flags = 0, count = self->count;

	if (fenced)
		TACH_FENCE();
	if (count &&
	    (!tach__end_reads(self->reader, begun, delta + 1, count) || (begun->lock & 1)))
		flags = tach__end_slow(self->reader, begun, delta + 1, count);
	delta[0] = tach_clock() - begun->clock;
	if (fenced)
		TACH_FENCE();
	return flags;
}

int tach__edges_stop(const struct tach__hot *self, const struct tach_region_mark *mark,
		     uint64_t state, struct tach__reading *r, int fenced)
{
	uint64_t pairs;

	r->again = 0;
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
	} while (!no_handler_completed(self, pairs));
	return 1;
}

void tach__edges_since(const struct tach__hot *self, const struct tach_region_mark *mark,
		       struct tach__reading *r)
{
	const struct tach_mark *begun = &mark->counters;

	if (r->flags || self->count == 0 || (begun->lock & 1) ||
	    !tach__lock_has_changed(self->reader, begun))
		return;
	r->flags = tach__reader_settle(tach__reader(self->reader), begun, r->delta[0],
				       r->delta + 1);
}

static void end_any(struct tach_region_mark *mark, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__reading r;

	if (TACH_UNLIKELY(!is_innermost(self, mark))) {
		tach__end_cold(mark, fenced);
		return;
	}
	if (TACH_UNLIKELY(!tach__edges_stop(self, mark, mark->state + 1, &r, fenced))) {
		tach__end_torn(mark, fenced);
		return;
	}
	/*
	 * If START took the slow path, the flags are complete, and the page may contain zeros.
	 * The mark is checked before the flags, so that these checks take the same number of
	 * instructions for all flags.
	 */
	if (TACH_UNLIKELY(self->count && !(mark->counters.lock & 1) && !r.flags &&
			  tach__lock_has_changed(self->reader, &mark->counters))) {
		tach__end_read(mark, &r, fenced);
		return;
	}
	tach__edges_add(self, mark, &r, fenced);
}

/* ---- the instances ---- */

#define END(name, count, fenced, keeps, cached)                                                \
	static void end_##name(struct tach_region_mark *mark)                                  \
	{                                                                                      \
		end(mark, count, fenced, keeps, cached);                                       \
	}
#define INSTANCE(n)                                                                            \
	END(plain_##n, n, 0, 0, 0)                                                             \
	END(fenced_##n, n, 1, 0, 0)                                                            \
	END(worst_##n, n, 0, TACH__KEEPS_WORST, 0)                                             \
	END(each_##n, n, 0, TACH__KEEPS_EACH, 0)                                               \
	END(cached_plain_##n, n, 0, 0, 1)                                                      \
	END(cached_fenced_##n, n, 1, 0, 1)                                                     \
	END(cached_worst_##n, n, 0, TACH__KEEPS_WORST, 1)                                      \
	END(cached_each_##n, n, 0, TACH__KEEPS_EACH, 1)                                        \
	static void end_flat_##n(struct tach_region_mark *mark)                                \
	{                                                                                      \
		end_flat(mark, n);                                                             \
	}
TACH__INSTANCES(INSTANCE)

static void end_plain_any(struct tach_region_mark *mark)
{
	end_any(mark, 0);
}

static void end_fenced_any(struct tach_region_mark *mark)
{
	end_any(mark, 1);
}

#define PLAIN(n)	{{end_plain_##n, end_fenced_##n}},
#define WORST(n)	{{end_worst_##n, end_fenced_any}},
#define EACH(n)		{{end_each_##n, end_fenced_any}},
#define CACHED_PLAIN(n) {{end_cached_plain_##n, end_cached_fenced_##n}},
#define CACHED_WORST(n) {{end_cached_worst_##n, end_fenced_any}},
#define CACHED_EACH(n)	{{end_cached_each_##n, end_fenced_any}},
#define KEEPING(cached)                                                                        \
	{                                                                                      \
		[0] = {TACH__INSTANCES(cached##PLAIN)},                                        \
		[TACH__KEEPS_WORST] = {TACH__INSTANCES(cached##WORST)},                        \
		[TACH__KEEPS_EACH] = {TACH__INSTANCES(cached##EACH)},                          \
	}
static const struct instance {
	__typeof__(((struct tach__hot *)0)->end[0]) end[2];
} keeping[2][TACH__KEEPS_EACH + 1][TACH__UNROLLED + 1] = {KEEPING(), KEEPING(CACHED_)},
						    any = {{end_plain_any, end_fenced_any}};

#define FLAT(n) end_flat_##n,
static __typeof__(((struct tach__hot *)0)->end_flat)
	const flats[TACH__UNROLLED + 1] = {TACH__INSTANCES(FLAT)};

void tach__stop_choose(struct tach__hot *self, int plain, uint32_t keeps)
{
	const struct instance *instance = &any;

	if (plain && keeps <= TACH__KEEPS_EACH && tach__edges_are_straight(self))
		instance = &keeping[self->cached][keeps][self->count];
	memcpy(self->end, instance->end, sizeof instance->end);
	self->end_flat = self->cached && instance == &keeping[1][0][self->count]
				 ? flats[self->count]
				 : NULL;
}
