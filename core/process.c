/* SPDX-License-Identifier: MIT */
/*
 * The process the registry lives in: its lock, its forks, and whether liburcu may be used.
 *
 * After fork() the hooks below hand liburcu over to the child. After _Fork or a raw clone
 * nobody calls hooks: liburcu's own locks and reader list are then as some other thread left
 * them, so such a child leaves liburcu alone and walks the lists under the lock instead. Which
 * of the two it was is told by words in a page that every fork wipes.
 */
#include <urcu/urcu-bp.h>
#include "core/registry.h"
#include "core/sys.h"

struct tach__registry tach__registry;

static struct tach__process *process_page;
static struct tach__process process_fallback; /* where the kernel has no MADV_WIPEONFORK */

static void fork_prepare(void);
static void fork_parent(void);
static void fork_child(void);

static void registry_init(void)
{
	struct tach__registry *r = &tach__registry;

	CDS_INIT_LIST_HEAD(&r->threads);
	CDS_INIT_LIST_HEAD(&r->sites);
	r->nsites = TACH__SITE_FIRST;
}

/* The first caller wins; the losers use the winner's page. */
static struct tach__process *process_make(void)
{
	size_t size = tach__pages_round(sizeof(struct tach__process));
	struct tach__process *p = tach__pages(size), *none = NULL;

	if (!p || tach__pages_wiped(p, size) != 0) {
		tach__pages_free(p, size);
		p = &process_fallback;
	}
	if (!__atomic_compare_exchange_n(&process_page, &none, p, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		if (p != &process_fallback)
			tach__pages_free(p, size);
		return none;
	}
	pthread_atfork(fork_prepare, fork_parent, fork_child);
	return p;
}

static struct tach__process *process(void)
{
	struct tach__process *p = __atomic_load_n(&process_page, __ATOMIC_ACQUIRE);

	return p ? p : process_make();
}

void tach__hold(struct tach__held *held)
{
	tach__signals_hold(&held->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held->cancel);
}

void tach__release(const struct tach__held *held)
{
	int ignored;

	pthread_setcancelstate(held->cancel, &ignored);
	tach__signals_release(&held->signals);
}

/* Not wiped: these tell a child from the first process, and what kind of child it is. */
static int initialised, rcu_usable;

/* With the lock: a fresh process or a fresh child begins with an empty registry. */
static void process_begin(struct tach__process *p)
{
	if (!initialised)
		registry_init();
	else
		tach__threads_reset((int)p->hooked);
	rcu_usable = !initialised || p->hooked;
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
}

void tach__unlock(const struct tach__held *held)
{
	pthread_mutex_unlock(&process()->lock);
	tach__release(held);
}

pthread_mutex_t *tach__snapshots_lock(void)
{
	return &process()->snapshots;
}

int tach__rcu_usable(void)
{
	return __atomic_load_n(&process()->alive, __ATOMIC_RELAXED) && rcu_usable;
}

int tach__rcu_enter(struct tach__held *held)
{
	tach__lock(held); /* a child empties the registry before anybody walks it */
	if (!tach__rcu_usable())
		return 0;
	tach__unlock(held);
	urcu_bp_read_lock();
	return 1;
}

static char sections; /* stands for every section that ended before a grace period */

void tach__rcu_leave(int entered, const struct tach__held *held)
{
	TACH__RELEASED(&sections);
	if (entered)
		urcu_bp_read_unlock();
	else
		tach__unlock(held);
}

int tach__rcu_may_wait(void)
{
	return tach__rcu_usable() && !urcu_bp_read_ongoing();
}

void tach__rcu_wait(void)
{
	urcu_bp_synchronize_rcu();
	TACH__ACQUIRED(&sections);
}

/*
 * liburcu's lock first: whoever holds it waits for readers, and readers take ours for a moment.
 * Both keep all signals blocked until the matching hook.
 */
static struct tach__held fork_held; /* under the lock */
static int fork_rcu;

static void fork_prepare(void)
{
	struct tach__held held;
	int rcu = tach__rcu_usable();

	if (rcu)
		urcu_bp_before_fork();
	tach__lock(&held);
	fork_held = held;
	fork_rcu = rcu;
}

static void fork_parent(void)
{
	struct tach__held held = fork_held;
	int rcu = fork_rcu;

	tach__unlock(&held);
	if (rcu)
		urcu_bp_after_fork_parent();
}

/* The page was wiped, and our lock with it. The caller's thread half too, but it is not ours.
 */
static void fork_child(void)
{
	struct tach__process *p = process();

	*p = (struct tach__process){.hooked = (uint32_t)fork_rcu};
	tach__self = &tach__thread_closed;
	tach__release(&fork_held);
	if (fork_rcu)
		urcu_bp_after_fork_child();
}
