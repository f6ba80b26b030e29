/* SPDX-License-Identifier: MIT */
/*
 * The list of readers without readers: the order of its steps, the sentinel, and the cleanup in
 * a child.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/kcmp.h>
#include "core/os/descriptor.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"
#include "core/reader/hybrid.h"
#include "core/reader/open.h"
#include "tests/check.h"

static int held, taken; /* states of signals and of the lock */
static pthread_mutex_t *its;

static void sim_hold(sigset_t *before)
{
	CHECK(!held++ && !taken);
	memset(before, 0x5a, sizeof *before);
}

static void sim_release(const sigset_t *before)
{
	sigset_t as_held;

	memset(&as_held, 0x5a, sizeof as_held);
	CHECK(held-- == 1 && !taken && memcmp(before, &as_held, sizeof as_held) == 0);
}

static int sim_take(pthread_mutex_t *mutex)
{
	CHECK(held == 1 && !taken++);
	its = mutex;
	return 0;
}

static int sim_give(const pthread_mutex_t *mutex)
{
	CHECK(held == 1 && taken-- == 1 && mutex == its);
	return 0;
}

static int hooks;
static void (*hook)(void);
static int sim_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	hooks += !prepare && !parent;
	hook = child;
	return 0;
}

static int fds, fd_sum, id_sum, zeroed, hybrids, shared_as;
static void sim_fd_close(int fd, uint64_t id)
{
	fds++;
	fd_sum += fd;
	id_sum += (int)id;
}

static void sim_zero(struct tach__reader *r)
{
	zeroed++;
	CHECK(r->owner && r->fd[0] == -1);
}

static void sim_hybrid(struct tach__hybrid *h, int shared)
{
	CHECK(h);
	hybrids++;
	shared_as = shared;
}

static uint64_t opened_config;
static int opens;
static long sentinel_fd;
static long sim_perf_open(const struct perf_event_attr *attr, int leader)
{
	CHECK(taken && leader == -1 && attr->disabled == 1);
	opened_config = attr->config;
	opens++;
	return sentinel_fd;
}

#define tach__signals_hold	    sim_hold
#define tach__signals_release	    sim_release
#define pthread_mutex_lock(mutex)   sim_take(mutex)
#define pthread_mutex_unlock(mutex) sim_give(mutex)
#define pthread_atfork		    sim_atfork
#define tach__descriptor_close	    sim_fd_close
#define tach__pages_zero	    sim_zero
#define tach__hybrid_abandon	    sim_hybrid
#define tach__perf_open		    sim_perf_open
#include "tests/ordered.h"
#include "core/reader/readers.c"

/* If another thread forks between any two steps, the child finds a consistent list. */
static void ordered(const void *at, int order)
{
	(void)at;
	CHECK(taken && order == __ATOMIC_RELEASE);
}

static int closes, maps, unmaps;
static long mapped, kcmp_gives, unmapped_size;

static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	switch (number) {
	case SYS_getpid:
		return 300;
	case SYS_getppid:
		return 200;
	case SYS_kcmp:
		CHECK(a == 300 && b == 200 && c == KCMP_FILES && !d && !e);
		return kcmp_gives;
	case SYS_mmap:
		CHECK(a == 0 && b == 8192 && c == PROT_READ && d == MAP_SHARED &&
		      e == sentinel_fd && f == 0);
		maps++;
		return mapped;
	case SYS_munmap:
		CHECK(a == mapped);
		unmapped_size = b;
		unmaps++;
		return 0;
	case SYS_close:
		CHECK(a == sentinel_fd);
		closes++;
		return 0;
	default:
		CHECK(0, "%ld", number);
		return -1;
	}
}

static struct tach_set set;
static struct tach__reader r[3];
static struct tach__hybrid hybrid;

static void begin(void)
{
	for (int i = 0; i < 3; i++) {
		memset(&r[i], 0, sizeof r[i]);
		memset(r[i].fd, -1, sizeof r[i].fd);
		r[i].set = &set;
		r[i].owner = &r[i];
		r[i].page_size = 8192;
		r[i].hard.count = r[i].soft.count = 2;
		r[i].hard.member[0] = (uint8_t)i;
		set.member[i].attr.config = 100 + (uint64_t)i;
	}
	readers = NULL;
	sentinel.page = sentinel.size = 0;
	fds = fd_sum = id_sum = zeroed = hybrids = opens = closes = maps = unmaps = 0;
	shared_as = -1;
	sentinel_fd = 9;
	mapped = 0x7000;
	CHECK(!held && !taken);
}

static void open_readers_form_a_list(void)
{
	begin();
	for (int i = 0; i < 3; i++) {
		tach__open_enter(&r[i]);
		CHECK(held == 1 && taken == 1 && its == &lock && readers == &r[i]);
		tach__open_leave(&r[i], 1);
		CHECK(!held && !taken);
	}
	CHECK(r[2].next == &r[1] && r[1].next == &r[0] && !r[0].next);
	CHECK(r[2].link == &readers && r[1].link == &r[2].next && r[0].link == &r[1].next);
	tach__close_enter();
	CHECK(held == 1 && taken == 1);
	tach__close_leave(&r[1]);
	CHECK(!held && !taken && r[2].next == &r[0] && r[0].link == &r[2].next);
	tach__close_enter();
	tach__close_leave(&r[2]);
	CHECK(readers == &r[0] && r[0].link == &readers);
	tach__close_enter();
	tach__close_leave(&r[0]);
	CHECK(!readers && opens == 0 && unmaps == 0);
}

static void leave_open(struct tach__reader *of, int opened)
{
	tach__open_enter(of);
	tach__open_leave(of, opened);
}

static void sentinels(void)
{
	static struct tach__group group = {.member = {2}};

	/* Readers that failed or have no page are not kept. */
	begin();
	r[0].hot.fast = 1;
	leave_open(&r[0], 0);
	r[1].hybrid = &hybrid;
	leave_open(&r[1], 0);
	r[1].slow = TACH__SLOW_MAP;
	leave_open(&r[1], 1);
	leave_open(&r[2], 1);
	CHECK(opens == 0 && maps == 0 && sentinel.page == 0);
	begin();
	r[1].hot.fast = 1;
	leave_open(&r[1], 1);
	CHECK(opens == 1 && opened_config == 101 && maps == 1 && closes == 1);
	CHECK(sentinel.page == 0x7000 && sentinel.size == 8192);
	CHECK(set.member[1].attr.disabled == 0);
	r[0].hot.fast = 1;
	leave_open(&r[0], 1);
	CHECK(opens == 1);
	tach__close_enter();
	tach__close_leave(&r[1]);
	CHECK(unmaps == 0 && sentinel.page == 0x7000);
	tach__close_enter();
	tach__close_leave(&r[0]);
	CHECK(unmaps == 1 && unmapped_size == 8192 && sentinel.page == 0);
	begin();
	r[1].hybrid = &hybrid;
	r[1].topdown.group = &group;
	r[1].topdown.on = 1;
	leave_open(&r[1], 1);
	CHECK(opens == 1 && opened_config == 102 && sentinel.page == 0x7000);
}

static void no_sentinel(void)
{
	static const long none[] = {-1, -12, -4095};

	for (int i = 0; i < 3; i++) {
		begin();
		r[0].hot.fast = 1;
		sentinel_fd = none[i];
		leave_open(&r[0], 1);
		CHECK(opens == 1 && maps == 0 && closes == 0 && !sentinel.page);
		begin();
		r[0].hot.fast = 1;
		mapped = none[i];
		leave_open(&r[0], 1);
		CHECK(maps == 1 && closes == 1 && !sentinel.page && !sentinel.size);
	}
	/* Descriptors start with 0; pages may have any address. */
	begin();
	r[0].hot.fast = 1;
	sentinel_fd = 0;
	mapped = -8192;
	leave_open(&r[0], 1);
	CHECK(maps == 1 && closes == 1 && sentinel.page == -8192);
}

/* ---- a child's ---- */

static void given_up(void (*what)(void), int shared)
{
	static const pthread_mutex_t as_new = PTHREAD_MUTEX_INITIALIZER;

	begin();
	for (int i = 0; i < 3; i++) {
		r[i].next = i < 2 ? &r[i + 1] : NULL;
		r[i].fd[0] = 10 * i;
		r[i].id[0] = 100;
		r[i].fd[TACH_COUNTERS_MAX - 1] = 1;
		r[i].id[TACH_COUNTERS_MAX - 1] = 7;
	}
	r[1].hybrid = &hybrid;
	readers = &r[0];
	sentinel.page = mapped;
	memset(&lock, 1, sizeof lock);
	what();
	CHECK(memcmp(&lock, &as_new, sizeof lock) == 0 && sentinel.page == 0 && !unmaps);
	CHECK(zeroed == 3 && hybrids == 1 && shared_as == shared);
	CHECK(fds == (shared ? 0 : 3 * TACH_COUNTERS_MAX), "%d", fds);
	CHECK(shared || (id_sum == 321 && fd_sum == 33 - 3 * (TACH_COUNTERS_MAX - 2)));
	for (int i = 0; i < 3; i++) {
		CHECK(r[i].fd[0] == -1 && r[i].fd[TACH_COUNTERS_MAX - 1] == -1);
		CHECK(!r[i].owner && !r[i].hard.count && !r[i].soft.count);
		CHECK(r[i].link == (i ? &r[i - 1].next : &readers));
	}
}

static void child_of_fork(void)
{
	CHECK(hooks == 1 && hook == forked_child);
	given_up(hook, 0);
	CHECK(readers == &r[0]);
}

static void child_of_clone(void)
{
	static const long own[] = {1, 2, 3, -1, -3};

	kcmp_gives = 0;
	given_up(tach__readers_orphaned, 1);
	CHECK(!readers);
	for (int i = 0; i < 5; i++) {
		kcmp_gives = own[i];
		given_up(tach__readers_orphaned, 0);
		CHECK(!readers);
	}
}

int main(void)
{
	tach__sys = sim_sys;
	CASE(open_readers_form_a_list);
	CASE(sentinels);
	CASE(no_sentinel);
	CASE(child_of_fork);
	CASE(child_of_clone);
	return check_done();
}
