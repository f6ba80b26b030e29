/* SPDX-License-Identifier: MIT */
/* Sets that take turns in a thread: when a turn ends, and which set comes next. */
#include <string.h>
#include "core/region/region.h"
#include "tests/check.h"

static struct tach__hot its_hot, *sim_self = &its_hot;
static struct tach__config ring_of[3];
static struct tach__thread thread, other;
static struct tach_region_mark its_mark;
static int ended[2], cold[2];
static uint64_t chance;

static void sim_cold(struct tach_region_mark *of, int fenced)
{
	CHECK(of == &its_mark);
	cold[fenced]++;
}

static uint64_t sim_random(struct tach__thread *of)
{
	CHECK(of == &thread);
	return chance;
}

static void end_0(struct tach_region_mark *of)
{
	CHECK(of == &its_mark);
	ended[0]++;
}

static void end_1(struct tach_region_mark *of)
{
	CHECK(of == &its_mark);
	ended[1]++;
}

/* The thread changes to another set during an end, or loses its set. */
static void end_elsewhere(struct tach_region_mark *of)
{
	(void)of;
	its_hot.record = &other;
}

static void end_nowhere(struct tach_region_mark *of)
{
	(void)of;
	its_hot.record = NULL;
}

#define tach__self     sim_self
#define tach__end_cold sim_cold
#define tach__random   sim_random
#include "core/region/turns.c"

/* Starts with the first `sets` sets of a ring; 1: there is no other set. */
static void begin(uint32_t sets)
{
	memset(&its_hot, 0, sizeof its_hot);
	memset(&thread, 0, sizeof thread);
	memset(ring_of, 0, sizeof ring_of);
	memset(ended, 0, sizeof ended);
	memset(cold, 0, sizeof cold);
	for (uint32_t i = 0; i < sets && sets > 1; i++)
		ring_of[i].ring = (struct tach__ring){
			.next = &ring_of[(i + 1) % sets], .sets = sets, .length = 5};
	its_hot.end[0] = end_0;
	its_hot.end[1] = end_1;
	its_hot.limit = 77;
	its_hot.record = &thread;
	thread.hot = &its_hot;
	thread.config = ring_of;
	other.turning = (struct tach__turning){.left = 1};
}

static void chosen(void)
{
	struct tach__turn turn = {.before = 3};

	begin(1);
	tach__turn_choose(&thread, &turn);
	CHECK(thread.turning.left == UINT64_MAX && thread.turning.before == 3);
	CHECK(!thread.turning.end[0] && !thread.turning.end[1] && its_hot.end[0] == end_0);
	chance = 12;
	tach__turn_begin(&thread);
	CHECK(thread.turning.left == UINT64_MAX);
	/* A turn has 1 to 9 entries, 5 on average. */
	begin(3);
	tach__turn_choose(&thread, &turn);
	CHECK(thread.turning.left == UINT64_MAX && thread.turning.before == 3);
	CHECK(thread.turning.end[0] == end_0 && thread.turning.end[1] == end_1);
	CHECK(its_hot.end[0] != end_0 && its_hot.end[1] != end_1 &&
	      its_hot.end[0] != its_hot.end[1]);
	for (chance = 0; chance < 20; chance++) {
		tach__turn_begin(&thread);
		CHECK(thread.turning.left == 1 + chance % 9, "%d", (int)thread.turning.left);
	}
}

/*
 * Only outermost entries count; after the last one, the turn stays finished until the change.
 */
static void outermost_entries_end_a_turn(void)
{
	for (int fenced = 0; fenced < 2; fenced++) {
		begin(2);
		tach__turn_choose(&thread, &(struct tach__turn){.before = 0});
		thread.turning.left = 2;
		its_hot.state = 1;
		its_hot.end[fenced](&its_mark);
		CHECK(ended[fenced] == 1 && thread.turning.left == 2);
		its_hot.state = (uint64_t)1 << 44;
		its_hot.end[fenced](&its_mark);
		CHECK(thread.turning.left == 1 && !thread.turning.due && its_hot.limit == 77);
		for (int more = 0; more < 2; more++) {
			its_hot.limit = 77;
			its_hot.end[fenced](&its_mark);
			CHECK(thread.turning.left == 1 && thread.turning.due == 1 &&
			      !its_hot.limit);
		}
		CHECK(ended[fenced] == 4 && !ended[!fenced] && !cold[0] && !cold[1]);
		/* A mark of a child, or of another thread. */
		thread.turning.end[fenced] = NULL;
		its_hot.end[fenced](&its_mark);
		its_hot.record = NULL;
		its_hot.end[fenced](&its_mark);
		CHECK(cold[fenced] == 2 && !cold[!fenced] && ended[fenced] == 4);
	}
}

static void ends_of_another_record(void)
{
	begin(2);
	tach__turn_choose(&thread, &(struct tach__turn){.before = 0});
	thread.turning.left = 1;
	thread.turning.end[0] = end_nowhere;
	its_hot.end[0](&its_mark);
	CHECK(!thread.turning.due && its_hot.limit == 77);
	its_hot.record = &thread;
	thread.turning.end[0] = end_elsewhere;
	its_hot.end[0](&its_mark);
	CHECK(!thread.turning.due && other.turning.due && !its_hot.limit);
}

static void leaving_a_turn_notes_the_next(void)
{
	struct tach__turn next = {.before = 99};

	begin(3);
	thread.config = &ring_of[1];
	ring_of[1].generation = 8;
	thread.turning.before = 4;
	tach__turn_leave(&thread, &next);
	CHECK(!thread.turning.leaving && next.before == 99 && !next.config);
	thread.turning.due = 1;
	tach__turn_leave(&thread, &next);
	CHECK(thread.turning.leaving == 1 && next.config == &ring_of[2] &&
	      next.generation == 8 && next.before == 5);
}

static void next_set(void)
{
	struct tach__turn turn = {.config = &ring_of[2], .generation = 1};

	begin(3);
	ring_of[0].generation = 1;
	CHECK(tach__turn_config(ring_of, &turn) == &ring_of[2] && !ring_of[0].ring.begun);
	/* The turn belongs to an older configuration, or it is the first. */
	turn.generation = 0;
	CHECK(tach__turn_config(ring_of, &turn) == &ring_of[0] && ring_of[0].ring.begun == 1);
	turn = (struct tach__turn){.generation = 1};
	for (uint32_t i = 1; i < 7; i++)
		CHECK(tach__turn_config(ring_of, &turn) == &ring_of[i % 3] &&
		      ring_of[0].ring.begun == i + 1);
	begin(1);
	for (int i = 0; i < 3; i++)
		CHECK(tach__turn_config(ring_of, &turn) == ring_of && !ring_of[0].ring.begun);
}

int main(void)
{
	CASE(chosen);
	CASE(outermost_entries_end_a_turn);
	CASE(ends_of_another_record);
	CASE(leaving_a_turn_notes_the_next);
	CASE(next_set);
	return check_done();
}
