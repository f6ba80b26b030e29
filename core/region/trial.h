/* SPDX-License-Identifier: MIT */
/*
 * Regions of the library's own, by which it finds out what measuring costs: with the ids below
 * TACH__SITE_FIRST, of the calling thread, outside any region, signals held.
 */
#ifndef TACH_CORE_REGION_TRIAL_H
#define TACH_CORE_REGION_TRIAL_H

#include "core/region/region.h"

/* What a trial writes before an inner START: the same value, or one that has a cold exit. */
struct tach__poke {
	volatile uint64_t *at;
	uint64_t value;
};

enum { TACH__SHOWN = 3, TACH__TRIES = 16 };
/* In pages of its own: the stack may be a signal handler's. */
struct tach__shown {
	uint64_t sum[TACH__SHOWN][TACH__SUMS][TACH__TRIES];
	uint64_t before[TACH__SHOWN][TACH__SUMS];
};

struct tach__trials {
	struct tach__thread *record;
	struct tach__shown *shown;
	/* How often each is run: for nothing, then to be shown, TACH__TRIES at most. */
	int warm, tries;
	/* Which their slots share; NULL: the set's entries have none. */
	uint32_t *histograms;
	struct tach__sampling *sampling;
	int planted; /* 1: what is run shows reschedules of its own, the least there are */
};

/* One region in another; a pair of them, and three deep; plain inner ones, or fenced. */
void tach__trial_one(const struct tach__poke *poke);
void tach__trial_one_fenced(const struct tach__poke *poke);
void tach__trial_two(const struct tach__poke *poke);
void tach__trial_three(const struct tach__poke *poke);
void tach__trial_three_fenced(const struct tach__poke *poke);
/* For what a pair adds to the region around it: without a poke in between. */
void tach__trial_pair(const struct tach__poke *unused);
void tach__trial_pair_fenced(const struct tach__poke *unused);
/* The outer one ends first. */
void tach__trial_overlap(const struct tach__poke *unused);
void tach__trial_overlap_fenced(const struct tach__poke *unused);
/* A flat one; as tach__trial_moved; with a region in it, the second one behind a poke. */
void tach__trial_flat(const struct tach__poke *unused);
void tach__trial_flat_moved(const struct tach__poke *poke);
void tach__trial_flat_pair(const struct tach__poke *unused);
void tach__trial_flat_one(const struct tach__poke *poke);
/* A poke's value: by how much the lock changed of the leader's page, or of another one. */
#define TACH__POKE_PAGE(by, elsewhere) ((uint64_t)(by) << 32 * (elsewhere))
/* Since the inner START before: poke->at has the leader's lock and the sum of all. */
void tach__trial_stale(const struct tach__poke *poke);
void tach__trial_stale_fenced(const struct tach__poke *poke);
/* Since the inner START; an odd lock stays odd. */
void tach__trial_moved(const struct tach__poke *poke);
void tach__trial_moved_fenced(const struct tach__poke *poke);

/* Their regions: the innermost, the one around all, the one between. */
enum { TACH__TRIAL_INNER, TACH__TRIAL_OUTER, TACH__TRIAL_MIDDLE };
extern const uint32_t tach__trial_ids[TACH__SHOWN];
extern const uint32_t tach__trial_fenced_ids[TACH__SHOWN];
extern const uint32_t tach__trial_flat_ids[TACH__SHOWN];

/*
 * Into trials->shown, sorted: what the regions of those ids show, each time. Not of a trial
 * that the kernel came into, as far as there are others: on a busy machine it may come into all
 * of a few.
 */
void tach__trials_run(const struct tach__trials *trials,
		      void (*trial)(const struct tach__poke *), const struct tach__poke *poke,
		      const uint32_t *id);

/* Readies their slots and memory; 0: there is none. Then the numbers are the caller's to set.
 */
int tach__trials_begin(struct tach__trials *trials, struct tach__thread *record);
void tach__trials_end(const struct tach__trials *trials);

/*
 * In a cold exit of the calling thread: as if no region were open, and with all put back but
 * that the next START takes the cold exit. 0: there is no memory.
 */
int tach__trials_inside(struct tach__thread *record,
			void (*measure)(const struct tach__trials *trials));
/* residue.c: what cold exits cost, into the thread's record and its set's. */
void tach__residue_measure(const struct tach__trials *trials);

#endif
