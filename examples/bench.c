/* SPDX-License-Identifier: MIT */
/* A microbenchmark program: what do a division and a multiplication cost? */
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

/* For several sizes; setup and teardown are not measured. */
static uint32_t *numbers;

TACH_BENCH_ARGS(sum, 16, 1024, 65536)
{
	uint32_t sum = 0;

	for (uint64_t i = 0; i < tach_arg; i++)
		sum += numbers[i];
	TACH_KEEP(sum);
}

TACH_BENCH_SETUP(sum)
{
	numbers = calloc(tach_arg, sizeof *numbers);
	if (!numbers)
		abort();
}

TACH_BENCH_TEARDOWN(sum)
{
	free(numbers);
}

TACH_BENCH_UNITS(sum, "byte", tach_arg * sizeof *numbers);
