/* SPDX-License-Identifier: MIT */
#include <tach/bench_main.h>
#include "bench/harness_work.h"

TACH_BENCH_ARGS(sort, 64, 1024, 16384)
{
	work_sort(tach_arg);
	TACH_CLOBBER();
}
TACH_BENCH_SETUP(sort)
{
	work_fill(tach_arg);
}

TACH_BENCH_ARGS(sum, 64, 16384)
{
	TACH_KEEP(work_sum(tach_arg));
}
TACH_BENCH_SETUP(sum)
{
	work_fill(tach_arg);
}
