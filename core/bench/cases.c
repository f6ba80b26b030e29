/* SPDX-License-Identifier: MIT */
/* The list of benchmarks that TACH_BENCH defined. */
#include <tach/bench.h>

static struct tach_bench_case *first, **last = &first;

void tach_bench_register(struct tach_bench_case *bench)
{
	bench->next = NULL;
	*last = bench;
	last = &bench->next;
}

const struct tach_bench_case *tach_bench_cases(void)
{
	return first;
}
