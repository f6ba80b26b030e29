/* SPDX-License-Identifier: MIT */
/* What `tach run --passes` counts in which run. */
#ifndef TOOLS_TACH_RUN_PLAN_H
#define TOOLS_TACH_RUN_PLAN_H

#include <tach/schedule.h>
#include "core/base/arena.h"
#include "core/bench/passes.h"
#include "core/snapshot/passes.h"

/* One event is in every pass. */
enum { RUN_PLAN_EVENTS = TACH_SCHEDULE_MAX - 1, RUN_PLAN_METRICS = 512 };

struct run_plan {
	struct tach__passes_whole whole;
	struct tach__passes *passes; /* a list of events each */
	char note[200];		     /* what is not as it was asked for, or "" */
	/* Of `whole`. */
	const char *event[RUN_PLAN_EVENTS], *string[RUN_PLAN_EVENTS];
	struct perf_event_attr attr[RUN_PLAN_EVENTS];
	struct tach__passes_metric metric[RUN_PLAN_METRICS];
	struct tach__arena arena;
};

/*
 * The fewest sets that hold the events, and what the metrics need; either may be NULL. 0, or
 * the exit status: why was printed.
 */
int run_plan_make(struct run_plan *plan, const char *events, const char *metrics);
void run_plan_free(struct run_plan *plan);

#endif
