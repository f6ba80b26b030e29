/* SPDX-License-Identifier: MIT */
/* Threads: opening, ending, and switching to another set. */
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/stack.h"
#include "core/reader/reader.h"
#include "core/region/left.h"
#include "core/region/region.h"

struct tach__hot tach__thread_closed; /* never opened: limit 0 */
static struct tach__hot thread_ended; /* used after the thread's destructor has run */

__thread struct tach__hot *tach__self = &tach__thread_closed;

static pthread_key_t thread_key;
static int thread_key_made;

TACH__ANY_ALIGNMENT static void thread_end(void *unused);

/*
 * For keys from this number on, pthread_setspecific calls calloc (PTHREAD_KEY_2NDLEVEL_SIZE of
 * glibc's nptl). A handler that interrupted calloc may run the first START of its thread, so
 * such a key is not used. Without a key, dead.c finds the threads that ended.
 */
enum { KEYS_WITHOUT_CALLOC = 32 };

__attribute__((constructor(101))) static void key_make(void)
{
	if (pthread_key_create(&thread_key, thread_end) != 0)
		return;
	thread_key_made = thread_key < KEYS_WITHOUT_CALLOC;
	if (!thread_key_made)
		pthread_key_delete(thread_key);
}

/* Deletes the key when the process ends, and when a plugin is unloaded. */
__attribute__((destructor)) static void key_delete(void)
{
	if (__atomic_exchange_n(&thread_key_made, 0, __ATOMIC_RELAXED))
		pthread_key_delete(thread_key);
}

struct tach__thread *tach__thread_record(void)
{
	return tach__self->record;
}

/* ---- opening ---- */

static void open_failed(const struct tach_error *err)
{
	struct tach__held held;

	tach__lock(&held);
	if (tach__registry.unopened++ == 0)
		tach__registry.open_error = *err;
	tach__unlock(&held);
}

static uint64_t make_seed(const void *address)
{
	uint64_t x = (uint64_t)tach_clock() ^ (uint64_t)(uintptr_t)address;

	/* The finaliser of splitmix64: similar seeds give unrelated sequences. In practice they
	 * never contain zero. */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (x ^ x >> 31) | 1;
}

/* Returns a number that no thread has, and not 0. Call it with the lock held. */
static uint32_t find_free_number(void)
{
	struct tach__registry *r = &tach__registry;
	struct tach__thread *record;
	uint32_t number;

again:
	number = (uint32_t)(++r->openings % TACH__OPENINGS);
	if (number == 0)
		goto again;
	if (r->openings >= TACH__OPENINGS)
		cds_list_for_each_entry(
			record, &r->threads,
			node) if (TACH__OPENING(TACH__GET(record->hot->state)) ==
				  number) goto again;
	return number;
}

/* Adds the record to the list and sets this thread's pointer. */
static void record_publish(struct tach__thread *record)
{
	struct tach__registry *r = &tach__registry;
	struct tach__hot *hot = record->hot;
	struct tach__held held;

	tach__lock(&held);
	TACH__SET(hot->state, TACH__STATE(find_free_number(), 0, 0));
	TACH__RELEASED(record);
	cds_list_add_rcu(&record->node, &r->threads);
	tach__unlock(&held);
	TACH__SET(hot->record, record);
	tach__self = hot;
	if (TACH__GET(thread_key_made))
		pthread_setspecific(thread_key, record);
}

/* Finds the sums of top-down metrics, and the sum of their slots. */
static void find_inexact(struct tach__thread *record)
{
	const struct tach__reader *r = record->count ? tach__reader(record->reader) : NULL;
	const struct tach__topdown *t = r ? &r->topdown : NULL;

	memset(record->steps, 0, sizeof record->steps);
	record->hot->inexact = record->inexact = 0;
	if (!t || !t->on)
		return;
	record->hot->inexact = record->inexact = 1u + t->group->member[0];
	for (uint32_t i = 0; i < record->count; i++)
		if (t->members >> i & 1)
			record->steps[i] = (uint8_t)tach__topdown_steps(t, (int)i);
}

/* Runs on a stack of its own, because the program's stack may be almost full. */
static int thread_open(void *turn)
{
	struct tach__registry *r = &tach__registry;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__thread *record;
	struct tach__config *config;
	struct tach__held held;
	struct tach__hot *hot;

	tach__threads_reap();
	tach__busy_begin();
	tach__lock(&held);
	config = r->enabled ? tach__turn_config(r->config, turn) : NULL;
	if (config)
		config->refs++;
	tach__unlock(&held);
	if (!config)
		return TACH_ERR_STATE;
	record = tach__record_take(config->stride);
	if (!record)
		return TACH_ERR_NOMEM; /* the reference stays: the set is never freed */
	record->config = config;
	record->reader = NULL;
	record->cpu = 0;
	if (tach_reader_open(config->set, &record->reader, &err) != 0)
		open_failed(&err);
	record->count = record->reader ? config->count : 0;
	if (record->count)
		tach__clock_learn(record->reader->way[0].page);
	record->tid = (pid_t)syscall(SYS_gettid);
	record->is_first = record->tid == getpid();
	record->random = make_seed(record);
	hot = record->hot;
	TACH__SET(hot->limit, (uint64_t)0);
	hot->reader = record->reader; /* if NULL, count is 0, and no counter is read */
	hot->count = record->count;
	find_inexact(record);
	record->worst_by = record->count ? config->worst_by : 0;
	tach__worst_open(record);
	tach__trace_open(record);
	record->keeps = (record->worst ? TACH__KEEPS_WORST : 0u) |
			(record->trace ? TACH__KEEPS_EACH : 0u);
	tach__start_choose(hot);
	tach__split_open(record);
	tach__stop_choose(hot, !config->histograms && config->sparse <= 1 && !config->warmup,
			  record->keeps);
	tach__turn_choose(record, turn);
	record_publish(record);
	if (tach__slots_grow(record, TACH__SITE_FIRST - 1) == 0)
		tach__overhead_measure(record);
	tach__split_choose(hot);
	tach__turn_begin(record);
	return 0;
}

/* ---- ending ---- */

void tach__thread_retire(struct tach__thread *record)
{
	struct tach__registry *r = &tach__registry;
	struct tach_reader *reader = record->reader;
	struct tach__held held;

	TACH__SET(record->hot->record, NULL);
	__atomic_store_n(&record->hot->limit, (uint64_t)0, __ATOMIC_RELAXED);
	/*
	 * The pointer is cleared before the reader is closed, because a child that is forked at
	 * this moment must not close it again. The lock is held, because a report reads the
	 * pointer with the lock held (whole.c).
	 */
	tach__lock(&held);
	__atomic_store_n(&record->reader, NULL, __ATOMIC_RELEASE);
	tach__unlock(&held);
	tach_reader_close(reader);
	tach__lock(&held);
	tach__record_fold(record);
	tach__busy_fold(record);
	record->next = r->ended;
	r->ended = record;
	tach__records_reclaim();
	tach__unlock(&held);
}

/* Retires the calling thread's record. */
static void thread_retire(struct tach__thread *record)
{
	tach__abandon(record, 0);
	tach__worst_name(record);
	tach__trace_close(record);
	tach__self = &tach__thread_closed;
	tach__thread_retire(record);
}

/*
 * Retires the thread's record. The C library calls destructors in up to
 * PTHREAD_DESTRUCTOR_ITERATIONS rounds. This one waits for the round before the last, because
 * destructors of other keys may use regions until then. ThreadSanitizer's runtime ends in the
 * last round, so it still exists. Later entries are counted as lost.
 */
TACH__ANY_ALIGNMENT static void thread_end(void *unused)
{
	struct tach__thread *record = tach__self->record;
	struct tach__held held;

	(void)unused;
	if (!record)
		return;
	if (++record->destructions < PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
		pthread_setspecific(thread_key, record);
		return;
	}
	tach__hold(&held);
	tach__whole_end();
	tach__busy_end(record);
	thread_retire(record);
	tach__self = &thread_ended;
	tach__release(&held);
}

void tach__thread_close(void)
{
	struct tach__held held;

	tach__hold(&held);
	if (tach__self->record && TACH__LEVEL(tach__self->state) == 0)
		thread_retire(tach__self->record);
	tach__release(&held);
}

/* ---- preparing the calling thread ---- */

static int is_outdated(const struct tach__thread *record)
{
	return record->turning.due ||
	       record->config->generation !=
		       __atomic_load_n(&tach__registry.generation, __ATOMIC_SEQ_CST);
}

int tach__thread_is_outdated(void)
{
	struct tach__thread *record = tach__self->record;

	return record && is_outdated(record);
}

struct tach__hot *tach__thread_ready(uint32_t id)
{
	struct tach__thread *record = tach__self->record;
	struct tach__turn turn = {.config = NULL};

	if (tach__self == &thread_ended)
		return NULL;
	do {
		if (record && is_outdated(record)) {
			if (TACH__LEVEL(record->hot->state) == 0) {
				tach__turn_leave(record, &turn);
				thread_retire(record);
				record = NULL;
			}
		}
		if (!record && tach__on_own_stack(thread_open, &turn) != 0)
			return NULL;
		record = tach__self->record;
		if (id >= record->limit && tach__slots_grow(record, id) != 0)
			return NULL;
		/* Pairs with tach__threads_interrupt: either that function clears this limit,
		 * or this thread finds the new generation. */
		__atomic_store_n(&record->hot->limit, (uint64_t)record->limit,
				 __ATOMIC_SEQ_CST);
	} while (TACH__LEVEL(record->hot->state) == 0 && is_outdated(record));
	return record->hot;
}

void tach__threads_interrupt(void)
{
	struct tach__thread *record;

	cds_list_for_each_entry(record, &tach__registry.threads, node)
		__atomic_store_n(&record->hot->limit, (uint64_t)0, __ATOMIC_SEQ_CST);
}

/*
 * Call it in a child of a fork, where only the calling thread exists. If `recycle`, the child
 * comes from fork(): no thread points to the old records, so they are reused. After _Fork or
 * clone, the child's first thread may point to a record, and another thread may have held the
 * lock. So the old memory stays unchanged.
 */
void tach__threads_reset(int recycle)
{
	struct tach__registry *r = &tach__registry;
	struct tach__thread *record;
	struct tach__config *config;

	if (!recycle) {
		tach__readers_orphaned();
		r->free = NULL;
	}
	cds_list_for_each_entry(record, &r->threads, node)
	{
		if (recycle && record->reader)
			tach_reader_close(record->reader);
		record->reader = NULL;
		if (record->config)
			tach__config_drop(record->config);
		record->config = NULL;
		if (recycle) {
			record->next = r->free;
			r->free = record;
		}
	}
	CDS_INIT_LIST_HEAD(&r->threads);
	r->ended = NULL;
	tach__busy_forget();
	r->refused = r->lost = 0;
	r->unopened = 0;
	r->numbered = 0;
	r->inherited = r->openings;
	config = r->config;
	do {
		if (!config)
			break;
		tach__rows_clear(&config->rows);
		config->ended = 0;
		config = config->ring.next;
	} while (config != r->config);
}
