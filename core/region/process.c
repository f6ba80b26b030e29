/* SPDX-License-Identifier: MIT */
/*
 * The registry's lock, and what happens to the registry in forked children.
 *
 * Every fork wipes the page of struct tach__process. Its words show whether this process is a
 * child, and which kind of fork made it. A hook runs only in children of fork(). The first
 * thread that takes the lock detects children of _Fork and raw clone.
 */
#include "core/region/region.h"
#include "core/os/sys.h"

struct tach__registry tach__registry;

static struct tach__process process_fallback; /* if the kernel has no MADV_WIPEONFORK */

static void fork_child(void);

static void registry_init(void)
{
	struct tach__registry *r = &tach__registry;

	CDS_INIT_LIST_HEAD(&r->threads);
	CDS_INIT_LIST_HEAD(&r->sites);
	r->nsites = TACH__SITE_FIRST;
}

/* Makes the process's page. If several threads do this, all use the first page. */
static TACH_COLD struct tach__process *process_make(void)
{
	size_t size = tach__pages_round(sizeof(struct tach__process));
	struct tach__process *p = tach__pages(size), *none = NULL;

	if (!p || tach__pages_wiped(p, size) != 0) {
		tach__pages_free(p, size);
		p = &process_fallback;
	}
	if (!__atomic_compare_exchange_n(&tach__registry.page, &none, p, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		if (p != &process_fallback)
			tach__pages_free(p, size);
		return none;
	}
	return p;
}

/* Runs at load time, not at a first START, because pthread_atfork may take locks and allocate.
 */
__attribute__((constructor(101))) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, fork_child);
}

static struct tach__process *process(void)
{
	struct tach__process *p = __atomic_load_n(&tach__registry.page, __ATOMIC_ACQUIRE);

	return p ? p : process_make();
}

void tach__hold(struct tach__held *held)
{
	held->within = tach__signals_held;
	if (!held->within)
		tach__signals_hold(&held->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held->cancel);
}

void tach__release(const struct tach__held *held)
{
	int ignored;

	pthread_setcancelstate(held->cancel, &ignored);
	if (!held->within)
		tach__signals_release(&held->signals);
}

static int initialised; /* access it with the lock held; forks do not wipe it */

/* Empties the registry in a new process or a new child. Call it with the lock held. */
static void process_begin(struct tach__process *p)
{
	if (!initialised) {
		registry_init();
	} else {
		tach__threads_reset(p->hooked && !tach__registry.busy);
		if (tach__registry.busy)
			tach__sites_mend();
	}
	initialised = 1;
	__atomic_store_n(&p->alive, 1, __ATOMIC_RELAXED);
}

void tach__lock(struct tach__held *held)
{
	struct tach__process *p = process();

	tach__hold(held);
	pthread_mutex_lock(&p->lock);
	if (!p->alive)
		process_begin(p);
	/* Set before any change, so that a child's copy of this memory has it too. */
	__atomic_store_n(&tach__registry.busy, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void tach__unlock(const struct tach__held *held)
{
	__atomic_store_n(&tach__registry.busy, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&process()->lock);
	tach__release(held);
}

pthread_mutex_t *tach__snapshots_lock(void)
{
	return &process()->snapshots;
}

void tach__process_own(void)
{
	__atomic_store_n(&process()->owner, 1, __ATOMIC_RELAXED);
}

int tach__process_is_owner(void)
{
	return (int)__atomic_load_n(&process()->owner, __ATOMIC_RELAXED);
}

uint64_t *tach__process_writer(void)
{
	return &process()->writer;
}

/* For ThreadSanitizer: its address represents all walks that ended. */
static char walks;

void tach__walk_begin(void)
{
	__atomic_fetch_add(&process()->walks, 1, __ATOMIC_RELAXED);
}

void tach__walk_end(void)
{
	TACH__RELEASED(&walks);
	__atomic_fetch_sub(&process()->walks, 1, __ATOMIC_RELEASE);
}

int tach__is_walked(void)
{
	int walked = __atomic_load_n(&process()->walks, __ATOMIC_ACQUIRE) != 0;

	if (!walked)
		TACH__ACQUIRED(&walks);
	return walked;
}

/* Takes no lock and does not wait. The first thread that takes the lock does the rest. */
static void fork_child(void)
{
	if (tach__registry.page)
		*tach__registry.page = (struct tach__process){.hooked = 1};
	tach__self = &tach__thread_closed;
}
