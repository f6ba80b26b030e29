/* SPDX-License-Identifier: MIT */
/*
 * x86: loops with known instructions, branches and memory accesses, and so with known slots in
 * the emulated PMU (tests/guest/x86/README.md).
 */
#ifndef TESTS_GUEST_LOOPS_H
#define TESTS_GUEST_LOOPS_H

#include <stdint.h>

enum { SLOTS_PER_INSTRUCTION = 8 };

static uint64_t loop_data[8];

#define LOOP(name, body)                                                                       \
	static __attribute__((noinline, unused)) void name(uint64_t n)                         \
	{                                                                                      \
		__asm__ volatile("1: " body " dec %[n]\n\t jnz 1b"                             \
				 : [n] "+r"(n)                                                 \
				 : [data] "r"(loop_data)                                       \
				 : "r10", "cc", "memory");                                     \
	}
/* Per turn: 2 instructions and 1 branch; 16 and 1; 4, 1 and 2 accesses. */
LOOP(loop_arithmetic, "")
LOOP(loop_straight, ".rept 14\n\t nop\n\t .endr\n\t")
LOOP(loop_loads, "mov (%[data]), %%r10\n\t mov 8(%[data]), %%r10\n\t")

#endif
