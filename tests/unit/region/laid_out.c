/* SPDX-License-Identifier: MIT */
/* The layout in core/region/edges.h: parts of slots, a thread's tables, bits of its state. */
#include <stdint.h>
#include <string.h>
#include "core/region/edges.h"
#include "core/region/region.h"
#include "tests/check.h"

static _Alignas(16) union tach__slot_copy copy;

/* Parts follow each other, and pairs of words are aligned. */
static void parts_of_a_slot(void)
{
	struct tach__slot *slot = &copy.slot;

	CHECK(offsetof(struct tach__part, sum) == 5 * sizeof(uint64_t));
	CHECK(offsetof(struct tach__children, sum) == 2 * sizeof(uint64_t));
	for (uint32_t count = 0; count <= TACH_COUNTERS_MAX; count++) {
		const uint64_t *at = slot->word;

		for (int i = 0; i < 2; i++) {
			CHECK((const uint64_t *)tach__part(slot, count, i) == at);
			at += (5 + 1 + count + 1) / 2 * 2;
		}
		for (int i = 0; i < 2; i++) {
			CHECK((const uint64_t *)tach__children(slot, count, i) == at);
			at += (2 + 1 + count + 1) / 2 * 2;
		}
		CHECK((const uint64_t *)tach__inexact(slot, count) == at);
		CHECK((const char *)(tach__inexact(slot, count) + 1) <=
		      (const char *)(&copy + 1));
		CHECK(((uintptr_t)at & 15) == 0);
	}
}

/* The tables follow the hot half, at fixed distances. */
static void tables_of_a_thread(void)
{
	const struct tach__hot *self = (const struct tach__hot *)0x7f0000000000;
	const uintptr_t base = (uintptr_t)self;

	CHECK((uintptr_t)tach__table(self) == base + 0x10000);
	CHECK((uintptr_t)tach__stack(self, 0) == base + 0x50000);
	CHECK((uintptr_t)tach__stack(self, 3) == base + 0x50000 + 3 * sizeof(void *));
	CHECK((uintptr_t)tach__stack(self, 65535) == base + 0x50000 + 65535 * sizeof(void *));
	/* Deeper levels share places; only the level in the state is used. */
	CHECK(tach__stack(self, 65536 + 3) == tach__stack(self, 3));
	CHECK(tach__stack(self, TACH__STATE(7, 9, 3)) == tach__stack(self, 3));
}

static void a_state(void)
{
	const uint64_t state = TACH__STATE(0xabcde, 0x123, 0x456789ab);

	CHECK(state == 0xabcde123456789ab);
	CHECK(TACH__OPENING(state) == 0xabcde && TACH__EPOCH(state) == 0x123);
	CHECK(TACH__LEVEL(state) == 0x456789ab);
}

static void two_words_as_one(void)
{
	static const _Alignas(16) uint64_t word[4] = {11, 22, 33, 44};

	for (int i = 0; i < 3; i++) {
		tach__pairs pairs = tach__pairs_of(word + i);

		CHECK(pairs[0] == word[i] && pairs[1] == word[i + 1]);
	}
}

/* Returns true if each value is a single bit, and no two values are equal. */
static int are_apart(const uint32_t *bits, size_t n)
{
	uint32_t all = 0;

	for (size_t i = 0; i < n; i++) {
		if (!bits[i] || (bits[i] & (bits[i] - 1)) || (all & bits[i]))
			return 0;
		all |= bits[i];
	}
	return 1;
}

/* Distinct bits, and ids without gaps. */
static void bits_and_ids(void)
{
	static const uint32_t kept[] = {TACH__KEEPS_WORST, TACH__KEEPS_EACH},
			      site[] = {TACH__SITE_FENCED_BIT, TACH__SITE_TASK, TACH__SITE_PART,
					TACH__SITE_GATE, TACH_SITE_FLAT},
			      split[] = {TACH__SPLIT_TAG, TACH__SPLIT_TASK, TACH__SPLIT_THREAD,
					 TACH__SPLIT_ROWS};

	CHECK(are_apart(kept, sizeof kept / sizeof *kept));
	CHECK(are_apart(site, sizeof site / sizeof *site));
	CHECK(are_apart(split, sizeof split / sizeof *split));
	CHECK(TACH__SITE_EMPTY == TACH_SITE_OFF + 1);
}

/* There is one more than the maximum, for entries without a place. */
static void overflows(void)
{
	struct tach__thread record;

	CHECK(sizeof record.overflow / sizeof *record.overflow > TACH__OVERFLOWS);
	CHECK(sizeof record.overflow_id / sizeof *record.overflow_id > TACH__OVERFLOWS);
}

/* Limits that tach/region.h and tach_regions_configure(3) state. */
static void documented_limits(void)
{
	CHECK(TACH__WORST_MOST == 64 && TACH__TRACE_ENTRIES == 16384);
	CHECK(TACH__SPLIT_MOST == 1000 && TACH__SPLIT_TASKS == 62 && TACH__SPLIT_SITES == 8000);
	CHECK(sizeof(union tach__traced_copy) ==
	      sizeof(struct tach__traced) + TACH__SUMS * sizeof(uint64_t));
}

/* ---- straight code ---- */

static char text[256];
static uint32_t until;

static int step(const char *as, uint32_t i)
{
	char word[16];

	snprintf(word, sizeof word, "%s=%d ", as, (int)i);
	strcat(text, word);
	return i < until;
}

#define STEP(i) step(#i, i)
/* Limits that depend on the form of the straight code. */
static const char *stepped(uint32_t last, int *whether)
{
	text[0] = 0;
	until = last;
	*whether = TACH__STEPS(3, STEP);
	return text;
}

static const char *looped(uint32_t n, uint32_t last, int *whether)
{
	volatile uint32_t count = n;

	text[0] = 0;
	until = last;
	*whether = TACH__STEPS(count, STEP);
	return text;
}
#undef STEP

static void steps_until_one_fails(void)
{
	int all;

	CHECK(strcmp(stepped(9, &all), "0=0 1=1 2=2 ") == 0 && all == 1, "%s", text);
	CHECK(strcmp(stepped(1, &all), "0=0 1=1 ") == 0 && all == 0, "%s", text);
	CHECK(strcmp(looped(3, 9, &all), "at=0 at=1 at=2 ") == 0 && all == 1, "%s", text);
	CHECK(strcmp(looped(3, 1, &all), "at=0 at=1 ") == 0 && all == 0, "%s", text);
	CHECK(strcmp(looped(0, 9, &all), "") == 0 && all == 1, "%s", text);
}

/* ---- values that are subtracted from an entry ---- */

static void an_entry_less_what_it_costs(void)
{
	static const struct tach__entry_cost cost = {.empty = {{1, 2, 3}, {4, 5, 6}},
						     .pair = {{10, 20, 30}, {100, 200, 300}}};
	static const uint64_t delta[3] = {10000, 20000, (uint64_t)1 << 62}, inside[2] = {7, 3};

	CHECK(tach__entry_net(&cost, delta, inside, 0, 0) == 10000 - 1 - 4 * 10 - 3 * 100);
	CHECK(tach__entry_net(&cost, delta, inside, 1, 1) == 20000 - 5 - 4 * 20 - 3 * 200);
	CHECK(tach__entry_net(&cost, delta, inside, 2, 0) == delta[2] - 3 - 4 * 30 - 3 * 300);
	/* Less than nothing. */
	CHECK(tach__entry_net(&cost, (uint64_t[]){341}, inside, 0, 0) == 0);
	CHECK(tach__entry_net(&cost, (uint64_t[]){342}, inside, 0, 0) == 1);
	CHECK(tach__entry_net(&cost, (uint64_t[]){340}, inside, 0, 0) == 0);
	CHECK(tach__entry_net(&cost, (uint64_t[]){0}, inside, 0, 1) == 0);
}

int main(void)
{
	CASE(parts_of_a_slot);
	CASE(tables_of_a_thread);
	CASE(a_state);
	CASE(two_words_as_one);
	CASE(bits_and_ids);
	CASE(overflows);
	CASE(documented_limits);
	CASE(steps_until_one_fails);
	CASE(an_entry_less_what_it_costs);
	return check_done();
}
