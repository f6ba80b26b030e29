/* SPDX-License-Identifier: MIT */
/*
 * Threads that end, start and change to another set, and snapshots at the same time: every
 * execution that C11 permits of the unmodified core/region/process.c, record.c, thread.c,
 * slots.c and core/snapshot/snapshot.c (interleave.h).
 */
#include "tests/unit/region/interleave.h"

#include <urcu-pointer.h>
#undef rcu_assign_pointer
#undef rcu_dereference
/* liburcu's definitions for machines that need an instruction here. */
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELEASE)
#define rcu_dereference(p)	 __atomic_load_n(&(p), __ATOMIC_CONSUME)
#include "core/os/stack.h"
#include "core/os/sys.h"
#include "core/region/region.h"

#define pthread_mutex_lock(mutex)     il_lock(mutex)
#define pthread_mutex_unlock(mutex)   il_unlock(mutex)
#define pthread_key_create(key, end)  ((void)(end), 1)
#define tach__signals_hold(before)    ((void)(before))
#define tach__signals_release(before) ((void)(before))
#define tach__on_own_stack(run, turn) run(turn)
#include "core/region/process.c"
#include "core/region/record.c"
#include "core/region/slots.c"
#include "core/region/thread.c"

enum { STRIDE = 256, ID = TACH__SITE_FIRST };

/* Returns the slot that a walk finds; it must be complete then. */
static struct tach__slot *walked_slot(const struct tach__thread *record, uint32_t id)
{
	struct tach__slot *slot = tach__slot_at(record, id);
	int there = (uintptr_t)slot >= (size_t)TACH__CHUNK_SLOTS * STRIDE;

	INTERLEAVE_CHECK(there);
	return there ? slot : tach__slot_at(record, ID);
}
#define tach__slot_at walked_slot
#include "core/snapshot/snapshot.c"
#undef tach__slot_at

static struct tach__config config;
static struct tach__thread *first, *second;
static struct tach_snapshot shot;
static struct gathering gathered;

static struct tach__slot *slot_of(struct tach__thread *record)
{
	return tach__slot_at(record, ID);
}

/* Makes the record of a live thread, not yet in the list. */
static struct tach__thread *record_make(void)
{
	struct tach__thread *record = tach__record_take(STRIDE);

	record->config = &config;
	record->hot->count = record->count = 0;
	record->reader = NULL;
	return record;
}

static void entries(struct tach__thread *record, uint64_t n)
{
	struct tach__slot *slot = slot_of(record);

	__atomic_store_n(&slot->id, (uint32_t)ID, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->seq, (uint64_t)2, __ATOMIC_RELAXED);
	TACH__SET(tach__part(slot, 0, 0)->calls, n);
}

static void set_up(void)
{
	struct tach__registry *r = &tach__registry;
	struct tach__held held;

	tach__lock(&held);
	tach__unlock(&held);
	CDS_INIT_LIST_HEAD(&r->threads);
	r->ended = NULL;
	r->folds = 0;
	r->enabled = 0;
	r->generation = 1;
	process()->walks = 0;
	tach__rows_free(&config.rows);
	config = (struct tach__config){.generation = 1, .refs = 9, .stride = STRIDE};
	tach__rows_init(&config.rows, 0);
	r->config = &config;
	first = record_make();
	CHECK(tach__slots_grow(first, ID) == 0);
	record_publish(first);
	entries(first, 1);
	/* Adds 4 entries of a handler, in the overflow. */
	first->overflow_id[0] = first->overflow[0]->id = ID;
	first->overflow[0]->seq = 2;
	tach__part(first->overflow[0], 0, 0)->calls = 4;
	second = NULL;
}

static void tidy(void)
{
	for (int k = 0; k < gathered.n; k++)
		tach__rows_free(&gathered.took[k].rows);
	tach__registry.free = NULL;
	record_unmap(first);
	if (second && second != first)
		record_unmap(second);
	tach__self = &tach__thread_closed;
}

/* ---- one thread ends, and the next gets its record, during a snapshot ---- */

static void ending_set_up(void)
{
	set_up();
	interleave_watch(&process()->walks, sizeof process()->walks, 0);
	interleave_watch(&first->folded, sizeof first->folded, 1);
	interleave_watch(&tach__part(slot_of(first), 0, 0)->calls, sizeof(uint64_t), 1);
	interleave_watch(&tach__registry.threads.next, sizeof(void *), 0);
}

static void ending(void)
{
	thread_retire(first);
	second = record_make();
	if (second != first)
		CHECK(tach__slots_grow(second, ID) == 0);
	record_publish(second);
	entries(second, 10);
}

static void walking(void)
{
	memset(&shot, 0, sizeof shot);
	gathered = (struct gathering){.s = &shot};
	walk(&gathered);
}

static void counted_once(void)
{
	struct tach__row *row = gathered.n ? tach__rows_at(&gathered.took[0].rows, ID) : NULL;

	INTERLEAVE_CHECK(row && (row->calls == 5 || row->calls == 15));
	tidy();
}

static void one(int k)
{
	(void)k;
}

static const struct interleave_spare spare[] = {
	{"process.c", "fence", "for forks: tests/models/fork.pml"},
	{"rculist.h", "store", "the fence in tach__lock does as much"},
	{"record.c", "store", "slots stay as they are until no walk goes on"},
	{"snapshot.c", "load", "slots stay as they are until no walk goes on"},
	{"slots.c", "fence", "found in interleave_slot.c"},
	{NULL, NULL, NULL}};

static void a_thread_is_counted_once_wherever_it_is(void)
{
	static const struct interleaving what = {
		ending_set_up, {ending, walking}, NULL, counted_once, 4};
	interleave_weaken(&what, 1, one, spare);
}

/* ---- a thread enters more regions than a chunk holds, during a snapshot ---- */

static void growing_set_up(void)
{
	set_up();
	INTERLEAVE_CHECK(first->nchunks == 1 && !first->chunk[1]);
	/*
	 * Copying a slot has a fence: without a copied slot before, no other order protects
	 * this read.
	 */
	slot_of(first)->id = 0;
	interleave_watch(&first->limit, sizeof first->limit, 0);
	interleave_watch(&first->chunk[1], sizeof first->chunk[1], 0);
}

static void growing(void)
{
	CHECK(tach__slots_grow(first, TACH__CHUNK_SLOTS) == 0);
}

static void grown(void)
{
	struct tach__row *row = tach__rows_at(&gathered.took[0].rows, ID);

	INTERLEAVE_CHECK(row && row->calls == 4);
	tidy();
}

static void a_walk_goes_to_chunks_that_are_there(void)
{
	static const struct interleaving what = {
		growing_set_up, {growing, walking}, NULL, grown, 4};
	static const struct interleave_spare known[] = {
		{"process.c", "fence", "for forks: tests/models/fork.pml"},
		{"slots.c", "fence", "found in interleave_slot.c"},
		{"slots.c", "load",
		 "a slot's address comes behind its limit, which is acquired"},
		{"slots.c", "store", "the limit's, behind both, does as much"},
		{NULL, NULL, NULL}};

	CHECK(interleave_weaken(&what, 1, one, known) > 1);
}

/* ---- a thread gets ready while another one configures ---- */

static struct tach__hot *ready;

static void following_set_up(void)
{
	set_up();
	interleave_watch(&first->hot->limit, sizeof first->hot->limit, 0);
	interleave_watch(&tach__registry.generation, sizeof tach__registry.generation, 0);
}

static void getting_ready(void)
{
	tach__self = first->hot;
	ready = tach__thread_ready(ID);
}

/* As configure.c does. */
static void configuring(void)
{
	__atomic_store_n(&tach__registry.generation, 2u, __ATOMIC_SEQ_CST);
	tach__threads_interrupt();
}

/* The thread that got ready for the old set takes the slow path at its next START. */
static void followed(void)
{
	INTERLEAVE_CHECK(!ready || first->hot->limit == 0);
	gathered.n = 0;
	tidy();
}

static void a_thread_follows_to_another_set(void)
{
	static const struct interleaving what = {
		following_set_up, {getting_ready, configuring}, NULL, followed, 9};

	interleave_weaken(&what, 1, one, spare);
}

int main(void)
{
	if (interleave_cannot())
		return interleave_cannot();
	CASE(a_thread_is_counted_once_wherever_it_is);
	CASE(a_walk_goes_to_chunks_that_are_there);
	CASE(a_thread_follows_to_another_set);
	return check_done();
}
