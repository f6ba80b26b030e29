/* SPDX-License-Identifier: MIT */
/*
 * Traces: each entry into a region, in a ring of its thread's. The oldest make way, and are
 * counted. Rings stay when their threads end, the last RINGS_ENDED of them.
 */
#ifndef TACH_CORE_REGION_TRACE_H
#define TACH_CORE_REGION_TRACE_H

#include <sys/types.h>
#include "core/region/edges.h"

enum { TACH__TRACE_ENTRIES = 16384 };

struct tach__traced {
	uint64_t done;	     /* its number plus one; else it is under write, or another one */
	uint64_t begun, end; /* the region clock */
	uint64_t tag;
	uint32_t id, level; /* how many regions were open around it */
	uint64_t flags;
	uint64_t sum[]; /* less what measuring them cost */
};

/* Where a copy of any entry fits. */
union tach__traced_copy {
	struct tach__traced entry;
	char room[sizeof(struct tach__traced) + TACH__SUMS * sizeof(uint64_t)];
};

/* All but `n` and the words changes under the lock. */
struct tach__trace {
	struct tach__trace *next;
	uint32_t sums, generation;
	uint64_t n;	 /* the number of the next entry; numbers are never used twice */
	uint64_t first;	 /* the number of this thread's first entry */
	uint64_t oldest; /* in a head: the number of the oldest entry that may be left */
	uint64_t ended;	 /* 0: its thread lives; else when it ended, in the order of endings */
	/* Of the process, which has no other number than its parent in a PID namespace of its
	 * own: see tach__registry.inherited. */
	uint64_t process;
	pid_t tid;
	char name[16]; /* as the thread was called when it was opened, or ended */
	uint64_t word[];
};

struct tach__thread;
void tach__trace_open(struct tach__thread *record); /* of the calling thread's record */
void tach__trace_close(struct tach__thread *record);
/* As many instructions whatever it was. */
void tach__trace_add(const struct tach__thread *record, const struct tach_region_mark *mark,
		     const struct tach__slot *slot, const uint64_t *delta,
		     const uint64_t inside[2], uint32_t flags, int fenced);

/* ---- reading, while threads go on writing ---- */

/* The next ring of this process (NULL: the first), and all but its words in *head. */
const struct tach__trace *tach__trace_next(const struct tach__trace *ring,
					   struct tach__trace *head);
/* The entry of that number, in *out; 0: it is gone. */
int tach__trace_get(const struct tach__trace *ring, uint64_t number, struct tach__traced *out);
/* Of rings that were used again. */
uint64_t tach__trace_lost(void);
uint64_t tach__trace_base(void); /* the region clock, before any entry */

#endif
