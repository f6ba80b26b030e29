/* SPDX-License-Identifier: MIT */
/* Threads, their open counters, and their regions under each group. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "compat/likwid/state.h"

enum { TRIES = 16 };

/* No place has a number until the first thread is ready, so one entry is enough until then. */
static struct lw_thread none = {.region = {&lw_nowhere}};
__thread struct lw_thread *lw_self = &none;
static pthread_key_t key;

/* ---- threads ---- */

void lw_view_drop(struct lw_thread *t)
{
	__atomic_store_n(&t->ready, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < LW_PLACES; i++)
		__atomic_store_n(&t->region[i], &lw_nowhere, __ATOMIC_RELAXED);
}

static void reader_close(struct lw_thread *t)
{
	tach_reader_close(t->reader);
	t->reader = NULL;
	t->group = -1;
	lw_view_drop(t);
}

static void thread_ends(void *context)
{
	struct lw_thread *t = context;

	lw_lock();
	reader_close(t);
	t->alive = 0;
	lw_unlock();
	lw_self = &none;
}

static void make_key(void)
{
	pthread_key_create(&key, thread_ends);
	lw_view_drop(&none);
}

/* The only processor that the calling thread may run on, or -1. */
static int pinned(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) != 1)
		return -1;
	for (int cpu = 0;; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			return cpu;
}

static void view_free(struct lw_view *view)
{
	for (uint32_t i = 0; i < view->size; i++)
		free(view->region[i]);
	free(view->region);
	free(view->names.slot);
	memset(view, 0, sizeof *view);
}

/* Drops the data of an earlier INIT, and gives the thread its number. */
static void join(struct lw_thread *t)
{
	reader_close(t);
	for (int i = 0; i < LW_GROUPS; i++)
		view_free(&t->view[i]);
	t->epoch = lw_state.epoch;
	t->number = lw_state.nthreads++;
}

void lw_threads_forget(void)
{
	struct lw_thread **at = &lw_state.threads, *t;

	while ((t = *at)) {
		if (t->alive) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		for (int i = 0; i < LW_GROUPS; i++)
			view_free(&t->view[i]);
		free(t);
	}
}

static struct lw_thread *attach(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct lw_thread *t = lw_self;

	if (t == &none) {
		pthread_once(&once, make_key);
		t = calloc(1, sizeof *t);
		if (!t || pthread_setspecific(key, t) != 0) {
			free(t);
			return NULL;
		}
		t->group = -1;
		t->alive = 1;
		t->next = lw_state.threads;
		lw_state.threads = t;
		lw_self = t;
	}
	if (t->epoch != lw_state.epoch)
		join(t);
	t->cpu = pinned();
	return t;
}

/* ---- groups ---- */

/*
 * Subtracts the minimum of an empty region with a constant name from each region. Looking up a
 * computed name costs more; the difference is not subtracted.
 */
static void measure_cost(struct lw_thread *t, struct lw_view *view)
{
	struct lw_region *empty = calloc(1, sizeof *empty);
	struct tach_likwid_site site = {"", 1};
	unsigned n = t->reader ? t->reader->count : 0;

	memset(view->cost, 0, sizeof view->cost);
	view->cost_ticks = 0;
	if (!empty)
		return;
	empty->reader = t->reader;
	lw_edges_choose(empty);
	t->region[site.id] = empty;
	for (int i = 0; i < TRIES; i++) {
		memset(empty->sum, 0, sizeof empty->sum);
		empty->ticks = 0;
		tach_likwidStart(&site);
		tach_likwidStop(&site);
		for (unsigned k = 0; k < n; k++)
			if (i == 0 || empty->sum[k] < view->cost[k])
				view->cost[k] = empty->sum[k];
		if (i == 0 || empty->ticks < view->cost_ticks)
			view->cost_ticks = empty->ticks;
	}
	t->region[site.id] = &lw_nowhere;
	free(empty);
}

/* Closes the old group's counters before it opens the new group's, because both may not fit. */
static struct lw_view *look(struct lw_thread *t)
{
	struct lw_group *group = &lw_state.group[lw_state.active];
	struct lw_view *view = &t->view[lw_state.active];

	if (t->group == lw_state.active)
		return view;
	reader_close(t);
	if (group->set) {
		struct tach_error err = TACH_ERROR_INIT;

		if (tach_reader_open(group->set, &t->reader, &err) != 0) {
			t->reader = NULL;
			lw_group_misses(group, "counters of a thread", err.text);
		}
	}
	t->group = lw_state.active;
	for (uint32_t i = 0; i < view->size; i++)
		if (view->region[i]) {
			view->region[i]->reader = t->reader;
			view->region[i]->edges &= ~(uint64_t)1;
			lw_edges_choose(view->region[i]);
		}
	if (!view->opened)
		measure_cost(t, view);
	view->opened = 1;
	return view;
}

/* ---- regions ---- */

static int widen(struct lw_view *view, uint32_t id)
{
	uint32_t size = view->size ? view->size : 16;
	struct lw_region **larger;

	if (id < view->size)
		return 1;
	while (size <= id)
		size *= 2;
	larger = realloc(view->region, size * sizeof(*larger));
	if (!larger)
		return 0;
	memset(larger + view->size, 0, (size - view->size) * sizeof(*larger));
	view->region = larger;
	view->size = size;
	return 1;
}

static struct lw_region *region_of(const struct lw_thread *t, struct lw_view *view,
				   const struct lw_name *name)
{
	struct lw_region *region;

	if (!widen(view, name->id))
		return NULL;
	if (view->region[name->id])
		return view->region[name->id];
	region = calloc(1, sizeof *region);
	if (!region)
		return NULL;
	region->name = *name;
	region->reader = t->reader;
	lw_edges_choose(region);
	if (t->group >= 0 && !t->reader && lw_state.group[t->group].set)
		region->flags = TACH_FLAG_LOST;
	if (!lw_names_add(&view->names, &region->name)) {
		free(region);
		return NULL;
	}
	view->region[name->id] = region;
	return region;
}

static struct lw_region *get(const char *tag)
{
	struct lw_thread *t = attach();
	struct lw_view *view = t ? look(t) : NULL;
	const struct lw_name *name = view && tag ? lw_name_intern(tag) : NULL;
	struct lw_region *region = name ? region_of(t, view, name) : NULL;

	if (view) {
		t->names = view->names;
		t->ready = 1;
	}
	return region;
}

/* Without a tag it only prepares the thread. */
struct lw_region *lw_region_get(const char *tag)
{
	struct lw_region *region = NULL;
	int error = errno;

	lw_lock();
	if (lw_state.open)
		region = get(tag);
	lw_unlock();
	errno = error;
	return region;
}

void likwid_markerThreadInit(void)
{
	lw_region_get(NULL);
}

int likwid_markerRegisterRegion(const char *regionTag)
{
	return regionTag && lw_region_get(regionTag) ? 0 : -EFAULT;
}

int likwid_markerResetRegion(const char *regionTag)
{
	struct lw_region *region = regionTag ? lw_region_get(regionTag) : NULL;

	if (!region || lw_running(region))
		return -EFAULT;
	region->edges = region->ticks = 0;
	region->flags &= region->reader ? 0 : TACH_FLAG_LOST;
	memset(region->sum, 0, sizeof region->sum);
	return 0;
}
