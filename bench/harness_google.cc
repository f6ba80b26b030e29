/* SPDX-License-Identifier: MIT */
#include <benchmark/benchmark.h>
#include "bench/harness_work.h"

static void sort(benchmark::State &state)
{
	uint64_t n = static_cast<uint64_t>(state.range(0));

	work_fill(n);
	for (auto _ : state) {
		work_sort(n);
		benchmark::ClobberMemory();
	}
}
BENCHMARK(sort)->Arg(64)->Arg(1024)->Arg(16384);

static void sum(benchmark::State &state)
{
	uint64_t n = static_cast<uint64_t>(state.range(0));

	work_fill(n);
	for (auto _ : state)
		benchmark::DoNotOptimize(work_sum(n));
}
BENCHMARK(sum)->Arg(64)->Arg(16384);

BENCHMARK_MAIN();
