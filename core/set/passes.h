/* SPDX-License-Identifier: MIT */
/* Divides the events of a benchmark into passes that each fit the PMU. */
#ifndef TACH_CORE_SET_PASSES_H
#define TACH_CORE_SET_PASSES_H

#include <tach/schedule.h>

#define TACH__PASSES_REPEATED "instructions" /* in every pass, if there are several passes */

/* The maximum number of passes; TACH_ERR_TOOMANY above it. No vendor's tree of metrics needs
 * more. */
enum { TACH__PASSES_MAX = 64 };

/* Lists of events for tach_set_create, one for each pass. It is one allocation; free() it. */
struct tach__passes {
	int count; /* at least 1 */
	char *events[TACH__PASSES_MAX];
	char text[]; /* the texts of the lists */
};

/*
 * with_interrupts: leaves room for interrupts in every pass. Derived events that need several
 * events are in a separate pass, the last. An event that cannot be encoded is in the first
 * pass, where the set reports its error. Returns 0, TACH_ERR_TOOMANY, TACH_ERR_NOMEM, or the
 * scheduler's error for events that fit in no pass.
 */
int tach__passes_plan(struct tach__passes **out, const char *events, uint32_t privilege,
		      int with_interrupts, struct tach_error *err);

#endif
