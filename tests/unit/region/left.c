/* SPDX-License-Identifier: MIT */
/* Single entries without a STOP: which of them are abandoned, and how an entry is removed. */
#include "tests/unit/region/left.h"

static void memory(void)
{
	static const uint64_t word = 0x1122334455667788u;
	static const long none[] = {-EAGAIN, -EFAULT, -EINVAL},
			  unknown[] = {-EPERM, -ENOSYS, 5};
	uint64_t at = word;

	begin();
	CHECK(tach__memory_equals((uintptr_t)&at, &word, 8) == 1 && futexes == 2);
	CHECK(asked[0] == (uintptr_t)&at && asked[1] == (uintptr_t)&at + 4);
	at ^= 1ull << 40;
	CHECK(tach__memory_equals((uintptr_t)&at, &word, 8) == 0 &&
	      tach__memory_equals((uintptr_t)&at, &word, 4) == 1);
	for (int i = 0; i < 3; i++) {
		futex_gives = none[i];
		CHECK(tach__memory_equals((uintptr_t)&at, &word, 8) == 0, "%d", i);
		futex_gives = unknown[i];
		CHECK(tach__memory_equals((uintptr_t)&at, &word, 8) == 1, "%d", i);
	}
}

static void own_stack(void)
{
	uintptr_t top = (uintptr_t)stack + STACK - 16;

	begin();
	sim_stack_end = (void *)top;
	CHECK(!on_stack(record, top) && !on_stack(record, top + 1) && probes == 0);
	CHECK(!record->stack_low);
	/* The page at the top of the stack is known. */
	CHECK(on_stack(record, top - 1) && on_stack(record, top - PAGE + 16) && probes == 0);
	CHECK(on_stack(record, top - PAGE + 15) && probes == 1);
	CHECK(asked[0] == (uintptr_t)stack + STACK - 2 * PAGE);
	CHECK(on_stack(record, (uintptr_t)stack + STACK - 2 * PAGE) && probes == 1);
	/* The lower pages are checked one by one, down to an unreadable one. */
	unreadable = (uintptr_t)stack + 2 * PAGE;
	CHECK(!on_stack(record, (uintptr_t)stack) && probes == 6, "%d", probes);
	CHECK(!on_stack(record, (uintptr_t)stack + 2 * PAGE - 1) && probes == 7);
	CHECK(on_stack(record, (uintptr_t)stack + 2 * PAGE) && probes == 7);
	unreadable = 0;
	record->stack_low = 0;
	top = (uintptr_t)1 << 30;
	sim_stack_end = (void *)top;
	CHECK(!on_stack(record, top - 64 * 1024 * 1024 - 1));
	CHECK(on_stack(record, top - 64 * 1024 * 1024));
	sim_stack_end = stack + STACK;
	/* The stacks of other threads end at their variables. */
	CHECK(stack_top(record) == (uintptr_t)stack + STACK);
	record->is_first = 0;
	CHECK(stack_top(record) == (uintptr_t)&tach__self);
}

static void alternate_stack(void)
{
	uintptr_t at = (uintptr_t)aside;

	begin();
	alternate = (stack_t){.ss_sp = aside, .ss_size = 256};
	CHECK(!on_alternate_stack() && on_unused_alternate_stack(at));
	CHECK(on_unused_alternate_stack(at + 255) && !on_unused_alternate_stack(at + 256));
	CHECK(!on_unused_alternate_stack(at - 1));
	no_sigaltstack = 1;
	CHECK(!on_unused_alternate_stack(at));
	alternate.ss_flags = SS_ONSTACK;
	CHECK(!on_alternate_stack());
	no_sigaltstack = 0;
	CHECK(on_alternate_stack() && !on_unused_alternate_stack(at));
	alternate.ss_flags = SS_DISABLE;
	CHECK(!on_alternate_stack() && !on_unused_alternate_stack(at));
}

static void marked(void)
{
	struct tach__slot *slot;
	struct tach__part *part;

	begin();
	slot = slot_of(9);
	part = part_of(9, 0);
	CHECK(!tach__part_has_mark(slot, part) && !tach__part_is_closing(slot, part));
	part->outer = 0;
	CHECK(!tach__part_has_mark(slot, part));
	part->outer = 16;
	CHECK(tach__part_has_mark(slot, part) && tach__part_is_closing(slot, part));
	part->ceiling = 5;
	CHECK(tach__part_has_mark(slot, part) && !tach__part_is_closing(slot, part));
	/* The entries of this slot must all be checked. */
	slot->rest = 0;
	CHECK(tach__part_has_mark(slot, part));
	part->outer = TACH__OUTER_NONE;
	CHECK(!tach__part_has_mark(slot, part));
	slot->rest = part->outer = 32;
	CHECK(!tach__part_has_mark(slot, part));
}

static int is_alive(int inner)
{
	return tach__part_is_alive(record, slot_of(9), part_of(9, inner), sp);
}

/* Tests a mark with each of its words changed, on the thread's own stack and elsewhere. */
static void each_word(struct tach_region_mark *mark)
{
	begin();
	for (int fenced = 0; fenced < 2; fenced++) {
		hot->state = TACH__STATE(7, 3, 4);
		slot_of(9)->fenced = (uint16_t)fenced;
		start(9, 0, mark);
		CHECK(is_alive(0));
		mark->part = part_of(9, 1);
		CHECK(!is_alive(0));
		mark->part = part_of(9, 0);
		mark->end = hot->end[!fenced];
		CHECK(!is_alive(0));
		mark->end = end_flat;
		CHECK(is_alive(0));
		hot->end_flat = NULL;
		CHECK(!is_alive(0));
		mark->end = NULL;
		CHECK(!is_alive(0));
		mark->end = hot->end[fenced];
		CHECK(is_alive(0));
		hot->end_flat = end_flat;
		mark->state++;
		CHECK(!is_alive(0));
		/* While an entry closes, its state is not checked. */
		part_of(9, 0)->ceiling = TACH__CEILING_OPEN;
		CHECK(is_alive(0));
		mark->end = hot->end[!fenced];
		CHECK(!is_alive(0));
	}
}

static void alive_or_not(void)
{
	struct tach_region_mark *other = (struct tach_region_mark *)(void *)aside;

	each_word(mark_at(0));
	CHECK(futexes == 0);
	each_word(other);
	CHECK(futexes > 0);
	/* A mark below the stack pointer is gone, unless a handler runs on another stack. */
	begin();
	start(9, 0, mark_at(3));
	sp = (uintptr_t)mark_at(3);
	CHECK(is_alive(0));
	sp++;
	CHECK(!is_alive(0));
	alternate.ss_flags = SS_ONSTACK;
	CHECK(is_alive(0));
	/* If the mark or the handler is on another stack, the stack pointer proves nothing. */
	alternate.ss_flags = SS_DISABLE;
	sp = (uintptr_t)aside + 64;
	CHECK(is_alive(0) && futexes > 0);
	begin();
	start(9, 0, other);
	sp = (uintptr_t)stack + STACK - 8;
	CHECK(is_alive(0));
	alternate = (stack_t){.ss_sp = aside, .ss_size = PAGE};
	CHECK(!is_alive(0));
	alternate.ss_flags = SS_ONSTACK;
	CHECK(is_alive(0));
}

static void children_go_to_the_parent(void)
{
	uint64_t *from, *to, *known;

	begin();
	from = (uint64_t *)tach__children(slot_of(9), COUNT, 1);
	known = (uint64_t *)tach__children(slot_of(9), COUNT, 0);
	to = (uint64_t *)tach__children(slot_of(8), COUNT, 1);
	for (uint64_t i = 0; i < 5; i++) {
		from[i] = 100 + 3 * i;
		to[i] = 1000;
		if (i < 4)
			known[i] = 50 + i;
	}
	tach__give_children_to_parent(record, slot_of(9), slot_of(9));
	CHECK(from[0] == 100);
	tach__give_children_to_parent(record, slot_of(9), slot_of(8));
	for (uint64_t i = 0; i < 4; i++)
		CHECK(to[i] == 1050 + 2 * i && from[i] == 50 + i && known[i] == 50 + i);
	CHECK(to[4] == 1000 && from[4] == 112);
}

/* Finds the part with the entry at a level. */
static void at_a_level(void)
{
	struct tach__slot *slot;

	begin();
	slot = slot_of(9);
	start(8, 0, mark_at(0));
	start(9, 0, mark_at(1));
	start(9, -1, mark_at(2));
	start(9, 1, mark_at(3));
	CHECK(!tach__part_at(record, slot, 0) && !tach__part_at(record, slot, 2));
	CHECK(tach__part_at(record, slot, 1) == part_of(9, 0));
	CHECK(tach__part_at(record, slot, 3) == part_of(9, 1));
	/* A handler came during its START. */
	part_of(9, 1)->outer = slot->rest;
	CHECK(!tach__part_at(record, slot, 3));
	/* A closing entry is identified by its mark. */
	part_of(9, 1)->ceiling = TACH__CEILING_OPEN;
	part_of(9, 1)->outer = (uintptr_t)mark_at(3);
	CHECK(tach__part_at(record, slot, 3) == part_of(9, 1));
	CHECK(!tach__part_at(record, slot, 2));
	/* Another entry has the same mark, and is at a higher level now. */
	*tach__marks(tach__stack(hot, 2)) = mark_at(1);
	CHECK(!tach__part_at(record, slot, 2));
}

static void given_up(void)
{
	uint64_t *inside;

	begin();
	inside = (uint64_t *)tach__children(slot_of(9), COUNT, 1);
	inside[1] = 5;
	start(9, 0, mark_at(0));
	tach__part_give_up(record, slot_of(9), record->outside, part_of(9, 0));
	CHECK(slot_of(9)->lost == 1 && is_closed(9, 0) && inside[1] == 0);
	CHECK(((uint64_t *)tach__children(record->outside, COUNT, 1))[1] == 5);
	tach__part_give_up(record, slot_of(9), record->outside, NULL);
	CHECK(slot_of(9)->lost == 2 && slot_of(9)->provenance[1] == 0);
	/* The outermost entry of a region with nested entries of itself. */
	start(9, 0, mark_at(0));
	part_of(9, 1)->calls = 1;
	tach__part_give_up(record, slot_of(9), record->outside, part_of(9, 0));
	CHECK(slot_of(9)->lost == 3 && slot_of(9)->provenance[1] == 1);
	/* It was counted. */
	start(9, 0, mark_at(0));
	part_of(9, 0)->ceiling = TACH__CEILING_OPEN;
	slot_of(9)->rest = 0;
	tach__part_give_up(record, slot_of(9), record->outside, part_of(9, 0));
	CHECK(slot_of(9)->lost == 3 && is_closed(9, 0) && part_of(9, 0)->outer == 0);
}

int main(void)
{
	CASE(memory);
	CASE(own_stack);
	CASE(alternate_stack);
	CASE(marked);
	CASE(alive_or_not);
	CASE(children_go_to_the_parent);
	CASE(at_a_level);
	CASE(given_up);
	return check_done();
}
