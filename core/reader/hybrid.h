/* SPDX-License-Identifier: MIT */
/*
 * A reader on a machine with several core types. Each core PMU has its own group, and only one
 * of them counts at a time. A count is the value of that group, read inline from its pages,
 * plus the bank: the values of the other groups at the last read(2). The bank is valid while
 * the lock of the counting group's leader is unchanged, because the kernel changes it whenever
 * it takes the group off the PMU or puts it on (kernel/events/core.c,
 * perf_event_update_userpage).
 *
 * The hot half of such a reader has only pages of zeros. So all reads take the slow path, which
 * makes no system call until the thread was rescheduled.
 */
#ifndef TACH_CORE_READER_HYBRID_H
#define TACH_CORE_READER_HYBRID_H

#include "core/reader/reader.h"
#include "core/set/set.h"

struct tach__core {
	struct tach__group group;  /* count 0: this core type counts no member */
	uint32_t members;	   /* a bit for each member that it counts */
	int fd[TACH_COUNTERS_MAX]; /* fd, id and mapped: as in struct tach__reader */
	uint64_t id[TACH_COUNTERS_MAX];
	uint32_t mapped;
	struct tach_way way[TACH_COUNTERS_MAX]; /* indexed by member, like fd */
	/* The enabled time of this group minus the running times of all groups, in ns, read
	 * while this group counts. Except for a constant, this is the time in which no group
	 * counted. INT64_MAX: unknown. */
	int64_t lag;
};

struct tach__hybrid {
	int n, first; /* number of cores; the first core that counts anything */
	long size;    /* bytes of this struct and the pages after it */
	size_t page_size, pages_at;
	uint32_t members; /* bits of the members that any core counts */
	/* The core whose count completes the bank, and the lock of its leader at that time; 0:
	 * no core. */
	volatile uint64_t key;
	uint64_t bank[TACH_COUNTERS_MAX], bank_running;
	/* looks: 2 for each time that the bank was taken. noted, grown: the value of looks when
	 * lag was last read, and when it last grew. */
	uint32_t looks, noted, grown;
	struct tach__core core[TACH__CORES_MAX];
};

/* ---- core/reader/hybrid_open.c ---- */
/* Opens, maps and enables the group of each core. If opening fails, r->hybrid is set, too. */
int tach__hybrid_open(struct tach__reader *r, int wide, struct tach_error *err);
/* Sets *at to NULL before it frees the memory, because a forked child may read it. */
void tach__hybrid_close(struct tach__hybrid **at);
/* In a forked child: closes descriptors unless they are shared with the parent; maps zeros. */
void tach__hybrid_abandon(struct tach__hybrid *h, int shared);

/* ---- core/reader/hybrid_read.c: the hardware part of the slow paths ---- */
void tach__hybrid_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n);
uint32_t tach__hybrid_end(struct tach__reader *r, const struct tach_mark *mark, uint64_t *delta,
			  unsigned n);
/* Reads TACH_COUNTERS_MAX values. Members of other kinds get 0. */
uint32_t tach__hybrid_read(struct tach__reader *r, uint64_t *all);
/*
 * Reads all groups by read(2), and enables none. Returns 1, 0 if a group is in error state, or
 * a negated errno.
 */
int tach__hybrid_read_groups(struct tach__reader *r, int downwards,
			     struct tach__group_read *to);
/* Sets the first lags. Call it after the groups were enabled. */
void tach__hybrid_settle(struct tach__reader *r);

#endif
