/* SPDX-License-Identifier: MIT */
/*
 * The additions of a STOP in core/region/add.h: their words and their order. A handler may run
 * between any two stores, so the test records each ordered store and each fence. It records a
 * plain store when it first sees the value.
 *
 * The includer defines how words change, and the expected record for one counter:
 *   ADD, COUNT   of a word, and of one that a handler changes
 *   NESTED       the pairs inside
 *   SUMS, LOOPED the sums, if the number of counters is a constant and if it is not
 *   SHOWN        the children that snapshots see
 */
#ifndef TESTS_UNIT_REGION_ADDING_H
#define TESTS_UNIT_REGION_ADDING_H

#include <stdint.h>
#include <string.h>
#include "tests/check.h"
#include "tests/ordered.h"

static void told(const char *what, const void *at);

/* Words are plain here, so that every access can be recorded. */
#undef TACH_ONCE_IS_VOLATILE
#define TACH_ONCE_IS_VOLATILE 0

static void ordered(const void *at, int order)
{
	CHECK(order == __ATOMIC_RELAXED);
	told("set", at);
}

static void fence(const char *what, int order, int wanted)
{
	told(order == wanted ? what : "weaker", NULL);
}
#define __atomic_thread_fence(order) fence("release", order, __ATOMIC_RELEASE)
#define __atomic_signal_fence(order) fence("order", order, __ATOMIC_SEQ_CST)

#include "core/region/add.h"

enum { INSIDE = 5, INSIDE_FENCED = 3, REST = 0x7770, BEFORE = 1000 };

static struct tach__hot self;
static _Alignas(16) union tach__slot_copy own, outside;
static struct tach_region_mark mark;
static volatile uint32_t count;
#ifdef __OPTIMIZE__
enum { STRAIGHT = 1 };
#else
enum { STRAIGHT = 0 }; /* no argument is a compile-time constant */
#endif
static int inner, is_told, seen;
static char text[2048];

static uint64_t words_of_part(void)
{
	return (5 + 1 + count + 1) / 2 * 2;
}

static uint64_t words_of_children(void)
{
	return (2 + 1 + count + 1) / 2 * 2;
}

/* ---- what is told ---- */

static void say(const char *what)
{
	strncat(text, what, sizeof text - strlen(text) - 1);
}

static void say_word(const char *what, const char *name, const void *first, const void *at)
{
	char word[64];

	snprintf(word, sizeof word, "%s %s[%d], ", what, name,
		 (int)((const uint64_t *)at - (const uint64_t *)first));
	say(word);
}

static void look_at_plain_stores(void)
{
	const uint64_t *shown = own.slot.word + 2 * words_of_part();

	if (!(seen & 1) && own.slot.word[inner * words_of_part() + 2] != BEFORE) {
		say("nested, ");
		seen |= 1;
	}
	if (!(seen & 2) && shown[0] == shown[words_of_children()]) {
		say("shown, ");
		seen |= 2;
	}
	CHECK(mark.end);
}

static void told(const char *what, const void *at)
{
	uint64_t parts = 2 * words_of_part(), children = words_of_children();
	const struct {
		const char *name;
		const uint64_t *first;
		uint64_t words;
	} known[] = {
		{"nested", own.slot.word + inner * words_of_part() + 2, 2},
		{"calls", own.slot.word + inner * words_of_part() + 4, 1},
		{"sum", own.slot.word + inner * words_of_part() + 5, 1 + count},
		{"outer", own.slot.word, 1},
		{"ceiling", own.slot.word + 1, 1},
		{"shown", own.slot.word + parts, children},
		{"seq", &own.slot.seq, 1},
		{"direct", outside.slot.word + parts + children, 2},
		{"around", outside.slot.word + parts + children + 2, 1 + count},
		{"pairs", self.pairs, 2},
		{"state", &self.state, 1},
	};

	if (!is_told)
		return;
	look_at_plain_stores();
	for (size_t i = 0; at && i < sizeof known / sizeof *known; i++)
		if ((const uint64_t *)at >= known[i].first &&
		    (const uint64_t *)at < known[i].first + known[i].words) {
			say_word(what, known[i].name, known[i].first, at);
			return;
		}
	say(at ? "another word" : what);
	say(", ");
}

/* ---- an entry ---- */

static void never(struct tach_region_mark *m) TACH_NOTHROW;
static void never(struct tach_region_mark *m)
{
	(void)m;
	CHECK(0);
}

/* Each word gets a different number. */
static void set_up(uint32_t counters, int in)
{
	uint64_t *word = (uint64_t *)(void *)&own, *around = (uint64_t *)(void *)&outside;

	count = counters;
	inner = in;
	for (size_t i = 0; i < sizeof own / sizeof *word; i++) {
		word[i] = 3 * i + 1;
		around[i] = 5 * i + 2;
	}
	own.slot.word[inner * words_of_part() + 2] = BEFORE;
	own.slot.seq = 7;
	memset(&self, 0, sizeof self);
	self.state = TACH__STATE(9, 8, 7);
	self.pairs[0] = 40;
	self.pairs[1] = 20;
	mark.end = never;
	text[0] = 0;
	seen = 0;
}

static void add(uint64_t *delta, int is_straight, int fenced)
{
	static const uint64_t inside[3] = {0, INSIDE, INSIDE_FENCED};
	struct tach__part *part = tach__part(&own.slot, count, inner);
	struct tach__part *open = tach__part(&own.slot, count, 0);

#define ADD_OF(n)                                                                              \
	tach__entry_add(&self, &mark, &own.slot, part, open, REST, &outside.slot, delta,       \
			tach__pairs_of(inside + 1), n, fenced)
#define ADD_STRAIGHT(n)                                                                        \
	case n:                                                                                \
		ADD_OF(n);                                                                     \
		break;
	switch (STRAIGHT && is_straight ? count : TACH_COUNTERS_MAX) {
		TACH__INSTANCES(ADD_STRAIGHT)
	default:
		ADD_OF(count);
	}
}

static void to_the_word(int is_straight, int fenced)
{
	static _Alignas(16) union tach__slot_copy own_then, outside_then;
	uint64_t *part = own_then.slot.word + inner * words_of_part();
	uint64_t *shown = own_then.slot.word + 2 * words_of_part();
	uint64_t *around = outside_then.slot.word + 2 * words_of_part() + words_of_children();
	struct tach__hot hot_then = self;
	uint64_t delta[TACH__SUMS + 1];

	own_then = own;
	outside_then = outside;
	for (uint32_t i = 0; i <= TACH__SUMS; i++)
		delta[i] = (uint64_t)1000003 * (i + 1) << i;
	part[2] += INSIDE;
	part[3] += INSIDE_FENCED;
	part[4]++;
	own_then.slot.word[0] = REST;
	own_then.slot.word[1] = UINT64_MAX;
	own_then.slot.seq++;
	around[0]++;
	around[1] += (uint64_t)fenced;
	for (uint32_t i = 0; i <= count; i++) {
		part[5 + i] += delta[i];
		around[2 + i] += delta[i];
	}
	for (uint64_t i = 0; i < words_of_children(); i++)
		shown[i] = shown[words_of_children() + i];
	hot_then.pairs[0]++;
	hot_then.pairs[1] += (uint64_t)fenced;
	hot_then.state--;
	add(delta, is_straight, fenced);
	CHECK(memcmp(&own, &own_then, sizeof own) == 0, "%u counters", (unsigned)count);
	CHECK(memcmp(&outside, &outside_then, sizeof own) == 0, "%u counters", (unsigned)count);
	CHECK(memcmp(&self, &hot_then, sizeof self) == 0);
	CHECK(!mark.end);
}

static void what_is_added(void)
{
	for (uint32_t counters = 0; counters <= TACH_COUNTERS_MAX; counters++)
		for (int way = 0; way < 8; way++) {
			set_up(counters, way & 1);
			to_the_word(way >> 1 & 1, way >> 2);
		}
}

static void regions_without_an_enclosing_one(void)
{
	uint64_t delta[TACH__SUMS] = {3, 5, 7, 9};
	struct tach__part *part;

	set_up(2, 0);
	part = tach__part(&own.slot, 2, 0);
	memset(part->sum, 0, 4 * sizeof *part->sum);
	tach__sums_add(part, NULL, delta, 2);
	tach__sums_add(part, NULL, delta, count);
	CHECK(part->sum[0] == 6 && part->sum[1] == 10 && part->sum[2] == 14 && !part->sum[3]);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(tach__sum_add(part, NULL, delta, i, count) == 1);
	CHECK(tach__sum_add(part, NULL, delta, 0, 1) == 1);
	CHECK(tach__sum_add(part, NULL, delta, 1, 1) == 1);
}

static void ends_with(const char *sums, int is_straight, int fenced)
{
	static const char begin[] = "release, " NESTED, end[] = "order, set outer[0], order, ";
	uint64_t delta[TACH__SUMS] = {1, 1};
	char wanted[sizeof text];

	snprintf(wanted, sizeof wanted,
		 "%s%s%sorder, " ADD " calls[0], set ceiling[0], release, " ADD " seq[0], " ADD
		 " direct[0], %sorder, " COUNT " pairs[0], %s" COUNT " state[0], %s",
		 begin, sums, SHOWN, fenced ? ADD " direct[1], " : "",
		 fenced ? COUNT " pairs[1], " : "", end);
	is_told = 1;
	add(delta, is_straight, fenced);
	is_told = 0;
	CHECK(strcmp(text, wanted) == 0, "%s\n# for: %s", text, wanted);
}

static void stores_are_ordered(void)
{
	for (int fenced = 0; fenced < 2; fenced++) {
		set_up(1, 1);
		ends_with(STRAIGHT ? SUMS : LOOPED, 1, fenced);
		set_up(1, 1);
		ends_with(LOOPED, 0, fenced);
	}
}

static void an_odd_sequence_stays(void)
{
	for (int i = 0; i < 3; i++) {
		uint64_t seq = 4 + 2 * (uint64_t)i;

		CHECK(TACH__TAKE(&self, seq) == 0 && seq == 5 + 2 * (uint64_t)i);
		CHECK(TACH__TAKE(&self, seq) == 1 && seq == 5 + 2 * (uint64_t)i);
	}
}

int main(void)
{
	CASE(what_is_added);
	CASE(regions_without_an_enclosing_one);
	CASE(stores_are_ordered);
	CASE(an_odd_sequence_stays);
	return check_done();
}

#endif
