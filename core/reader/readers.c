/* SPDX-License-Identifier: MIT */
/*
 * All open readers of the process.
 *
 * One lock protects opening and closing, for three reasons. First mappings: x86 allows RDPMC in
 * a process (CR4.PCE) from its first mapping of a hardware event to the last. Each switch
 * interrupts every CPU that runs a thread of the process (arch/x86/events/core.c,
 * x86_pmu_event_mapped). Two switches at a time raced in some kernels. The sentinel: one
 * mapped, disabled event remains while there are readers, so that short-lived threads do not
 * switch RDPMC on and off. The list of readers: only one thread at a time may write it.
 *
 * The lock is held around system calls that wait only for locks of the kernel, with signals
 * blocked as for the registry's lock (core/region/region.h). No lock is taken inside it. No
 * hook holds it over a fork; core/region/region.h gives the reason. So at the fork another
 * thread of the parent may be in the middle of a change. Therefore the list is consistent after
 * each store when walked forward, and the child rebuilds the backward links. A reader enters
 * the list before its first descriptor is opened and leaves it after its last is closed. Its
 * pages stay mapped for that time. (A descriptor that perf_event_open had just returned, and
 * that was not yet noted, stays open in the child.)
 *
 * After fork, the child has the descriptors, which still count the parent, and holes in place
 * of the pages, where its next mapping might land. The fork handler maps zeros there and closes
 * the descriptors: the parent's readers then return TACH_FLAG_LOST. Children of _Fork and raw
 * clone run no handler; code that detects such a child calls tach__readers_orphaned before it
 * opens a reader. Children of vfork must not read.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "core/os/descriptor.h"
#include "core/reader/hybrid.h"
#include "core/reader/open.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t
	outside; /* the signal mask of the thread that has the lock, before it took the lock */
static struct tach__reader *readers;
static struct {
	long page; /* address; 0: no sentinel */
	long size;
} sentinel;

/* Blocks signals, because a handler that starts a region may also have to open a reader. */
static void enter(void)
{
	sigset_t before;

	tach__signals_hold(&before);
	pthread_mutex_lock(&lock);
	outside = before;
}

static void unlock_readers(void)
{
	sigset_t before = outside;

	pthread_mutex_unlock(&lock);
	tach__signals_release(&before);
}

static void abandon(struct tach__reader *r, int shared)
{
	for (int i = 0; i < TACH_COUNTERS_MAX; i++) {
		if (!shared)
			tach__descriptor_close(r->fd[i], r->id[i]);
		r->fd[i] = -1;
	}
	tach__pages_zero(r);
	if (r->hybrid)
		tach__hybrid_abandon(r->hybrid, shared);
	r->owner = NULL;
	r->hard.count = r->soft.count = 0;
}

static void abandon_all(int shared)
{
	struct tach__reader **link = &readers;

	for (struct tach__reader *r; (r = *link); link = &r->next) {
		r->link = link;
		abandon(r, shared);
	}
	sentinel.page = 0;
}

/*
 * A child of clone(CLONE_FILES) shares its parent's table of descriptors, so closing one would
 * close the parent's. If the call is refused, or the parent is gone, the table is assumed to be
 * separate, which is the usual case.
 */
static int files_shared(void)
{
	return tach__sys(SYS_kcmp, tach__sys(SYS_getpid, 0, 0, 0, 0, 0, 0),
			 tach__sys(SYS_getppid, 0, 0, 0, 0, 0, 0), KCMP_FILES, 0, 0, 0) == 0;
}

/* Another thread of the parent may have held the lock, and no thread of the child will release
 * it. */
void tach__readers_orphaned(void)
{
	abandon_all(files_shared());
	readers = NULL;
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void forked_child(void)
{
	abandon_all(0);
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Done when the library is loaded: a later call might run in a signal handler. */
__attribute__((constructor(101))) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked_child);
}

static void raise_sentinel(const struct tach__reader *r)
{
	const struct tach__group *g = r->topdown.on ? r->topdown.group : &r->hard;
	struct perf_event_attr attr = r->set->member[g->member[0]].attr;
	long fd, at;

	attr.disabled = 1;
#if TACH_ARCH_ASKS
	attr.config1 |= 2;
#endif
	fd = tach__perf_open(&attr, -1);
	if (fd < 0)
		return;
	at = tach__sys(SYS_mmap, 0, (long)r->page_size, PROT_READ, MAP_SHARED, fd, 0);
	tach__sys(SYS_close, fd, 0, 0, 0, 0, 0); /* the mapping keeps the event */
	if (at < 0 && at > -4096)
		return;
	sentinel.page = at;
	sentinel.size = (long)r->page_size;
}

void tach__open_enter(struct tach__reader *r)
{
	enter();
	r->next = readers;
	r->link = &readers;
	if (r->next)
		r->next->link = &r->next;
	__atomic_store_n(&readers, r, __ATOMIC_RELEASE);
}

void tach__open_leave(struct tach__reader *r, int opened)
{
	if (opened && (r->hot.fast || (r->hybrid && !r->slow)) && !sentinel.page)
		raise_sentinel(r);
	unlock_readers();
}

void tach__close_enter(void)
{
	enter();
}

void tach__close_leave(struct tach__reader *r)
{
	__atomic_store_n(r->link, r->next, __ATOMIC_RELEASE);
	if (r->next)
		r->next->link = r->link;
	if (!readers && sentinel.page) {
		tach__sys(SYS_munmap, sentinel.page, sentinel.size, 0, 0, 0, 0);
		sentinel.page = 0;
	}
	unlock_readers();
}
