/* SPDX-License-Identifier: MIT */
/*
 * Regions that are never stopped: left by longjmp or siglongjmp, in C by a thread that is
 * cancelled, with a coroutine that is never resumed.
 *
 * Macros stop what is left by return, goto, break and exceptions. What is left otherwise stays
 * on the thread's stack of open regions until it can be told that its mark is gone:
 *  - the mark's memory is not mapped, or does not hold what START wrote into it;
 *  - the mark lies on the thread's own stack, and the stack pointer is above it;
 *  - it lies on the alternate stack, on which no handler runs.
 * What is on another stack (a coroutine's), or in an object, and is still as START left it may
 * be stopped any time and counts as open.
 *
 * The looks are at cold exits, and before the set changes, so a START that finds its region
 * open in a mark above itself counts as a recursion until then.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/region/left.h"
#include "core/region/region.h"
#include "core/os/sys.h"

enum {
	PROBE = 4096,		       /* no page is smaller */
	STACK_MOST = 64 * 1024 * 1024, /* deeper stacks are not looked at */
	LEVELS_MOST = 1024,	       /* nor deeper nests */
};

/* ---- memory that may be gone ---- */

/*
 * Whether the words at `at`, in multiples of 4, are those. The kernel compares, as the memory
 * may be unmapped by another thread at any time: FUTEX_CMP_REQUEUE of no waiter fails
 * with EAGAIN if the word is another, with EFAULT or EINVAL if there can be none
 * (kernel/futex/requeue.c). Where a filter forbids it nothing is known to be gone.
 */
static int holds(uintptr_t at, const void *expected, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
		uint32_t word;
		long r;

		memcpy(&word, (const char *)expected + i, sizeof word);
		r = tach__sys(SYS_futex, (long)(at + i), FUTEX_CMP_REQUEUE_PRIVATE, 0, 0,
			      (long)(at + i), (long)word);
		if (r == -EAGAIN || r == -EFAULT || r == -EINVAL)
			return 0;
	}
	return 1;
}

/*
 * rt_sigprocmask(2) copies the new mask before it looks at what to do with it
 * (kernel/signal.c): EFAULT, or EINVAL and nothing changed. 8 bytes.
 */
static int readable(uintptr_t at)
{
	return tach__sys(SYS_rt_sigprocmask, -1, (long)at, 0, 8, 0, 0) != -EFAULT;
}

extern void *__libc_stack_end __attribute__((weak)); /* ld.so's: of the first thread */

/*
 * Nothing of the stack is above it. glibc has a thread's variables there
 * (nptl/allocatestack.c), on a stack of the program's too.
 */
static uintptr_t stack_top(const struct tach__thread *record)
{
	if (!record->is_first)
		return (uintptr_t)&tach__self;
	return &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
}

/* Readable from there to the top without a gap; threads' stacks end in a page that is not. */
static int on_stack(struct tach__thread *record, uintptr_t at)
{
	uintptr_t top = stack_top(record);

	if (at >= top || top - at > STACK_MOST)
		return 0;
	if (!record->stack_low)
		record->stack_low = top & ~(uintptr_t)(PROBE - 1);
	for (; record->stack_low > at; record->stack_low -= PROBE)
		if (!readable(record->stack_low - PROBE))
			return 0;
	return 1;
}

static int on_alternate_stack(void)
{
	stack_t stack;

	return tach__sys(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) == 0 &&
	       (stack.ss_flags & SS_ONSTACK);
}

/* Left by siglongjmp: while a handler runs there, the kernel says so. */
static int on_unused_alternate_stack(uintptr_t at)
{
	stack_t stack;

	return tach__sys(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) == 0 &&
	       !(stack.ss_flags & (SS_ONSTACK | SS_DISABLE)) &&
	       at - (uintptr_t)stack.ss_sp < stack.ss_size;
}

int tach__part_marked(const struct tach__slot *slot, const struct tach__part *part)
{
	return part->outer && part->outer != slot->rest && part->outer != TACH__OUTER_NOBODY;
}

int tach__part_closing(const struct tach__slot *slot, const struct tach__part *part)
{
	return part->ceiling == TACH__CEILING_OPEN && tach__part_marked(slot, part);
}

/* As START left it: the entry that the part has open, at that level. `own`: on this thread's
 * stack. */
TACH__LOOKS_BACK static int intact(const struct tach__hot *hot, const struct tach__slot *slot,
				   const struct tach__part *part, int own)
{
	const struct tach_region_mark *mark = (const struct tach_region_mark *)part->outer;
	uint64_t state = part->ceiling - 1;

	if (own)
		return mark->part == part &&
		       (mark->end == hot->end[slot->fenced] ||
			(hot->end_flat && mark->end == hot->end_flat)) &&
		       (tach__part_closing(slot, part) || mark->state == state);
	return holds((uintptr_t)&mark->part, &part, sizeof part) &&
	       (holds((uintptr_t)&mark->end, &hot->end[slot->fenced], sizeof mark->end) ||
		(hot->end_flat &&
		 holds((uintptr_t)&mark->end, &hot->end_flat, sizeof mark->end))) &&
	       (tach__part_closing(slot, part) ||
		holds((uintptr_t)&mark->state, &state, sizeof state));
}

int tach__part_alive(struct tach__thread *record, const struct tach__slot *slot,
		     const struct tach__part *part, uintptr_t sp)
{
	uintptr_t mark = part->outer;
	int own;

	if (tach__whole_is(record, mark))
		return intact(record->hot, slot, part, 1);
	own = on_stack(record, sp) && on_stack(record, mark);

	if (own ? mark < sp && !on_alternate_stack() : on_unused_alternate_stack(mark))
		return 0;
	return intact(record->hot, slot, part, own);
}

/* ---- the stack of open regions ---- */

void tach__hand_down(const struct tach__thread *record, struct tach__slot *slot,
		     struct tach__slot *around)
{
	uint64_t *from = (uint64_t *)tach__children(slot, record->count, 1);
	uint64_t *to = (uint64_t *)tach__children(around, record->count, 1);
	const uint64_t *known = (const uint64_t *)tach__children(slot, record->count, 0);

	if (slot == around)
		return;
	for (size_t i = 0; i < TACH__CHILDREN_WORDS(record->count); i++) {
		to[i] += from[i] - known[i];
		from[i] = known[i];
	}
}

static void close_part(const struct tach__slot *slot, struct tach__part *part)
{
	TACH__SET(part->ceiling, (uint64_t)TACH__CEILING_OPEN);
	TACH__SET(part->outer, slot->rest);
}

struct tach__part *tach__part_at(const struct tach__thread *record,
				 const struct tach__slot *slot, uint32_t level)
{
	struct tach__part *last = NULL;

	for (int inner = 0; inner < 2; inner++) {
		struct tach__part *part = tach__part(slot, record->count, inner);

		if (TACH__LEVEL(part->ceiling) == level + 1)
			return tach__part_marked(slot, part) ? part : NULL;
		if (tach__part_closing(slot, part))
			last = part;
	}
	/* Only the innermost of its region's can be closing. */
	for (uint32_t k = level + 1; last && k < TACH__LEVEL(record->hot->state); k++)
		if (tach__stack(record->hot, k)[1] == slot)
			return NULL;
	return last;
}

void tach__part_give_up(const struct tach__thread *record, struct tach__slot *slot,
			struct tach__slot *around, struct tach__part *part)
{
	tach__hand_down(record, slot, around);
	if (!part || !tach__part_closing(slot, part))
		TACH__ADD(slot->lost, 1);
	if (part)
		close_part(slot, part);
}

/*
 * Of an entry that may be stopped yet, as the one around it was stopped before: whatever region
 * is at its level by then, the STOP is no usual one, and this is none that is open. Of one that
 * was left the mark may still be whole: nothing has been put there since.
 */
TACH__LOOKS_BACK static void make_unusual(struct tach__thread *record,
					  const struct tach__slot *slot,
					  const struct tach__part *part)
{
	struct tach_region_mark *mark = (struct tach_region_mark *)part->outer;

	if (!tach__part_closing(slot, part) &&
	    tach__part_alive(record, slot, part, TACH__STACK_POINTER))
		mark->state |= TACH__LEVEL_NONE;
}

void tach__part_forget(struct tach__thread *record, struct tach__slot *slot, uint32_t level,
		       const struct tach_region_mark *mark)
{
	struct tach__part *part = tach__part_at(record, slot, level);

	if (!part || part->outer == (uintptr_t)mark)
		return;
	make_unusual(record, slot, part);
	close_part(slot, part);
}

/*
 * Of an entry that is alive: a handler may have ended a region around the STOP that it
 * interrupted, which goes on and lowers the level once more than there is. The next START
 * looks. 1: the STOP adds its entry already.
 */
static int goes_on(struct tach__thread *record, const struct tach__slot *slot,
		   const struct tach__part *part)
{
	if (!part || !tach__part_alive(record, slot, part, TACH__STACK_POINTER))
		return 0;
	TACH__SET(record->hot->limit, (uint64_t)0);
	return (slot->seq & 1) && !tach__part_closing(slot, part);
}

void tach__abandon(struct tach__thread *record, uint32_t level)
{
	struct tach__hot *hot = record->hot;
	uint32_t top = TACH__LEVEL(hot->state);

	if (top - level > TACH__LEVELS)
		level = top - TACH__LEVELS;
	/* If it is a handler that ends what is around an interrupted STOP, that one will lower
	 * the level once more: below zero there is a slot, too. */
	if (top > level)
		TACH__SET(tach__stack(hot, UINT32_MAX)[0], record->outside);
	while (top > level) {
		struct tach__slot **stack = tach__stack(hot, --top), *slot = stack[1];
		struct tach__part *part = tach__part_at(record, slot, top);

		if (goes_on(record, slot, part))
			TACH__ADD(slot->lost, -1);
		if (part)
			make_unusual(record, slot, part);
		tach__part_give_up(record, slot, stack[0], part);
		TACH__SET(hot->state, hot->state - 1);
	}
}

/*
 * A recursion whose outermost entry is gone: the one inside is that now. Between the two may be
 * others, whose marks are unknown; then it stays what it is.
 */
static void promote(struct tach__thread *record, struct tach__slot *slot, uint32_t gone)
{
	struct tach__part *part = tach__part(slot, record->count, 0);
	struct tach__part *inner = tach__part(slot, record->count, 1);
	struct tach_region_mark *mark = (struct tach_region_mark *)inner->outer;
	uint32_t level = TACH__LEVEL(inner->ceiling) - 1, entries = 0;

	for (uint32_t k = gone + 1; k <= level; k++)
		entries += tach__stack(record->hot, k)[1] == slot;
	if (entries != 1)
		return;
	mark->part = part;
	TACH__SET(part->ceiling, inner->ceiling);
	TACH__SET(part->outer, inner->outer);
	close_part(slot, inner);
}

/* Regions that lost an entry; `outermost`: that one. */
struct gone {
	struct tach__slot *slot[16];
	uint8_t outermost[16];
	unsigned n;
};

static void add_gone(struct gone *gone, struct tach__slot *slot, int outermost)
{
	if (gone->n == sizeof gone->slot / sizeof *gone->slot)
		return;
	gone->slot[gone->n] = slot;
	gone->outermost[gone->n++] = (uint8_t)outermost;
}

static int is_gone(const struct gone *gone, const struct tach__slot *slot)
{
	for (unsigned i = 0; i < gone->n; i++)
		if (gone->outermost[i] && gone->slot[i] == slot)
			return 1;
	return 0;
}

/* Does the entry stay? One whose mark is unknown shares the fate of one that is known. */
static int stays(struct tach__thread *record, const struct tach__slot *slot,
		 const struct tach__part *part, const struct gone *gone, uintptr_t sp)
{
	const struct tach__part *last = tach__part(slot, record->count, 1);

	if (!part && last->ceiling != TACH__CEILING_OPEN && tach__part_marked(slot, last))
		part = last;
	return part ? tach__part_alive(record, slot, part, sp) : !is_gone(gone, slot);
}

void tach__part_lower(const struct tach__slot *slot, struct tach__part *part, uint32_t by)
{
	struct tach_region_mark *mark = (struct tach_region_mark *)part->outer;

	mark->state -= by;
	if (!tach__part_closing(slot, part))
		TACH__SET(part->ceiling, part->ceiling - by);
}

void tach__heal(struct tach__thread *record, uintptr_t sp)
{
	struct tach__hot *hot = record->hot;
	uint32_t top = TACH__LEVEL(hot->state), kept = 0;
	struct gone gone = {.n = 0};

	if (top > INT32_MAX) /* below zero: see tach__abandon */
		TACH__SET(hot->state, TACH__STATE(TACH__OPENING(hot->state), 0, 0));
	/* Calibration leaves none, and its marks are on no stack that is known here. */
	if (top > LEVELS_MOST || tach__calibrating)
		return;
	for (uint32_t k = 0; k < top; k++) {
		struct tach__slot *slot = tach__stack(hot, k)[1];
		struct tach__part *part = tach__part_at(record, slot, k);
		struct tach__part *inner = tach__part(slot, record->count, 1);

		if (stays(record, slot, part, &gone, sp)) {
			TACH__SET(tach__stack(hot, kept)[1], slot);
			if (part && kept < k)
				tach__part_lower(slot, part, k - kept);
			kept++;
			continue;
		}
		tach__part_give_up(record, slot, tach__stack(hot, kept)[0], part);
		add_gone(&gone, slot, part && part != inner);
		if (part && part != inner && inner->ceiling != TACH__CEILING_OPEN &&
		    tach__part_alive(record, slot, inner, sp))
			promote(record, slot, k);
	}
	if (kept < top)
		TACH__SET(hot->state, hot->state - (top - kept));
	for (unsigned i = 0; i < gone.n; i++)
		tach__slot_mend(record, gone.slot[i]);
	/* What is known to be open is alive by now. */
	tach__overtaken_mend(record, sp);
}
