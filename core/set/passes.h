/* SPDX-License-Identifier: MIT */
/* The events of a benchmark, split into passes that each fit the PMU. */
#ifndef TACH_CORE_SET_PASSES_H
#define TACH_CORE_SET_PASSES_H

#include <tach/schedule.h>

#define TACH__PASSES_REPEATED "instructions" /* in every pass when there are several */

/* More than any vendor's whole tree of metrics takes: TACH_ERR_TOOMANY. */
enum { TACH__PASSES_MAX = 64 };

/* Lists of events for tach_set_create, one per pass. One allocation: free(). */
struct tach__passes {
	int count; /* at least 1 */
	char *events[TACH__PASSES_MAX];
	char text[]; /* the whole that the passes divide */
};

/*
 * with_interrupts: leave room for interrupts in every pass. Derived events of several events
 * have a pass of their own, the last. An event that cannot be encoded goes into the first pass,
 * where the set reports its error. Returns 0, TACH_ERR_TOOMANY, TACH_ERR_NOMEM, or the
 * scheduler's error for events that fit nowhere.
 */
int tach__passes_plan(struct tach__passes **out, const char *events, uint32_t privilege,
		      int with_interrupts, struct tach_error *err);

#endif
