/* SPDX-License-Identifier: MIT */
/*
 * Facts for a guest program about its machine (tests/guest/boot sets them), and a loop of known
 * length. Outside a guest these facts are unknown.
 */
#ifndef TESTS_GUEST_MACHINE_H
#define TESTS_GUEST_MACHINE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int machine_is_guest(void)
{
	return getenv("GUEST") != NULL;
}

static inline int machine_is(const char *name)
{
	const char *arch = getenv("GUEST");

	return arch && strcmp(arch, name) == 0;
}

static inline int machine_is_arm64(void)
{
	return machine_is("arm64");
}

static inline int machine_is_riscv64(void)
{
	return machine_is("riscv64");
}

static inline int machine_has_pmu(void)
{
	return machine_is_guest() && !getenv("GUEST_NO_PMU");
}

/* Returns true if counts of instructions are exact and the same in every run. */
static inline int machine_is_exact(void)
{
	return machine_has_pmu() && getenv("GUEST_EXACT") != NULL;
}

/*
 * Returns true if events also count in the kernel: QEMU 7.2 ignores exclude_kernel for cycles
 * and instructions on RISC-V (its target/riscv/pmu.c filters only TLB events). So a piece of
 * code is exact unless the kernel's tick falls into it, one in 4e6 instructions there.
 */
static inline int machine_counts_kernel(void)
{
	return machine_is_riscv64();
}

/* Returns true if instructions are counted, exactly or together with the kernel's. */
static inline int machine_counts_instructions(void)
{
	return machine_is_exact() || (machine_has_pmu() && getenv("GUEST_INSTRUCTIONS"));
}

/* Returns the bits of a counter if the guest was booted with a certain width, else 0. */
static inline unsigned machine_width(void)
{
	const char *width = getenv("GUEST_WIDTH");

	return width ? (unsigned)atoi(width) : 0;
}

/*
 * Takes exactly MACHINE_LOOP_INSTRUCTIONS * n instructions of user space (n > 0), plus the
 * instructions that load n into the register; n of them are branches.
 */
enum { MACHINE_LOOP_INSTRUCTIONS = 2 };
static inline __attribute__((always_inline)) void machine_loop(uint64_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("1:	dec %0\n\t"
			 "jnz 1b"
			 : "+r"(n)
			 :
			 : "cc", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("1:	subs %0, %0, #1\n\t"
			 "b.ne 1b"
			 : "+r"(n)
			 :
			 : "cc", "memory");
#elif defined(__riscv)
	__asm__ volatile("1:	addi %0, %0, -1\n\t"
			 "bnez %0, 1b"
			 : "+r"(n)
			 :
			 : "memory");
#else
#error "no loop of known length for this architecture"
#endif
}

#endif
