/* SPDX-License-Identifier: MIT */
/*
 * Reads a counter and the clock; a fence. Included by tach/arch.h only.
 *
 * Linux never had perf_event on ia64 (only perfmon; 6.7 removed the port). So no event opens,
 * and sets take the slow path, which returns "not supported". A program that programs the PMU
 * by other means can use tach_ia64_counter. This code was assembled with Debian's binutils, but
 * never ran on hardware.
 */
#ifndef TACH_ARCH_H
#error "include <tach/arch.h>"
#endif

#define TACH_ARCH_FAST	  0
#define TACH_ARCH_SIGNED  0
#define TACH_STUBS(width) ((const char *)0)

/*
 * PMD register `pmd` (4-7, Montecito 4-15): its low 47 bits count (Intel Itanium Architecture
 * SDM vol. 2, 7.2). User code may read it while PSR.sp is 0. The caller chooses this number,
 * because no kernel page names it, unlike on x86 and arm64.
 */
TACH_INLINE uint64_t tach_ia64_counter(uint64_t pmd)
{
	uint64_t value;

	__asm__ volatile("mov %0 = pmd[%1]" : "=r"(value) : "r"(pmd) : "memory");
	return value;
}

/* Interval time counter; runs at a fixed ratio of the CPU's clock. */
TACH_API_INLINE uint64_t tach_clock(void)
{
	uint64_t value;

	__asm__ volatile("mov %0 = ar.itc" : "=r"(value));
	return value;
}

/* mf orders memory, srlz.d the later reads of processor state. */
#define TACH_FENCE() __asm__ volatile("mf\n\t;;\n\tsrlz.d\n\t;;" ::: "memory")

#define TACH_ARCH_NAME		    "ia64"
#define TACH_ARCH_LOOP_INSTRUCTIONS 2u
/* Its number of instructions depends on the compiler, because Linux counts nothing here. */
TACH_INLINE void tach__arch_loop(uint64_t n)
{
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}
