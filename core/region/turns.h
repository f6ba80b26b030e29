/* SPDX-License-Identifier: MIT */
/*
 * Sets of events that take turns in each thread, for more events than can be counted at once. A
 * turn lasts for a number of outermost entries, so that the set never changes inside a region.
 * Then the thread opens the next set, in the same way as after a new configuration. This
 * happens outside any region, and makes system calls. The counts of a set are a sample of the
 * entries: see core/snapshot/turns.c.
 */
#ifndef TACH_CORE_REGION_TURNS_H
#define TACH_CORE_REGION_TURNS_H

#include "core/region/edges.h"

struct tach__config;
struct tach__thread;
struct tach_regions_options;

/* The place of a set among the sets that take turns. */
struct tach__ring {
	struct tach__config *next; /* the next set, in a cycle; NULL: there is only one set */
	uint32_t sets, length;	   /* `length` of a turn: number of entries on average */
	uint32_t begun;		 /* in the first config: number of threads that began; locked */
	struct tach__plan *plan; /* in the first config: describes all sets together */
};

/* The state of a thread's turn. */
struct tach__turning {
	void (*end[2])(struct tach_region_mark *mark); /* end of a region; NULL: no turns */
	uint64_t left;				       /* entries left in this turn */
	uint32_t due;
	uint32_t before; /* turns that the thread has completed */
	int leaving;	 /* 1: the thread continues with another record */
};

/* The turn with which a thread continues. */
struct tach__turn {
	struct tach__config *config; /* its last set; NULL: the thread begins */
	uint32_t generation, before;
};

/* Ends the thread's turn. Call it outside any region, before the record is given up. */
void tach__turn_leave(struct tach__thread *record, struct tach__turn *next);
/* Returns the next set for a thread that had `turn`, or its first set. Call it with the lock
 * held. */
struct tach__config *tach__turn_config(struct tach__config *first,
				       const struct tach__turn *turn);
/* Call tach__turn_choose when the thread's code is chosen, and tach__turn_begin after
 * calibration. */
void tach__turn_choose(struct tach__thread *record, const struct tach__turn *turn);
void tach__turn_begin(struct tach__thread *record);

/* Divides the events of the options into sets that take turns. The options then name the first
 * set. *plan is NULL if all events can be counted at once. */
int tach__ring_plan(struct tach__plan **plan, struct tach_regions_options *opt,
		    struct tach_error *err);
void tach__ring_forget(struct tach__plan *plan); /* NULL is fine */
/* Makes the sets of a plan other than the set of `first`. The ring then owns the plan. */
int tach__ring_make(struct tach__config *first, struct tach__plan *plan,
		    const struct tach_regions_options *opt, struct tach_error *err);
/* With the lock: drops the references of the other configurations. */
void tach__ring_drop(struct tach__config *first);

#endif
