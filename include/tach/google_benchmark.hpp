/* SPDX-License-Identifier: MIT */
/*
 * Counters for google/benchmark (1.5 and newer), without libpfm. Each thread counts its own
 * events. A set may use all counters of the processor. The timed loop makes no system call.
 *
 *	static void sum(benchmark::State &state)
 *	{
 *		tach::benchmark_counters counters(state);
 *
 *		for (auto _ : state)
 *			work();
 *	}
 *	BENCHMARK(sum)->Threads(4);
 *
 * The row of the benchmark shows each event: its mean per iteration, over all threads. The
 * environment variable TACH_EVENTS names the events. If it is not set, they are
 * "cycles,instructions,branch-misses,cache-misses". Events that this machine cannot count are
 * left out. The label of the row says if no event can be counted, and if the kernel took
 * counters away. An object counts from its constructor to its destructor. No overhead is
 * subtracted. Link libtach.
 */
#ifndef TACH_GOOGLE_BENCHMARK_HPP
#define TACH_GOOGLE_BENCHMARK_HPP

#include <cstdlib>
#include <string>
#include <benchmark/benchmark.h>
#include <tach.hpp>

namespace tach
{

class benchmark_counters
{
      public:
	explicit benchmark_counters(benchmark::State &s) : benchmark_counters(s, usual())
	{
	}
	/* Destroy the set after this object. */
	benchmark_counters(benchmark::State &s, const set &events)
	    : state(s), what(events), here(events, err)
	{
		resume();
	}
	benchmark_counters(const benchmark_counters &) = delete;
	benchmark_counters &operator=(const benchmark_counters &) = delete;
	~benchmark_counters()
	{
		pause();
		publish();
	}
	/* Call pause() to stop counting and resume() to go on. PauseTiming() and ResumeTiming()
	 * of the state do not stop the counters. */
	void pause() noexcept
	{
		uint64_t delta[TACH_COUNTERS_MAX];

		if (!counting)
			return;
		flags |= tach_reader_end(here.get(), &mark, delta);
		counting = false;
		for (int i = 0; i < what.count(); i++)
			sum[i] += delta[i];
	}
	void resume() noexcept
	{
		if (counting || !here)
			return;
		counting = true;
		tach_reader_begin(here.get(), &mark);
	}

      private:
	static const set &usual()
	{
		static const char *const named = std::getenv("TACH_EVENTS");
		static const set events(
			named && *named ? named
					: "cycles,instructions,branch-misses,cache-misses",
			nullptr, TACH_SET_OPTIONAL);

		return events;
	}
	void publish()
	{
		if (!here)
			state.SetLabel(std::string("no counters: ") + err.text);
		else if (what.count() == 0)
			state.SetLabel(std::string("no counters: ") + what.missing());
		else if (flags & TACH_FLAG_LOST)
			state.SetLabel("counters were lost");
		else if (flags & (TACH_FLAG_INCOMPLETE | TACH_FLAG_SCALED))
			state.SetLabel("counters were taken away at times");
		if (!here || (flags & TACH_FLAG_LOST))
			return;
		for (int i = 0; i < what.count(); i++)
			state.counters[what.name(i)] =
				benchmark::Counter(static_cast<double>(sum[i]),
						   benchmark::Counter::kAvgIterations);
	}

	benchmark::State &state;
	const set &what;
	tach_error err = TACH_ERROR_INIT;
	reader here;
	tach_mark mark{};
	uint64_t sum[TACH_COUNTERS_MAX] = {};
	uint32_t flags = 0;
	bool counting = false;
};

} // namespace tach

#endif
