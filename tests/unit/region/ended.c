/* SPDX-License-Identifier: MIT */
/*
 * Threads without regions: the steps when a thread ends, changes to another set, or continues
 * in a child.
 */
#include "tests/unit/region/opened.h"

static int is_retired(const struct tach__thread *of)
{
	return tach__registry.ended == of && of->hot->record == NULL && !of->hot->limit &&
	       !of->reader && closed_of == 1;
}

static void thread_ends_in_the_third_round(void)
{
	struct tach__thread *of = open_one(), before;

	tach__registry.ended = &before;
	specific_set = 0;
	/* The C library calls the destructor at most four times. */
	for (int i = 1; i < 3; i++) {
		specific = NULL;
		thread_end(of);
		CHECK(did("") && specific == of && specific_set == i && tach__self == of->hot);
	}
	thread_end(of);
	CHECK(did("ANTCFr") && specific_set == 2 && is_retired(of) && of->next == &before);
	CHECK(tach__self == &thread_ended && holds == 0);
	fresh();
	CHECK(!tach__thread_ready(0) && did("") && !tach__thread_is_outdated());
	thread_end(of);
	CHECK(did("") && specific_set == 2);
}

static void close_outside_regions_retires_the_record(void)
{
	struct tach__thread *of;

	begin();
	tach__thread_close();
	CHECK(did("") && holds == 0);
	of = open_one();
	of->hot->state++;
	tach__thread_close();
	CHECK(did("") && tach__self == of->hot && holds == 0);
	of->hot->state--;
	tach__thread_close();
	CHECK(did("ANTCFr") && is_retired(of) && tach__self == &tach__thread_closed);
	CHECK(!holds);
}

/* ---- another set ---- */

static void outdated_threads_are_detected(void)
{
	struct tach__thread *of = open_one();
	struct tach__registry *r = &tach__registry;

	CHECK(!tach__thread_is_outdated());
	of->turning.due = 1;
	CHECK(tach__thread_is_outdated() == 1);
	of->turning.due = 0;
	r->generation = 1;
	CHECK(tach__thread_is_outdated() == 1);
	/* Not inside a region. */
	of->hot->state++;
	CHECK(tach__thread_ready(0) == of->hot && did(""));
	of->hot->state--;
	the_set.generation = 1;
	CHECK(!tach__thread_is_outdated() && tach__thread_ready(0) == of->hot && did(""));
	r->generation = 2;
	the_set.generation = 2;
	of->turning.due = 1;
	/* A reused record is like a new one. */
	to_take = of;
	the_set.stride = 512;
	no_stack = 1;
	CHECK(!tach__thread_ready(0) && did("lANTCFrS") && is_retired(of));
	no_stack = 0;
	fresh();
	CDS_INIT_LIST_HEAD(&r->threads);
	CHECK(tach__thread_ready(0) == of->hot && did("SDROwtcpsnGMhb"));
	/* The set changes again while the thread is opened. */
	tach__self = &tach__thread_closed;
	fresh();
	CDS_INIT_LIST_HEAD(&r->threads);
	changes = 1;
	CHECK(!tach__thread_ready(0) && did("SDROwtcpsnGMhblANTCFrSDR"));
	CHECK(r->ended == of);
}

static void interrupted(void)
{
	struct tach__hot hot[3];
	struct tach__thread of[3];

	begin();
	for (int i = 0; i < 3; i++) {
		hot[i].limit = 7;
		of[i].hot = &hot[i];
		if (i < 2)
			cds_list_add_rcu(&of[i].node, &tach__registry.threads);
	}
	tach__threads_interrupt();
	CHECK(!hot[0].limit && !hot[1].limit && hot[2].limit == 7);
}

/* ---- a child's ---- */

static void emptied(int recycle)
{
	static struct tach__config ring;
	struct tach__registry *r = &tach__registry;
	struct tach__thread of[3], spare;

	begin();
	memset(of, 0, sizeof of);
	for (int i = 0; i < 3; i++) {
		of[i].reader = i == 1 ? &counters.hot : NULL;
		of[i].config = i == 2 ? NULL : &the_set;
		cds_list_add_tail_rcu(&of[i].node, &r->threads);
	}
	the_set.refs = 9;
	ring.ended = the_set.ended = other.ended = 5;
	r->free = &spare;
	r->ended = &of[2];
	r->refused = r->lost = r->unopened = r->numbered = 6;
	r->openings = 12;
	orphaned = rows_cleared = 0;
	tach__threads_reset(recycle);
	CHECK(orphaned == !recycle && the_set.refs == 7 && rows_cleared == 1);
	CHECK(r->threads.next == &r->threads && !r->ended);
	CHECK(closed_of == (recycle ? 1 : 0) && did(recycle ? "C" : ""));
	for (int i = 0; i < 3; i++)
		CHECK(!of[i].reader && !of[i].config, "%d", i);
	if (recycle)
		CHECK(r->free == &of[2] && of[2].next == &of[1] && of[1].next == &of[0] &&
		      of[0].next == &spare);
	else
		CHECK(!r->free && !of[2].next);
	CHECK(!r->refused && !r->lost && !r->unopened && !r->numbered && r->inherited == 12);
	CHECK(the_set.ended == 0 && ring.ended == 5);
	/* All sets of a ring are opened, each once. */
	the_set.ring.next = &ring;
	ring.ring.next = &the_set;
	the_set.ended = 3;
	rows_cleared = 0;
	tach__threads_reset(recycle);
	CHECK(rows_cleared == 101 && !the_set.ended && !ring.ended);
	r->config = NULL;
	tach__threads_reset(recycle);
	CHECK(rows_cleared == 101);
}

static void child_of_fork(void)
{
	emptied(1);
}

static void child_of_clone(void)
{
	emptied(0);
}

int main(void)
{
	CASE(thread_ends_in_the_third_round);
	CASE(close_outside_regions_retires_the_record);
	CASE(outdated_threads_are_detected);
	CASE(interrupted);
	CASE(child_of_fork);
	CASE(child_of_clone);
	return check_done();
}
