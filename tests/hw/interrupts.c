/* SPDX-License-Identifier: MIT */
/*
 * Interrupts in loops of known length. On real processors this verifies the rule of
 * TACH_SET_CORRECT: one extra instruction for each interrupt. An emulated PMU without such an
 * event only proves that the count of the kernel is the one that is subtracted.
 */
#include <inttypes.h>
#include <string.h>
#include <tach/set.h>
#include "tests/hw/hardware.h"

enum { TRIES = 60, TURNS = 10000000 };

static int open_set(struct hardware *h, uint32_t flags)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;

	h->set = NULL;
	h->reader = NULL;
	opt.events = "instructions";
	opt.flags = flags;
	if (tach_set_create(&opt, &h->set, &err) || tach_reader_open(h->set, &h->reader, &err))
		snprintf(hardware_why, sizeof hardware_why, "%s", err.text);
	else if (tach_set_interrupts(h->set) < 0)
		snprintf(hardware_why, sizeof hardware_why, "%s", tach_set_missing(h->set));
	else
		return 0;
	hardware_close(h);
	return -1;
}

static uint32_t loop(const struct hardware *h, uint64_t turns, uint64_t *delta)
{
	struct tach_mark mark;

	tach_reader_begin(h->reader, &mark);
	machine_loop(turns);
	return tach_reader_end(h->reader, &mark, delta);
}

/* Takes the minimum of many short loops: no interrupt disturbed it. */
static uint64_t empty(const struct hardware *h)
{
	uint64_t delta[TACH_COUNTERS_MAX], least = UINT64_MAX;

	for (int i = 0; i < 300; i++)
		if (loop(h, 1, delta) == 0 && delta[0] < least)
			least = delta[0];
	return least - MACHINE_LOOP_INSTRUCTIONS;
}

static void an_instruction_for_each(void)
{
	const uint64_t want = (uint64_t)TURNS * MACHINE_LOOP_INSTRUCTIONS;
	uint64_t interrupts = 0, raw = 0, off = 0;
	struct hardware h;
	int tries = 0;

	if (machine_is_guest())
		SKIP("the emulated PMU has no event for interrupts");
	if (open_set(&h, TACH_SET_CORRECT))
		SKIP(hardware_why);
	for (int i = 0; i < TRIES; i++) {
		uint64_t delta[TACH_COUNTERS_MAX], cost = empty(&h);
		uint32_t flags[TACH_COUNTERS_MAX] = {0};

		if (loop(&h, TURNS, delta) & ~(uint32_t)TACH_FLAG_RESCHEDULED)
			continue;
		tries++;
		interrupts += delta[1];
		raw += delta[0] - cost - want;
		tach_set_correct(h.set, delta, flags);
		off += delta[0] - cost - want;
	}
	printf("# %d loops, %" PRIu64 " interrupts, %" PRId64 " instructions too many, %" PRId64
	       " corrected\n",
	       tries, interrupts, (int64_t)raw, (int64_t)off);
	if (tries == 0 || interrupts == 0)
		SKIP("no loop was interrupted");
	/*
	 * If an interrupt comes between the reads of a START or STOP, only one of the two
	 * counts includes it.
	 */
	CHECK(off + 2 <= 4, "%" PRId64 " of %" PRIu64, (int64_t)off, interrupts);
	hardware_close(&h);
}

/* The x86 guests count an eighth of all instructions for any event that they do not know. */
static void interrupts_are_subtracted(void)
{
	uint64_t raw[TACH_COUNTERS_MAX], delta[TACH_COUNTERS_MAX];
	uint32_t flags[TACH_COUNTERS_MAX] = {0}, how;
	struct hardware h;

	if (!machine_is_exact() || machine_is_arm64())
		SKIP("no emulated PMU that counts everything");
	if (open_set(&h, TACH_SET_CORRECT))
		SKIP(hardware_why);
	how = loop(&h, TURNS, raw);
	memcpy(delta, raw, sizeof delta);
	tach_set_correct(h.set, delta, flags);
	printf("# %" PRIu64 " instructions, %" PRIu64 " of the other event\n", raw[0], raw[1]);
	CHECK(raw[1] > raw[0] / 9 && raw[1] < raw[0] / 7);
	CHECK(delta[0] == raw[0] - raw[1] && delta[1] == raw[1]);
	CHECK(flags[0] == TACH_FLAG_CORRECTED && flags[1] == 0 && !(how & TACH_FLAG_LOST));
	hardware_close(&h);
}

static void missing_interrupt_counts_are_reported(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	opt.events = "page-faults";
	opt.flags = TACH_SET_INTERRUPTS;
	CHECK(tach_set_create(&opt, &set, NULL) == 0);
	printf("# %s\n", tach_set_missing(set));
	CHECK((tach_set_interrupts(set) >= 0) == !*tach_set_missing(set));
	tach_set_free(set);
}

int main(void)
{
	CASE(an_instruction_for_each);
	CASE(interrupts_are_subtracted);
	CASE(missing_interrupt_counts_are_reported);
	return check_done();
}
