/* SPDX-License-Identifier: MIT */
/* Adds an entry to the sums of its slot and of the enclosing slot. */
#ifndef TACH_CORE_REGION_ADD_H
#define TACH_CORE_REGION_ADD_H

#include "core/region/edges.h"

/* Copies word by word, because a snapshot also copies word by word. */
TACH_INLINE void tach__children_publish(struct tach__children *to,
					const struct tach__children *from, uint32_t count)
{
#if defined(__SANITIZE_THREAD__)
	for (size_t i = 0; i < TACH__CHILDREN_WORDS(count); i++)
		TACH__SET(((uint64_t *)to)[i], ((const uint64_t *)from)[i]);
#else
	memcpy(to, from, TACH__CHILDREN_WORDS(count) * sizeof(uint64_t));
#endif
}

/*
 * Adds both words as one vector if the processor has vector registers. So no handler runs
 * between the two additions.
 */
TACH_INLINE void tach__nested_add(struct tach__part *part, tach__pairs inside)
{
#if defined(__SANITIZE_THREAD__)
	TACH__ADD(part->nested[0], inside[0]);
	TACH__ADD(part->nested[1], inside[1]);
#else
	*(tach__pairs *)(void *)part->nested += inside;
#endif
}

/*
 * Straight code for many counters keeps some differences in vector registers, because using
 * more general registers would mean to save them first. General registers hold the mark, its
 * thread, the reader, one read, and TACH__UNPARKED differences.
 */
#ifndef TACH_PARK
#define TACH_PARK(value)   (value)
#define TACH_UNPARK(value) (value)
#endif
enum { TACH__UNPARKED = 3 };
TACH_INLINE int tach__is_parked(uint32_t i, uint32_t count)
{
	return __builtin_constant_p(count) && i >= TACH__UNPARKED && i < count;
}

TACH_INLINE int tach__sum_add(struct tach__part *part, struct tach__children *around,
			      const uint64_t *delta, uint32_t i, uint32_t count)
{
	uint64_t value = i && tach__is_parked(i - 1, count) ? TACH_UNPARK(delta[i]) : delta[i];

#ifdef TACH_BUMP_TWO
	if (__builtin_constant_p(count) && (i | 1) <= count) {
		if (i & 1) /* added together with sum i - 1 */
			return 1;
		TACH_BUMP_TWO(part->sum[i], value, part->sum[i + 1], delta[i + 1]);
		if (around)
			TACH_BUMP_TWO(around->sum[i], value, around->sum[i + 1], delta[i + 1]);
		return 1;
	}
#endif
	TACH__ADD(part->sum[i], value);
	if (around)
		TACH__ADD(around->sum[i], value);
	return 1;
}

TACH_INLINE void tach__sums_add(struct tach__part *part, struct tach__children *around,
				const uint64_t *delta, uint32_t count)
{
#define STEP(i) tach__sum_add(part, around, delta, i, count)
	TACH__STEPS(count + 1, STEP);
#undef STEP
}

/* Counts a completed pair and lowers the level. */
TACH_INLINE void tach__entry_leave(struct tach__hot *self, int fenced)
{
	TACH__COUNT(self, self->pairs[0], 1);
	if (fenced)
		TACH__COUNT(self, self->pairs[1], 1);
	TACH__COUNT(self, self->state, -1);
}

/* The last step of an entry: clears the fields by which abandoned.c finds it. */
TACH_INLINE void tach__entry_close(struct tach_region_mark *mark, struct tach__part *part,
				   uintptr_t outer)
{
	TACH__SET(part->outer, outer);
	TACH__ORDER();
	mark->end = NULL;
}

/*
 * Adds one entry to its slot, whose sequence is odd. The stores between the odd and the even
 * sequence pair with the acquire fence of the snapshot's reader: odd becomes visible before the
 * sums change (release fence; compiler-only on x86, DMB ISH on arm64), and even after they
 * changed.
 *
 * The level is lowered after the sums changed. If a handler runs a region before that, the
 * region counts as a child of this entry, whose children's sums are no longer read here. The
 * level is decremented, not stored, because the handler may have advanced the epoch in the same
 * word.
 *
 * A handler may also leave by siglongjmp, and then this code never continues. So the fields by
 * which abandoned.c finds the entry are cleared last. The ceiling stays until the entry is
 * counted, and the mark's address stays until the level is correct.
 */
TACH_INLINE void tach__entry_add(struct tach__hot *self, struct tach_region_mark *mark,
				 struct tach__slot *slot, struct tach__part *part,
				 struct tach__part *open, uintptr_t rest,
				 struct tach__slot *outside, const uint64_t *delta,
				 tach__pairs inside, uint32_t count, int fenced)
{
	struct tach__children *around = tach__children(outside, count, 1);

	TACH__FENCE(__ATOMIC_RELEASE);
	tach__nested_add(part, inside);
	tach__sums_add(part, around, delta, count);
	tach__children_publish(tach__children(slot, count, 0), tach__children(slot, count, 1),
			       count);
	TACH__ORDER();
	TACH__ADD(part->calls, 1);
	TACH__SET(open->ceiling, TACH__CEILING_OPEN);
	TACH__FENCE(__ATOMIC_RELEASE);
	TACH__ADD(slot->seq, 1);
	TACH__ADD(around->direct[0], 1);
	if (fenced)
		TACH__ADD(around->direct[1], 1);
	TACH__ORDER();
	tach__entry_leave(self, fenced);
	TACH__ORDER();
	tach__entry_close(mark, open, rest);
}

#endif
