/* SPDX-License-Identifier: MIT */
/*
 * Regions that a handler began amid an edge and left open.
 *
 * A STOP that was interrupted behind its look at the level lowers it by one, and it is the
 * handler's region that is above the level then, while its own, which is counted, keeps its
 * place on the stack. A START that was interrupted between its look and its store takes the
 * handler's place. To look once more would make each edge longer. So it is found out later, by
 * what the handler's region left in its slot: an open entry that is not on the stack.
 */
#include "core/os/sys.h"
#include "core/region/region.h"
#include "core/region/left.h"

enum {
	LEVELS_MOST = 1024, /* deeper nests are not looked at, as in abandoned.c */
	SLOTS_AN_EXIT = 4096
};

static int is_open(const struct tach__part *part)
{
	return part->ceiling != TACH__CEILING_OPEN;
}

/* On the stack, at the level that it says. */
static int in_place(const struct tach__hot *hot, const struct tach__slot *slot,
		    const struct tach__part *part)
{
	uint32_t ceiling = TACH__LEVEL(part->ceiling);

	return ceiling - 1 < TACH__LEVEL(hot->state) &&
	       tach__stack(hot, ceiling - 1)[1] == slot;
}

static int is_innermost(const struct tach__hot *hot, const struct tach__slot *slot,
			uint32_t level)
{
	while (++level < TACH__LEVEL(hot->state) && tach__stack(hot, level)[1] != slot)
		;
	return level >= TACH__LEVEL(hot->state);
}

/*
 * Whether the entry at that level is counted, or a handler came amid its START. Of a region
 * that is open more than once some marks are not known, and this is not.
 */
static int is_over(const struct tach__thread *record, uint32_t level)
{
	const struct tach__slot *slot = tach__stack(record->hot, level)[1];
	const struct tach__part *part = tach__part(slot, record->count, 0);
	const struct tach__part *inner = tach__part(slot, record->count, 1);

	/* Only the innermost of its region's can be closing. */
	return !is_open(part) && !is_open(inner) &&
	       (!(tach__part_closing(slot, part) || tach__part_closing(slot, inner)) ||
		!is_innermost(record->hot, slot, level));
}

struct overtaken {
	struct tach__slot *slot;
	struct tach__part *part;
	uint32_t ceiling;
};

/* The lowest of those whose level was above that one. */
static int find_above(struct overtaken *to, const struct tach__thread *record, uint32_t level)
{
	struct tach__hot *hot = record->hot;

	to->ceiling = UINT32_MAX;
	for (uint32_t id = TACH__SITE_FIRST; id < record->limit; id++) {
		struct tach__slot *slot = tach__table(hot)[id];

		for (int inner = 0; inner < 2 && slot->id; inner++) {
			struct tach__part *part = tach__part(slot, record->count, inner);
			uint32_t ceiling = TACH__LEVEL(part->ceiling);

			if (!is_open(part) || !tach__part_marked(slot, part) ||
			    ceiling <= level || ceiling >= to->ceiling ||
			    in_place(hot, slot, part))
				continue;
			*to = (struct overtaken){slot, part, ceiling};
		}
	}
	return to->ceiling != UINT32_MAX;
}

/* Regions one level below had another one around them than they say. */
static void flag(const struct tach__thread *record, struct tach__slot *slot)
{
	if (slot != record->outside)
		TACH__ADD(slot->provenance[1], 1); /* TACH_FLAG_INCOMPLETE */
}

/* The entry at `level`, which is over, makes room for the one that was above it. */
static void give_way(struct tach__thread *record, uint32_t level, const struct overtaken *o,
		     uintptr_t sp)
{
	struct tach__hot *hot = record->hot;
	struct tach__slot *over = tach__stack(hot, level)[1];
	uint32_t top = TACH__LEVEL(hot->state), end = o->ceiling - 1;

	end = end < top ? end : top;
	flag(record, over);
	flag(record, tach__stack(hot, level)[0]);
	flag(record, o->slot);
	tach__hand_down(record, over, tach__stack(hot, level)[0]);
	for (uint32_t k = level + 1; k < end; k++) {
		struct tach__slot *slot = tach__stack(hot, k)[1];
		struct tach__part *part = tach__part_at(record, slot, k);

		if (part)
			tach__part_lower(slot, part, 1);
		TACH__SET(tach__stack(hot, k - 1)[1], slot);
	}
	if (tach__part_alive(record, o->slot, o->part, sp)) {
		tach__part_lower(o->slot, o->part, o->ceiling - end);
		TACH__SET(tach__stack(hot, end - 1)[1], o->slot);
		return;
	}
	for (uint32_t k = end; k < top; k++) {
		struct tach__slot *slot = tach__stack(hot, k)[1];
		struct tach__part *part = tach__part_at(record, slot, k);

		if (part)
			tach__part_lower(slot, part, 1);
		TACH__SET(tach__stack(hot, k - 1)[1], slot);
	}
	TACH__SET(hot->state, hot->state - 1);
}

/*
 * Of any thread, the first level of `from` and above whose region is over; TACH__LEVEL_NONE.
 * The words are read as a snapshot does, and none of its regions ended meanwhile.
 */
static uint32_t seen_over(const struct tach__thread *record, uint32_t from)
{
	const struct tach__hot *hot = record->hot;
	uint64_t state = TACH__GET(hot->state), pairs = TACH__GET(hot->pairs[0]);
	uint32_t top = TACH__LEVEL(state), level = from;

	if (top > LEVELS_MOST)
		return TACH__LEVEL_NONE;
	TACH__FENCE(__ATOMIC_ACQUIRE);
	/* The innermost may be amid its START. */
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

	while ((level = seen_over(record, level)) != TACH__LEVEL_NONE) {
		struct tach__slot **stack = tach__stack(record->hot, level++);

		/* Its thread's next START mends that. */
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

/* Whether one may be looked for where none of the stack is over. */
static int begun_apart;

void tach__overtaken_mend(struct tach__thread *record, uintptr_t sp)
{
	uint32_t level = 0;
	struct overtaken o;

	while (level < TACH__LEVEL(record->hot->state)) {
		if (!is_over(record, level) || !find_above(&o, record, level + 1)) {
			level++;
			continue;
		}
		give_way(record, level, &o, sp);
		if (!in_place(record->hot, o.slot, o.part))
			tach__part_give_up(record, o.slot, record->outside, o.part);
	}
	/*
	 * A START took its place. All slots are looked at: of many only at one exit in so many,
	 * so that thousands of first entries stay linear.
	 */
	if (level != 0 || !TACH__GET(begun_apart) ||
	    ++record->unlooked * SLOTS_AN_EXIT < record->limit)
		return;
	record->unlooked = 0;
	while (find_above(&o, record, 0))
		tach__part_give_up(record, o.slot, record->outside, o.part);
}

static __attribute__((noinline)) void
look_closely(struct tach__hot *self, struct tach__slot *slot, struct tach__part *part)
{
	struct tach__held held;

	if (!slot->id || !tach__part_marked(slot, part) || in_place(self, slot, part) ||
	    tach__signals_held != tach__calibrating)
		return;
	tach__hold(&held);
	tach__heal(self->record, TACH__STACK_POINTER);
	if (is_open(part) && !in_place(self, slot, part))
		tach__part_give_up(self->record, slot, self->record->outside, part);
	tach__release(&held);
}

void tach__overtaken_look(const struct tach_site *site)
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
		look_closely(self, slot, part);
}
