/* SPDX-License-Identifier: MIT */
/*
 * What a cold exit costs.
 *
 * It must not show in the regions around. It is measured with the thread's own counters, and
 * the thread's epoch is advanced, so that the STOPs of those regions take a cold exit too and
 * take it out: the log has, for each epoch in which one of them began, what had been spent when
 * that epoch ended. What an exit cannot see of itself, before its first and behind its last
 * look at the counters, is always the same and known from calibration.
 */
#ifndef TACH_CORE_REGION_COST_H
#define TACH_CORE_REGION_COST_H

#include "core/region/region.h"

struct tach__cost {
	/* NULL: no region is open around to which the cost would go. */
	struct tach__thread *record;
	struct tach_mark mark;
	sigset_t signals;
	struct tach__held all;
};

/* No signal, no cancellation until its end. `around`: the level. */
void tach__cost_begin(struct tach__cost *cost, uint32_t around);
/* level: of the regions that stay open. residue: what the exit cannot see of itself; not read
 * without a record. */
void tach__cost_end(struct tach__cost *cost, const uint64_t *residue, uint32_t level);
/* What an entry has to give back that began in an epoch which ended; spent: when it was read.
 */
void tach__cost_settle(struct tach__thread *record, uint32_t epoch, const uint64_t *spent,
		       uint64_t *delta);
/* The same of what was counted between the begins of two entries, which began in those epochs.
 */
void tach__cost_between(struct tach__thread *record, uint32_t from, uint32_t to,
			uint64_t *delta);
/* No region is open, so none began in any epoch. Signals held. */
void tach__epochs_begin(struct tach__hot *hot);

/*
 * residue.c: of the calling thread, signals held, in a cold exit whose cost is taken out of the
 * regions around: finds out what cold exits cost, where that was put off.
 */
void tach__residue_ready(struct tach__thread *record);
/*
 * flat.c: whether the record's regions may be flat. Of the calling thread, signals held, in a
 * cold exit: finds out what they take, where that is not known. `plain`: as for
 * tach__stop_choose.
 */
int tach__flat_ready(struct tach__thread *record);

#endif
