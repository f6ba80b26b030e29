/* SPDX-License-Identifier: MIT */
/*
 * The cost of a slow path.
 *
 * It must not show in enclosing regions. The slow path measures itself with the thread's
 * counters, and advances the thread's epoch. So the STOPs of enclosing regions take a slow path
 * too, and subtract the cost: for each epoch in which one of them began, the log has the total
 * cost up to the end of that epoch. The part that a slow path cannot measure, before its first
 * and after its last read, is constant and known from calibration.
 */
#ifndef TACH_CORE_REGION_COST_H
#define TACH_CORE_REGION_COST_H

#include "core/region/region.h"

struct tach__cost {
	/* NULL: no enclosing region is open that would get the cost. */
	struct tach__thread *record;
	struct tach_mark mark;
	sigset_t signals;
	struct tach__held all;
};

/* Blocks signals and cancellation until tach__cost_end. `around`: the level. */
void tach__cost_begin(struct tach__cost *cost, uint32_t around);
/* level: of the regions that stay open. residue: the part that the slow path cannot measure;
 * not read without a record. */
void tach__cost_end(struct tach__cost *cost, const uint64_t *residue, uint32_t level);
/*
 * The same for code outside the edges. It does nothing if no region is open, or if a slow path
 * around it measures it already.
 */
void tach__cost_aside_begin(struct tach__cost *cost);
/* For a task's call. is_after_stop: it follows a segment's STOP that took the fast path. */
void tach__cost_aside_end(struct tach__cost *cost, int is_after_stop);
/* Subtracts from an entry the cost since its epoch, which has ended. spent: total cost when the
 * entry was read. */
void tach__cost_subtract(struct tach__thread *record, uint32_t epoch, const uint64_t *spent,
			 uint64_t *delta);
/* The same for counts between the begins of two entries; from, to: their epochs. */
void tach__cost_between(struct tach__thread *record, uint32_t from, uint32_t to,
			uint64_t *delta);
/* No region is open, so all earlier epochs are obsolete. Call it with signals held. */
void tach__epochs_reset(struct tach__hot *hot);

/* residue.c: measures the cost of slow paths, if that was put off. For the calling thread,
 * signals held, in a slow path whose cost is subtracted from enclosing regions. */
void tach__residue_ready(struct tach__thread *record);
/* flat.c: returns 1 if the record's regions may be flat. If their cost is unknown, it measures
 * it. For the calling thread, signals held, in a slow path. */
int tach__flat_ready(struct tach__thread *record);

#endif
