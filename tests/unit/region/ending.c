/* SPDX-License-Identifier: MIT */
/*
 * The order in which a STOP in core/region/stop.c reads its thread and adds to the slot, for
 * flat and other regions. A handler may run between any two of its steps, and other threads
 * copy the slot at the same time, so the test records each ordered store and each fence.
 * adding.c tests the additions of other regions.
 */
#undef __SANITIZE_THREAD__ /* that build uses other fences: adding_words.c */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "tests/check.h"
#include "tests/ordered.h"
#include "tests/unit/region/plain_words.h" /* makes every store visible to the test */

static void told(const char *what);
#define __atomic_thread_fence(order)                                                           \
	told((order) == __ATOMIC_RELEASE ? "release" : "another fence")
#define __atomic_signal_fence(order) told("order")

#include "core/region/stop.c"

static _Alignas(4096) char page[TACH__RECORD_AT];
static struct tach__hot *const hot = (struct tach__hot *)(void *)page;
static _Alignas(64) union tach__slot_copy own, outside;
static struct tach_region_mark mark;
static int is_told;
static char text[1024];

static void told(const char *what)
{
	if (is_told)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", what);
}

static void ordered(const void *at, int order)
{
	const struct tach__part *part = tach__part(&own.slot, 0, 0);
	const struct {
		const char *name;
		const void *at;
	} known[] = {{"state", &hot->state},
		     {"pairs", hot->pairs},
		     {"seq", &own.slot.seq},
		     {"flat", &own.slot.flat},
		     {"sum", part->sum},
		     {"ceiling", &part->ceiling},
		     {"outer", &part->outer},
		     {"calls", &part->calls},
		     {"other's", outside.slot.word}};

	CHECK(order == __ATOMIC_RELAXED);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (at == known[i].at)
			told(known[i].name);
}

/* Prepares an open entry of a set without counters. */
static void open_one(void)
{
	struct tach__part *part = tach__part(&own.slot, 0, 0);

	memset(page, 0, sizeof page);
	memset(&own, 0, sizeof own);
	memset(&outside, 0, sizeof outside);
	hot->state = TACH__STATE(1, 0, 1);
	mark = (struct tach_region_mark){.state = hot->state - 1, .part = part};
	part->outer = (uintptr_t)&mark;
	tach__stack(hot, mark.state)[0] = &outside.slot;
	tach__stack(hot, mark.state)[1] = &own.slot;
	text[0] = '\0';
	tach__self = hot;
}

static void close_one(void)
{
	is_told = 0;
	CHECK(own.slot.seq == 2 && hot->state == TACH__STATE(1, 0, 0) && hot->pairs[0] == 1 &&
	      !mark.end);
}

static void order_of_flat_stops(void)
{
	struct tach__hot *before = tach__self;

	open_one();
	is_told = 1;
	end_flat(&mark, 0);
	close_one();
	tach__self = before;
	CHECK(strcmp(text, "order seq release sum order flat ceiling release seq order pairs "
			   "state order outer order ") == 0,
	      "%s", text);
}

/*
 * STOP checks that the entry is the innermost: after storing pairs, and at the end again
 * because of handlers.
 */
static void order_of_other_stops(void)
{
	static const char first[] = "order order seq release ";
	struct tach__hot *before = tach__self;

	open_one();
	is_told = 1;
	end(&mark, 0, 0, 0, 0);
	close_one();
	tach__self = before;
	CHECK(strncmp(text, first, sizeof first - 1) == 0, "%s", text);
}

int main(void)
{
	CASE(order_of_flat_stops);
	CASE(order_of_other_stops);
	return check_done();
}
