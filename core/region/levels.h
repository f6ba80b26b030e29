/* SPDX-License-Identifier: MIT */
/* The tables after a thread's hot page: slots by id, and the stack of open regions. edges.h
 * includes this file. */
#ifndef TACH_CORE_REGION_LEVELS_H
#define TACH_CORE_REGION_LEVELS_H

#include "core/region/edges.h"

/* Offsets from the hot page. They do not depend on the page size. Unused pages use no memory.
 */
#define TACH__TABLE_AT	0x10000u /* slot by id */
#define TACH__STACK_AT	0x50000u /* slots of the open regions; [0] stands for "no region" */
#define TACH__MARKS_AT	0xe0000u /* their marks */
#define TACH__RECORD_AT 0x160000u
TACH_STATIC_ASSERT(TACH__TABLE_AT + 8 * TACH__CHUNKS * TACH__CHUNK_SLOTS <= TACH__STACK_AT, "");
TACH_STATIC_ASSERT(TACH__STACK_AT + 8 * (TACH__LEVELS + 1) <= TACH__MARKS_AT, "");
TACH_STATIC_ASSERT(TACH__MARKS_AT + 8 * TACH__LEVELS <= TACH__RECORD_AT, "");

TACH_INLINE struct tach__slot **tach__table(const struct tach__hot *self)
{
	return (struct tach__slot **)((uintptr_t)self + TACH__TABLE_AT);
}

/* Element 1 is the slot of the region at that level, element 0 that of its enclosing region. */
TACH_INLINE struct tach__slot **tach__stack(const struct tach__hot *self, uint64_t level)
{
	return (struct tach__slot **)((uintptr_t)self + TACH__STACK_AT) + level % TACH__LEVELS;
}

/* Returns the place of the mark for an element of the stack. The distance between both is
 * constant. */
TACH_INLINE struct tach_region_mark **tach__marks(struct tach__slot **stack)
{
	return (struct tach_region_mark **)((uintptr_t)stack +
					    (TACH__MARKS_AT - TACH__STACK_AT));
}

/* Returns 1 if the stack was ever full, so that deeper regions overwrote elements of other
 * regions. */
TACH_INLINE int tach__stack_was_full(const struct tach__hot *self)
{
	return __atomic_load_n(&tach__stack(self, 0)[TACH__LEVELS], __ATOMIC_RELAXED) != NULL;
}

#endif
