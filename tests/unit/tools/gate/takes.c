/* SPDX-License-Identifier: MIT */
/*
 * Regions of known length: work takes 2 N + some instructions (N: TURNS without an argument),
 * rest takes 1000 and some. Status S.
 */
#include <stdlib.h>
#include <tach.h>

#ifndef TURNS
#define TURNS 1
#endif

static __attribute__((noinline)) void turns(unsigned long n)
{
#if defined(__x86_64__)
	__asm__ volatile("1:\tdec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
	__asm__ volatile("1:\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#endif
}

int main(int argc, char **argv)
{
	TACH_START(work);
	turns(argc > 1 ? strtoul(argv[1], NULL, 10) : TURNS);
	TACH_STOP(work);
	TACH_START(rest);
	turns(500);
	TACH_STOP(rest);
	return argc > 2 ? atoi(argv[2]) : 0;
}
