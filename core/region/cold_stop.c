/* SPDX-License-Identifier: MIT */
/* Slow paths of STOP, after a reschedule, a new epoch or a region left without STOP; refused
 * STOPs. */
#include <string.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/reads.h"

/* If another thread has the region open, makes that thread's next START check its entries. */
static void interrupt_owner(const struct tach_region_mark *mark)
{
	struct tach__thread *record;

	cds_list_for_each_entry(record, &tach__registry.threads, node)
	{
		if (record->folded ||
		    TACH__OPENING(TACH__GET(record->hot->state)) != TACH__OPENING(mark->state))
			continue;
		__atomic_store_n(&record->hot->limit, (uint64_t)0, __ATOMIC_SEQ_CST);
		return;
	}
}

/* A region that was open at a fork belongs to no thread of the child. Its STOP is ignored, but
 * not reported: it is not an error of the program. */
static void refuse_stop(struct tach_region_mark *mark)
{
	struct tach__registry *r = &tach__registry;
	struct tach__held held;

	mark->end = NULL;
	if (tach__signals_held) { /* the library may hold its locks: see `make_ready` */
		__atomic_fetch_add(&r->refused, 1, __ATOMIC_RELAXED);
		return;
	}
	tach__lock(&held);
	if (TACH__OPENING(mark->state) > r->inherited % TACH__OPENINGS) {
		__atomic_fetch_add(&r->refused, 1, __ATOMIC_RELAXED);
		interrupt_owner(mark);
	}
	tach__unlock(&held);
}

/* This mark is a moved copy of the one that START wrote. Returns the level in the mark if the
 * entry at that level began with the mark's state, else TACH__LEVEL_NONE. */
static uint32_t level_of_copy(const struct tach__hot *hot, const struct tach__slot *slot,
			      const struct tach_region_mark *mark)
{
	const struct tach__part *part = mark->part;
	uint32_t level = TACH__LEVEL(mark->state);

	return level < TACH__LEVEL(hot->state) && tach__stack(hot, level)[1] == slot &&
			       part->ceiling - 1 == mark->state
		       ? level
		       : TACH__LEVEL_NONE;
}

static void add(struct tach__thread *record, struct tach_region_mark *mark,
		struct tach__reading *r, int fenced)
{
	struct tach__hot *hot = record->hot;
	struct tach__slot *slot = tach__slot_of(record, mark->part), **stack, *around;
	const struct tach__part *part = mark->part;
	uint32_t level = tach__level_of(hot, mark);

	if (level == TACH__LEVEL_NONE)
		level = level_of_copy(hot, slot, mark);
	if (level != TACH__LEVEL_NONE) {
		tach__level_end(record, mark, level, r, fenced);
		return;
	}
	/* The entry was counted as lost, or another START took its place on the stack
	 * (overtaken.c). So the cost to subtract is unknown. */
	r->flags |= TACH_FLAG_INCOMPLETE;
	if (part->outer != (uintptr_t)mark || part->ceiling == TACH__CEILING_OPEN)
		TACH__ADD(slot->lost, -1);
	stack = tach__stack(hot, hot->state);
	around = stack[0];
	TACH__SET(stack[0], record->outside);
	TACH__SET(stack[1], slot);
	mark->state = hot->state;
	TACH__SET(hot->state, mark->state + 1);
	tach__edges_add(hot, mark, r, fenced);
	TACH__SET(stack[0], around);
}

/* The state and the total cost at a reading. A handler may add cost right after the reading. */
struct spent {
	uint64_t state, cold[TACH__SUMS];
};

static void read_spent(struct tach__reading *r, struct spent *spent,
		       const struct tach_region_mark *mark, int fenced)
{
	const struct tach__hot *self = tach__self;
	const struct tach__thread *record = self->record;
	uint64_t costs;

	do {
		costs = TACH__GET(record->costs);
		TACH__ORDER();
		for (uint32_t i = 0; i <= record->count; i++)
			spent->cold[i] = TACH__GET(record->cold[i]);
		spent->state = TACH__GET(self->state);
		TACH__ORDER();
	} while (!tach__edges_stop(self, mark, spent->state, r, fenced) ||
		 TACH__GET(record->costs) != costs);
}

/* The STOP of the innermost region moves no other entry, so it is enough to check some
 * entries. */
static void remove_dead_entries(struct tach__thread *record,
				const struct tach_region_mark *mark, uintptr_t sp)
{
	if (TACH__LEVEL(mark->state) + 1 == TACH__LEVEL(record->hot->state))
		tach__remove_some_dead_entries(record, sp);
	else
		tach__remove_dead_entries(record, sp);
}

/* Returns nonzero if the group was rescheduled since the mark, but the reading has no flag. */
TACH_INLINE uint64_t find_reschedule(const struct tach__thread *record,
				     const struct tach_region_mark *mark,
				     const struct tach__reading *r)
{
	const struct tach_mark *begun = &mark->counters;
	const struct tach_reader *reader = record->reader;

	/* This condition is the same at each STOP of a set. */
	if (record->count == 0 || !tach__reader_is_inline(tach__reader(reader)))
		return 0;
	return (TACH_PAGE_OPERAND(tach__way(reader, 0).page, lock) ^ begun->lock) &
	       ((uint64_t)(begun->lock & 1) - 1) & tach__when_equal(r->flags, 0);
}

/*
 * Returns 1 if this STOP only has to subtract a cost inside the region. Enclosing regions count
 * the instructions of this function, even if it returns 0. So the number of instructions is
 * constant: only the last test branches, and only in the outermost region.
 */
static int is_only_spent(const struct tach__thread *record, const struct tach_region_mark *mark,
			 const struct tach__reading *r, const struct spent *spent,
			 uint32_t more)
{
	uint32_t level = TACH__LEVEL(mark->state);
	uint64_t unusual = more;

	unusual |= tach__when_equal(TACH__EPOCH(mark->state), TACH__EPOCH(spent->state));
	unusual |= tach__when_equal((uint32_t)record->residue_known, 0);
	unusual |= (uintptr_t)record->owed;
	unusual |= TACH__LEVEL(spent->state) ^ (level + 1);
	unusual |= (uintptr_t)*tach__marks(tach__stack(record->hot, level)) ^ (uintptr_t)mark;
	unusual |= (uint32_t)(tach__signals_held ^ tach__calibrating);
	unusual |= find_reschedule(record, mark, r);
	__asm__("" : "+r"(unusual));
	return !unusual && (level || !tach__thread_is_outdated());
}

/* Returns the cost of a STOP up to its reading. */
static const uint64_t *before_reading(const struct tach__thread *record, int fenced,
				      enum tach__unflat flat)
{
	return flat == TACH__UNFLAT ? record->residue.before[fenced] : record->unflat[flat];
}

/* Ends the entry without a system call. A handler may end its own regions between any two
 * instructions. */
static void end_spent(struct tach__thread *record, struct tach_region_mark *mark,
		      struct tach__reading *r, const struct spent *spent, int fenced,
		      enum tach__unflat flat)
{
	const uint64_t *before = before_reading(record, fenced, flat);
	struct tach__hot *hot = record->hot;
	uint32_t level = TACH__LEVEL(mark->state);
	uint64_t state = spent->state;

	tach__cost_subtract(record, TACH__EPOCH(mark->state), spent->cold, r->delta);
	for (uint32_t i = 0; i <= record->count; i++)
		r->delta[i] -= before[i];
	/* Restarts the epochs. Do not use the record after that, because a handler's START may
	 * release it. */
	if (level == 0 && __atomic_compare_exchange_n(&hot->state, &state,
						      TACH__STATE(TACH__OPENING(state), 0, 1),
						      0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		TACH__SET(record->epoch, 0);
	tach__edges_add(hot, mark, r, fenced);
	if (level)
		tach__cost_add(record, record->residue.spent[fenced], level);
}

/* flat: the reason why a flat region's STOP came here, or TACH__UNFLAT for other regions. */
static void end_cold(struct tach_region_mark *mark, uint32_t more, int fenced,
		     enum tach__unflat flat)
{
	struct tach__hot *self = tach__self;
	struct tach__thread *record = self->record;
	uint64_t residue[TACH__SUMS];
	struct tach__reading r;
	struct spent spent;
	struct tach__cost cost;
	const uint64_t *before;

	if (!record || TACH__OPENING(self->state) != TACH__OPENING(mark->state)) {
		refuse_stop(mark);
		return;
	}
	read_spent(&r, &spent, mark, fenced);
	if (is_only_spent(record, mark, &r, &spent, more)) {
		end_spent(record, mark, &r, &spent, fenced, flat);
		return;
	}
	/* The argument is not 0 if regions stay open that enclose this one or overlap it. It is
	 * computed without a branch: see cost.h. */
	tach__cost_begin(&cost, TACH__LEVEL(mark->state) | TACH__LEVEL(self->state) >> 1);
	tach__residue_ready(record);
	tach__edges_since(self, mark, &r);
	r.flags |= more;
	before = before_reading(record, fenced, flat);
	if (TACH__EPOCH(mark->state) != TACH__EPOCH(spent.state))
		tach__cost_subtract(record, TACH__EPOCH(mark->state), spent.cold, r.delta);
	for (uint32_t i = 0; i <= record->count; i++) {
		r.delta[i] -= before[i];
		residue[i] =
			record->residue.before[fenced][i] + record->residue.after[fenced][i];
	}
	remove_dead_entries(record, mark, TACH__STACK_POINTER);
	add(record, mark, &r, fenced);
	if (TACH__LEVEL(self->state) == 0) {
		tach__epochs_reset(self);
		if (tach__thread_is_outdated())
			TACH__SET(self->limit, (uint64_t)0);
	}
	tach__cost_end(&cost, residue, TACH__LEVEL(self->state));
}

void tach__end_cold(struct tach_region_mark *mark, int fenced)
{
	end_cold(mark, 0, fenced, TACH__UNFLAT);
}

void tach__end_not_flat(struct tach_region_mark *mark, enum tach__unflat why)
{
	struct tach__hot *self = tach__self;
	struct tach__reading r;

	if (why == TACH__FLAT_STATE || !tach__edges_stop(self, mark, mark->state + 1, &r, 0)) {
		end_cold(mark, why == TACH__FLAT_STATE ? 0 : TACH_FLAG_RESCHEDULED, 0, why);
		return;
	}
	tach__edges_since(self, mark, &r);
	/* tach__end_read and tach__end_torn do the same. */
	if (!r.flags && (why == TACH__FLAT_MOVED || why == TACH__FLAT_TORN)) {
		r.flags = TACH_FLAG_RESCHEDULED;
		if (why == TACH__FLAT_MOVED)
			why = TACH__FLAT_MOVED_ELSEWHERE;
	}
	for (uint32_t i = 0; i <= self->count; i++)
		r.delta[i] -= self->record->unflat[why][i];
	tach__edges_add(self, mark, &r, 0);
}

void tach__end_read(struct tach_region_mark *mark, struct tach__reading *r, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__thread *record = self->record;
	uint32_t around = TACH__LEVEL(mark->state);
	struct tach__cost cost;
	int elsewhere = 0;

	/* Without an enclosing region, no region subtracts the cost. So only the first call
	 * makes a system call. */
	int cold = around || (r->again && !record->residue_known);

	if (cold) {
		tach__cost_begin(&cost, around);
		tach__residue_ready(record);
		remove_dead_entries(record, mark, TACH__STACK_POINTER);
	}
	tach__edges_since(self, mark, r);
	if (r->again) {
		/* The leader's page did not change. Another page did, or the instruction
		 * faulted. */
		elsewhere = !r->flags;
		if (elsewhere)
			r->flags = TACH_FLAG_RESCHEDULED;
		for (uint32_t i = 0; i <= record->count; i++)
			r->delta[i] -= record->residue.again[elsewhere][fenced][i];
	}
	tach__edges_add(self, mark, r, fenced);
	if (cold)
		tach__cost_end(&cost, record->residue.rescheduled[elsewhere][fenced], around);
}

void tach__end_moved(struct tach_region_mark *mark, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__reading r;

	if ((mark->counters.lock & 1) ||
	    !tach__edges_stop(self, mark, mark->state + 1, &r, fenced)) {
		tach__end_torn(mark, fenced);
		return;
	}
	r.again = 1;
	tach__end_read(mark, &r, fenced);
}

void tach__end_torn(struct tach_region_mark *mark, int fenced)
{
	struct tach__hot *self = tach__self;
	struct tach__reading r;

	if (TACH__GET(self->state) - 1 != mark->state ||
	    !tach__edges_stop(self, mark, mark->state + 1, &r, fenced)) {
		/* A handler took a slow path after this STOP had read the state. */
		end_cold(mark, TACH_FLAG_RESCHEDULED, fenced, TACH__UNFLAT);
		return;
	}
	tach__edges_since(self, mark, &r);
	/* The leader's page did not change. Another page did, a handler ran in between, or the
	 * instruction faulted. The entry includes the discarded reads. */
	if (!r.flags)
		r.flags = TACH_FLAG_RESCHEDULED;
	tach__end_read(mark, &r, fenced);
}

void tach__end_rescheduled(struct tach_region_mark *mark, int fenced)
{
	struct tach__reading r = {.flags = 0};

	tach__load_reading(&r, mark, tach__self->count);
	memcpy(r.inside, mark->pairs, sizeof r.inside);
	tach__end_read(mark, &r, fenced);
}
