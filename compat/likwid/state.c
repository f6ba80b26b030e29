/* SPDX-License-Identifier: MIT */
/* INIT, SWITCH and CLOSE; state of the whole process. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/likwid/state.h"

struct lw_state lw_state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void lw_lock(void)
{
	pthread_mutex_lock(&lock);
}

void lw_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static double clock_hz(void)
{
	struct tach_formula *f;
	double hz = 0;

	if (tach_formula_compile("tsc_hz", NULL, &f, NULL) != 0)
		return 0;
	hz = tach_formula_eval(f, NULL, 0, NULL);
	tach_formula_free(f);
	return hz;
}

/* Makes every thread look up its regions again on the slow path. */
static void views_drop(void)
{
	for (struct lw_thread *t = lw_state.threads; t; t = t->next)
		lw_view_drop(t);
}

/*
 * A forked child measures nothing until it calls INIT: counters and tables belong to its
 * parent.
 */
static void forked_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	lw_state.open = 0;
	views_drop();
	for (struct lw_thread *t = lw_state.threads; t; t = t->next)
		t->alive = t == lw_self;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked_child);
}

void likwid_markerInit(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	lw_lock();
	if (!lw_state.open) {
		views_drop();
		lw_threads_forget();
		for (int i = 0; i < lw_state.ngroups; i++)
			lw_group_free(&lw_state.group[i]);
		memset(lw_state.group, 0, sizeof lw_state.group);
		lw_state.hz = clock_hz();
		lw_state.active = 0;
		lw_state.nthreads = 0;
		lw_state.epoch++;
		lw_state.ngroups = lw_groups_make(lw_state.group);
		lw_state.open = 1;
	}
	lw_unlock();
	likwid_markerThreadInit();
}

void likwid_markerNextGroup(void)
{
	lw_lock();
	if (lw_state.open && lw_state.ngroups > 1) {
		lw_state.active = (lw_state.active + 1) % lw_state.ngroups;
		views_drop();
	}
	lw_unlock();
}

void likwid_markerClose(void)
{
	const char *path = getenv("LIKWID_FILEPATH");
	int code;

	lw_lock();
	if (!lw_state.open) {
		lw_unlock();
		return;
	}
	lw_state.open = 0;
	views_drop();
	code = lw_tables_write(path);
	lw_unlock();
	if (code)
		fprintf(stderr, "likwid_markerClose: %s: %s\n", path ? path : "standard error",
			strerror(code));
}
