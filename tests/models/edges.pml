/* SPDX-License-Identifier: MIT */
/*
 * A region's START and STOP, and a signal handler of the same thread, which may run between any
 * two stores. The handler sees them in program order, or in any order if the compiler is free
 * to choose one (TACH__ORDER in core/region/start.c, stop.c). The handler may run a region, the
 * same or another one, or leave by siglongjmp; then abandoned.c looks at the remaining state.
 */
#include "memory.inc"

#define OPEN 9 /* TACH__CEILING_OPEN */

byte state = 1, ceiling = OPEN; /* one region is open already, at level 0 */
/* owner of the slot: 1 this region, 2 the enclosing one */
byte stack[4] = 0;
bool mark_whole, outer, end, counted, stopping, finished;

/* START and STOP of the handler, which nothing interrupts. */
inline handler()
{
	byte level = state;

	/* The parent of the handler's region. */
	assert(stack[level] == (level == 1 -> 2 : 1));
	/*
	 * The mark to which the part points is complete, and its level and ceiling are valid.
	 */
	assert(!outer || mark_whole);
	assert(!outer || stopping || (state == 2 && ceiling == 2));
	/* If the region was left open, the mark shows its level while it is set. */
	assert(!(stopping && state == 2) || outer);
	/* The region is reported as already counted only if it is counted. */
	assert(!(stopping && ceiling == OPEN) || counted);
	/* STOP of a mark without an end does nothing, so no part may be left. */
	assert(!(stopping && !end) || !outer);
	/* The same region again, as a nested entry: its state is above the ceiling. */
	if
	:: level >= ceiling
	:: else -> ceiling = OPEN /* this was the outermost entry; its STOP */
	fi
}

active proctype thread()
{
	byte did;
	bool handled;

	stack[1] = 2;
	do
	STORE(0, 0, stack[2] = 1)
	STORE(1, 0, mark_whole = true; end = true)
	STORE(2, UNLESS(1, BIT(0)) | UNLESS(2, BIT(1)), state = 2)
	STORE(3, UNLESS(3, BIT(2)), ceiling = 2)
	STORE(4, UNLESS(4, BIT(3) | BIT(2)) | UNLESS(2, BIT(1)), outer = true)
	:: !handled -> atomic { handler(); handled = true }
	:: did == 31 -> break
	od;
	/* weakening 1: store the level before the entry on the stack */
	/* weakening 2: the level and the part's pointer before the mark */
	/* weakening 3: the ceiling before the level */
	/* weakening 4: the part's pointer before ceiling and level */
	assert(ceiling == 2);

	did = 0;
	handled = false;
	stopping = true;
	do
	STORE(0, 0, counted = true)
	STORE(1, UNLESS(5, BIT(0)), ceiling = OPEN)
	STORE(2, UNLESS(5, BIT(0)) | BIT(1), state = 1)
	STORE(3, UNLESS(6, BIT(2)), outer = false)
	STORE(4, UNLESS(7, BIT(3)), end = false)
	:: !handled -> atomic { handler(); handled = true }
	:: did == 31 -> break
	od
	/* weakening 5: the ceiling goes up before the entry is counted */
	/* weakening 6: the part lets the mark go before the level is right */
	/* weakening 7: the mark's end goes first */
}
