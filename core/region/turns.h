/* SPDX-License-Identifier: MIT */
/*
 * Sets of events that take turns in each thread, for more than can be counted at once. A set
 * has its turn for some outermost entries, so that no region sees it change; then the thread
 * opens the next one, as it would follow to another set. All of that is outside any region, and
 * makes system calls. What a set counted is a sample of the entries: core/snapshot/turns.c.
 */
#ifndef TACH_CORE_REGION_TURNS_H
#define TACH_CORE_REGION_TURNS_H

#include "core/region/edges.h"

struct tach__config;
struct tach__thread;
struct tach_regions_options;

/* Of a set that is one of several. */
struct tach__ring {
	struct tach__config *next; /* the first one's behind the last; NULL: it is alone */
	uint32_t sets, length;	   /* of a turn: so many entries on average */
	uint32_t begun;		   /* threads, of the first one; under the lock */
	struct tach__plan *plan;   /* the first one's: what they are together */
};

/* Of a thread. */
struct tach__turning {
	void (*end[2])(struct tach_region_mark *mark); /* of a region; NULL: no turns */
	uint64_t left;				       /* entries, of this turn */
	uint32_t due;
	uint32_t before; /* turns that the thread had */
	int leaving;	 /* it goes on with another record */
};

/* What a thread goes on with. */
struct tach__turn {
	struct tach__config *config; /* NULL: it begins */
	uint32_t generation, before;
};

/* The thread's turn ends, outside any region: before its record is given up. */
void tach__turn_leave(struct tach__thread *record, struct tach__turn *next);
/* With the lock: the set of the thread that goes on so, or begins. */
struct tach__config *tach__turn_config(struct tach__config *first,
				       const struct tach__turn *turn);
/* The thread's code is chosen; and its turn begins, when calibration is done. */
void tach__turn_choose(struct tach__thread *record, const struct tach__turn *turn);
void tach__turn_begin(struct tach__thread *record);

/*
 * What the options ask for by turns, planned: they become what the first set counts. *plan
 * NULL: it is all counted at once.
 */
int tach__ring_plan(struct tach__plan **plan, struct tach_regions_options *opt,
		    struct tach_error *err);
void tach__ring_forget(struct tach__plan *plan); /* NULL is fine */
/* Other sets beside config's own, of a plan that takes several; the ring owns the plan. */
int tach__ring_make(struct tach__config *first, struct tach__plan *plan,
		    const struct tach_regions_options *opt, struct tach_error *err);
/* With the lock: the others' references. */
void tach__ring_drop(struct tach__config *first);

#endif
