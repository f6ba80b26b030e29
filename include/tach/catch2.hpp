/* SPDX-License-Identifier: MIT */
/*
 * Counters for the benchmarks of Catch2 (2.9 and newer, or 3). Include this header instead of
 * Catch2's own.
 *
 *	BENCHMARK_ADVANCED("sort")(Catch::Benchmark::Chronometer meter) {
 *		tach::measure(meter, [&] { return sort(data); });
 *	};
 *
 * measure(meter, f) calls meter.measure(f) and counts events. After each test case, a table on
 * standard error shows the mean of a run for each benchmark, over all samples without the
 * warm-up. The environment variable TACH_EVENTS names the events. If it is not set, they are
 * "cycles,instructions,branch-misses,cache-misses". Events that this machine cannot count are
 * left out. If it can count no event, a line says why. Only one thread may measure. Link
 * libtach.
 */
#ifndef TACH_CATCH2_HPP
#define TACH_CATCH2_HPP

#if defined(TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED) &&                                 \
	!(defined(CATCH_CONFIG_EXTERNAL_INTERFACES) &&                                         \
	  defined(CATCH_CONFIG_ENABLE_BENCHMARKING))
#error "include <tach/catch2.hpp> before <catch2/catch.hpp>, or in its place"
#endif
#if __has_include(<catch2/catch.hpp>)
#ifndef CATCH_CONFIG_EXTERNAL_INTERFACES
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#endif
#ifndef CATCH_CONFIG_ENABLE_BENCHMARKING
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#endif
#include <catch2/catch.hpp>
#define TACH__CATCH_LISTENER Catch::TestEventListenerBase
#else
#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#define TACH__CATCH_LISTENER Catch::EventListenerBase
#endif

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>
#include <tach.hpp>

namespace tach
{

/* The counts of the benchmark that runs, and the rows of the test case. */
class catch_counts
{
      public:
	/* All files that include this header share one object. */
	static catch_counts &get()
	{
		static catch_counts counts;

		return counts;
	}
	catch_counts(const catch_counts &) = delete;
	catch_counts &operator=(const catch_counts &) = delete;
	void begin() noexcept
	{
		if (here)
			tach_reader_begin(here.get(), &mark);
	}
	void end(int times) noexcept
	{
		uint64_t delta[TACH_COUNTERS_MAX];

		if (!here)
			return;
		flags |= tach_reader_end(here.get(), &mark, delta);
		for (int i = 0; i < what.count(); i++)
			sum[i] += delta[i];
		runs += static_cast<uint64_t>(times);
	}
	/* Call it when the warm-up is over. */
	void restart() noexcept
	{
		for (uint64_t &s : sum)
			s = 0;
		runs = flags = 0;
	}
	void finish(const std::string &name)
	{
		char number[32];
		std::string row;

		/* The listener of another file has already made the row, or the benchmark does
		 * not call measure(). */
		if (runs == 0)
			return;
		for (int i = 0; i < what.count(); i++) {
			std::snprintf(number, sizeof number, " %15.1f",
				      static_cast<double>(sum[i]) / static_cast<double>(runs));
			row += flags & TACH_FLAG_LOST ? "               -" : number;
		}
		if (flags & TACH_FLAG_LOST)
			row += "  lost";
		else if (flags & (TACH_FLAG_INCOMPLETE | TACH_FLAG_SCALED))
			row += "  taken away at times";
		rows.push_back({name, row});
		restart();
	}
	void print()
	{
		if (rows.empty())
			return;
		std::fflush(stdout);
		std::fprintf(stderr, "%-32s", what.count() ? "counted, mean of a run" : "");
		for (int i = 0; i < what.count(); i++)
			std::fprintf(stderr, " %15s", what.name(i));
		if (what.count() == 0)
			std::fprintf(stderr, "no counters: %s", what.missing());
		std::fputc('\n', stderr);
		for (const auto &row : rows)
			if (what.count())
				std::fprintf(stderr, "%-32s%s\n", row.first.c_str(),
					     row.second.c_str());
		rows.clear();
	}

      private:
	catch_counts()
	    : named(std::getenv("TACH_EVENTS")),
	      what(named && *named ? named : "cycles,instructions,branch-misses,cache-misses",
		   nullptr, TACH_SET_OPTIONAL),
	      here(what)
	{
	}

	const char *named;
	set what;
	reader here;
	tach_mark mark{};
	uint64_t sum[TACH_COUNTERS_MAX] = {}, runs = 0;
	uint32_t flags = 0;
	std::vector<std::pair<std::string, std::string>> rows;
};

/* meter.measure(function), counted. */
template <class function> void measure(Catch::Benchmark::Chronometer meter, function &&run)
{
	catch_counts &counts = catch_counts::get();

	counts.begin();
	meter.measure(std::forward<function>(run));
	counts.end(meter.runs());
}

namespace
{
struct catch_listener : TACH__CATCH_LISTENER {
	typedef TACH__CATCH_LISTENER base;
	using base::base;
	void benchmarkStarting(const Catch::BenchmarkInfo &) override
	{
		catch_counts::get().restart();
	}
	void benchmarkEnded(const Catch::BenchmarkStats<> &stats) override
	{
		catch_counts::get().finish(stats.info.name);
	}
	void testCaseEnded(const Catch::TestCaseStats &stats) override
	{
		base::testCaseEnded(stats);
		catch_counts::get().print();
	}
};
CATCH_REGISTER_LISTENER(catch_listener)
} // namespace

} // namespace tach

#endif
