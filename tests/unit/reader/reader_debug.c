/* SPDX-License-Identifier: MIT */
/*
 * -With -DTACH_DEBUG, the library makes more checks, which are too slow for the fast path, and
 * reports a failed one by TACH_FLAG_LOST.
 */
#define TACH_DEBUG
#include <pthread.h>
#include "tests/unit/reader/fakepage.h"

static struct tach_reader *reader;
static uint32_t flags;
static uint64_t delta[TACH_COUNTERS_MAX];

static void *use_on_another_thread(void *ignored)
{
	struct tach_mark mark;

	(void)ignored;
	tach_reader_begin(reader, &mark);
	flags = tach_reader_end(reader, &mark, delta);
	return NULL;
}

static void other_threads_are_detected(void)
{
	pthread_t thread;

	reader = sim_open(2, 48, 100);
	sim_work_all(10);
	delta[0] = 1;
	CHECK(pthread_create(&thread, NULL, use_on_another_thread, NULL) == 0);
	pthread_join(thread, NULL);
	CHECK(flags == TACH_FLAG_LOST && delta[0] == 0, "flags %#x", flags);
}

static void a_mark_of_another_reader_is_found_out(void)
{
	struct tach_mark mark;

	reader = sim_open(1, 48, 100);
	tach_reader_begin_n(reader, &mark, 1);
	sim_work_all(10);
	CHECK(tach_reader_end_n(reader, &mark, delta, 1) == 0 && delta[0] == 10);
	mark.reader = NULL;
	CHECK(tach_reader_end_n(reader, &mark, delta, 1) == TACH_FLAG_LOST && delta[0] == 0);
}

/* Uses every simulated action, so that the compiler reports no unused function. */
static void reads_are_unchanged(void)
{
	static void (*const acts[])(void) = {sim_reschedule, sim_move,	   sim_move_last,
					     sim_touch,	     sim_overflow, sim_overflow_late};
	struct tach_mark mark;

	for (int i = 0; i < 6; i++) {
		uint64_t before;

		reader = sim_open(2, 48, 100);
		before = sim.event[1].count;
		tach_reader_begin(reader, &mark);
		sim_work_all(1000);
		acts[i]();
		CHECK(!(tach_reader_end(reader, &mark, delta) & ~TACH_FLAG_RESCHEDULED));
		CHECK(delta[1] == sim.event[1].count - before);
	}
}

int main(void)
{
	CASE(other_threads_are_detected);
	CASE(a_mark_of_another_reader_is_found_out);
	CASE(reads_are_unchanged);
	return check_done();
}
