/* SPDX-License-Identifier: MIT */
/* Regions of the library that measure the cost of measuring. They have ids below
 * TACH__SITE_FIRST, and run in the calling thread, outside any region, with signals held. */
#ifndef TACH_CORE_REGION_TRIAL_H
#define TACH_CORE_REGION_TRIAL_H

#include "core/region/region.h"

/* A trial writes this value to this address before an inner START. The value is the old one, or
 * causes a slow path. */
struct tach__poke {
	volatile uint64_t *at;
	uint64_t value;
};

enum { TACH__SHOWN = 3, TACH__TRIES = 16 };
/* Stored in pages of its own, because the stack may be a signal handler's. */
struct tach__shown {
	uint64_t sum[TACH__SHOWN][TACH__SUMS][TACH__TRIES];
	uint64_t before[TACH__SHOWN][TACH__SUMS];
};

struct tach__trials {
	struct tach__thread *record;
	struct tach__shown *shown;
	/*
	 * Number of runs of each trial: `warm` to warm up, then `tries`, at most TACH__TRIES.
	 */
	int warm, tries;
	/* All slots of trials share these. NULL: the set has no histograms. */
	uint32_t *histograms;
	struct tach__sampling *sampling;
	/* Worst entries of the plain inner region, and the record's own; NULL: none are kept.
	 */
	struct tach__worst *worst, *worst_before;
	int planted; /* 1: the trials cause their own reschedules, so take the minimum */
};

/*
 * one: one region inside another. two: two inside another. three: three levels. The inner
 * regions are unfenced or fenced.
 */
void tach__trial_one(const struct tach__poke *poke);
void tach__trial_one_fenced(const struct tach__poke *poke);
void tach__trial_two(const struct tach__poke *poke);
void tach__trial_three(const struct tach__poke *poke);
void tach__trial_three_fenced(const struct tach__poke *poke);
/* Measures the cost of a pair in its enclosing region. No poke is between the edges. */
void tach__trial_pair(const struct tach__poke *unused);
void tach__trial_pair_fenced(const struct tach__poke *unused);
/* A pair that tach__hooked_pair runs. */
void tach__trial_pair_hooked(const struct tach__poke *unused);
/* The outer region ends first. */
void tach__trial_overlap(const struct tach__poke *unused);
void tach__trial_overlap_fenced(const struct tach__poke *unused);
/* cost.h: tach__aside_ready; tach__cost_add without a cost, in the outer or the middle region.
 */
void tach__trial_ready(const struct tach__poke *unused);
void tach__trial_add(const struct tach__poke *unused);
void tach__trial_spent(const struct tach__poke *unused);
void tach__trial_spent_fenced(const struct tach__poke *unused);
/* A recursion: the inner mark is below the outer mark, as usual, or above it. */
void tach__trial_below(const struct tach__poke *unused);
void tach__trial_below_fenced(const struct tach__poke *unused);
void tach__trial_above(const struct tach__poke *unused);
void tach__trial_above_fenced(const struct tach__poke *unused);
/* Trials of a task's calls. At its end, the task has a sum that is one larger than the one at
 * poke->at, or no sum. */
void tach__trial_task_begin(const struct tach__poke *unused);
void tach__trial_task_resume(const struct tach__poke *unused);
void tach__trial_task_segment(const struct tach__poke *unused);
void tach__trial_task_end(const struct tach__poke *poke);
/* Trials of a flat region: plain; with a page that changed, as in tach__trial_moved; with a
 * nested region; with a nested region after a poke. */
void tach__trial_flat(const struct tach__poke *unused);
void tach__trial_flat_moved(const struct tach__poke *poke);
void tach__trial_flat_pair(const struct tach__poke *unused);
void tach__trial_flat_one(const struct tach__poke *poke);
/*
 * The value of a poke: the change of the lock of the leader's page, or of another page.
 */
#define TACH__POKE_PAGE(by, elsewhere) ((uint64_t)(by) << 32 * (elsewhere))
/* The locks change after the previous inner START. poke->at has the leader's lock and the sum
 * of all locks. */
void tach__trial_stale(const struct tach__poke *poke);
void tach__trial_stale_fenced(const struct tach__poke *poke);
/* The locks change after the inner START. An odd lock stays odd. */
void tach__trial_moved(const struct tach__poke *poke);
void tach__trial_moved_fenced(const struct tach__poke *poke);

/* Regions of trials: the innermost, the outermost, and the region between them. */
enum { TACH__TRIAL_INNER, TACH__TRIAL_OUTER, TACH__TRIAL_MIDDLE };
extern const uint32_t tach__trial_ids[TACH__SHOWN];
extern const uint32_t tach__trial_fenced_ids[TACH__SHOWN];
extern const uint32_t tach__trial_flat_ids[TACH__SHOWN];

/*
 * Writes the counts of the regions with these ids to trials->shown, sorted, for each run. It
 * leaves out runs that the kernel interrupted. If the kernel interrupted all, as a busy machine
 * may, it leaves out none.
 */
void tach__trials_run(const struct tach__trials *trials,
		      void (*trial)(const struct tach__poke *), const struct tach__poke *poke,
		      const uint32_t *id);

/*
 * Prepares slots and memory; returns 0 without memory. The caller then sets `warm` and `tries`.
 */
int tach__trials_begin(struct tach__trials *trials, struct tach__thread *record);
void tach__trials_end(const struct tach__trials *trials);

/* In a slow path of the calling thread: runs `measure` as if no region were open. Restores
 * everything, except that the next START takes the slow path. Returns 0 without memory. */
int tach__trials_inside(struct tach__thread *record,
			void (*measure)(const struct tach__trials *trials));
/* residue.c: measures the cost of slow paths, for the thread's record and its set. */
void tach__residue_measure(const struct tach__trials *trials);

#endif
