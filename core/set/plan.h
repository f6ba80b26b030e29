/* SPDX-License-Identifier: MIT */
/* More events than can be counted at once, as sets that can, and what they are together. */
#ifndef TACH_CORE_SET_PLAN_H
#define TACH_CORE_SET_PLAN_H

#include <tach/schedule.h>
#include "core/base/arena.h"
#include "core/set/passes.h"
#include "core/set/place.h"

/* One event is in every pass. */
enum { TACH__PLAN_EVENTS = TACH_SCHEDULE_MAX - 1, TACH__PLAN_METRICS = 512 };

struct tach__passes_metric {
	const char *name, *text; /* N<i> is event i */
	struct tach__place node;
	struct tach_formula *formula; /* NULL until tach__plan_compile */
};

/*
 * What passes are of. In a pass event i is called m<i>, but the one that all of them count
 * has its own name there.
 */
struct tach__passes_whole {
	int nevents, nmetrics;
	const char *const *event; /* names */
	const struct tach__passes_metric *metric;
	const char *repeated; /* counted in each pass */
	int repeats;	      /* the event that it is, or -1: none that was asked for */
	double bound;	      /* how far it may differ: a fraction of the larger count */
};

struct tach__plan {
	struct tach__passes_whole whole;
	struct tach__passes *passes; /* a list of events each */
	char note[200];		     /* what is not as it was asked for, or "" */
	/* Of `whole`. */
	const char *event[TACH__PLAN_EVENTS], *string[TACH__PLAN_EVENTS];
	struct perf_event_attr attr[TACH__PLAN_EVENTS];
	struct tach__passes_metric metric[TACH__PLAN_METRICS];
	struct tach__arena arena;
};

/*
 * The fewest sets that hold the events, and what the metrics need; either may be NULL. 0, or as
 * tach_set_create; a column is of the metrics, where there are some. The plan stays in place.
 */
int tach__plan_make(struct tach__plan *plan, const char *events, const char *metrics,
		    struct tach_error *err);
int tach__plan_compile(struct tach__plan *plan, struct tach_error *err);
void tach__plan_free(struct tach__plan *plan);

/* Which event of the whole that is, by the name it has in a pass; -1: none. */
int tach__plan_event(const struct tach__passes_whole *whole, const char *name);

#endif
