/* SPDX-License-Identifier: MIT */
/*
 * A reader on a machine with several core types. Every core PMU has a group of its own, of
 * which one counts at a time; a count is what that one shows, inline from its pages, plus the
 * bank: what the others held when they were last read by read(2), which stays true while the
 * lock of the counting group's leader stands still, because the kernel changes it whenever it
 * takes the group off or puts it on (kernel/events/core.c, perf_event_update_userpage).
 *
 * The hot half of such a reader has pages of zeros alone, so that all reads come to the slow
 * exit, which makes no system call until the thread was rescheduled.
 */
#ifndef TACH_CORE_READER_HYBRID_H
#define TACH_CORE_READER_HYBRID_H

#include "core/reader/reader.h"
#include "core/set/set.h"

struct tach__core {
	struct tach__group group;  /* count 0: this core type counts no member */
	uint32_t members;	   /* a bit for each */
	int fd[TACH_COUNTERS_MAX]; /* these three as in struct tach__reader */
	uint64_t id[TACH_COUNTERS_MAX];
	uint32_t mapped;
	struct tach_way way[TACH_COUNTERS_MAX]; /* by member, as fd */
	/*
	 * ns that no group counted, seen from this one while it counts, but for a constant: its
	 * enabled less what all have run. INT64_MAX: not known.
	 */
	int64_t lag;
};

struct tach__hybrid {
	int n, first; /* cores; the first of them that counts anything */
	long size;    /* of this and the pages behind */
	size_t page_size, pages_at;
	uint32_t members; /* of all cores together */
	/* Which core's count completes the bank, and its leader's lock then; 0: none. */
	volatile uint64_t key;
	uint64_t bank[TACH_COUNTERS_MAX], bank_running;
	/* Even; how often the bank was taken; when lag was looked at, and found to have grown.
	 */
	uint32_t looks, noted, grown;
	struct tach__core core[TACH__CORES_MAX];
};

/* ---- core/reader/hybrid_open.c ---- */
/* Opens, maps and enables every core's group; r->hybrid even when it fails. */
int tach__hybrid_open(struct tach__reader *r, int wide, struct tach_error *err);
/* And *at becomes NULL before the memory goes: a forked child may look. */
void tach__hybrid_close(struct tach__hybrid **at);
/* In a forked child: descriptors closed unless they are the parent's too, pages of zeros. */
void tach__hybrid_abandon(struct tach__hybrid *h, int shared);

/* ---- core/reader/hybrid_read.c: the hardware part of the slow exits ---- */
void tach__hybrid_begin(struct tach__reader *r, struct tach_mark *mark, unsigned n);
uint32_t tach__hybrid_end(struct tach__reader *r, const struct tach_mark *mark, uint64_t *delta,
			  unsigned n);
/* TACH_COUNTERS_MAX of them: 0 where a member is of another kind. */
uint32_t tach__hybrid_read(struct tach__reader *r, uint64_t *all);
/* All groups by read(2), as they come: 1, 0 for one in error state, or a negated errno. */
int tach__hybrid_read_groups(struct tach__reader *r, int downwards,
			     struct tach__group_read *to);
/* After enabling: where the times start. */
void tach__hybrid_settle(struct tach__reader *r);

#endif
