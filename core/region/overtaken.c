/* SPDX-License-Identifier: MIT */
/*
 * Regions that a handler began during an edge and left open.
 *
 * Suppose that the handler interrupts a STOP after it read the level. The STOP then lowers the
 * level by one. So the handler's region is above the level, and the stopped region keeps its
 * place on the stack. If the handler interrupts a START between reading and storing the level,
 * that START takes the place of the handler's region. A second check would make each edge
 * longer. So a later slow path finds the handler's entry: its slot has an open entry that is
 * not on the stack. The entry counts as lost until its own STOP ends it.
 */
#include "core/os/sys.h"
#include "core/region/region.h"
#include "core/region/left.h"

enum { SLOTS_AN_EXIT = 4096 };

static int is_open(const struct tach__part *part)
{
	return part->ceiling != TACH__CEILING_OPEN;
}

/* Returns 1 if the entry is on the stack, at the level that its ceiling names. */
static int is_at_its_level(const struct tach__hot *hot, const struct tach__slot *slot,
			   const struct tach__part *part)
{
	uint32_t ceiling = TACH__LEVEL(part->ceiling);

	return ceiling - 1 < TACH__LEVEL(hot->state) &&
	       tach__stack(hot, ceiling - 1)[1] == slot;
}

/*
 * Returns the first level, starting at `from`, whose region has ended, or TACH__LEVEL_NONE. The
 * record may be another thread's, so it reads the words as a snapshot does. It returns a level
 * only if no region of the thread began or ended during the call.
 */
static uint32_t find_ended_level(const struct tach__thread *record, uint32_t from)
{
	const struct tach__hot *hot = record->hot;
	uint64_t state = TACH__GET(hot->state), pairs = TACH__GET(hot->pairs[0]);
	uint32_t top = TACH__LEVEL(state), level = from;

	if (top > TACH__LEVELS_MOST)
		return TACH__LEVEL_NONE;
	TACH__FENCE(__ATOMIC_ACQUIRE);
	/* The innermost region may be in the middle of its START. */
	for (; level + 1 < top; level++) {
		const struct tach__slot *slot = TACH__GET(tach__stack(hot, level)[1]);

		if (slot && TACH__GET(slot->id) < TACH__SITE_FIRST) /* it calibrates */
			return TACH__LEVEL_NONE;
		if (slot &&
		    TACH__GET(tach__part(slot, record->count, 0)->ceiling) ==
			    TACH__CEILING_OPEN &&
		    TACH__GET(tach__part(slot, record->count, 1)->ceiling) ==
			    TACH__CEILING_OPEN)
			break;
	}
	TACH__FENCE(__ATOMIC_ACQUIRE);
	return level + 1 < top && TACH__GET(hot->state) == state &&
			       TACH__GET(hot->pairs[0]) == pairs
		       ? level
		       : TACH__LEVEL_NONE;
}

void tach__overtaken_flag(struct tach__rows *rows, struct tach__thread *record)
{
	uint32_t level = 0;
	struct tach__held held;

	while ((level = find_ended_level(record, level)) != TACH__LEVEL_NONE) {
		struct tach__slot **stack = tach__stack(record->hot, level++);

		/* The next START of that thread repairs the stack. */
		__atomic_store_n(&record->hot->limit, (uint64_t)0, __ATOMIC_SEQ_CST);
		tach__lock(&held);
		for (int i = 0; i < 2; i++) {
			const struct tach__slot *slot = TACH__GET(stack[i]);
			struct tach__row *row = NULL;

			if (slot && slot->id >= TACH__SITE_FIRST)
				row = tach__rows_at(rows, tach__split_row(record, slot->id));
			if (row)
				row->flags |= TACH_FLAG_INCOMPLETE;
		}
		tach__unlock(&held);
	}
}

/* 1 if there may be an open entry that is on no level of the stack. */
static int begun_apart;

void tach__overtaken_mend(struct tach__thread *record, int is_sure)
{
	/* Checks all slots. If there are many slots, only some slow paths check. Otherwise
	 * thousands of first entries would take quadratic time. */
	if (!is_sure &&
	    (!TACH__GET(begun_apart) || ++record->unlooked * SLOTS_AN_EXIT < record->limit))
		return;
	record->unlooked = 0;
	for (uint32_t id = TACH__SITE_FIRST; id < record->limit; id++) {
		struct tach__slot *slot = tach__table(record->hot)[id];

		for (int inner = 0; inner < 2 && slot->id; inner++) {
			struct tach__part *part = tach__part(slot, record->count, inner);

			if (is_open(part) && tach__part_has_mark(slot, part) &&
			    !is_at_its_level(record->hot, slot, part))
				tach__part_give_up(record, slot, record->outside, part);
		}
	}
}

static __attribute__((noinline)) void
check_closely(struct tach__hot *self, struct tach__slot *slot, struct tach__part *part)
{
	struct tach__held held;

	if (!slot->id || !tach__part_has_mark(slot, part) ||
	    is_at_its_level(self, slot, part) || tach__signals_held != tach__calibrating)
		return;
	tach__hold(&held);
	tach__remove_dead_entries(self->record, TACH__STACK_POINTER);
	if (is_open(part) && !is_at_its_level(self, slot, part))
		tach__part_give_up(self->record, slot, self->record->outside, part);
	tach__release(&held);
}

void tach__overtaken_check(const struct tach_site *site)
{
	struct tach__hot *self = tach__self;
	uint64_t id = TACH__GET(site->id);
	struct tach__slot *slot;
	struct tach__part *part;

	if (TACH_UNLIKELY(!TACH__GET(begun_apart)))
		TACH__SET(begun_apart, 1);
	if (id >= TACH__GET(self->limit))
		return;
	slot = tach__table(self)[id];
	part = tach__part(slot, 0, 0);
	if (TACH_UNLIKELY(is_open(part)))
		check_closely(self, slot, part);
}
