/* SPDX-License-Identifier: MIT */
/*
 * Threads without regions, for opened.c and ended.c: the functions that open and end threads
 * are simulated. Each call appends a letter to a string.
 */
#ifndef TESTS_UNIT_REGION_OPENED_H
#define TESTS_UNIT_REGION_OPENED_H

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/os/stack.h"
#include "core/reader/reader.h"
#include "core/region/region.h"
#include "core/region/left.h"
#include "tests/check.h"

static char done[256];
static int locked, holds;

static void note(int letter)
{
	size_t n = strlen(done);

	if (n < sizeof done - 1)
		done[n] = (char)letter;
}

static int did(const char *what)
{
	int same = strcmp(done, what) == 0;

	if (!same)
		printf("# %s, not %s\n", done, what);
	memset(done, 0, sizeof done);
	return same;
}

static struct tach__thread *to_take; /* the next one */
static struct tach__config the_set, other;
static struct tach__reader counters;

static void sim_lock(struct tach__held *held)
{
	CHECK(held && !locked++);
}

static void sim_unlock(const struct tach__held *held)
{
	CHECK(held && locked-- == 1);
}

static struct tach__thread *sim_take(uint32_t stride)
{
	struct tach__thread *taken = to_take;

	CHECK(!locked && stride == the_set.stride);
	to_take = NULL;
	note('R');
	return taken;
}

static int no_counters;
static int sim_open(struct tach_set *set, struct tach_reader **out, struct tach_error *err)
{
	note('O');
	CHECK(set == the_set.set && *out == NULL);
	if (no_counters) {
		err->code = no_counters;
		return no_counters;
	}
	*out = &counters.hot;
	return 0;
}

static int closed_of;
static void sim_close(struct tach_reader *reader)
{
	note('C');
	closed_of += reader == &counters.hot;
}

static const struct perf_event_mmap_page *learnt;

static struct tach__config *sim_turn_config(struct tach__config *first,
					    const struct tach__turn *turn)
{
	CHECK(locked && turn);
	return turn->config ? turn->config : first;
}

static int plain, keeps, no_slots;
static uint32_t grown;

static int sim_grow(struct tach__thread *of, uint32_t id)
{
	note('G');
	grown = id;
	if (no_slots)
		return TACH_ERR_NOMEM;
	of->limit = (id / TACH__CHUNK_SLOTS + 1) * TACH__CHUNK_SLOTS;
	return 0;
}

static struct tach__worst *worst;
static void sim_worst_open(struct tach__thread *of)
{
	static struct tach__worst **table = &worst;

	note('w');
	of->worst = of->worst_by == 2 ? table : NULL;
}

static struct tach__trace *trace;
static void sim_trace_open(struct tach__thread *of)
{
	note('t');
	of->trace = trace;
}

static void sim_stop_choose(struct tach__hot *hot, int is_plain, uint32_t what)
{
	CHECK(hot == tach__self || hot);
	note('s');
	plain = is_plain;
	keeps = (int)what;
}

static int key_fails, specific_set, keys;
static pthread_key_t next_key = 7;
static const void *specific;

static int sim_key(pthread_key_t *key, void (*end)(void *))
{
	CHECK(end != NULL);
	*key = next_key;
	keys += !key_fails;
	return key_fails;
}

static int sim_key_delete(pthread_key_t key)
{
	CHECK(key == next_key);
	keys--;
	return 0;
}

static int sim_specific(pthread_key_t key, const void *value)
{
	CHECK(key == 7);
	specific = value;
	specific_set++;
	return 0;
}

static int no_stack, changes; /* changes of the generation while a thread is being opened */
static int sim_own_stack(int (*f)(void *), void *arg)
{
	note('S');
	if (no_stack)
		return TACH_ERR_NOMEM;
	if (changes && changes--)
		tach__registry.generation++;
	return f(arg);
}

static int lone_tid, lone_pid;
static uint64_t ticks;

static void sim_turn_leave(struct tach__thread *of, struct tach__turn *next)
{
	note('l');
	CHECK(of->hot->record == of);
	next->before = 9;
}

static int orphaned, rows_cleared;
static void sim_drop(struct tach__config *of)
{
	of->refs--;
}

static struct tach__thread *fresh(void)
{
	static struct tach__thread *of;

	if (!of)
		of = tach__record_take(256);
	memset(of->hot, 0, sizeof *of->hot);
	memset(of->steps, 9, sizeof of->steps);
	of->config = &other;
	of->reader = &counters.hot;
	of->hot->limit = 5;
	of->limit = of->count = of->keeps = of->worst_by = 0;
	of->inexact = of->hot->inexact = 9;
	of->destructions = 0;
	of->turning.due = 0;
	return to_take = of;
}

static int sim_fold(struct tach__thread *of)
{
	CHECK(locked && !of->reader);
	note('F');
	return 1;
}

static void sim_reap(void)
{
	note('D');
}

static void sim_rows_clear(struct tach__rows *rows)
{
	rows_cleared += rows == &the_set.rows ? 1 : 100;
}

#define tach__lock		    sim_lock
#define tach__unlock		    sim_unlock
#define tach__hold(held)	    ((void)(held), holds++)
#define tach__release(held)	    ((void)(held), holds--)
#define tach__turn_config	    sim_turn_config
#define tach__record_take	    sim_take
#define tach_reader_open	    sim_open
#define tach_reader_close	    sim_close
#define tach__clock_learn(page)	    (learnt = (page))
#define syscall(number)		    ((number) == SYS_gettid ? lone_tid : -1)
#define getpid()		    lone_pid
#define tach_clock()		    ticks
#define tach__topdown_steps(t, i)   ((t) == &counters.topdown ? 10 + (i) : 0)
#define tach__worst_open	    sim_worst_open
#define tach__trace_open	    sim_trace_open
#define tach__start_choose(hot)	    note((hot)->limit ? '?' : (hot)->count ? 'c' : '0')
#define tach__split_open(of)	    note((of)->hot->record ? '?' : 'p')
#define tach__stop_choose	    sim_stop_choose
#define tach__turn_choose(of, turn) note((of) && (turn) ? 'n' : '?')
#define tach__slots_grow	    sim_grow
#define tach__overhead_measure(of)  note((of)->hot->record == (of) ? 'M' : '?')
#define tach__split_choose(hot)	    note((hot) == tach__self ? 'h' : '?')
#define tach__turn_begin(of)	    note((of)->hot == tach__self ? 'b' : '?')
#define tach__abandon(of, level)    note((of)->hot->record && (level) == 0 ? 'A' : '?')
#define tach__worst_name(of)	    note((of)->hot->record ? 'N' : '?')
#define tach__trace_close(of)	    note((of)->hot->record ? 'T' : '?')
#define tach__record_fold	    sim_fold
#define tach__records_reclaim()	    (note('r'))
#define pthread_key_create	    sim_key
#define pthread_key_delete	    sim_key_delete
#define pthread_setspecific	    sim_specific
#define tach__threads_reap	    sim_reap
#define tach__on_own_stack	    sim_own_stack
#define tach__turn_leave	    sim_turn_leave
#define tach__readers_orphaned()    (orphaned++)
#define tach__config_drop	    sim_drop
#define tach__rows_clear	    sim_rows_clear
#include "core/region/thread.c"

/* Prepares a thread without data, while sets are on. */
static struct tach__thread *begin(void)
{
	struct tach__registry *r = &tach__registry;

	CHECK(!locked && !holds);
	memset(r, 0, sizeof *r);
	memset(&the_set, 0, sizeof the_set);
	memset(&other, 0, sizeof other);
	memset(&counters, 0, sizeof counters);
	memset(done, 0, sizeof done);
	CDS_INIT_LIST_HEAD(&r->threads);
	r->config = &the_set;
	r->enabled = 1;
	the_set.count = 3;
	the_set.stride = 512;
	the_set.worst_by = 1;
	the_set.sparse = 1;
	counters.hot.way[0].page = (void *)&learnt;
	lone_tid = lone_pid = 44;
	no_counters = no_slots = no_stack = changes = key_fails = 0;
	trace = NULL;
	thread_key_made = 1;
	thread_key = 7;
	specific = NULL;
	specific_set = closed_of = 0;
	learnt = NULL;
	tach__self = &tach__thread_closed;
	return fresh();
}

static inline struct tach__thread *open_one(void)
{
	struct tach__thread *of = begin();

	CHECK(tach__thread_ready(0) == of->hot);
	memset(done, 0, sizeof done);
	return of;
}

#endif
