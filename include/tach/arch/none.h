/* SPDX-License-Identifier: MIT */
/* No counter read is known: always the slow path, read(2). Included by tach/arch.h only. */
#ifndef TACH_ARCH_H
#error "include <tach/arch.h>"
#endif

#define TACH_ARCH_FAST	  0
#define TACH_ARCH_SIGNED  0
#define TACH_STUBS(width) ((const char *)0)

TACH_API_INLINE uint64_t tach_clock(void)
{
	return 0;
}
#define TACH_FENCE() __asm__ volatile("" ::: "memory")

#define TACH_ARCH_NAME		    "other"
#define TACH_ARCH_LOOP_INSTRUCTIONS 2u
/* Its number of instructions depends on the compiler, because Linux counts nothing here. */
TACH_INLINE void tach__arch_loop(uint64_t n)
{
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}
