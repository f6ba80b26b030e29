// SPDX-License-Identifier: MIT
// A benchmark table of ns, cycles, instructions and instructions per cycle. Copy tach-mini.h
// into this folder, then:
//
//	c++ -std=c++11 -O2 -o table table.cc && ./table
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <vector>

#include "tach-mini.h"

namespace
{

struct cost {
	double ns, cycles, instructions;
};

// The minimum of ten rounds, because a disturbance only adds to a round.
template <class Work> cost measure(tach_mini &m, Work work)
{
	cost best = {1e300, 1e300, 1e300};

	for (int round = 0; round < 10; round++) {
		uint64_t delta[TACH_MINI_COUNTERS_MAX];
		auto begun = std::chrono::steady_clock::now();
		{
			tach_mini_scope scope(m, delta);
			work();
		}
		std::chrono::duration<double, std::nano> took =
			std::chrono::steady_clock::now() - begun;
		best.ns = std::min(best.ns, took.count());
		if (m.how == TACH_MINI_CLOCK)
			continue;
		best.cycles = std::min(best.cycles, static_cast<double>(delta[0]));
		best.instructions = std::min(best.instructions, static_cast<double>(delta[1]));
	}
	return best;
}

void row(tach_mini &m, const char *name, const cost &c)
{
	std::printf("%-12s %12.0f", name, c.ns);
	if (m.how == TACH_MINI_CLOCK)
		std::printf(" %12s %12s %6s\n", "-", "-", "-");
	else
		std::printf(" %12.0f %12.0f %6.2f\n", c.cycles, c.instructions,
			    c.instructions / c.cycles);
}

} // namespace

int main()
{
	std::vector<unsigned> numbers(100000);
	volatile unsigned long sink = 0;
	tach_mini m;

	if (tach_mini_open(&m, "cycles,instructions") < 0) {
		std::fprintf(stderr, "%s\n", m.why);
		return 1;
	}
	std::iota(numbers.begin(), numbers.end(), 1u);
	std::printf("# %s\n%-12s %12s %12s %12s %6s\n", m.why, "", "ns", "cycles",
		    "instructions", "IPC");
	row(m, "sum",
	    measure(m, [&] { sink = std::accumulate(numbers.begin(), numbers.end(), 0ul); }));
	row(m, "reverse", measure(m, [&] { std::reverse(numbers.begin(), numbers.end()); }));
	row(m, "sort", measure(m, [&] { std::sort(numbers.begin(), numbers.end()); }));
	(void)sink;
	tach_mini_close(&m);
	return 0;
}
