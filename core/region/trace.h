/* SPDX-License-Identifier: MIT */
/*
 * Traces: each entry into a region is written to a ring of its thread. New entries replace the
 * oldest entries; the number of replaced entries is counted. The last RINGS_ENDED rings stay
 * after their threads end.
 */
#ifndef TACH_CORE_REGION_TRACE_H
#define TACH_CORE_REGION_TRACE_H

#include <sys/types.h>
#include "core/region/edges.h"

enum { TACH__TRACE_ENTRIES = 16384 };

struct tach__traced {
	/* number of this entry plus one; another value while it is being written */
	uint64_t done;
	uint64_t begun, end; /* the region clock */
	uint64_t tag;
	uint32_t id, level; /* level: number of open regions when it began */
	uint64_t flags;
	uint64_t sum[]; /* without the cost of measuring */
};

/* Room for a copy of any entry. */
union tach__traced_copy {
	struct tach__traced entry;
	char room[sizeof(struct tach__traced) + TACH__SUMS * sizeof(uint64_t)];
};

/* Changed with the lock held, except `n` and the words. */
struct tach__trace {
	struct tach__trace *next;
	uint32_t sums, generation;
	uint64_t n;	 /* number of the next entry; numbers are never reused */
	uint64_t first;	 /* number of this thread's first entry */
	uint64_t oldest; /* in a head: number of the oldest entry that may still exist */
	/* 0: the ring's thread is live; else a number that grows with each thread that ends */
	uint64_t ended;
	/* Identifies the process: see tach__registry.inherited. The pid is not enough, because
	 * a child in a new PID namespace may have the pid of its parent. */
	uint64_t process;
	pid_t tid;
	char name[16]; /* the thread's name when it was opened or ended */
	uint64_t word[];
};

struct tach__thread;
void tach__trace_open(
	struct tach__thread *record); /* opens the ring of the calling thread's record */
void tach__trace_close(struct tach__thread *record);
/* Takes the same number of instructions for each entry. */
void tach__trace_add(const struct tach__thread *record, const struct tach_region_mark *mark,
		     const struct tach__slot *slot, const uint64_t *delta,
		     const uint64_t inside[2], uint32_t flags, int fenced);

/* ---- reading, while threads continue to write ---- */

/* Returns the next ring of this process (NULL: the first), and copies all but its words to
 * *head. */
const struct tach__trace *tach__trace_next(const struct tach__trace *ring,
					   struct tach__trace *head);
/* Copies the entry with that number to *out. Returns 0 if a later entry replaced it. */
int tach__trace_get(const struct tach__trace *ring, uint64_t number, struct tach__traced *out);
/* Returns the number of lost entries of rings that were reused. */
uint64_t tach__trace_lost(void);
uint64_t tach__trace_base(void); /* the region clock before any entry */

#endif
