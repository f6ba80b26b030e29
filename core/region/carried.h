/* SPDX-License-Identifier: MIT */
/* The data that a task carries from segment to segment, stored in its words. */
#ifndef TACH_CORE_REGION_CARRIED_H
#define TACH_CORE_REGION_CARRIED_H

#include <tach/task.h>
#include "core/region/edges.h"

enum { TACH__TASK_FLAGS = 6 }; /* struct tach__slot's provenance */

/* The sums of one part of a slot, and the slot's flags. */
struct tach__task_sums {
	uint64_t calls, nested[2], flag[TACH__TASK_FLAGS], sum[TACH__SUMS];
};

/* Stored in a task's words. */
struct tach__carried {
	uint32_t generation; /* generation of the set that counted the task */
	uint32_t flags;
	uint64_t segments, count; /* `count`: number of counters */
	uint64_t begun;		  /* the region clock at the first segment */
	uint64_t sum[TACH__SUMS];
	/* For the running segment: */
	const struct tach__carried
		*here; /* address of this struct, by which a mark in a task is recognized */
	/* the thread that runs the segment: address of one of the thread's variables */
	const void *thread;
	uint64_t tag_before;
	uint32_t task_before; /* split.h */
	uint32_t number;      /* number of its region, 0 while unknown */
	uint64_t opening;     /* the thread's opening before the segment */
	const struct tach__part *part;
	struct tach__task_sums before; /* if `part` is set */
	uint64_t called; /* value of current_sums for the sums that include the task's call */
};
TACH_STATIC_ASSERT(sizeof(struct tach__carried) <= sizeof(((struct tach_task *)0)->word),
		   "its words");

TACH_INLINE struct tach__carried *tach__carried(const struct tach_task *task)
{
	return (struct tach__carried *)(uintptr_t)task->word;
}

#endif
