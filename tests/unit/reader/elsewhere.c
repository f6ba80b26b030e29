/* SPDX-License-Identifier: MIT */
/*
 * The plain C parts of headers for rare architectures. Their instructions are in functions that
 * this test never calls, so any compiler accepts them.
 */
#define TACH_ARCH_H /* each header checks that tach/arch.h includes it */
#include <tach/base.h>

#define tach_clock	none_clock
#define tach__arch_loop none_loop
#include <tach/arch/none.h>
enum { NONE_READS = TACH_ARCH_FAST };
#include "tests/unit/reader/another.h"

#define tach_clock	ia64_clock
#define tach__arch_loop ia64_loop
#include <tach/arch/ia64.h>
enum { IA64_READS = TACH_ARCH_FAST };
#include "tests/unit/reader/another.h"

#define tach_clock	riscv64_clock
#define tach__arch_loop riscv64_loop
#undef __riscv_zbb
#include <tach/arch/riscv64.h>

#include "tests/check.h"

static void what_cannot_be_read_is_slow(void)
{
	CHECK(!NONE_READS && !IA64_READS);
	CHECK(none_clock() == 0);
}

/* If the loop counted in the wrong direction, it would take centuries. */
static void loops_come_to_their_end(void)
{
	none_loop(1);
	none_loop(1000);
	ia64_loop(1);
	ia64_loop(1000);
}

static void highest_bit_of_riscv64(void)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t one = (uint64_t)1 << bit, below = one - 1;

		CHECK(tach__highest(one) == bit, "%u", bit);
		CHECK(tach__highest(one | below) == bit, "%u", bit);
		CHECK(tach__highest(one | (below & 0x5a5a5a5a5a5a5a5a)) == bit, "%u", bit);
	}
}

/* The test provides the stubs. */
static void faults_of_riscv64_are_in_stubs(void)
{
	static const char stubs[3 * 32];
	const uintptr_t at = (uintptr_t)stubs;
#define tach__counters64   stubs
#define tach__counters_end (stubs + 2 * 32)

	CHECK(!TACH_FAULT_OURS(at - 1));
	CHECK(TACH_FAULT_OURS(at));
	CHECK(TACH_FAULT_OURS(at + 2 * 32 - 1));
	CHECK(!TACH_FAULT_OURS(at + 2 * 32));
}

int main(void)
{
	CASE(what_cannot_be_read_is_slow);
	CASE(loops_come_to_their_end);
	CASE(highest_bit_of_riscv64);
	CASE(faults_of_riscv64_are_in_stubs);
	return check_done();
}
