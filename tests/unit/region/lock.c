/* SPDX-License-Identifier: MIT */
/* The registry's lock, its page, and the lock's state in a child. */
#include <string.h>
#include "core/os/sys.h"
#include "core/region/region.h"
#include "tests/check.h"

static int pages, no_pages, no_wiping;
static void *made;
static size_t made_size, wiped_size;
static struct tach__process *winner; /* the process that another thread stores in between */

static void *sim_pages(size_t size)
{
	made_size = size;
	pages += !no_pages;
	return made = no_pages ? NULL : tach__pages(size);
}

static int sim_wiped(void *at, size_t size)
{
	CHECK(at == made);
	wiped_size = size;
	if (winner)
		tach__registry.page = winner;
	return no_wiping;
}

static void sim_free(void *at, size_t size)
{
	CHECK(!at || (at == made && size == made_size));
	pages -= at != NULL;
	tach__pages_free(at, size);
}

static int hooks;
static void (*hook)(void);
static int sim_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	CHECK(!prepare && !parent);
	hooks++;
	hook = child;
	return 0;
}

static int cancel, signals; /* what is set */
static int sim_cancel(int state, int *old)
{
	*old = cancel;
	cancel = state;
	return 0;
}

static sigset_t *blocked;
static void sim_hold(sigset_t *before)
{
	blocked = before;
	signals++;
}

static void sim_release(const sigset_t *before)
{
	CHECK(before == blocked && cancel == PTHREAD_CANCEL_ENABLE);
	signals--;
}

static const pthread_mutex_t *taken;
static int sim_take(const pthread_mutex_t *mutex)
{
	CHECK(!taken && cancel == PTHREAD_CANCEL_DISABLE);
	taken = mutex;
	return 0;
}

static int sim_give(const pthread_mutex_t *mutex)
{
	CHECK(taken == mutex && !tach__registry.busy && cancel == PTHREAD_CANCEL_DISABLE);
	taken = NULL;
	return 0;
}

static int resets, recycled, mends;
static void sim_reset(int recycle)
{
	resets++;
	recycled = recycle;
}

#define tach__pages		    sim_pages
#define tach__pages_wiped	    sim_wiped
#define tach__pages_free	    sim_free
#define pthread_atfork		    sim_atfork
#define pthread_setcancelstate	    sim_cancel
#define tach__signals_hold	    sim_hold
#define tach__signals_release	    sim_release
#define pthread_mutex_lock(mutex)   sim_take(mutex)
#define pthread_mutex_unlock(mutex) sim_give(mutex)
#define tach__threads_reset	    sim_reset
#define tach__sites_mend()	    (mends++)
#include "core/region/process.c"

static void begin(void)
{
	memset(&tach__registry, 0, sizeof tach__registry);
	memset(&process_fallback, 0, sizeof process_fallback);
	initialised = 0;
	pages = no_pages = no_wiping = 0;
	resets = recycled = mends = 0;
	wiped_size = 0;
	winner = NULL;
}

static void process_page_is_made_once(void)
{
	struct tach__process *p, other;

	begin();
	p = process();
	CHECK((void *)p == made && p == tach__registry.page && pages == 1);
	CHECK(made_size == tach__pages_round(sizeof *p) && wiped_size == made_size);
	CHECK(hook == fork_child && hooks == 1);
	CHECK(process() == p && pages == 1 && hooks == 1);
	CHECK(tach__snapshots_lock() == &p->snapshots);
	begin();
	no_pages = 1;
	CHECK(process() == &process_fallback && pages == 0 && !wiped_size);
	CHECK(tach__registry.page == &process_fallback);
	begin();
	no_wiping = -1;
	CHECK(process() == &process_fallback && pages == 0);
	/* Another thread was first. */
	begin();
	winner = &other;
	CHECK(process() == &other && pages == 0);
	begin();
	winner = &other;
	no_wiping = -1;
	CHECK(process() == &other && pages == 0);
	CHECK(tach__registry.page == &other);
}

static void hold_blocks_signals_and_cancellation(void)
{
	struct tach__held held;

	cancel = PTHREAD_CANCEL_ENABLE;
	tach__hold(&held);
	CHECK(signals == 1 && blocked == &held.signals && !held.within);
	CHECK(cancel == PTHREAD_CANCEL_DISABLE && held.cancel == PTHREAD_CANCEL_ENABLE);
	tach__release(&held);
	CHECK(signals == 0 && cancel == PTHREAD_CANCEL_ENABLE);
	/* Within another one. */
	tach__signals_held = 3;
	tach__hold(&held);
	CHECK(signals == 0 && held.within == 3 && cancel == PTHREAD_CANCEL_DISABLE);
	tach__signals_held = 0;
	tach__release(&held);
	CHECK(signals == 0 && cancel == PTHREAD_CANCEL_ENABLE);
}

static void first_lock_initialises_the_registry(void)
{
	struct tach__registry *r = &tach__registry;
	struct tach__held held;

	begin();
	tach__lock(&held);
	CHECK(taken == &r->page->lock && signals == 1 && r->busy == 1 && r->page->alive == 1);
	CHECK(r->nsites == TACH__SITE_FIRST && r->threads.next == &r->threads);
	CHECK(r->threads.prev == &r->threads && r->sites.next == &r->sites &&
	      r->sites.prev == &r->sites);
	CHECK(resets == 0 && mends == 0);
	r->nsites = 50;
	tach__unlock(&held);
	CHECK(!taken && !r->busy && signals == 0 && cancel == PTHREAD_CANCEL_ENABLE);
	tach__lock(&held);
	CHECK(r->nsites == 50 && r->busy == 1 && resets == 0);
	tach__unlock(&held);
}

/*
 * A child takes the lock. fork() clears the page and runs the hook; other forks run no hook.
 */
static void child(int hooked, int busy)
{
	struct tach__registry *r = &tach__registry;
	struct tach__held held;

	begin();
	tach__lock(&held);
	tach__unlock(&held);
	r->nsites = 50;
	r->page->walks = 3;
	tach__self = NULL;
	if (hooked)
		hook();
	else
		memset(r->page, 0, sizeof *r->page);
	CHECK((tach__self == &tach__thread_closed) == hooked);
	tach__self = &tach__thread_closed;
	CHECK(r->page->hooked == (uint32_t)hooked && !r->page->alive && !r->page->walks);
	r->busy = (uint32_t)busy;
	tach__lock(&held);
	CHECK(resets == 1 && recycled == (hooked && !busy) && mends == busy);
	CHECK(r->busy == 1 && r->page->alive == 1 && r->nsites == 50);
	tach__unlock(&held);
	tach__lock(&held);
	CHECK(resets == 1 && mends == busy);
	tach__unlock(&held);
}

static void children(void)
{
	for (int hooked = 0; hooked < 2; hooked++)
		for (int busy = 0; busy < 2; busy++)
			child(hooked, busy);
}

static void walks_are_counted(void)
{
	begin();
	CHECK(tach__is_walked() == 0);
	tach__walk_begin();
	CHECK(tach__is_walked() == 1 && tach__registry.page->walks == 1);
	tach__walk_begin();
	CHECK(tach__is_walked() == 1 && tach__registry.page->walks == 2);
	tach__walk_end();
	CHECK(tach__is_walked() == 1);
	tach__walk_end();
	CHECK(tach__is_walked() == 0);
}

int main(void)
{
	CASE(process_page_is_made_once);
	CASE(hold_blocks_signals_and_cancellation);
	CASE(first_lock_initialises_the_registry);
	CASE(children);
	CASE(walks_are_counted);
	return check_done();
}
