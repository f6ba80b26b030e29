/* SPDX-License-Identifier: MIT */
/*
 * Counters under somebody else's harness: google-benchmark chooses the iterations, a reader of
 * this library counts them, without a system call inside the timed loop. `make google-benchmark`
 */
#include <cstdint>
#include <string>
#include <benchmark/benchmark.h>
#include <tach.hpp>

namespace
{

/* Events that this machine cannot count are left out, and the label says so. */
const tach::set &events()
{
	static const tach::set what("cycles,instructions,branch-misses", nullptr,
				    TACH_SET_OPTIONAL);

	return what;
}

/* Counts from its construction to report(); give it the whole loop. */
class counted
{
      public:
	explicit counted(benchmark::State &s) : state(s), reader(events())
	{
		tach_reader_begin(reader.get(), &mark);
	}
	void report()
	{
		uint64_t delta[TACH_COUNTERS_MAX];
		uint32_t flags = tach_reader_end(reader.get(), &mark, delta);
		const tach_set *set = events().get();

		for (int i = 0; i < tach_set_count(set); i++)
			state.counters[tach_set_name(set, i)] =
				benchmark::Counter(static_cast<double>(delta[i]),
						   benchmark::Counter::kAvgIterations);
		if (tach_set_count(set) == 0)
			state.SetLabel("no counters: " + std::string(tach_set_missing(set)));
		else if (flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE))
			state.SetLabel("counters were taken away");
	}

      private:
	benchmark::State &state;
	tach::reader reader;
	tach_mark mark;
};

void divide(benchmark::State &state)
{
	uint64_t x = 12345;
	counted count(state);

	for (auto _ : state) {
		benchmark::DoNotOptimize(x);
		benchmark::DoNotOptimize(0xfedcba9876543210u / (x | 1));
	}
	count.report();
}
BENCHMARK(divide);

void unpredictable(benchmark::State &state)
{
	uint64_t x = 88172645463325252u, taken = 0;
	counted count(state);

	for (auto _ : state) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x & 1) {
			taken++;
			benchmark::DoNotOptimize(taken);
		}
	}
	count.report();
}
BENCHMARK(unpredictable);

} // namespace

BENCHMARK_MAIN();
