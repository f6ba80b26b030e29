/* SPDX-License-Identifier: MIT */
/* A loop with a known number of instructions: LOOP(n) executes TAKES(n). n is a constant. */
#ifndef TESTS_GUEST_KNOWN_LOOP_H
#define TESTS_GUEST_KNOWN_LOOP_H

#include <stdint.h>

/*
 * SETUP loads n into its register; then follow n turns of two instructions, one of them a
 * branch.
 */
#if defined(__x86_64__)
enum { SETUP = 1 };
#define LOOP(n)                                                                                \
	__asm__ volatile("mov %0, %%ecx\n1:\tdec %%ecx\n\tjnz 1b" : : "i"(n) : "ecx", "cc")
#elif defined(__aarch64__)
enum { SETUP = 1 };
#define LOOP(n)                                                                                \
	__asm__ volatile("ldr w16, =%0\n1:\tsubs w16, w16, #1\n\tb.ne 1b"                      \
			 :                                                                     \
			 : "i"(n)                                                              \
			 : "w16", "cc")
#elif defined(__riscv)
enum { SETUP = 2 };
#define LOOP(n)                                                                                \
	__asm__ volatile("lui t1, %%hi(%0)\n\taddiw t1, t1, %%lo(%0)\n"                        \
			 "1:\taddi t1, t1, -1\n\tbnez t1, 1b"                                  \
			 :                                                                     \
			 : "i"(n)                                                              \
			 : "t1")
#endif
#define TAKES(n) (2 * (int64_t)(n) + SETUP)

#endif
