/* SPDX-License-Identifier: MIT */
/*
 * Regions that overlap: A begins, B begins, A ends, B ends. This happens with coroutines,
 * fibres, and requests that are served in parallel on one thread.
 *
 * An entry's inclusive values are still the counts at its STOP minus those at its START. The
 * stack of open regions loses the level of A, and B moves down by one level. The cost of
 * measuring is corrected by half pairs: A contains the START of B but not its STOP. B contains
 * the STOP of A but not its START, although a whole pair is counted in B.
 *
 * A region's self values grow while it is the open region that began last. If regions nest,
 * self values exclude nested regions. For A, for B and for the region that encloses both, self
 * values have another meaning, so they are flagged.
 */
#include <string.h>
#include "core/os/memory.h"
#include "core/region/cost.h"
#include "core/region/left.h"
#include "core/region/region.h"

uint32_t tach__level_of(const struct tach__hot *hot, const struct tach_region_mark *mark)
{
	uint32_t top = TACH__LEVEL(hot->state), least = 0;

	if (top > TACH__LEVELS)
		least = top - TACH__LEVELS;
	while (top > least)
		if (*tach__marks(tach__stack(hot, --top)) == mark)
			return top;
	return TACH__LEVEL_NONE;
}

/* ---- the stack ---- */

/* A jump may have left this entry, but its mark may still be intact. */
TACH__LOOKS_BACK static void lower_slot(const struct tach__slot *slot, struct tach__part *part,
					struct tach_region_mark *mark, uint32_t by)
{
	mark->state -= by;
	if (part && !tach__part_is_closing(slot, part))
		TACH__SET(part->ceiling, part->ceiling - by);
}

void tach__level_move(struct tach__thread *record, uint32_t level, uint32_t to)
{
	struct tach__slot **from = tach__stack(record->hot, level);
	struct tach__slot **at = tach__stack(record->hot, to);

	if (level == to)
		return;
	if (level < TACH__LEVELS_MOST) {
		lower_slot(from[1], tach__part_at(record, from[1], level), *tach__marks(from),
			   level - to);
		if (record->owed) {
			memcpy(record->owed[to], record->owed[level], sizeof *record->owed);
			memset(record->owed[level], 0, sizeof *record->owed);
		}
	}
	TACH__SET(at[1], from[1]);
	TACH__SET(*tach__marks(at), *tach__marks(from));
}

void tach__levels_lower(struct tach__thread *record, uint32_t by)
{
	struct tach__hot *hot = record->hot;

	while (by--) {
		uint32_t level = TACH__LEVEL(hot->state) - 1;

		/* An interrupted START may raise the level again: see renew_state. */
		TACH__SET(*tach__marks(tach__stack(hot, level)), NULL);
		if (record->owed && level < TACH__LEVELS_MOST)
			memset(record->owed[level], 0, sizeof *record->owed);
		TACH__SET(hot->state, hot->state - 1);
	}
}

static void part_open(struct tach__part *part, struct tach_region_mark *mark)
{
	TACH__SET(part->ceiling, mark->state + 1);
	TACH__SET(part->outer, (uintptr_t)mark);
}

/*
 * Finds the levels of the first and the last entry of the slot. Returns the number of entries.
 */
static uint32_t find_entries(const struct tach__hot *hot, const struct tach__slot *slot,
			     uint32_t *first, uint32_t *last)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < TACH__LEVEL(hot->state); k++) {
		if (tach__stack(hot, k)[1] != slot)
			continue;
		*first = n++ ? *first : k;
		*last = k;
	}
	return n;
}

void tach__parts_assign(struct tach__thread *record, struct tach__slot *slot)
{
	struct tach__hot *hot = record->hot;
	struct tach__part *part = tach__part(slot, record->count, 0);
	struct tach__part *inner = tach__part(slot, record->count, 1);
	struct tach_region_mark *mark;
	uint32_t first = 0, last = 0, n;

	if (TACH__LEVEL(hot->state) > TACH__LEVELS_MOST)
		return;
	n = find_entries(hot, slot, &first, &last);
	/* An entry that is closing was already counted in its part. */
	if (n == 0 || tach__part_is_closing(slot, part) || tach__part_is_closing(slot, inner))
		return;
	mark = *tach__marks(tach__stack(hot, first));
	if (part->outer != (uintptr_t)mark) {
		mark->part = part;
		part_open(part, mark);
		if (slot->sampling)
			slot->sampling->begun = record->passed;
	}
	mark = *tach__marks(tach__stack(hot, last));
	if (n == 1)
		tach__part_close(slot, inner);
	else if (inner->outer != (uintptr_t)mark)
		part_open(inner, mark);
}

/* ---- halves of pairs ---- */

void tach__owed_add(struct tach__thread *record, uint32_t from, uint32_t to, int fenced, int by)
{
	if (from >= to)
		return;
	if (!record->owed)
		record->owed = tach__pages(TACH__OWED_SIZE);
	for (uint32_t k = from; record->owed && k < to && k < TACH__LEVELS_MOST; k++)
		record->owed[k][fenced] += by;
}

/* Subtracts the cost of n STARTs. */
static void take_starts(const struct tach__thread *record, uint64_t *delta, int fenced, int n)
{
	for (uint32_t i = 0; n && i <= record->count; i++)
		delta[i] -= (uint64_t)n * record->residue.start[fenced][i];
}

static void settle_owed(const struct tach__thread *record, uint32_t level, uint64_t *delta)
{
	for (int fenced = 0; fenced < 2 && record->owed && level < TACH__LEVELS_MOST; fenced++)
		take_starts(record, delta, fenced, -record->owed[level][fenced]);
}

/* ---- the end of an overlapping entry ---- */

/* Computes the counts of the later entry `above` up to the end `r` of `mark`: at most r. A jump
 * may have left the entry above, but its mark may still be intact. */
TACH__LOOKS_BACK static void find_shared(struct tach__thread *record,
					 const struct tach_region_mark *mark,
					 const struct tach_region_mark *above,
					 const struct tach__reading *r, uint64_t *shared)
{
	const struct tach_mark *a = &mark->counters, *b = &above->counters;
	uint64_t mask = TACH_MODULAR && record->count ? record->reader->mask : UINT64_MAX;
	uint64_t apart[TACH__SUMS];

	apart[0] = (uint64_t)(b->clock - a->clock);
	for (uint32_t i = 0; i < record->count; i++)
		apart[i + 1] = (b->value[i] - a->value[i]) & mask;
	tach__cost_between(record, TACH__EPOCH(mark->state), TACH__EPOCH(above->state), apart);
	for (uint32_t i = 0; i <= record->count; i++)
		shared[i] = apart[i] < r->delta[i] ? r->delta[i] - apart[i] : 0;
}

/*
 * The common part of two overlapping entries belongs to the self values of the later entry. So
 * the self values of the ended entry do not include it, and the enclosing region subtracts it
 * twice. The same is true for each half of a pair.
 */
static void move_shared(const struct tach__thread *record, struct tach__slot *slot,
			struct tach__slot *around, struct tach__slot *top,
			const uint64_t *shared, int fenced)
{
	const struct tach__entry_cost *cost = &record->entry_cost;
	uint32_t count = record->count;
	uint64_t *own = tach__children(slot, count, 1)->sum;
	uint64_t *outer = tach__children(around, count, 1)->sum;
	uint64_t *last = tach__children(top, count, 1)->sum;

	for (uint32_t i = 0; i <= count; i++) {
		uint64_t pair = cost->pair[fenced][i], empty = cost->empty[fenced][i];
		uint64_t both = shared[i] > empty ? shared[i] - empty : 0;

		TACH__ADD(own[i], both);
		TACH__ADD(outer[i], -(both + pair));
		TACH__ADD(last[i], pair);
	}
}

/*
 * Adds the entry as if it were the innermost: it moves to the top, but keeps its enclosing
 * slot.
 */
static void add_as_innermost(struct tach__hot *hot, struct tach_region_mark *mark,
			     struct tach__slot *slot, struct tach__slot *around,
			     struct tach__reading *r, int fenced)
{
	struct tach__slot **stack, *below;

	mark->state = (mark->state & ~(uint64_t)UINT32_MAX) | (TACH__LEVEL(hot->state) - 1);
	stack = tach__stack(hot, mark->state);
	below = stack[0];
	TACH__SET(stack[0], around);
	TACH__SET(stack[1], slot);
	tach__edges_add(hot, mark, r, fenced);
	TACH__SET(stack[0], below);
	TACH__SET(*tach__marks(stack), NULL);
}

static void end_overlapping(struct tach__thread *record, struct tach_region_mark *mark,
			    uint32_t level, struct tach__reading *r, int fenced)
{
	struct tach__hot *hot = record->hot;
	uint32_t top = TACH__LEVEL(hot->state);
	struct tach__slot *slot = tach__stack(hot, level)[1],
			  *around = tach__stack(hot, level)[0];
	struct tach__slot *above = tach__stack(hot, level + 1)[1];
	uint64_t shared[TACH__SUMS] = {0};

	if (top > TACH__LEVELS_MOST)
		r->flags |= TACH_FLAG_INCOMPLETE;
	else
		find_shared(record, mark, *tach__marks(tach__stack(hot, level + 1)), r, shared);
	for (uint32_t k = level + 1; k < top; k++) {
		int started = tach__stack(hot, k)[1]->fenced;

		take_starts(record, r->delta, started, 1);
		if (k > level + 1)
			take_starts(record, shared, started, 1);
	}
	settle_owed(record, level + 1, shared);
	tach__owed_add(record, level + 1, top, fenced, 1);
	for (uint32_t k = level + 1; k < top; k++)
		tach__level_move(record, k, k - 1);
	if (record->owed && top <= TACH__LEVELS_MOST)
		memset(record->owed[top - 1], 0, sizeof *record->owed);
	move_shared(record, slot, around, tach__stack(hot, top - 2)[1], shared, fenced);
	TACH__SET(slot->overlapped, 1);
	TACH__SET(above->overlapped, 1);
	TACH__SET(around->overlapped, 1);
	add_as_innermost(hot, mark, slot, around, r, fenced);
	tach__parts_assign(record, slot);
	if (slot->task)
		tach__task_overlaps(record, mark, level, slot);
}

void tach__level_end(struct tach__thread *record, struct tach_region_mark *mark, uint32_t level,
		     struct tach__reading *r, int fenced)
{
	settle_owed(record, level, r->delta);
	if (level + 1 < TACH__LEVEL(record->hot->state)) {
		end_overlapping(record, mark, level, r, fenced);
		return;
	}
	if (record->owed && level < TACH__LEVELS_MOST)
		memset(record->owed[level], 0, sizeof *record->owed);
	mark->state = (mark->state & ~(uint64_t)UINT32_MAX) | level;
	tach__edges_add(record->hot, mark, r, fenced);
}
