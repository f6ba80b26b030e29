/* SPDX-License-Identifier: MIT */
/* A program of microbenchmarks: what do a division and a multiplication take? */
#include <tach/bench_main.h>

static volatile uint64_t seed = 12345;

TACH_BENCH(multiply)
{
	uint64_t x = seed;

	TACH_KEEP(x * x);
}

TACH_BENCH(divide)
{
	uint64_t x = seed;

	TACH_KEEP(0xfedcba9876543210u / (x | 1));
}

TACH_BENCH(divide_by_constant)
{
	uint64_t x = seed;

	TACH_KEEP(x / 10);
}
