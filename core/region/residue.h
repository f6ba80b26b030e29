/* SPDX-License-Identifier: MIT */
/* The cost of slow paths that they cannot measure themselves, and of code that does not measure
 * its cost. It is always the same code, so it is measured once per set: residue.c. */
#ifndef TACH_CORE_REGION_RESIDUE_H
#define TACH_CORE_REGION_RESIDUE_H

#include "core/region/edges.h"

/* Calls of a task. */
enum {
	TACH__TASK_BEGIN,
	TACH__TASK_RESUME,
	TACH__TASK_SUSPEND,
	TACH__TASK_SUSPEND_FAST, /* after a segment's STOP, which adds to no histogram */
	TACH__TASK_END,
	TACH__TASK_END_KEPT, /* as one of the worst */
	TACH__TASK_CALLS
};

/* The last index but one is [fenced]. */
struct tach__residue {
	uint64_t begin[2][2][TACH__SUMS]; /* [1]: the slot was not ready */
	uint64_t before[2][TACH__SUMS];	  /* a STOP, before it reads */
	uint64_t after[2][TACH__SUMS];	  /* a STOP, after it reads */
	/* [1]: another page than the leader's changed; the check after the reads finds it. */
	uint64_t rescheduled[2][2][TACH__SUMS]; /* after the reads of such a STOP */
	uint64_t again[2][2][TACH__SUMS];	/* their difference, as they read twice */
	uint64_t stale[2][2][TACH__SUMS];	/* a START that looked the counters up again */
	/* Without a system call, cost.h: making that ready; keeping an entry as one of the
	 * worst; a STOP that subtracts costs, after it reads; a task's calls. */
	uint64_t aside[TACH__SUMS], kept[TACH__SUMS];
	uint64_t spent[2][TACH__SUMS];
	uint64_t task[TACH__TASK_CALLS][TACH__SUMS];
	/* A recursive START whose mark lies above that of the entry around it. */
	uint64_t recursion[2][TACH__SUMS];
	/* Any START, slow or not: its counts in the enclosing region. */
	uint64_t start[2][TACH__SUMS];
};

#endif
