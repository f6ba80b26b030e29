/* SPDX-License-Identifier: MIT */
/*
 * Regions that are never stopped. The cause is longjmp or siglongjmp, a cancelled thread of a
 * C program, or a coroutine that is never resumed.
 *
 * The macros stop a region that is left by return, goto, break or an exception. A region that
 * is left in another way stays on the thread's stack of open regions until its mark is
 * certainly gone:
 * - the mark's memory is not mapped, or differs from the data that START wrote;
 * - the mark is on the thread's own stack, and the stack pointer is above it;
 * - the mark is on the alternate stack, and no handler runs there.
 *
 * A mark on another stack (of a coroutine) or in an object may still be stopped at any time.
 * If it is unchanged since START, its entry counts as open.
 *
 * Slow paths remove entries that are over, and so does a change of the set. Until then, a START
 * of the same region counts as a recursion if its mark has a lower address.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/region/left.h"
#include "core/region/region.h"
#include "core/os/sys.h"

enum {
	/*
	 * Checking a mark on another stack takes about eight system calls. Each first entry
	 * checks at most this number of such marks, in turns. Without a limit, 1,000 nested
	 * first entries took three million system calls.
	 */
	FAR_MARKS = 16,
	PROBE = 4096,		       /* the smallest page size */
	STACK_MOST = 64 * 1024 * 1024, /* deeper stacks are not checked */
};

/* ---- memory that may be gone ---- */

/*
 * Returns 1 if the words at `at` (multiples of 4 bytes) are the expected ones. The kernel
 * compares, because another thread may unmap the memory at any time. FUTEX_CMP_REQUEUE without
 * waiters fails with EAGAIN if the word differs, and with EFAULT or EINVAL if the word does not
 * exist (kernel/futex/requeue.c). If a filter forbids the call, memory counts as unchanged.
 */
int tach__memory_equals(uintptr_t at, const void *expected, size_t size)
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

/* Probes 8 bytes. rt_sigprocmask(2) copies the new mask before it checks `how`
 * (kernel/signal.c). So it fails with EFAULT, or with EINVAL, and changes nothing. */
static int is_readable(uintptr_t at)
{
	return tach__sys(SYS_rt_sigprocmask, -1, (long)at, 0, 8, 0, 0) != -EFAULT;
}

extern void *__libc_stack_end
	__attribute__((weak)); /* set by glibc's ld.so; for the first thread */

/* Returns an address above the whole stack. glibc puts a thread's variables above its stack
 * (nptl/allocatestack.c), even if the program provides the stack. */
static uintptr_t stack_top(const struct tach__thread *record)
{
	if (!record->is_first)
		return (uintptr_t)&tach__self;
	/*
	 * Without glibc, use the address of the kernel's random bytes, which are above main's
	 * frame (fs/binfmt_elf.c).
	 */
	return &__libc_stack_end ? (uintptr_t)__libc_stack_end : getauxval(AT_RANDOM);
}

/* Returns 1 if all memory from `at` to the stack's top is readable. An unreadable page ends a
 * thread's stack. */
static int on_stack(struct tach__thread *record, uintptr_t at)
{
	uintptr_t top = stack_top(record);

	if (at >= top || top - at > STACK_MOST)
		return 0;
	if (!record->stack_low)
		record->stack_low = top & ~(uintptr_t)(PROBE - 1);
	for (; record->stack_low > at; record->stack_low -= PROBE)
		if (!is_readable(record->stack_low - PROBE))
			return 0;
	return 1;
}

static int on_alternate_stack(void)
{
	stack_t stack;

	return tach__sys(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) == 0 &&
	       (stack.ss_flags & SS_ONSTACK);
}

/* Returns 1 if siglongjmp left the alternate stack: no handler runs on it. */
static int on_unused_alternate_stack(uintptr_t at)
{
	stack_t stack;

	return tach__sys(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) == 0 &&
	       !(stack.ss_flags & (SS_ONSTACK | SS_DISABLE)) &&
	       at - (uintptr_t)stack.ss_sp < stack.ss_size;
}

int tach__part_has_mark(const struct tach__slot *slot, const struct tach__part *part)
{
	return part->outer && part->outer != slot->rest && part->outer != TACH__OUTER_NONE;
}

int tach__part_is_closing(const struct tach__slot *slot, const struct tach__part *part)
{
	return part->ceiling == TACH__CEILING_OPEN && tach__part_has_mark(slot, part);
}

/* The known part of the data that START left in the mark of an open entry. */
struct expected {
	const struct tach__part *part[2]; /* one of these */
	uint64_t state, known;		  /* the known bits of `state` */
};

/* Returns 1 if the mark still has the data that START wrote. `own`: the mark is on this
 * thread's stack. */
TACH__LOOKS_BACK static int is_intact(const struct tach__hot *hot,
				      const struct tach__slot *slot, const struct expected *e,
				      const struct tach_region_mark *mark, int own)
{
	/* Little-endian: the level is in the first bytes. */
	size_t known = e->known == UINT64_MAX ? sizeof e->state : e->known ? 4 : 0;

	if (own)
		return (mark->part == e->part[0] || mark->part == e->part[1]) &&
		       (mark->end == hot->end[slot->fenced] ||
			(hot->end_flat && mark->end == hot->end_flat)) &&
		       ((mark->state ^ e->state) & e->known) == 0;
	return (tach__memory_equals((uintptr_t)&mark->part, &e->part[0], sizeof e->part[0]) ||
		(e->part[1] != e->part[0] &&
		 tach__memory_equals((uintptr_t)&mark->part, &e->part[1],
				     sizeof e->part[1]))) &&
	       (tach__memory_equals((uintptr_t)&mark->end, &hot->end[slot->fenced],
				    sizeof mark->end) ||
		(hot->end_flat && tach__memory_equals((uintptr_t)&mark->end, &hot->end_flat,
						      sizeof mark->end))) &&
	       tach__memory_equals((uintptr_t)&mark->state, &e->state, known);
}

/* Returns 1 if few system calls check the mark: it is on the stack, or of the whole thread. */
static int is_near(struct tach__thread *record, uintptr_t mark, uintptr_t sp)
{
	return tach__is_whole_mark(record, mark) ||
	       (on_stack(record, sp) && on_stack(record, mark));
}

static int mark_is_alive(struct tach__thread *record, const struct tach__slot *slot,
			 const struct expected *e, uintptr_t mark, uintptr_t sp)
{
	int own;

	if (tach__is_whole_mark(record, mark))
		return is_intact(record->hot, slot, e, (const struct tach_region_mark *)mark,
				 1);
	own = on_stack(record, sp) && on_stack(record, mark);
	if (own ? mark < sp && !on_alternate_stack() : on_unused_alternate_stack(mark))
		return 0;
	return is_intact(record->hot, slot, e, (const struct tach_region_mark *)mark, own);
}

int tach__part_is_alive(struct tach__thread *record, const struct tach__slot *slot,
			const struct tach__part *part, uintptr_t sp)
{
	struct expected e = {{part, part}, part->ceiling - 1, UINT64_MAX};

	if (tach__part_is_closing(slot, part))
		e.known = 0;
	return mark_is_alive(record, slot, &e, part->outer, sp);
}

/* Checks an entry whose mark is in no part: a recursion, or a handler ran during its START. */
static int level_alive(struct tach__thread *record, const struct tach__slot *slot,
		       uint32_t level, uintptr_t sp)
{
	uintptr_t mark = (uintptr_t)*tach__marks(tach__stack(record->hot, level));
	struct expected e = {
		{tach__part(slot, record->count, 1), tach__part(slot, record->count, 0)},
		level,
		UINT32_MAX};

	return mark && mark_is_alive(record, slot, &e, mark, sp);
}

static int is_entry_alive(struct tach__thread *record, const struct tach__slot *slot,
			  const struct tach__part *part, uint32_t level, uintptr_t sp)
{
	return part ? tach__part_is_alive(record, slot, part, sp)
		    : level_alive(record, slot, level, sp);
}

/* Returns 1 if an entry that is not alive was counted. Before its STOP lowered the level, a
 * handler left a region open or ended an enclosing one. */
static int was_counted(const struct tach__thread *record, const struct tach__slot *slot)
{
	return tach__part(slot, record->count, 0)->ceiling == TACH__CEILING_OPEN &&
	       tach__part(slot, record->count, 1)->ceiling == TACH__CEILING_OPEN;
}

/* ---- the stack of open regions ---- */

void tach__give_children_to_parent(const struct tach__thread *record, struct tach__slot *slot,
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

void tach__part_close(const struct tach__slot *slot, struct tach__part *part)
{
	TACH__SET(part->ceiling, (uint64_t)TACH__CEILING_OPEN);
	TACH__SET(part->outer, slot->rest);
}

struct tach__part *tach__part_at(const struct tach__thread *record,
				 const struct tach__slot *slot, uint32_t level)
{
	uintptr_t mark = (uintptr_t)*tach__marks(tach__stack(record->hot, level));

	for (int inner = 0; inner < 2; inner++) {
		struct tach__part *part = tach__part(slot, record->count, inner);

		if (part->outer == mark && tach__part_has_mark(slot, part) &&
		    (part->ceiling == TACH__CEILING_OPEN ||
		     TACH__LEVEL(part->ceiling) == level + 1))
			return part;
	}
	return NULL;
}

void tach__part_give_up(const struct tach__thread *record, struct tach__slot *slot,
			struct tach__slot *around, struct tach__part *part)
{
	tach__give_children_to_parent(record, slot, around);
	if (!part || !tach__part_is_closing(slot, part))
		TACH__ADD(slot->lost, 1);
	/* Inclusive sums do not contain entries of this region that ran inside the entry. */
	if (part == tach__part(slot, record->count, 0) &&
	    tach__part(slot, record->count, 1)->calls)
		TACH__ADD(slot->provenance[1], 1); /* TACH_FLAG_INCOMPLETE */
	if (part)
		tach__part_close(slot, part);
}

void tach__abandon(struct tach__thread *record, uint32_t level)
{
	struct tach__hot *hot = record->hot;
	uint32_t top = TACH__LEVEL(hot->state);

	if (top - level > TACH__LEVELS)
		level = top - TACH__LEVELS;
	while (top > level) {
		struct tach__slot **stack = tach__stack(hot, --top);

		tach__part_give_up(record, stack[1], stack[0],
				   tach__part_at(record, stack[1], top));
		tach__levels_lower(record, 1);
	}
}

/*
 * Regions that lost an entry, and levels whose entries are over. Both are found before any
 * entry is abandoned.
 */
struct gone {
	struct tach__slot *slot[16];
	unsigned n;
	int is_any_over, is_any_task;
	uint64_t over[TACH__LEVELS_MOST / 64];
};

static void find_counted(const struct tach__thread *record, struct gone *gone)
{
	const struct tach__hot *hot = record->hot;

	for (uint32_t k = 0; k < TACH__LEVEL(hot->state); k++) {
		const struct tach__slot *slot = tach__stack(hot, k)[1];

		if (!tach__part_at(record, slot, k) && was_counted(record, slot))
			gone->over[k / 64] |= UINT64_C(1) << k % 64;
	}
}

static void flag_incomplete(const struct tach__thread *record, struct tach__slot *slot)
{
	if (slot != record->outside)
		TACH__ADD(slot->provenance[1], 1); /* TACH_FLAG_INCOMPLETE */
}

/* Gives up the entry of `level`. `to` is the number of open entries that enclose it. */
static void give_up_level(struct tach__thread *record, struct gone *gone, uint32_t level,
			  struct tach__part *part, uint32_t to)
{
	struct tach__slot *slot = tach__stack(record->hot, level)[1];
	struct tach__slot *around = tach__stack(record->hot, to)[0];

	if (gone->over[level / 64] >> level % 64 & 1) {
		/* Regions that began after the entry was counted are its children. */
		tach__give_children_to_parent(record, slot, around);
		flag_incomplete(record, slot);
		flag_incomplete(record, around);
		gone->is_any_over = 1;
		return;
	}
	gone->is_any_task |= slot->task != 0;
	/* Enclosing regions contain the entry's START, but not a complete pair. */
	if (!part || !tach__part_is_closing(slot, part))
		tach__owed_add(record, 0, to, slot->fenced, -1);
	tach__part_give_up(record, slot, around, part);
	if (gone->n < sizeof gone->slot / sizeof *gone->slot)
		gone->slot[gone->n++] = slot;
}

void tach__remove_dead_entries(struct tach__thread *record, uintptr_t sp)
{
	struct tach__hot *hot = record->hot;
	uint32_t top = TACH__LEVEL(hot->state), kept = 0;
	struct gone gone = {.n = 0};

	if (top > INT32_MAX) /* the level is below zero */
		TACH__SET(hot->state, TACH__STATE(TACH__OPENING(hot->state), 0, 0));
	/*
	 * Calibration leaves no entry open, and its marks are on a stack that is unknown here.
	 */
	if (top > TACH__LEVELS_MOST || tach__calibrating)
		return;
	find_counted(record, &gone);
	for (uint32_t k = 0; k < top; k++) {
		struct tach__slot *slot = tach__stack(hot, k)[1];
		struct tach__part *part = tach__part_at(record, slot, k);

		if (is_entry_alive(record, slot, part, k, sp))
			tach__level_move(record, k, kept++);
		else
			give_up_level(record, &gone, k, part, kept);
	}
	tach__levels_lower(record, top - kept);
	if (gone.is_any_task)
		tach__tasks_abandoned(record);
	for (unsigned i = 0; i < gone.n; i++) {
		tach__parts_assign(record, gone.slot[i]);
		tach__slot_mend(record, gone.slot[i]);
	}
	tach__overtaken_mend(record, gone.is_any_over);
}

/* If one entry is over, check all entries: removing an entry moves others and writes to their
 * marks. */
void tach__remove_some_dead_entries(struct tach__thread *record, uintptr_t sp)
{
	uint32_t top = TACH__LEVEL(record->hot->state), far = 0;
	int is_any_gone = top > TACH__LEVELS_MOST;

	for (uint32_t k = 0; k < top && !is_any_gone && !tach__calibrating; k++) {
		struct tach__slot **stack = tach__stack(record->hot, k);
		const struct tach__part *part = tach__part_at(record, stack[1], k);
		uintptr_t mark = part ? part->outer : (uintptr_t)*tach__marks(stack);

		if (mark && !is_near(record, mark, sp) && far++ - record->far_next >= FAR_MARKS)
			continue;
		is_any_gone = !is_entry_alive(record, stack[1], part, k, sp);
	}
	if (is_any_gone) {
		tach__remove_dead_entries(record, sp);
		return;
	}
	record->far_next += FAR_MARKS;
	if (record->far_next >= far)
		record->far_next = 0;
	if (!tach__calibrating)
		tach__overtaken_mend(record, 0);
}
