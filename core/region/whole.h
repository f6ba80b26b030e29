/* SPDX-License-Identifier: MIT */
/* The entry that encloses a whole thread. A report at the end of the process counts it:
 * whole.c. */
#ifndef TACH_CORE_REGION_WHOLE_H
#define TACH_CORE_REGION_WHOLE_H

#include "core/region/row.h"

struct tach__whole {
	uint32_t begun;
	uint32_t open; /* atomic; 1: the mark is complete; it stays 1 after the entry ended */
	struct tach_region_mark mark;
	uint64_t cold[TACH__SUMS]; /* `cold` of the thread when the entry began */
};

struct tach__thread;
/* Begins and ends the entry of the calling thread. A second begin does nothing. */
void tach__whole_begin(struct tach_site *site);
void tach__whole_end(void);
/* Ends the entry of a thread that no longer exists, before its record is retired. */
void tach__whole_end_dead(struct tach__thread *record);
/* Returns 1 if that is the mark of the thread's whole entry. */
int tach__is_whole_mark(const struct tach__thread *record, uintptr_t mark);
/* Reads the calling thread's entry; returns 0 if it is not open. Reports use these counts until
 * tach__whole_forget. */
int tach__whole_read(void);
void tach__whole_forget(void);
/*
 * Adds the copy of a slot to a row. If the slot has the thread's whole entry and the entry is
 * open, the row counts it as if it ended now. Returns an enum tach__copied.
 */
int tach__whole_add(struct tach__row *row, struct tach__slot *copy, struct tach__thread *record,
		    const struct tach__slot *slot, struct tach__slot *latch);
/* Call this after all slots: counts the regions that are open inside as lost. */
void tach__whole_count_lost(struct tach__rows *rows, const struct tach__thread *record);

#endif
