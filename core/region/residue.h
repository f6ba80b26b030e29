/* SPDX-License-Identifier: MIT */
/*
 * The part of a slow path's cost that the slow path cannot measure, and the cost of code that
 * does not measure itself. The code is always the same, so residue.c measures it once per
 * set.
 */
#ifndef TACH_CORE_REGION_RESIDUE_H
#define TACH_CORE_REGION_RESIDUE_H

#include "core/region/edges.h"

/* Calls of a task. */
enum {
	TACH__TASK_BEGIN,
	TACH__TASK_RESUME,
	TACH__TASK_SUSPEND,
	TACH__TASK_SUSPEND_FAST, /* code after a segment's STOP, without a histogram */
	TACH__TASK_END,
	TACH__TASK_END_KEPT, /* as one of the worst */
	TACH__TASK_CALLS
};

/* Costs by path. The index before the last is [fenced]. */
struct tach__residue {
	uint64_t begin[2][2][TACH__SUMS]; /* [1]: the slot was not ready */
	uint64_t before[2][TACH__SUMS];	  /* a STOP, before it reads */
	uint64_t after[2][TACH__SUMS];	  /* a STOP, after it reads */
	/* [1]: another page than the leader's changed; the check after the reads finds it. */
	uint64_t rescheduled[2][2][TACH__SUMS]; /* a STOP after a reschedule, after it reads */
	uint64_t again[2][2][TACH__SUMS]; /* extra counts of such a STOP: it reads twice */
	uint64_t stale[2][2][TACH__SUMS]; /* a START that looked the counters up again */
	/* Costs without a system call (cost.h). aside: tach__aside_ready. kept: keeping an
	 * entry as one of the worst. spent: a STOP that subtracts costs, after it reads. */
	uint64_t aside[TACH__SUMS], kept[TACH__SUMS];
	uint64_t spent[2][TACH__SUMS];
	uint64_t task[TACH__TASK_CALLS][TACH__SUMS];
	/* A recursive START whose mark is above the mark of the enclosing entry. */
	uint64_t recursion[2][TACH__SUMS];
	/* Counts that any START, fast or slow, adds to the enclosing region. */
	uint64_t start[2][TACH__SUMS];
};

#endif
