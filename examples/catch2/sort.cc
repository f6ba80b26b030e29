/* SPDX-License-Identifier: MIT */
/*
 * Counters in Catch2's benchmarks: use measure() instead of meter.measure().
 *
 * 	c++ -O2 sort.cc $(pkg-config --cflags --libs tach) && ./a.out
 */
#define CATCH_CONFIG_MAIN /* for Catch2 2; with Catch2 3 link its library Catch2Main */
#include <tach/catch2.hpp>
#include <algorithm>
#include <numeric>

static std::vector<int> numbers(unsigned step)
{
	std::vector<int> all(4096);

	for (unsigned i = 0; i < all.size(); i++)
		all[i] = static_cast<int>(i * step % all.size());
	return all;
}

TEST_CASE("sorting")
{
	const std::vector<int> sorted = numbers(1), shuffled = numbers(2654435761u);

	BENCHMARK_ADVANCED("sorted")(Catch::Benchmark::Chronometer meter)
	{
		tach::measure(meter, [&] {
			std::vector<int> copy = sorted;
			std::sort(copy.begin(), copy.end());
			return copy.front();
		});
	};
	BENCHMARK_ADVANCED("shuffled")(Catch::Benchmark::Chronometer meter)
	{
		tach::measure(meter, [&] {
			std::vector<int> copy = shuffled;
			std::sort(copy.begin(), copy.end());
			return copy.front();
		});
	};
}
