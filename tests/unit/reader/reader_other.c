/* SPDX-License-Identifier: MIT */
/*
 * Another thread ends a region and reads it: groups, hybrids, top-down metrics, emulated and
 * software counts; groups that lost their counters, were reset or were closed in between. The
 * kernel is simulated: read(2) returns what the test scripts.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "core/os/sys.h"
#include "core/reader/hybrid.h"
#include "core/reader/reader.h"
#include "core/set/set.h"
#include "tests/check.h"

enum { HARD = 3, SOFT = 4, CORE = 5, CORES = 2, MEMBERS = 3, BEGUN = 10 };

static struct tach__reader reader;
static struct tach__hybrid hybrid;
static struct tach_set set;
static struct perf_event_mmap_page page;
static struct tach_mark mark;
static uint64_t delta[TACH_COUNTERS_MAX], error, emulated[TACH__EMULATED_COUNTS];
static struct tach__group_read group[8]; /* by descriptor */
static long fails[8];			 /* 1: error state; negative: -errno */
static int reads[8];

static long sys(long number, long a, long b, long c, long d, long e, long f)
{
	(void)c, (void)d, (void)e, (void)f;
	if (number == SYS_ioctl && b == (long)PERF_EVENT_IOC_ID) {
		*(uint64_t *)c = (uint64_t)(100 + a);
		return 0;
	}
	if (number != SYS_read || a < HARD || a >= CORE + CORES) {
		CHECK(0, "system call %ld of %ld", number, a);
		return -ENOSYS;
	}
	reads[a]++;
	if (fails[a])
		return fails[a] < 0 ? fails[a] : 0;
	memcpy((void *)b, &group[a], sizeof group[a]);
	return sizeof group[a];
}

static void group_of(struct tach__group *g, int descriptor, int count)
{
	*g = (struct tach__group){
		.leader = descriptor, .id = (uint64_t)(100 + descriptor), .count = count};
	for (int i = 0; i < count; i++)
		g->member[i] = (uint8_t)i;
}

/*
 * A set of three hardware members: at the mark their counts are 1000, 2000, 3000, and at the
 * end they have grown by 7, 8, 9.
 */
static void begin(void)
{
	tach__sys = sys;
	memset(&reader, 0, sizeof reader);
	memset(&hybrid, 0, sizeof hybrid);
	memset(&set, 0, sizeof set);
	memset(&page, 0, sizeof page);
	memset(&mark, 0, sizeof mark);
	memset(group, 0, sizeof group);
	memset(fails, 0, sizeof fails);
	memset(reads, 0, sizeof reads);
	memset(delta, 0x5a, sizeof delta);
	set.count = MEMBERS;
	reader.set = &set;
	reader.extend = 1;
	page.lock = BEGUN;
	mark.lock = BEGUN;
	group_of(&reader.hard, HARD, MEMBERS);
	reader.soft.leader = -1;
	for (int m = 0; m < MEMBERS; m++) {
		reader.hot.way[m].page = &page;
		mark.value[m] = 1000 * (uint64_t)(m + 1);
		group[HARD].value[m] = mark.value[m] + 7 + (uint64_t)m;
	}
	group[HARD].count = MEMBERS;
}

static uint32_t end(void)
{
	return tach__reader_end_other((const struct tach_reader *)&reader, &mark, delta,
				      &error);
}

static int is(uint64_t a, uint64_t b, uint64_t c)
{
	if (delta[0] == a && delta[1] == b && delta[2] == c)
		return 1;
	printf("# %llu %llu %llu\n", (unsigned long long)delta[0], (unsigned long long)delta[1],
	       (unsigned long long)delta[2]);
	return 0;
}

static void another_thread_reads_the_end(void)
{
	begin();
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED) && is(7, 8, 9) && error == 0);
	CHECK(reads[HARD] == 1);
	/* The leader's lock has changed: the group was rescheduled. */
	begin();
	page.lock = BEGUN + 2;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_RESCHEDULED));
	CHECK(is(7, 8, 9));
	/*
	 * The group had no counters for a time: its times show this, or the thread recorded it.
	 */
	begin();
	group[HARD].enabled = 50;
	group[HARD].running = 40;
	reader.lag = 10;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED));
	reader.lag = 9;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE));
	begin();
	reader.grown_lock = BEGUN + 2;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE));
}

/* The thread ended and closed the events, or they were reset or stopped: all values are 0. */
static void failed_reads_are_lost(void)
{
	static const long how[] = {-EBADF, -EIO, 1};

	for (int i = 0; i < 3; i++) {
		begin();
		fails[HARD] = how[i];
		CHECK(end() == TACH_FLAG_LOST && is(0, 0, 0), "%ld", how[i]);
	}
	begin();
	group[HARD].value[1] = 5; /* less than at the mark */
	CHECK(end() & TACH_FLAG_LOST && is(0, 0, 0));
	/* If the mark has no counts, nothing is read. */
	begin();
	mark.lock = BEGUN | 1;
	mark.flags = TACH_FLAG_LOST;
	CHECK(end() == TACH_FLAG_LOST && is(0, 0, 0) && reads[HARD] == 0);
	/* If a file of the program has the descriptor's number, it is not read. */
	begin();
	reader.hard.id++;
	CHECK(end() == TACH_FLAG_LOST && is(0, 0, 0) && reads[HARD] == 0);
}

/* With read(2) at both ends, the mark's flags stay, and MIXED is not set. */
static void by_read(void)
{
	begin();
	mark.lock = BEGUN | 1;
	mark.flags = TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE) && is(7, 8, 9));
}

/* A group that had counters for a part of the time is scaled. */
static void multiplexed_group_is_scaled(void)
{
	begin();
	set.flags = TACH_SET_MULTIPLEX;
	mark.lock = BEGUN | 1;
	mark.flags = TACH_FLAG_SYSCALL;
	mark.enabled = 100;
	mark.running = 50;
	group[HARD].enabled = 300;
	group[HARD].running = 150;
	for (int m = 0; m < MEMBERS; m++)
		group[HARD].value[m] = mark.value[m] + 10 * (uint64_t)(m + 1);
	CHECK(end() & TACH_FLAG_SCALED && is(20, 40, 60));
	CHECK(end() & TACH_FLAG_INCOMPLETE);
	/* Without TACH_SET_MULTIPLEX, values are never scaled. */
	set.flags = 0;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE) && is(10, 20, 30));
	/* A group that never ran cannot be scaled. */
	set.flags = TACH_SET_MULTIPLEX;
	group[HARD].running = mark.running;
	CHECK(end() & TACH_FLAG_LOST && is(0, 0, 0));
	/* The group was never enabled, because other code turned it off. */
	group[HARD].enabled = mark.enabled;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE) && is(10, 20, 30));
	/* The times of the groups may differ by the time between their reads. */
	group[HARD].enabled++;
	group[HARD].running += 3;
	CHECK(end() == TACH_FLAG_SYSCALL && is(10, 20, 30));
}

/* ---- hybrids: one group per core type; the result is their sum ---- */

static void begin_hybrid(void)
{
	begin();
	reader.hard.count = MEMBERS;
	reader.hybrid = &hybrid;
	hybrid.n = CORES;
	hybrid.members = 7;
	for (int k = 0; k < CORES; k++) {
		group_of(&hybrid.core[k].group, CORE + k, MEMBERS);
		hybrid.core[k].members = 7;
		for (int m = 0; m < MEMBERS; m++)
			group[CORE + k].value[m] = mark.value[m] / 2 + (uint64_t)(k + m);
	}
}

static void hybrids(void)
{
	begin_hybrid();
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_RESCHEDULED));
	CHECK(is(1, 3, 5) && reads[CORE] == 1 && reads[CORE + 1] == 1 && reads[HARD] == 0);
	/* If a core type counts no member, the time on that core type is missing. */
	begin_hybrid();
	hybrid.core[1].members = hybrid.core[1].group.count = 0;
	mark.value[0] = mark.value[1] = mark.value[2] = 0;
	CHECK(end() & TACH_FLAG_INCOMPLETE && reads[CORE + 1] == 0 && is(500, 1001, 1502));
	/* No group counted for a time: the thread recorded it, or the times show it. */
	begin_hybrid();
	hybrid.grown = BEGUN + 2;
	CHECK(end() & TACH_FLAG_INCOMPLETE);
	begin_hybrid();
	group[CORE].enabled = 50;
	group[CORE].running = group[CORE + 1].running = 20;
	hybrid.core[0].lag = 10;
	CHECK(!(end() & TACH_FLAG_INCOMPLETE));
	group[CORE].enabled = 51;
	CHECK(end() & TACH_FLAG_INCOMPLETE);
	/* One of the groups cannot be read. */
	begin_hybrid();
	fails[CORE + 1] = -EBADF;
	CHECK(end() == TACH_FLAG_LOST && is(0, 0, 0));
}

/* ---- top-down metrics: slots, then two metrics ---- */

static void begin_topdown(void)
{
	begin();
	reader.topdown.on = 1;
	reader.topdown.group = &reader.hard;
	reader.topdown.members = 6;
	reader.topdown.field[1] = 5;
	/* The metric's error is three steps: core/reader/fields.c. */
	reader.topdown.field[2] = 3;
}

/* read(2) resets the registers, and `turn` tells the thread that. */
static void topdown(void)
{
	begin_topdown();
	mark.enabled = 4;
	group[HARD].value[0] = mark.value[0] + 1000;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED) && is(1000, 8, 9));
	CHECK(error == tach__topdown_unknown(1000, 4) + 4, "%llu", (unsigned long long)error);
	CHECK(reader.topdown.turn == 1);
	CHECK(!(end() & TACH_FLAG_LOST) && reader.topdown.turn == 3);
	/* A metric that decreased by less than its error counts as unchanged. */
	begin_topdown();
	group[HARD].value[0] = mark.value[0] + 1000;
	error = tach__topdown_unknown(1000, 4);
	group[HARD].value[1] = mark.value[1] - error;
	group[HARD].value[2] = mark.value[2] - 3 * error;
	CHECK(!(end() & TACH_FLAG_LOST) && is(1000, 0, 0));
	/* Slots that decreased have been reset. */
	begin_topdown();
	group[HARD].value[0] = 1;
	CHECK(end() & TACH_FLAG_LOST && is(0, 0, 0));
	/* If both ends used read(2), the mark adds no error. */
	begin_topdown();
	mark.lock |= 1;
	mark.flags = TACH_FLAG_SYSCALL;
	mark.enabled = mark.running = 4;
	group[HARD].enabled = group[HARD].running = 9;
	CHECK(end() == TACH_FLAG_SYSCALL && error == tach__topdown_unknown(7, 4));
}

/* ---- members of other kinds ---- */

static void members_of_other_kinds(void)
{
	begin();
	reader.hard.count = 1;
	reader.emulated.count = 1;
	reader.emulated.counts = emulated;
	set.member[1].kind = TACH_MEMBER_EMULATED;
	set.member[1].emulated = TACH__EMULATED_LOADS;
	emulated[TACH__EMULATED_LOADS] = mark.value[1] + 21;
	group_of(&reader.soft, SOFT, 1);
	reader.soft.member[0] = 2;
	group[SOFT].value[0] = mark.value[2] + 33;
	CHECK(end() == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED) && is(7, 21, 33));
	/* Without hardware. */
	reader.hard.count = 0;
	reader.hard.leader = -1;
	delta[0] = 0;
	CHECK(end() == 0 && is(0, 21, 33));
	reader.emulated.count = 0;
	set.member[1].kind = TACH_MEMBER_SOFTWARE;
	CHECK(end() == TACH_FLAG_SYSCALL && delta[2] == 33);
	fails[SOFT] = -EBADF;
	CHECK(end() & TACH_FLAG_LOST && is(0, 0, 0));
}

int main(void)
{
	CASE(another_thread_reads_the_end);
	CASE(failed_reads_are_lost);
	CASE(by_read);
	CASE(multiplexed_group_is_scaled);
	CASE(hybrids);
	CASE(topdown);
	CASE(members_of_other_kinds);
	return check_done();
}
