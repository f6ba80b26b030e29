/* SPDX-License-Identifier: MIT */
/* Entries without a STOP, and how they are removed from the stack of open regions. */
#include "tests/unit/region/left.h"

static uint64_t *inside(uint32_t id)
{
	return (uint64_t *)tach__children(slot_of(id), COUNT, 1);
}

static uint32_t level_of(void)
{
	return TACH__LEVEL(hot->state);
}

static void abandoned(void)
{
	begin();
	for (uint32_t i = 0; i < 4; i++) {
		start(8 + i, 0, mark_at(i));
		inside(8 + i)[2] = 1u << i;
	}
	tach__abandon(record, 4);
	CHECK(level_of() == 4);
	tach__abandon(record, 2);
	CHECK(hot->state == TACH__STATE(7, 0, 2));
	for (uint32_t i = 0; i < 4; i++)
		CHECK(is_closed(8 + i, 0) == (i >= 2), "%d", (int)i);
	CHECK(inside(8)[2] == 1 && inside(9)[2] == 2 + 4 + 8 && inside(10)[2] == 0);
	CHECK(slot_of(10)->lost == 1 && slot_of(11)->lost == 1 && slot_of(9)->lost == 0);
	CHECK(!*tach__marks(tach__stack(hot, 2)) && *tach__marks(tach__stack(hot, 1)));
}

/* A closing entry is counted; an entry without a part is lost. */
static void abandoned_others(void)
{
	begin();
	start(8, 0, mark_at(0));
	start(9, -1, mark_at(1));
	start(10, 0, mark_at(2));
	part_of(10, 0)->ceiling = TACH__CEILING_OPEN;
	tach__abandon(record, 1);
	CHECK(level_of() == 1 && slot_of(9)->lost == 1 && slot_of(10)->lost == 0);
	CHECK(is_closed(10, 0) && !is_closed(8, 0));
}

/* If regions nest deeper than the stack, only the outermost entry is known. */
static void abandoned_deep(void)
{
	begin();
	for (uint32_t i = 0; i < TACH__LEVELS; i++)
		tach__stack(hot, i)[1] = slot_of(8);
	tach__stack(hot, 0)[0] = record->outside;
	hot->state = TACH__STATE(7, 0, TACH__LEVELS + 3);
	tach__abandon(record, 0);
	CHECK(slot_of(8)->lost + record->outside->lost == TACH__LEVELS, "%d",
	      (int)slot_of(8)->lost);
	CHECK(level_of() == 3);
	begin();
	for (uint32_t i = 0; i < TACH__LEVELS; i++)
		tach__stack(hot, i)[1] = slot_of(8);
	hot->state = TACH__STATE(7, 0, TACH__LEVELS);
	tach__abandon(record, 1);
	CHECK(level_of() == 1);
	tach__abandon(record, 0);
	CHECK(level_of() == 0);
}

static void live_entries_stay(void)
{
	begin();
	for (uint32_t i = 0; i < 3; i++)
		start(8 + i, 0, mark_at(i));
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 3 && mends == 0 && overtaken_mends == 1 && !mended_sure);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(tach__stack(hot, i)[1] == slot_of(8 + i) && slot_of(8 + i)->lost == 0);
		CHECK(mark_at(i)->state == TACH__STATE(7, 0, i));
		CHECK(part_of(8 + i, 0)->ceiling == TACH__STATE(7, 0, i + 1));
	}
	tach__calibrating = 1;
	sp = (uintptr_t)stack + STACK - 8;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 3 && overtaken_mends == 1);
	tach__calibrating = 0;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 0 && mends == 3 && overtaken_mends == 2);
}

static void limits(void)
{
	begin();
	hot->state = TACH__STATE(7, 3, UINT32_MAX);
	tach__remove_dead_entries(record, sp);
	CHECK(hot->state == TACH__STATE(7, 0, 0));
	hot->state = TACH__STATE(7, 0, (uint32_t)INT32_MAX + 1);
	tach__remove_dead_entries(record, sp);
	CHECK(hot->state == TACH__STATE(7, 0, 0) && overtaken_mends == 0);
	hot->state = TACH__STATE(7, 0, INT32_MAX);
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == INT32_MAX && overtaken_mends == 0);
	/* Deeper levels are not checked. */
	begin();
	for (uint32_t i = 0; i < 1025; i++)
		tach__stack(hot, i)[1] = slot_of(8);
	part_of(8, 0)->ceiling = TACH__STATE(7, 0, 2000);
	hot->state = TACH__STATE(7, 0, 1025);
	tach__remove_dead_entries(record, sp);
	CHECK(overtaken_mends == 0 && level_of() == 1025);
	hot->state = TACH__STATE(7, 0, 1024);
	tach__remove_dead_entries(record, sp);
	CHECK(overtaken_mends == 1 && level_of() == 0);
}

/* The second and third of four are removed: the entries above move down. */
static void gone_between(void)
{
	begin();
	for (uint32_t i = 0; i < 4; i++) {
		start(8 + i, 0, mark_at(i));
		inside(8 + i)[1] = 1u << i;
	}
	mark_at(1)->part = mark_at(2)->part = NULL;
	tach__remove_dead_entries(record, sp);
	CHECK(hot->state == TACH__STATE(7, 0, 2) && mends == 2);
	CHECK(mended[0] == slot_of(9) && mended[1] == slot_of(10));
	CHECK(tach__stack(hot, 0)[1] == slot_of(8) && tach__stack(hot, 1)[1] == slot_of(11));
	CHECK(slot_of(8)->lost == 0 && slot_of(9)->lost == 1 && slot_of(10)->lost == 1);
	CHECK(is_closed(9, 0) && is_closed(10, 0));
	CHECK(mark_at(3)->state == TACH__STATE(7, 0, 1));
	CHECK(part_of(11, 0)->ceiling == TACH__STATE(7, 0, 2));
	CHECK(mark_at(0)->state == TACH__STATE(7, 0, 0));
	CHECK(part_of(8, 0)->ceiling == TACH__STATE(7, 0, 1));
	CHECK(inside(8)[1] == 1 + 2 + 4 && inside(9)[1] == 0 && inside(11)[1] == 8);
}

/*
 * A region is open twice, and the outer entry is removed: the inner one becomes the outermost.
 */
static void inner_entry_becomes_the_outermost(void)
{
	begin();
	start(8, 0, mark_at(0));
	start(9, 0, mark_at(1));
	start(8, 1, mark_at(2));
	mark_at(0)->part = NULL;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 2 && slot_of(8)->lost == 1 && mends == 1);
	CHECK(is_closed(8, 1) && part_of(8, 0)->outer == (uintptr_t)mark_at(2));
	CHECK(mark_at(2)->part == part_of(8, 0) && mark_at(2)->state == TACH__STATE(7, 0, 1));
	CHECK(part_of(8, 0)->ceiling == TACH__STATE(7, 0, 2));
	CHECK(tach__stack(hot, 0)[1] == slot_of(9) && tach__stack(hot, 1)[1] == slot_of(8));
	CHECK(part_of(9, 0)->ceiling == TACH__STATE(7, 0, 1));
	/* The inner entry follows the outer one directly. */
	begin();
	start(8, 0, mark_at(0));
	start(8, 1, mark_at(1));
	mark_at(0)->part = NULL;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 1 && is_closed(8, 1) && mark_at(1)->part == part_of(8, 0));
	/* With a third entry between the two, the third becomes the outermost. */
	begin();
	start(8, 0, mark_at(0));
	start(8, -1, mark_at(1));
	start(8, 1, mark_at(2));
	mark_at(0)->part = NULL;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 2 && slot_of(8)->lost == 1);
	CHECK(part_of(8, 0)->outer == (uintptr_t)mark_at(1) &&
	      part_of(8, 1)->outer == (uintptr_t)mark_at(2));
	CHECK(mark_at(1)->part == part_of(8, 0) && mark_at(2)->part == part_of(8, 1));
	CHECK(part_of(8, 0)->ceiling == TACH__STATE(7, 0, 1) &&
	      part_of(8, 1)->ceiling == TACH__STATE(7, 0, 2));
	/* A closing entry was already counted, and stays unchanged. */
	begin();
	start(8, 0, mark_at(0));
	start(8, 1, mark_at(1));
	part_of(8, 1)->ceiling = TACH__CEILING_OPEN;
	mark_at(0)->part = NULL;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 1 && is_closed(8, 0) && slot_of(8)->lost == 1);
	CHECK(part_of(8, 1)->outer == (uintptr_t)mark_at(1));
	CHECK(mark_at(1)->part == part_of(8, 1));
	/* All are gone. */
	begin();
	start(8, 0, mark_at(0));
	start(8, -1, mark_at(1));
	start(8, 1, mark_at(2));
	for (uint32_t i = 0; i < 3; i++)
		mark_at(i)->part = NULL;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 0 && slot_of(8)->lost == 3 && is_closed(8, 0) && is_closed(8, 1));
}

/* An entry without a part is identified by its own mark. */
static void entry_without_a_part_is_checked_by_its_mark(void)
{
	begin();
	start(8, 0, mark_at(0));
	start(8, -1, mark_at(1));
	start(8, 1, mark_at(2));
	mark_at(1)->part = NULL;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 2 && slot_of(8)->lost == 1);
	CHECK(part_of(8, 0)->outer == (uintptr_t)mark_at(0) &&
	      part_of(8, 1)->outer == (uintptr_t)mark_at(2));
	CHECK(mark_at(2)->state == TACH__STATE(7, 0, 1));
	/* The entry's mark is also the mark of a later entry. */
	begin();
	start(8, 0, mark_at(0));
	start(8, -1, mark_at(1));
	start(8, 1, mark_at(1));
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 2 && slot_of(8)->lost == 1);
	CHECK(part_of(8, 1)->outer == (uintptr_t)mark_at(1));
}

/* The entry was counted, but a handler ran before STOP lowered the level: nothing is lost. */
static void counted_entries_are_not_lost(void)
{
	begin();
	start(8, 0, mark_at(0));
	start(9, 0, mark_at(1));
	start(10, 0, mark_at(2));
	tach__part_close(slot_of(9), part_of(9, 0));
	mark_at(1)->end = NULL;
	inside(9)[1] = 5;
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 2 && slot_of(9)->lost == 0 && mended_sure == 1);
	CHECK(slot_of(9)->provenance[1] == 1 && slot_of(8)->provenance[1] == 1 &&
	      slot_of(10)->provenance[1] == 0);
	CHECK(inside(8)[1] == 5 && mark_at(2)->state == TACH__STATE(7, 0, 1));
	/* A handler ran during its START: the mark is complete, the parts are not. */
	begin();
	start(8, -1, mark_at(0));
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 1 && slot_of(8)->provenance[1] == 0 && !mended_sure);
}

static void many_gone(void)
{
	begin();
	for (uint32_t i = 0; i < 20; i++) {
		start(8 + i, 0, mark_at(i));
		if (i)
			mark_at(i)->part = NULL;
	}
	tach__remove_dead_entries(record, sp);
	CHECK(level_of() == 1 && mends == 16 && mended[15] == slot_of(24));
	for (uint32_t i = 1; i < 20; i++)
		CHECK(slot_of(8 + i)->lost == 1 && is_closed(8 + i, 0), "%d", (int)i);
}

int main(void)
{
	CASE(abandoned);
	CASE(abandoned_others);
	CASE(abandoned_deep);
	CASE(live_entries_stay);
	CASE(limits);
	CASE(gone_between);
	CASE(inner_entry_becomes_the_outermost);
	CASE(entry_without_a_part_is_checked_by_its_mark);
	CASE(counted_entries_are_not_lost);
	CASE(many_gone);
	return check_done();
}
