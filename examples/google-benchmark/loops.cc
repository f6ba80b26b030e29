/* SPDX-License-Identifier: MIT */
/*
 * Counters under google-benchmark, which chooses the iterations: one line per benchmark. `make
 * google-benchmark`
 */
#include <cstdint>
#include <tach/google_benchmark.hpp>

namespace
{

void divide(benchmark::State &state)
{
	uint64_t x = 12345;
	tach::benchmark_counters counters(state);

	for (auto _ : state) {
		benchmark::DoNotOptimize(x);
		benchmark::DoNotOptimize(0xfedcba9876543210u / (x | 1));
	}
}
BENCHMARK(divide);

void unpredictable(benchmark::State &state)
{
	uint64_t x = 88172645463325252u, taken = 0;
	tach::benchmark_counters counters(state);

	for (auto _ : state) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x & 1) {
			taken++;
			benchmark::DoNotOptimize(taken);
		}
	}
}
BENCHMARK(unpredictable);

} // namespace

BENCHMARK_MAIN();
