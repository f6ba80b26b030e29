/* SPDX-License-Identifier: MIT */
/* Divides events that cannot be counted at once into several sets, and describes all of them
 * together. */
#ifndef TACH_CORE_SET_PLAN_H
#define TACH_CORE_SET_PLAN_H

#include <tach/schedule.h>
#include "core/base/arena.h"
#include "core/set/passes.h"
#include "core/set/place.h"

/* One element is reserved for the event that is in every pass. */
enum { TACH__PLAN_EVENTS = TACH_SCHEDULE_MAX - 1, TACH__PLAN_METRICS = 512 };

struct tach__passes_metric {
	const char *name, *text; /* N<i> is event i */
	struct tach__place node;
	struct tach_formula *formula; /* NULL until tach__plan_compile */
};

/*
 * All events and metrics, which passes divide. In a pass, event i has the name m<i>, except the
 * event that all passes count, which keeps its own name.
 */
struct tach__passes_whole {
	int nevents, nmetrics;
	const char *const *event; /* names */
	/* operand[i] is 1 if only metrics use event i and the caller named other events. NULL:
	 * the caller named all events. */
	const unsigned char *operand;
	const struct tach__passes_metric *metric;
	const char *repeated; /* counted in each pass */
	int repeats;	      /* number of this event in the list, or -1: not in the list */
	double bound; /* allowed difference of its counts, as a fraction of the larger count */
};

struct tach__plan {
	struct tach__passes_whole whole;
	struct tach__passes *passes; /* a list of events for each pass */
	char note[200];		     /* the parts of the request that are missing, or "" */
	/* The arrays that `whole` points to. */
	const char *event[TACH__PLAN_EVENTS], *string[TACH__PLAN_EVENTS];
	unsigned char operand[TACH__PLAN_EVENTS];
	struct perf_event_attr attr[TACH__PLAN_EVENTS];
	struct tach__passes_metric metric[TACH__PLAN_METRICS];
	struct tach__arena arena;
};

/*
 * Makes the fewest sets that contain the events and the events of the metrics. Either list may
 * be NULL. Returns as tach_set_create. If there are metrics, the column of an error is in their
 * text. Do not move the plan: it contains pointers to itself.
 */
int tach__plan_make(struct tach__plan *plan, const char *events, const char *metrics,
		    struct tach_error *err);
int tach__plan_compile(struct tach__plan *plan, struct tach_error *err);
void tach__plan_free(struct tach__plan *plan);

/* Returns the event of the whole by its name in a pass, or -1. */
int tach__plan_event(const struct tach__passes_whole *whole, const char *name);

#endif
