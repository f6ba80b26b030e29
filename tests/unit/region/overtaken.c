/* SPDX-License-Identifier: MIT */
/*
 * Regions that a handler began during START or STOP and left open: how they are found, and
 * where they are counted.
 */
#include "core/region/left.h"
#include "core/region/region.h"
#include "tests/check.h"

static struct tach__row shown[64];
static int no_rows, locked;

static struct tach__row *sim_rows_at(struct tach__rows *rows, uint32_t id)
{
	CHECK(locked && rows);
	return no_rows ? NULL : &shown[id];
}

static int holds_now, heals;
static void sim_heal(struct tach__thread *of, uintptr_t at)
{
	CHECK(of == tach__self->record && at != 0 && holds_now == 1);
	heals++;
	tach__overtaken_mend(of, 0);
}

#define tach__rows_at		sim_rows_at
#define tach__split_row(of, id) ((of)->hot->record == (of) ? (id) + 10 : 0)
#define tach__lock(held)	((void)(held), locked++)
#define tach__unlock(held)	((void)(held), locked--)
#define tach__hold(held)	((void)(held), holds_now++)
#define tach__release(held)	((void)(held), holds_now--)
/* A word that changes between the two reads, because a region ends. */
static uint64_t *ends;
static int fences;
static void sim_fence(int order)
{
	fences += order == __ATOMIC_ACQUIRE;
	if (ends)
		++*ends;
}

#undef TACH__FENCE
#define TACH__FENCE(order) sim_fence(order)
#define LEFT_ALSO	   "core/region/overtaken.c"
#include "tests/unit/region/left.h"

/* A STOP was interrupted: region `over` was counted and still has its place on the stack. */
static void counted(uint32_t over)
{
	for (int inner = 0; inner < 2; inner++)
		tach__part_close(slot_of(over), part_of(over, inner));
}

/* The handler's region is above all open regions, and not on the stack. */
static void begun_above(uint32_t id, uint32_t level)
{
	struct tach_region_mark *mark = mark_at(level);
	struct tach__part *part = part_of(id, 0);

	mark->state = TACH__STATE(7, 0, level);
	mark->end = end_plain;
	mark->part = part;
	part->outer = (uintptr_t)mark;
	part->ceiling = TACH__STATE(7, 0, level + 1);
}

static int is_at(uint32_t id, uint32_t level)
{
	return tach__stack(hot, level)[1] == slot_of(id) &&
	       part_of(id, 0)->ceiling == TACH__STATE(7, 0, level + 1) &&
	       ((struct tach_region_mark *)part_of(id, 0)->outer)->state ==
		       TACH__STATE(7, 0, level);
}

static void place_taken(void)
{
	struct tach_site site = {.id = 64};

	begin();
	begun_apart = 0;
	start(8, 0, mark_at(0));
	begun_above(9, 0);
	begun_above(10, 1);
	*part_of(11, 1) = *part_of(10, 0);
	tach__overtaken_mend(record, 0);
	CHECK(!is_closed(9, 0));
	tach__self = hot;
	tach__overtaken_check(&site);
	CHECK(begun_apart == 1 && heals == 0);
	/* All entries that are not on the stack are closed, in both parts. */
	tach__overtaken_mend(record, 0);
	CHECK(is_closed(9, 0) && is_closed(10, 0) && is_closed(11, 1) && is_at(8, 0));
	CHECK(slot_of(9)->lost == 1 && slot_of(10)->lost == 1 && slot_of(11)->lost == 1);
	/* If there are many slots, they are checked only when such a region must exist. */
	begun_above(9, 3);
	record->limit = 64 * 4096;
	tach__overtaken_mend(record, 0);
	CHECK(!is_closed(9, 0));
	record->limit = 64;
	begun_apart = 0;
	tach__overtaken_mend(record, 1);
	CHECK(is_closed(9, 0));
	begun_apart = 1;
	tach__self = &tach__thread_closed;
}

/* A region begins that may not be ended by its own STOP: only its slot is checked before. */
static void check_reads_only_the_slot(void)
{
	struct tach_site site = {.id = 9};

	begin();
	heals = 0;
	tach__self = hot;
	tach__overtaken_check(&site);
	CHECK(heals == 0);
	start(9, 0, mark_at(0));
	tach__overtaken_check(&site);
	CHECK(heals == 0 && !is_closed(9, 0));
	hot->state--;
	slot_of(9)->id = 0;
	tach__overtaken_check(&site);
	slot_of(9)->id = 9;
	part_of(9, 0)->outer = slot_of(9)->rest;
	tach__overtaken_check(&site);
	part_of(9, 0)->outer = (uintptr_t)mark_at(0);
	tach__signals_held = 1;
	tach__overtaken_check(&site);
	tach__signals_held = 0;
	hot->limit = 9;
	tach__overtaken_check(&site);
	CHECK(heals == 0 && !is_closed(9, 0) && holds_now == 0);
	hot->limit = 10;
	tach__overtaken_check(&site);
	CHECK(heals == 1 && is_closed(9, 0) && slot_of(9)->lost == 1 && holds_now == 0);
	/* If a region is open, not all slots are checked. */
	begin();
	tach__self = hot;
	start(8, 0, mark_at(0));
	begun_above(9, 1);
	tach__overtaken_check(&site);
	CHECK(heals == 2 && is_closed(9, 0) && slot_of(9)->lost == 1 && is_at(8, 0));
	tach__self = &tach__thread_closed;
}

/* ---- a snapshot checks another thread ---- */

static int marks(uint32_t id)
{
	int was = shown[id + 10].flags == (TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE);

	CHECK(was || shown[id + 10].flags == TACH_FLAG_MIXED);
	shown[id + 10].flags = TACH_FLAG_MIXED;
	return was;
}

static void ended_regions_are_flagged(void)
{
	struct tach__rows rows;

	begin();
	for (int i = 0; i < 64; i++)
		shown[i].flags = TACH_FLAG_MIXED;
	for (uint32_t i = 0; i < 5; i++)
		start(20 + i, i & 1, mark_at(i));
	tach__overtaken_flag(&rows, record);
	CHECK(hot->limit == 64 && !marks(20) && !marks(21) && !marks(24));
	/* The innermost region may be inside its START. */
	counted(24);
	tach__overtaken_flag(&rows, record);
	CHECK(hot->limit == 64 && !marks(24) && !marks(23));
	counted(22);
	tach__overtaken_flag(&rows, record);
	CHECK(hot->limit == 0 && marks(22) && marks(21) && !marks(20) && !marks(23) && !locked);
	counted(20);
	counted(23);
	hot->limit = 64;
	no_rows = 1;
	tach__overtaken_flag(&rows, record);
	CHECK(hot->limit == 0 && !marks(20));
	no_rows = 0;
	hot->limit = 64;
	for (int i = 0; i < 2; i++) {
		ends = i ? &hot->state : &hot->pairs[0];
		fences = 0;
		tach__overtaken_flag(&rows, record);
		CHECK(!marks(20) && hot->limit == 64 && fences == 2, "%d", i);
		hot->state -= i ? 2 : 0;
	}
	ends = NULL;
	tach__overtaken_flag(&rows, record);
	CHECK(marks(20) && marks(21) && marks(22) && marks(23) && !marks(24));
	/* During calibration, a thread's stack is not the program's. */
	begin();
	start(TACH__SITE_FIRST - 1, 0, mark_at(0));
	start(TACH__SITE_FIRST - 2, 0, mark_at(1));
	start(TACH__SITE_FIRST - 3, 0, mark_at(2));
	counted(TACH__SITE_FIRST - 1);
	counted(TACH__SITE_FIRST - 2);
	tach__overtaken_flag(&rows, record);
	CHECK(hot->limit == 64 && !marks(TACH__SITE_FIRST - 1) && !marks(0));
	/* The outermost level has no row; an unknown level has none either. */
	begin();
	start(TACH__SITE_FIRST, 0, mark_at(0));
	start(20, 0, mark_at(1));
	start(21, 0, mark_at(2));
	counted(TACH__SITE_FIRST);
	tach__overtaken_flag(&rows, record);
	CHECK(marks(TACH__SITE_FIRST) && !marks(20) && !marks(0) && hot->limit == 0);
	counted(20);
	tach__stack(hot, 0)[1] = NULL;
	tach__overtaken_flag(&rows, record);
	CHECK(marks(20) && !marks(TACH__SITE_FIRST));
	begin();
	for (uint32_t i = 0; i < 1025; i++)
		tach__stack(hot, i)[1] = slot_of(8);
	hot->state = TACH__STATE(7, 0, 1025);
	tach__overtaken_flag(&rows, record);
	CHECK(!marks(8) && hot->limit == 64);
	hot->state = TACH__STATE(7, 0, 1024);
	tach__overtaken_flag(&rows, record);
	CHECK(marks(8) && hot->limit == 0);
}

int main(void)
{
	CASE(place_taken);
	CASE(check_reads_only_the_slot);
	CASE(ended_regions_are_flagged);
	return check_done();
}
