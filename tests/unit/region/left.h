/* SPDX-License-Identifier: MIT */
/*
 * Entries without a STOP, for left.c and healed.c: a simulated stack and kernel, and regions
 * that are open in the state after START.
 */
#ifndef TESTS_UNIT_REGION_LEFT_H
#define TESTS_UNIT_REGION_LEFT_H

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "core/os/sys.h"
#include "core/region/left.h"
#include "core/region/region.h"
#include "tests/check.h"

enum { COUNT = 1, PAGE = 4096, STACK = 8 * PAGE };

static int mends, overtaken_mends;
static const struct tach__slot *mended[32];

static void sim_slot_mend(const struct tach__thread *of, const struct tach__slot *slot)
{
	(void)of;
	mended[mends++ % 32] = slot;
}

static int mended_sure;
static void sim_overtaken_mend(const struct tach__thread *of, int is_sure)
{
	(void)of;
	overtaken_mends++;
	mended_sure = is_sure;
}

#define __libc_stack_end     sim_stack_end
#define tach__slot_mend	     sim_slot_mend
#define tach__overtaken_mend sim_overtaken_mend
#include "core/region/abandoned.c"
#undef tach__slot_mend
#ifdef LEFT_ALSO
#undef tach__overtaken_mend
#define tach__remove_dead_entries sim_heal
#include LEFT_ALSO
#endif

static _Alignas(PAGE) char stack[STACK], aside[PAGE];
static uintptr_t sp; /* of the caller */
void *sim_stack_end = stack + STACK;

static long futex_gives;     /* 0: the word's value decides the result */
static uintptr_t unreadable; /* addresses below it are unreadable */
static uintptr_t asked[32];
static int futexes, probes, no_sigaltstack;
static stack_t alternate;

static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	switch (number) {
	case SYS_futex:
		CHECK(b == FUTEX_CMP_REQUEUE_PRIVATE && c == 0 && d == 0 && e == a);
		asked[futexes++ % 32] = (uintptr_t)a;
		if (futex_gives)
			return futex_gives;
		return *(const uint32_t *)(uintptr_t)a == (uint32_t)f ? 0 : -EAGAIN;
	case SYS_rt_sigprocmask:
		CHECK(a == -1 && c == 0 && d == 8);
		asked[probes++ % 32] = (uintptr_t)b;
		return (uintptr_t)b < unreadable ? -EFAULT : -EINVAL;
	case SYS_sigaltstack:
		CHECK(a == 0);
		*(stack_t *)(uintptr_t)b = alternate;
		return no_sigaltstack ? -EPERM : 0;
	default:
		CHECK(0, "%ld", number);
		return -ENOSYS;
	}
}

static struct tach__thread *record;
static struct tach__hot *hot;

static void end_plain(struct tach_region_mark *mark)
{
	(void)mark;
}

static void end_fenced(struct tach_region_mark *mark)
{
	mark->state = 1;
}

static void end_flat(struct tach_region_mark *mark)
{
	mark->state = 2;
}

/* Resets the calling thread, without an open region. */
static void begin(void)
{
	tach__sys = sim_sys;
	if (!record) {
		record = tach__record_take(512);
		record->count = COUNT;
		CHECK(tach__slots_grow(record, 63) == 0);
	}
	hot = record->hot;
	for (uint32_t id = 0; id < 64; id++) {
		struct tach__slot *slot = tach__slot_at(record, id);

		memset(slot, 0, 512);
		slot->id = id;
		slot->rest = TACH__OUTER_NONE;
		for (int inner = 0; inner < 2; inner++) {
			tach__part(slot, COUNT, inner)->ceiling = TACH__CEILING_OPEN;
			tach__part(slot, COUNT, inner)->outer = slot->rest;
		}
		tach__table(hot)[id] = slot;
	}
	memset(record->outside, 0, 512);
	memset(stack, 0, sizeof stack);
	memset(aside, 0, sizeof aside);
	memset(&alternate, 0, sizeof alternate);
	alternate.ss_flags = SS_DISABLE;
	record->is_first = 1;
	record->stack_low = 0;
	tach__stack(hot, 0)[0] = record->outside;
	hot->record = record;
	hot->state = TACH__STATE(7, 0, 0);
	hot->limit = 64;
	hot->end[0] = end_plain;
	hot->end[1] = end_fenced;
	hot->end_flat = end_flat;
	sp = (uintptr_t)stack + PAGE;
	futex_gives = 0;
	unreadable = (uintptr_t)stack;
	futexes = probes = no_sigaltstack = mends = overtaken_mends = 0;
	mended_sure = 0;
	tach__calibrating = 0;
}

static struct tach__slot *slot_of(uint32_t id)
{
	return tach__slot_at(record, id);
}

/* One mark per level on the thread's stack; the outermost mark is highest. */
static struct tach_region_mark *mark_at(uint32_t level)
{
	return (struct tach_region_mark *)(void *)(stack + STACK - 256 * (level + 1));
}

/*
 * Starts a region inside the open ones. inner: the part that gets the entry; below 0: neither
 * part.
 */
static void start(uint32_t id, int inner, struct tach_region_mark *mark)
{
	uint32_t level = TACH__LEVEL(hot->state);
	struct tach__part *part = tach__part(slot_of(id), COUNT, inner != 0);

	tach__stack(hot, level)[1] = slot_of(id);
	*tach__marks(tach__stack(hot, level)) = mark;
	mark->state = hot->state++;
	mark->end = hot->end[slot_of(id)->fenced];
	mark->part = part;
	if (inner < 0)
		return;
	part->outer = (uintptr_t)mark;
	part->ceiling = hot->state;
}

static struct tach__part *part_of(uint32_t id, int inner)
{
	return tach__part(slot_of(id), COUNT, inner);
}

static inline int is_closed(uint32_t id, int inner)
{
	return part_of(id, inner)->ceiling == TACH__CEILING_OPEN &&
	       part_of(id, inner)->outer == slot_of(id)->rest;
}

#endif
