/* SPDX-License-Identifier: MIT */
/* Slow paths of STOP: reschedules, epochs that ended, regions that were left, refused stops. */
#include <string.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/reads.h"

/* Another thread still has the region open: makes its next START check. */
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

/* A region that was open at a fork belongs to no thread of the child, but that is not an error
 * of the program. */
static void refuse_stop(struct tach_region_mark *mark)
{
	struct tach__registry *r = &tach__registry;
	struct tach__held held;

	mark->end = NULL;
	if (tach__signals_held) { /* as in `make_ready` of cold_start.c */
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

/* This mark is a moved copy of the one that START wrote. Returns the entry at its level, if
 * that began as the mark says. */
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
	/* It was taken for lost, or a START took its place: overtaken.c. The cost to subtract
	 * is unknown. */
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

/* A reading, and the cost up to it: a handler may add cost right after it. */
struct spent {
	uint64_t state, cold[TACH__SUMS];
	int since; /* the mark's epoch has ended, so there was some cost */
};

static void read_spent(struct tach__reading *r, struct spent *spent,
		       const struct tach_region_mark *mark, int fenced)
{
	const struct tach__hot *self = tach__self;
	const struct tach__thread *record = self->record;

	do {
		for (uint32_t i = 0; i <= record->count; i++)
			spent->cold[i] = record->cold[i];
		spent->state = TACH__GET(self->state);
		TACH__ORDER();
		/* Any cost takes time, so comparing the clock's sum is enough. */
	} while (!tach__edges_stop(self, mark, spent->state, r, fenced) ||
		 TACH__GET(record->cold[0]) != spent->cold[0]);
	spent->since = TACH__EPOCH(mark->state) != TACH__EPOCH(spent->state);
}

/* The STOP of the innermost region moves no other entry. */
static void remove_dead_entries(struct tach__thread *record,
				const struct tach_region_mark *mark, uintptr_t sp)
{
	if (TACH__LEVEL(mark->state) + 1 == TACH__LEVEL(record->hot->state))
		tach__remove_some_dead_entries(record, sp);
	else
		tach__remove_dead_entries(record, sp);
}

/* flat: how a flat region's STOP came here, or TACH__UNFLAT. */
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
	/* Some regions stay open: they enclose this one or overlap it. Without a branch: see
	 * cost.h. */
	tach__cost_begin(&cost, TACH__LEVEL(mark->state) | TACH__LEVEL(self->state) >> 1);
	tach__residue_ready(record);
	tach__edges_since(self, mark, &r);
	r.flags |= more;
	if (spent.since)
		tach__cost_subtract(record, TACH__EPOCH(mark->state), spent.cold, r.delta);
	before = flat == TACH__UNFLAT ? record->residue.before[fenced] : record->unflat[flat];
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
	/* As in tach__end_read and tach__end_torn. */
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

	/* Without an enclosing region there is no cost to subtract, and only the first time
	 * makes a system call. */
	int cold = around || (r->again && !record->residue_known);

	if (cold) {
		tach__cost_begin(&cost, around);
		tach__residue_ready(record);
		remove_dead_entries(record, mark, TACH__STACK_POINTER);
	}
	tach__edges_since(self, mark, r);
	if (r->again) {
		/* The leader did not change: another page did, or the instruction faulted. */
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
	/* The leader did not change: another page did, a handler ran in between, or the
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
