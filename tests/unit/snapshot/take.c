/* SPDX-License-Identifier: MIT */
/*
 * Taking a snapshot; core/snapshot/snapshot.c is compiled here: its threads and sets, its
 * notes, and no leak if it fails.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include "core/os/memory.h"
#include "core/os/buffer.h"
#include "core/snapshot/snapshot.h"

/* taken: pages not yet freed; room: number of allocations that still succeed */
static int taken, room = -1;

static void *some_pages(size_t size);
static void free_pages(void *pages, size_t size);
static int buffers, locks, holds, names_over, rows_held, orders;

static int some_lock(pthread_mutex_t *mutex);
static void look_amid(void);

#define pthread_mutex_lock(mutex) some_lock(mutex)
static int overtaken; /* threads whose overtaken entries were flagged */
#define tach__pages(size)	      some_pages(size)
#define tach__pages_free(pages, size) free_pages(pages, size)
#define tach__buffer_free(text)	      (buffers++, tach__buffer_free(text))
#define tach__names_are_full()	      names_over
#define tach__lock(held)	      (locks++, tach__lock(held))
#define tach__unlock(held)	      (locks--, tach__unlock(held))
#define tach__hold(held)	      (__atomic_fetch_add(&holds, 1, __ATOMIC_RELAXED), tach__hold(held))
#define tach__release(held)                                                                    \
	(__atomic_fetch_sub(&holds, 1, __ATOMIC_RELAXED), tach__release(held))
#define tach__rows_init(rows, count)	   (rows_held++, tach__rows_init(rows, count))
#define tach__rows_free(rows)		   (rows_held--, tach__rows_free(rows))
#define tach__overtaken_flag(rows, record) (overtaken++, tach__overtaken_flag(rows, record))
#define tach__order_free(order)		   (orders++, tach__order_free(order))
#define tach__order_make(order, rows)	   (look_amid(), tach__order_make(order, rows))
#define ORDERED_LOADS
#include "tests/ordered.h"
#include "core/snapshot/notes.c"
#include "core/snapshot/snapshot.c"
#include "core/snapshot/free.c"
#undef __atomic_load_n
#undef __atomic_store_n
#undef pthread_mutex_lock
#undef tach__pages
#undef tach__pages_free
#undef tach__buffer_free
#undef tach__lock
#undef tach__order_make
#undef tach__order_free
#undef tach__rows_init
#undef tach__rows_free
#undef tach__unlock
#undef tach__hold
#undef tach__release
#include "tests/unit/region/regions.h"

/* Data that the thread publishes are read after its id. */
static void ordered_load(const void *at, int order)
{
	const struct tach__thread *record = tach__self->record;

	for (uint32_t id = TACH__SITE_FIRST; record && id < record->limit; id++)
		CHECK(at != &tach__slot_at(record, id)->id || order == __ATOMIC_ACQUIRE);
}

static void ordered(const void *at, int order)
{
	(void)at, (void)order;
}

static void *some_pages(size_t size)
{
	void *pages = room == 0 ? NULL : tach__pages(size);

	room -= room > 0;
	taken += pages != NULL;
	return pages;
}

static void free_pages(void *pages, size_t size)
{
	taken -= pages != NULL;
	tach__pages_free(pages, size);
}

/* A thread that waits for the lock lets the thread with the lock continue. */
static sem_t is_held, goes_on;
static int waits;

static int some_lock(pthread_mutex_t *mutex)
{
	waits++;
	sem_post(&goes_on);
	return pthread_mutex_lock(mutex);
}

/* number of calls during a snapshot; whether the thread could be cancelled in them */
static int looked, cancelled;

static void look_amid(void)
{
	int was;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	cancelled += was != PTHREAD_CANCEL_DISABLE;
	pthread_setcancelstate(was, &was);
	looked++;
}

static struct tach_error err = TACH_ERROR_INIT;

static void configure(const char *events, const char *only, uint32_t turns)
{
	struct tach_regions_options opt = {.size = sizeof opt, .turns = turns};

	opt.events = events;
	opt.only = only;
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
}

static void first(void)
{
	TACH_START(first);
	fake_count += 1000;
	TACH_STOP(first);
}

static void second(void)
{
	TACH_START(second);
	fake_count += 10;
	TACH_STOP(second);
}

static void *in_thread(void *unused)
{
	second();
	return unused;
}

static void in_another_thread(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
	pthread_join(thread, NULL);
}

static struct tach_counts counts_now(void)
{
	struct tach_counts c = {.size = sizeof c};

	tach_snapshot_free(shot);
	shot = NULL;
	CHECK(tach_snapshot_take(&shot, &err) == 0, "%s", err.text);
	CHECK(shot && tach_snapshot_counts(shot, &c) == 0);
	CHECK(locks == 0 && holds == 0, "%d, %d", locks, holds);
	CHECK(looked && !cancelled, "%d, %d", looked, cancelled);
	return c;
}

/* ---- refused ---- */

static int state(void)
{
	int code, was;

	shot = (struct tach_snapshot *)&err;
	err.line = err.column = 7;
	code = tach_snapshot_take(&shot, &err);
	CHECK(locks == 0 && holds == 0, "%d, %d", locks, holds);
	CHECK(!shot && err.line == 0 && err.column == 0 && err.code == code && taken == 0,
	      "%d:%d, %d pages", err.line, err.column, taken);
	CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &was) == 0 &&
	      was == PTHREAD_CANCEL_ENABLE);
	CHECK(taker == 0 && pthread_mutex_trylock(tach__snapshots_lock()) == 0 &&
	      pthread_mutex_unlock(tach__snapshots_lock()) == 0);
	return code;
}

static void before_regions_were_switched_on(void)
{
	CHECK(state() == TACH_ERR_STATE && strstr(err.text, "never switched on"), "%s",
	      err.text);
	err.line = err.column = 7;
	CHECK(tach_snapshot_take(NULL, &err) == TACH_ERR_INVAL && err.line == 0 &&
	      err.column == 0 && strstr(err.text, "nowhere"));
}

static void handlers_in_library_code_are_refused(void)
{
	configure("", NULL, 0);
	first();
	tach__signals_held = 1;
	CHECK(state() == TACH_ERR_STATE && strstr(err.text, "interrupted the library"), "%s",
	      err.text);
	tach__signals_held = 0;
	/* A handler runs during a snapshot by its own thread. */
	taker = (pid_t)gettid();
	pthread_mutex_lock(tach__snapshots_lock());
	shot = NULL;
	err.line = err.column = 7;
	CHECK(tach_snapshot_take(&shot, &err) == TACH_ERR_STATE && !shot && taken == 0);
	CHECK(strstr(err.text, "this thread is taking") && err.line == 0 && err.column == 0,
	      "%s", err.text);
	CHECK(taker == gettid(), "%d", (int)taker);
	pthread_mutex_unlock(tach__snapshots_lock());
	taker = 0;
	CHECK(enter() == 0 && taker == gettid() && enter() == TACH_ERR_STATE);
	release_turn();
	CHECK(taker == 0 && pthread_mutex_trylock(tach__snapshots_lock()) == 0);
	pthread_mutex_unlock(tach__snapshots_lock());
}

static void *holds_the_lock(void *unused)
{
	CHECK(enter() == 0);
	sem_post(&is_held);
	sem_wait(&goes_on);
	release_turn();
	return unused;
}

/* A thread waits for the snapshot of another thread. */
static void snapshots_wait_for_each_other(void)
{
	pthread_t thread;

	sem_init(&is_held, 0, 0);
	sem_init(&goes_on, 0, 0);
	waits = 0;
	CHECK(pthread_create(&thread, NULL, holds_the_lock, NULL) == 0);
	sem_wait(&is_held);
	CHECK(enter() == 0 && waits == 1 && taker == gettid(), "%d", waits);
	if (!waits)
		sem_post(&goes_on);
	release_turn();
	pthread_join(thread, NULL);
	CHECK(taker == 0);
}

static void without_memory(void)
{
	room = 0;
	CHECK(state() == TACH_ERR_NOMEM && strstr(err.text, "out of memory"));
	room = -1;
	counts_now();
	CHECK(taken == 1, "%d", taken);
	tach_snapshot_free(shot);
	CHECK(taken == 0, "%d", taken);
	tach_snapshot_free(NULL);
	shot = NULL;
}

/* ---- content ---- */

static void threads_and_what_they_entered(void)
{
	struct tach_counts c;

	configure("", NULL, 0);
	first();
	overtaken = 0;
	c = counts_now();
	CHECK(overtaken == 1, "%d", overtaken);
	CHECK(c.threads == 1 && c.reports == 1 && c.stale == 0 && c.refused == 0 &&
	      c.lost == 0 && c.unopened == 0 && c.clock_hz > 0);
	CHECK(tach_snapshot_nregions(shot) == 1 && regions_find("first", 0) &&
	      info.calls == 1 && shot->rank == 4);
	in_another_thread();
	in_another_thread();
	c = counts_now();
	CHECK(c.threads == 3, "%d", (int)c.threads);
	CHECK(tach_snapshot_nregions(shot) == 2 && regions_find("second", 0) &&
		      info.calls == 2 && info.threads == 2,
	      "%d", (int)info.threads);
	second();
	c = counts_now();
	CHECK(c.threads == 3 && regions_find("second", 0) && info.calls == 3 &&
	      info.threads == 3);
	CHECK(strcmp(tach_snapshot_missing(shot), shot->config->note) == 0, "%s",
	      tach_snapshot_missing(shot));
	tach__registry.lost = 5;
	tach__registry.refused = 6;
	c = counts_now();
	CHECK(c.lost == 5 && c.refused == 6);
	tach__registry.lost = tach__registry.refused = 0;
}

/*
 * A thread that ended is counted once: in the totals of its set, or in the list while it is
 * still there.
 */
static void threads_that_end_meanwhile(void)
{
	struct tach_snapshot *s = calloc(1, sizeof *s);
	struct gathering g = {.s = s};
	struct tach__held held;
	uint64_t folds = 0;

	configure("", NULL, 0);
	first();
	tach__lock(&held);
	tach__walk_begin(); /* ended threads stay in the list */
	tach__unlock(&held);
	in_another_thread();
	CHECK(counts_now().threads == 2 && regions_find("second", 0) && info.calls == 1, "%d",
	      (int)info.calls);
	tach__walk_end();
	tach__lock(&held);
	CHECK(take_totals(&g, &folds) == 0);
	tach__walk_begin();
	tach__unlock(&held);
	in_another_thread();
	CHECK(s->threads == 1, "%d", (int)s->threads);
	add_threads(&g, folds);
	tach__walk_end();
	CHECK(s->threads == 3, "%d", (int)s->threads);
	let_go(&g);
	tach__lock(&held);
	tach__config_drop(s->config);
	tach__unlock(&held);
	free(s);
}

/*
 * A slot is being written: the snapshot uses the last consistent copy, and the slot's thread
 * must check itself.
 */
static void slots_under_write_are_consistent(void)
{
	struct tach__slot *slot = NULL;
	uint64_t limit;
	struct tach_counts c;

	configure("", NULL, 0);
	first();
	first();
	counts_now();
	for (uint32_t id = TACH__SITE_FIRST; id < tach__self->limit; id++)
		if (tach__part(tach__table(tach__self)[id], tach__self->count, 0)->calls == 2)
			slot = tach__table(tach__self)[id];
	CHECK(slot != NULL);
	if (!slot)
		return;
	limit = tach__self->limit;
	for (int stuck = 1; stuck >= 0; stuck--) {
		slot->seq++;
		c = counts_now();
		CHECK(c.stale == (uint64_t)stuck && tach__self->limit == (stuck ? 0 : limit),
		      "%d", (int)c.stale);
		CHECK(regions_find("first", 0) && !(value.flags & TACH_FLAG_STALE) == !stuck);
		tach__self->limit = limit;
	}
}

/* Entries of handlers during a write have their own slots. */
static void slots_of_handlers(void)
{
	struct tach__thread *record;
	uint32_t id = 0;

	configure("", NULL, 0);
	first();
	record = tach__thread_record();
	for (uint32_t i = TACH__SITE_FIRST; i < record->limit; i++)
		if (tach__part(tach__slot_at(record, i), record->count, 0)->calls == 1)
			id = i;
	for (int i = 0; i < TACH__OVERFLOWS; i++) {
		struct tach__part *part = tach__part(record->overflow[i], record->count, 0);

		record->overflow_id[i] = id;
		part->calls = 5;
		counts_now();
		CHECK(regions_find("first", 0) && info.calls == 6, "%d: %d", i,
		      (int)info.calls);
		part->calls = 0;
		record->overflow_id[i] = 0;
	}
}

/* If counters are inexact, the slot contains their error. */
static void slots_that_are_not_exact(void)
{
	struct tach_snapshot *s = calloc(1, sizeof *s);
	struct gathering g = {.s = s};
	struct tach__thread *record;
	union tach__slot_copy mine;
	double error[2][2] = {{0}};
	uint32_t id = 0;

	regions_begin(1);
	fake_members = 1;
	first();
	record = tach__thread_record();
	for (uint32_t i = TACH__SITE_FIRST; i < record->limit; i++)
		if (tach__part(tach__slot_at(record, i), record->count, 0)->calls == 1)
			id = i;
	CHECK(id && record->count == 1);
	memset(&mine, 0, sizeof mine);
	tach__slot_copy(&mine.slot, tach__slot_at(record, id), tach__latch_at(record, id), 1);
	tach__inexact(&mine.slot, 1)->inclusive = 7;
	tach__inexact(&mine.slot, 1)->self = 5;
	record->steps[0] = 2;
	for (uint32_t on = 0; on < 2; on++) {
		struct tach__rows rows;
		struct tach__row *row;

		record->inexact = on;
		tach__rows_init(&rows, 1);
		add_slot(&g, &rows, record, &mine.slot, id, tach__latch_at(record, id));
		row = tach__rows_at(&rows, id);
		CHECK(row != NULL);
		for (int what = 0; row && what < 2; what++)
			error[on][what] = row->cell[1].error[what];
		tach__rows_free(&rows);
	}
	CHECK(error[1][0] == error[0][0] + 14 && error[1][1] == error[0][1] + 10, "%g, %g",
	      error[1][0], error[1][1]);
	record->inexact = record->steps[0] = 0;
	free(s);
	fake_members = 3;
}

static int noted(const char *what)
{
	counts_now();
	return strstr(tach_snapshot_missing(shot), what) != NULL;
}

/* If several notes apply, they have this order. */
static void notes_have_a_fixed_order(void)
{
	configure("", NULL, 0);
	first();
	strcpy(tach__registry.config->note, "why not");
	tach__registry.unopened = 2;
	strcpy(tach__registry.open_error.text, "no room");
	names_over = 1;
	strcpy(tach__beacon.others, "another copy");
	CHECK(counts_now().unopened == 2);
	CHECK(strncmp(tach_snapshot_missing(shot),
		      "why not; 2 threads have the clock alone: no room; more than ", 60) == 0,
	      "%s", tach_snapshot_missing(shot));
	CHECK(noted(" names were computed: entries of the others are in '") &&
		      noted("'; another copy"),
	      "%s", tach_snapshot_missing(shot));
	tach__registry.unopened = 0;
	names_over = 0;
	tach__beacon.others[0] = tach__registry.config->note[0] = 0;
	counts_now();
	CHECK(tach_snapshot_missing(shot)[0] == 0, "%s", tach_snapshot_missing(shot));
}

static void divided_by_thread(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "", .by = "thread"};
	struct tach_counts c;
	int mine = 0, both = 0;
	char name[64];

	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	first();
	second();
	in_another_thread();
	/* Threads are shown by their present names. */
	prctl(PR_SET_NAME, "renamed");
	snprintf(name, sizeof name, "first [thread renamed %d]", (int)gettid());
	c = counts_now();
	CHECK(c.threads == 2, "%d", (int)c.threads);
	for (int i = 0; i < tach_snapshot_nregions(shot); i++) {
		CHECK(tach_snapshot_region(shot, i, &info) == 0);
		mine += strcmp(info.name, name) == 0;
		both += strncmp(info.name, "second [thread ", 15) == 0;
	}
	CHECK(mine == 1 && both == 2 && tach_snapshot_nregions(shot) == 3, "%d, %d", mine,
	      both);
	CHECK(!noted("more than"));
	tach__registry.config->split.over = TACH__SPLIT_THREAD;
	CHECK(noted("more than 64 threads: entries of the others"), "%s",
	      tach_snapshot_missing(shot));
	tach__registry.config->split.over = 0;
}

static void gate(const char *name)
{
	TACH_START_NAMED(name);
	TACH_STOP_NAMED();
}

static void filters_that_fit_nothing(void)
{
	configure("", "no such,region", 0);
	first();
	second();
	gate("third"); /* the name is a region; the name of its gate is not */
	CHECK(noted("TACH_REGIONS, 'no such,region', fits none of the 3 regions"), "%s",
	      tach_snapshot_missing(shot));
	configure("", "no such,seco*", 0);
	first();
	second();
	CHECK(!noted("TACH_REGIONS"), "%s", tach_snapshot_missing(shot));
	CHECK(tach_snapshot_nregions(shot) == 1 && regions_find("second", 0));
}

/* Sentences are separated, and cut to fit the buffer. */
static void notes_are_separated_and_cut(void)
{
	struct tach_snapshot *s = calloc(1, sizeof *s);
	const size_t size = sizeof s->note;

	note(s, "%s %d", "one", 1);
	CHECK(strcmp(s->note, "one 1") == 0, "%s", s->note);
	note(s, "two");
	CHECK(strcmp(s->note, "one 1; two") == 0, "%s", s->note);
	for (size_t used = size - 5; used < size; used++) {
		memset(s->note, 'x', used);
		memset(s->note + used, 0, size - used);
		note(s, "yz");
		CHECK(strlen(s->note) == size - 1);
		CHECK(s->note[used] == (used == size - 1  ? 0
					: used + 2 < size ? ';'
							  : 'y'),
		      "%zu", used);
	}
	free(s);
}

/* ---- sets that take turns ---- */

static void all_sets_are_in_it(void)
{
	struct tach_counts c;
	int regions = 0;

	configure("a=r0104,b=r0204,c=r0304,d=r0404", NULL, 1);
	for (int i = 0; i < 200; i++) {
		first();
		second();
	}
	c = counts_now();
	/* A thread adds to each set. */
	CHECK(regions_find("first", 0) && info.entries == 200 && regions_find("second", 0) &&
		      info.entries == 200,
	      "%d", (int)info.entries);
	CHECK(c.threads >= 1 && strstr(tach_snapshot_missing(shot), "2 sets of events"), "%s",
	      tach_snapshot_missing(shot));
	for (int i = 0; i < tach_snapshot_nquantities(shot); i++)
		regions += strlen(tach_snapshot_quantity(shot, i)) == 1;
	CHECK(regions == 4, "%d", regions);
	/* Entries were made while either set was counting. */
	for (int times = 0; times < 8; times++) {
		configure("a=r0104,b=r0204,c=r0304,d=r0404", NULL, 1000000);
		for (int i = 0; i <= times % 3; i++)
			first();
		in_another_thread();
		counts_now();
		CHECK(regions_find("first", 0) && regions_find("second", 0));
	}
}

/* ---- letting go ---- */

static int sets(void)
{
	int n = 0;

	for (const struct tach__config *c = tach__registry.configs; c; c = c->next)
		n++;
	return n;
}

static void old_sets_are_freed(void)
{
	struct tach__config *config;
	struct tach_snapshot *one = NULL, *two = NULL;
	unsigned char core;
	uint32_t refs;
	void *pages;
	int before, held;

	tach_snapshot_free(shot);
	shot = NULL;
	configure("", NULL, 0);
	first();
	config = tach__registry.config;
	refs = config->refs;
	held = rows_held;
	orders = 0;
	CHECK(tach_snapshot_take(&one, &err) == 0 && config->refs == refs + 1);
	CHECK(tach_snapshot_take(&two, &err) == 0 && config->refs == refs + 2);
	CHECK(one->config == config && taken == 2);
	CHECK(rows_held == held && orders == 2, "%d, were %d; %d", rows_held, held, orders);
	pages = one->plain.pages;
	CHECK(pages && mincore(pages, 1, &core) == 0);
	tach__snapshot_forget(one);
	CHECK(config->refs == refs + 1 && taken == 1 && locks == 0);
	CHECK(mincore(pages, 1, &core) == -1 && errno == ENOMEM);
	pages = two->plain.pages;
	/* The snapshot holds the last reference to an old set. */
	configure("", NULL, 0);
	first();
	before = sets();
	tach_snapshot_free(two);
	CHECK(sets() == before - 1 && taken == 0 && locks == 0, "%d, were %d", sets(), before);
	CHECK(mincore(pages, 1, &core) == -1 && errno == ENOMEM);
}

/* All sets that take turns are included, not only the first. */
static void sets_that_take_turns_are_freed(void)
{
	struct tach__config *of[4] = {NULL};
	uint32_t refs[4];
	int n = 0, held;

	configure("a=r0104,b=r0204,c=r0304,d=r0404,e=r0504,f=r0604", NULL, 1);
	first();
	counts_now();
	tach_snapshot_free(shot);
	shot = NULL;
	of[0] = tach__registry.config;
	do {
		refs[n] = of[n]->refs;
		of[n + 1] = of[n]->ring.next;
	} while (++n < 3 && of[n] && of[n] != of[0]);
	CHECK(n == 3, "%d", n);
	held = rows_held;
	CHECK(tach_snapshot_take(&shot, &err) == 0);
	/* tach__turns_total made these common totals. */
	CHECK(rows_held == held - 1, "%d, were %d", rows_held, held);
	CHECK(of[0]->refs == refs[0] + 1);
	for (int i = 1; i < n; i++)
		CHECK(of[i]->refs == refs[i], "%d: %u, were %u", i, of[i]->refs, refs[i]);
	tach_snapshot_free(shot);
	shot = NULL;
	for (int i = 0; i < n; i++)
		CHECK(of[i]->refs == refs[i], "%d: %u, were %u", i, of[i]->refs, refs[i]);
}

/* ---- from another copy of the library ---- */

static const char report[] =
	"{\"tach\":1,\"note\":\"another's\",\"clock\":{\"hz\":5,\"estimate\":false},"
	"\"threads\":11,\"refused\":12,\"lost\":13,\"stale\":14,\"unopened\":15,"
	"\"quantities\":[{\"name\":\"time\"}],\"metrics\":[],\"regions\":[]}";
static int refuses;

static int its_report(tach_sink sink, void *context, struct tach_error *e)
{
	if (refuses)
		return tach__error(e, TACH_ERR_STATE, 0, 0, "not now");
	return sink(context, report, strlen(report));
}

static void of_another_copy(void)
{
	const struct tach__beacon owner = {.json = its_report};
	struct tach_snapshot *s = (struct tach_snapshot *)&err;

	buffers = 0;
	CHECK(take_from(&owner, &s, &err) == 0 && buffers == 1, "%s", err.text);
	CHECK(s && strcmp(tach_snapshot_missing(s), "another's") == 0);
	tach_snapshot_free(s);
	refuses = 1;
	CHECK(take_from(&owner, &s, &err) == TACH_ERR_STATE && !s && buffers == 2);
}

int main(void)
{
	setenv("TACH_PMU", "knl", 1);
	setenv("OMPI_COMM_WORLD_RANK", "3", 1);
	tach__sys = fake_sys;
	fake_members = 3; /* for each set that takes turns, like tests/unit/region/turns.c */
	CASE(before_regions_were_switched_on);
	CASE(handlers_in_library_code_are_refused);
	CASE(snapshots_wait_for_each_other);
	CASE(without_memory);
	CASE(threads_and_what_they_entered);
	CASE(threads_that_end_meanwhile);
	CASE(slots_under_write_are_consistent);
	CASE(slots_of_handlers);
	CASE(slots_that_are_not_exact);
	CASE(notes_have_a_fixed_order);
	CASE(divided_by_thread);
	CASE(filters_that_fit_nothing);
	CASE(notes_are_separated_and_cut);
	CASE(all_sets_are_in_it);
	CASE(old_sets_are_freed);
	CASE(sets_that_take_turns_are_freed);
	CASE(of_another_copy);
	return check_done();
}
