/* SPDX-License-Identifier: MIT */
/*
 * Loops of known length on this machine, on any processor. Real processors count an extra
 * instruction for some interrupts, so the minimum of many tries is checked, which is exact.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <tach/reader.h>
#include "core/reader/reader.h"
#include "tests/hw/hardware.h"

enum { TRIES = 300, READS = 200000 };

/* Returns the minimum that member 0 shows for a loop of n turns, over undisturbed entries. */
static uint64_t least(struct hardware *h, uint64_t n)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t delta[TACH_COUNTERS_MAX];
		struct tach_mark mark;
		uint32_t flags;

		tach_reader_begin(h->reader, &mark);
		machine_loop(n);
		flags = tach_reader_end(h->reader, &mark, delta);
		if (flags == 0 && delta[0] < best)
			best = delta[0];
	}
	return best;
}

static void count_loops(const char *events, uint64_t per_turn)
{
	struct hardware h;
	uint64_t one;

	if (hardware_open(&h, events))
		SKIP(hardware_why);
	one = least(&h, 1);
	for (uint64_t n = 10; n <= 100000; n *= 10) {
		uint64_t many = least(&h, n + 1);

		CHECK(many - one == n * per_turn, "%" PRIu64 " turns: %" PRIu64, n, many - one);
	}
	printf("# an empty region counts %" PRIu64 "\n", one - per_turn);
	hardware_close(&h);
}

static void instructions(void)
{
	count_loops("instructions", MACHINE_LOOP_INSTRUCTIONS);
}

static void instructions_beside_others(void)
{
	count_loops("instructions, cycles, branches", MACHINE_LOOP_INSTRUCTIONS);
}

static void branches(void)
{
	count_loops("branches", 1);
}

/*
 * Every turn waits for the multiplication of the previous one, so it takes at least one cycle
 * on any processor; a fenced end must not be read before the chain is finished.
 */
static void fenced_cycles(void)
{
	enum { TURNS = 2000 };
	uint64_t best = UINT64_MAX;
	struct hardware h;

	if (machine_is_guest())
		SKIP("an emulator's cycles are none");
	if (hardware_open(&h, "cycles"))
		SKIP(hardware_why);
	for (int i = 0; i < TRIES; i++) {
		uint64_t delta[TACH_COUNTERS_MAX], x = (uint64_t)i | 1;
		struct tach_mark mark;
		uint32_t flags;

		tach_reader_begin_fenced(h.reader, &mark);
		for (int k = 0; k < TURNS; k++) {
			x *= x;
			__asm__ volatile("" : "+r"(x));
		}
		flags = tach_reader_end_fenced(h.reader, &mark, delta);
		if (flags == 0 && delta[0] < best)
			best = delta[0];
	}
	printf("# %d dependent multiplications: %" PRIu64 " cycles\n", TURNS, best);
	CHECK(best >= TURNS && best < 100 * TURNS, "%" PRIu64, best);
	hardware_close(&h);
}

/* Moves to the nth CPU that the process may use; if n is too large, to any CPU. */
static void wander(int nth)
{
	static cpu_set_t all;
	cpu_set_t one;

	if (CPU_COUNT(&all) == 0)
		sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && nth-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, CPU_COUNT(&one) ? &one : &all);
}

/* Moves from CPU to CPU; every read lies between two read(2) calls of the same group. */
static void reads_lie_between_system_calls(void)
{
	uint64_t last[TACH_COUNTERS_MAX] = {0}, outside = 0, backward = 0, flagged = 0;
	struct hardware h;

	if (hardware_open(&h, "cycles, instructions"))
		SKIP(hardware_why);
	for (int turn = 0; turn < READS; turn++) {
		struct tach__group_read low, high;
		uint64_t value[TACH_COUNTERS_MAX];
		int bad = tach__group_read(&tach__reader(h.reader)->hard, &low) != 1;

		if (turn % 1000 == 0)
			wander(turn / 1000 % 16);
		flagged += tach_reader_read(h.reader, value) != 0;
		bad |= tach__group_read(&tach__reader(h.reader)->hard, &high) != 1;
		CHECK(!bad, "read(2) failed");
		for (uint32_t i = 0; i < h.reader->count; i++) {
			outside += value[i] < low.value[i] || value[i] > high.value[i];
			backward += value[i] < last[i];
			last[i] = value[i];
		}
	}
	wander(CPU_SETSIZE);
	CHECK(outside == 0 && backward == 0 && flagged == 0,
	      "%" PRIu64 " outside, %" PRIu64 " backward, %" PRIu64 " flagged", outside,
	      backward, flagged);
	hardware_close(&h);
}

int main(void)
{
	CASE(instructions);
	CASE(instructions_beside_others);
	CASE(branches);
	CASE(fenced_cycles);
	CASE(reads_lie_between_system_calls);
	return check_done();
}
