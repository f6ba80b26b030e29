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

/* All ones if they are equal, else 0; compilers make no branch of it. */
TACH_INLINE uint64_t tach__when_equal(uint32_t a, uint32_t b)
{
	uint64_t mask = 0 - (uint64_t)(a == b);

	__asm__("" : "+r"(mask));
	return mask;
}

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
 * A cost that is always the same is known from calibration, so no signals need to be blocked: a
 * handler in between is counted where it ran. The code is straight, because its own cost is
 * part of the constant.
 *
 * tach__aside is called before such code. It returns NULL if no region is open, or if a slow
 * path around the code measures it already. A thread's first call blocks signals, to calibrate.
 */
struct tach__thread *tach__aside(void);
/* The slow path of it, for the trials. */
void tach__aside_ready(struct tach__thread *record, uint32_t level);
/* After such code. level: of the regions that stay open; not 0. */
void tach__cost_add(struct tach__thread *record, const uint64_t *cost, uint32_t level);
/* Both, before code whose cost is known: the regions that are open stay so. */
TACH_INLINE void tach__aside_add(const uint64_t *cost)
{
	struct tach__thread *around = tach__aside();

	if (around)
		tach__cost_add(around, cost, TACH__LEVEL(tach__self->state));
}
/* The open regions get a flag, because they show a cost. */
void tach__cost_unknown(const struct tach__thread *record);
/* Subtracts from an entry the cost since its epoch, which has ended. spent: total cost when the
 * entry was read. */
void tach__cost_subtract(struct tach__thread *record, uint32_t epoch, const uint64_t *spent,
			 uint64_t *delta);
/* The same for counts between the begins of two entries; from, to: their epochs. */
void tach__cost_between(struct tach__thread *record, uint32_t from, uint32_t to,
			uint64_t *delta);
/* The epoch, where an interrupted START may have restored an earlier one in the state. */
TACH_INLINE uint32_t tach__epoch_now(const struct tach__thread *record, uint64_t state)
{
	uint32_t epoch = TACH__GET(record->epoch);

	return epoch < TACH__EPOCH(state) ? TACH__EPOCH(state) : epoch;
}
/* No region is open, so all earlier epochs are obsolete. Call it with signals held. */
void tach__epochs_reset(struct tach__hot *hot);

/* residue.c: measures the cost of slow paths, if that was put off. For the calling thread,
 * signals held, in a slow path whose cost is subtracted from enclosing regions. */
void tach__residue_ready(struct tach__thread *record);
/* flat.c: returns 1 if the record's regions may be flat. If their cost is unknown, it measures
 * it. For the calling thread, signals held, in a slow path. */
int tach__flat_ready(struct tach__thread *record);

#endif
