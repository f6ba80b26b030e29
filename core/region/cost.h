/* SPDX-License-Identifier: MIT */
/*
 * The cost of a slow path.
 *
 * Enclosing regions must not include it. The slow path measures itself with the thread's
 * counters, and advances the thread's epoch. So the STOPs of enclosing regions take a slow path
 * too, and subtract the cost. For each epoch in which an open region began, the log has the
 * total cost up to the end of that epoch. A slow path cannot measure its code before the first
 * read and after the last read. Calibration measures that part, which is constant.
 */
#ifndef TACH_CORE_REGION_COST_H
#define TACH_CORE_REGION_COST_H

#include "core/region/region.h"

/* Returns all ones if a and b are equal, else 0. Compilers generate no branch for it. */
TACH_INLINE uint64_t tach__when_equal(uint32_t a, uint32_t b)
{
	uint64_t mask = 0 - (uint64_t)(a == b);

	__asm__("" : "+r"(mask));
	return mask;
}

struct tach__cost {
	/* NULL: no enclosing region is open, so no region would include the cost. */
	struct tach__thread *record;
	struct tach_mark mark;
	sigset_t signals;
	struct tach__held all;
};

/* Blocks signals and cancellation until tach__cost_end. around: number of open regions. */
void tach__cost_begin(struct tach__cost *cost, uint32_t around);
/* level: number of regions that stay open. residue: the part that the slow path cannot measure;
 * ignored if `cost` has no record. */
void tach__cost_end(struct tach__cost *cost, const uint64_t *residue, uint32_t level);
/*
 * The cost of some code is constant and known from calibration, so the code need not block
 * signals. If a handler runs in it, the open region includes the handler. The code is straight,
 * so that its cost is constant.
 *
 * Call tach__aside before such code. It returns NULL if no region is open, or if an enclosing
 * slow path already measures the code. A thread's first call blocks signals, to calibrate.
 */
struct tach__thread *tach__aside(void);
/* The slow path of tach__aside. The trials call it directly. */
void tach__aside_ready(struct tach__thread *record, uint32_t level);
/* Call it after such code. level: number of regions that stay open; not 0. */
void tach__cost_add(struct tach__thread *record, const uint64_t *cost, uint32_t level);
/* Calls tach__aside and tach__cost_add, before code with a known cost that opens and closes no
 * region. */
TACH_INLINE void tach__aside_add(const uint64_t *cost)
{
	struct tach__thread *around = tach__aside();

	if (around)
		tach__cost_add(around, cost, TACH__LEVEL(tach__self->state));
}
/* Flags the open regions, because a cost was not subtracted from them. */
void tach__cost_unknown(const struct tach__thread *record);
/* Subtracts from an entry the cost since the end of its epoch. spent: total cost when the
 * entry was read. */
void tach__cost_subtract(struct tach__thread *record, uint32_t epoch, const uint64_t *spent,
			 uint64_t *delta);
/* Subtracts the cost from counts between the STARTs of two entries. from, to: their epochs. */
void tach__cost_between(struct tach__thread *record, uint32_t from, uint32_t to,
			uint64_t *delta);
/* Returns the current epoch. The one in `state` may be older, because an interrupted START
 * stores the word that it had read. */
TACH_INLINE uint32_t tach__epoch_now(const struct tach__thread *record, uint64_t state)
{
	uint32_t epoch = TACH__GET(record->epoch);

	return epoch < TACH__EPOCH(state) ? TACH__EPOCH(state) : epoch;
}
/* Restarts the epochs. Call it with signals held, when no region is open. */
void tach__epochs_reset(struct tach__hot *hot);

/* residue.c: measures the cost of slow paths, if it is not known yet. Call it for the calling
 * thread, with signals held, in a slow path whose cost enclosing regions subtract. */
void tach__residue_ready(struct tach__thread *record);
/* flat.c: returns 1 if the record's regions may be flat. Measures their cost if it is unknown.
 * Call it for the calling thread, with signals held, in a slow path. */
int tach__flat_ready(struct tach__thread *record);

#endif
