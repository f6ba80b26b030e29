/* SPDX-License-Identifier: MIT */
/* Regions that a handler began amid an edge and left open, by themselves: which those are, and
 * where they go. */
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

static uintptr_t sim_sp(void);
static int holds_now, heals;
static void sim_heal(struct tach__thread *of, uintptr_t at)
{
	CHECK(of == tach__self->record && at == sim_sp() && holds_now == 1);
	heals++;
	tach__heal(of, at);
	tach__overtaken_mend(of, at);
}

#define tach__rows_at		sim_rows_at
#define tach__split_row(of, id) ((of)->hot->record == (of) ? (id) + 10 : 0)
#define tach__lock(held)	((void)(held), locked++)
#define tach__unlock(held)	((void)(held), locked--)
#define tach__hold(held)	((void)(held), holds_now++)
#define tach__release(held)	((void)(held), holds_now--)
/* A region ends between the two looks. */
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

static uint64_t is_flagged(uint32_t id)
{
	return slot_of(id)->provenance[1];
}

/* A STOP was interrupted: region `over` was counted and keeps its place. */
static void counted(uint32_t over)
{
	for (int inner = 0; inner < 2; inner++)
		close_part(slot_of(over), part_of(over, inner));
}

/* The handler's, which is above all that are there, and is not on the stack. */
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

static void gives_way(void)
{
	begin();
	start(8, 0, mark_at(0));
	counted(8);
	begun_above(9, 1);
	((uint64_t *)tach__children(slot_of(8), COUNT, 1))[1] = 5;
	tach__overtaken_mend(record, sp);
	CHECK(is_at(9, 0) && TACH__LEVEL(hot->state) == 1);
	CHECK(is_flagged(8) == 1 && is_flagged(9) == 1 && record->outside->provenance[1] == 0);
	CHECK(slot_of(8)->lost == 0 && slot_of(9)->lost == 0);
	CHECK(((uint64_t *)tach__children(record->outside, COUNT, 1))[1] == 5);
	tach__overtaken_mend(record, sp);
	CHECK(is_at(9, 0) && is_flagged(8) == 1 && is_flagged(9) == 1);
	/* From far above. */
	begin();
	start(8, 0, mark_at(0));
	counted(8);
	begun_above(9, 3);
	tach__overtaken_mend(record, sp);
	CHECK(is_at(9, 0) && TACH__LEVEL(hot->state) == 1);
	/* With one around it, and one between the two. */
	begin();
	start(10, 0, mark_at(0));
	start(8, 0, mark_at(1));
	start(11, 0, mark_at(2));
	start(12, -1, mark_at(4));
	part_of(12, 1)->ceiling = TACH__STATE(7, 0, 9);
	part_of(12, 1)->outer = slot_of(12)->rest;
	counted(8);
	begun_above(9, 4);
	tach__overtaken_mend(record, sp);
	CHECK(TACH__LEVEL(hot->state) == 4 && is_at(10, 0) && is_at(11, 1) && is_at(9, 3));
	CHECK(tach__stack(hot, 2)[1] == slot_of(12));
	CHECK(is_flagged(10) == 1 && is_flagged(8) == 1 && is_flagged(9) == 1);
	CHECK(!is_flagged(11) && !is_flagged(12));
	/* Its place was taken since. */
	begin();
	start(8, 0, mark_at(0));
	start(10, 0, mark_at(2));
	start(11, 0, mark_at(3));
	counted(8);
	begun_above(9, 1);
	tach__overtaken_mend(record, sp);
	CHECK(TACH__LEVEL(hot->state) == 3 && is_at(9, 0) && is_at(10, 1) && is_at(11, 2));
}

static void is_gone_by_then(void)
{
	begin();
	start(8, 0, mark_at(0));
	start(10, 0, mark_at(2));
	start(11, 0, mark_at(3));
	start(12, -1, mark_at(4));
	part_of(12, 0)->ceiling = TACH__STATE(7, 0, 9);
	counted(8);
	begun_above(9, 2);
	mark_at(2)->part = part_of(10, 0);
	tach__overtaken_mend(record, sp);
	CHECK(TACH__LEVEL(hot->state) == 3 && is_closed(9, 0) && slot_of(9)->lost == 1);
	CHECK(tach__stack(hot, 0)[1] == slot_of(10) && is_at(11, 1));
	CHECK(tach__stack(hot, 2)[1] == slot_of(12));
	CHECK(part_of(10, 0)->ceiling == TACH__STATE(7, 0, 1));
}

/* Which is over, and which was above. */
static void none_is(void)
{
	begin();
	start(8, 0, mark_at(0));
	begun_above(9, 1);
	/* One that is open. */
	tach__overtaken_mend(record, sp);
	CHECK(!is_flagged(8) && !is_at(9, 0) && slot_of(9)->lost == 0);
	part_of(8, 1)->ceiling = part_of(8, 0)->ceiling;
	part_of(8, 0)->ceiling = TACH__CEILING_OPEN;
	tach__overtaken_mend(record, sp);
	CHECK(!is_flagged(8));
	/* One that closes; not where another entry of its region is above. */
	for (int inner = 0; inner < 2; inner++) {
		counted(8);
		part_of(8, inner)->outer = (uintptr_t)mark_at(0);
		tach__overtaken_mend(record, sp);
		CHECK(!is_flagged(8), "%d", inner);
	}
	start(10, 0, mark_at(2));
	tach__overtaken_mend(record, sp);
	CHECK(!is_flagged(8) && !is_closed(9, 0));
	counted(10);
	hot->state--;
	/* Nothing above. */
	counted(8);
	part_of(9, 0)->ceiling = TACH__STATE(7, 0, 1);
	tach__overtaken_mend(record, sp);
	CHECK(!is_flagged(8));
	begun_above(9, 1);
	part_of(9, 0)->outer = slot_of(9)->rest;
	tach__overtaken_mend(record, sp);
	CHECK(!is_flagged(8));
	begun_above(9, 1);
	slot_of(9)->id = 0;
	tach__overtaken_mend(record, sp);
	CHECK(!is_flagged(8));
	slot_of(9)->id = 9;
	counted(9);
	begun_above(TACH__SITE_FIRST - 1, 1);
	tach__overtaken_mend(record, sp);
	CHECK(!is_flagged(8));
	begun_above(TACH__SITE_FIRST, 1);
	tach__overtaken_mend(record, sp);
	CHECK(is_flagged(8) && is_at(TACH__SITE_FIRST, 0));
	begin();
	start(8, 0, mark_at(0));
	start(10, 0, mark_at(1));
	start(8, -1, mark_at(2));
	counted(8);
	part_of(8, 1)->outer = (uintptr_t)mark_at(2);
	begun_above(63, 3);
	tach__overtaken_mend(record, sp);
	CHECK(is_at(10, 0) && is_at(63, 2) && is_flagged(63) == 1);
	CHECK(tach__stack(hot, 1)[1] == slot_of(8));
	/* The other entry right above; what lies behind the last one is none. */
	begin();
	start(8, 0, mark_at(0));
	start(8, -1, mark_at(1));
	tach__stack(hot, 2)[1] = slot_of(10);
	counted(8);
	part_of(8, 1)->outer = (uintptr_t)mark_at(1);
	begun_above(63, 2);
	tach__overtaken_mend(record, sp);
	CHECK(is_at(63, 1) && is_flagged(63) == 1 && tach__stack(hot, 0)[1] == slot_of(8));
}

/* Of several the lowest, in either part. */
static void the_lowest(void)
{
	begin();
	start(8, 0, mark_at(0));
	start(10, 0, mark_at(1));
	counted(8);
	begun_above(9, 3);
	begun_above(12, 2);
	begun_above(13, 4);
	/* Of two at one level the first. */
	*part_of(14, 0) = *part_of(12, 0);
	tach__overtaken_mend(record, sp);
	CHECK(is_at(10, 0) && is_at(12, 1) && is_flagged(12) == 1);
	CHECK(!is_flagged(9) && !is_flagged(13) && TACH__LEVEL(hot->state) == 2);
	begin();
	start(8, 0, mark_at(0));
	counted(8);
	begun_above(9, 1);
	*part_of(9, 1) = *part_of(9, 0);
	close_part(slot_of(9), part_of(9, 0));
	mark_at(1)->part = part_of(9, 1);
	tach__overtaken_mend(record, sp);
	CHECK(tach__stack(hot, 0)[1] == slot_of(9) && is_flagged(9) == 1);
	CHECK(part_of(9, 1)->ceiling == TACH__STATE(7, 0, 1));
}

static void place_taken(void)
{
	struct tach_site site = {.id = 64};

	begin();
	begun_apart = 0;
	begun_above(9, 0);
	begun_above(10, 1);
	tach__overtaken_mend(record, sp);
	CHECK(!is_closed(9, 0));
	tach__self = hot;
	tach__overtaken_look(&site);
	CHECK(begun_apart == 1 && heals == 0);
	start(8, 0, mark_at(3));
	tach__overtaken_mend(record, sp);
	CHECK(!is_closed(9, 0) && !is_closed(10, 0));
	hot->state--;
	counted(8);
	tach__overtaken_mend(record, sp);
	CHECK(is_closed(9, 0) && is_closed(10, 0) && slot_of(9)->lost == 1);
	CHECK(slot_of(10)->lost == 1 && TACH__LEVEL(hot->state) == 0);
	tach__self = &tach__thread_closed;
}

/* Before a region is begun apart from its end: its own alone is looked at. */
static void looks(void)
{
	struct tach_site site = {.id = 9};

	begin();
	heals = 0;
	tach__self = hot;
	tach__overtaken_look(&site);
	CHECK(heals == 0);
	start(9, 0, mark_at(0));
	tach__overtaken_look(&site);
	CHECK(heals == 0 && !is_closed(9, 0));
	hot->state--;
	slot_of(9)->id = 0;
	tach__overtaken_look(&site);
	slot_of(9)->id = 9;
	part_of(9, 0)->outer = slot_of(9)->rest;
	tach__overtaken_look(&site);
	part_of(9, 0)->outer = (uintptr_t)mark_at(0);
	tach__signals_held = 1;
	tach__overtaken_look(&site);
	tach__signals_held = 0;
	hot->limit = 9;
	tach__overtaken_look(&site);
	CHECK(heals == 0 && !is_closed(9, 0) && holds_now == 0);
	hot->limit = 10;
	tach__overtaken_look(&site);
	CHECK(heals == 1 && is_closed(9, 0) && slot_of(9)->lost == 1 && holds_now == 0);
	/* Where one is open, not all slots are looked at. */
	begin();
	tach__self = hot;
	start(8, 0, mark_at(0));
	begun_above(9, 1);
	tach__overtaken_look(&site);
	CHECK(heals == 2 && is_closed(9, 0) && slot_of(9)->lost == 1 && is_at(8, 0));
	/* It got the place of one that is over. */
	counted(8);
	begun_above(9, 1);
	tach__overtaken_look(&site);
	CHECK(heals == 3 && is_at(9, 0) && slot_of(9)->lost == 1);
	tach__self = &tach__thread_closed;
}

/* ---- of any thread, by a snapshot ---- */

static int marks(uint32_t id)
{
	int was = shown[id + 10].flags == (TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE);

	CHECK(was || shown[id + 10].flags == TACH_FLAG_MIXED);
	shown[id + 10].flags = TACH_FLAG_MIXED;
	return was;
}

static void seen(void)
{
	struct tach__rows rows;

	begin();
	for (int i = 0; i < 64; i++)
		shown[i].flags = TACH_FLAG_MIXED;
	for (uint32_t i = 0; i < 5; i++)
		start(20 + i, i & 1, mark_at(i));
	tach__overtaken_flag(&rows, record);
	CHECK(hot->limit == 64 && !marks(20) && !marks(21) && !marks(24));
	/* The innermost may be amid its START. */
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
	/* While a thread calibrates its stack is none of the program's. */
	begin();
	start(TACH__SITE_FIRST - 1, 0, mark_at(0));
	start(TACH__SITE_FIRST - 2, 0, mark_at(1));
	start(TACH__SITE_FIRST - 3, 0, mark_at(2));
	counted(TACH__SITE_FIRST - 1);
	counted(TACH__SITE_FIRST - 2);
	tach__overtaken_flag(&rows, record);
	CHECK(hot->limit == 64 && !marks(TACH__SITE_FIRST - 1) && !marks(0));
	/* What is around all has no row, nor has what is not known. */
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
	CASE(gives_way);
	CASE(is_gone_by_then);
	CASE(none_is);
	CASE(the_lowest);
	CASE(place_taken);
	CASE(looks);
	CASE(seen);
	return check_done();
}
