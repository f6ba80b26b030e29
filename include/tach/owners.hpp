/* SPDX-License-Identifier: MIT */
/* Owners of snapshots, formulas, derived events, boxes and benchmarks. tach.hpp includes this
 * header. */
#ifndef TACH_OWNERS_HPP
#define TACH_OWNERS_HPP

#include <tach.hpp>

namespace tach
{

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"

/* Owns a struct tach_snapshot: the sums of all regions at one moment. */
class snapshot : public owner<tach_snapshot, tach_snapshot_free>
{
      public:
	using nanoseconds = std::chrono::duration<double, std::nano>;

	/* Takes a snapshot of this process. */
	snapshot()
	{
		tach_error err = TACH_ERROR_INIT;
		int code = tach_snapshot_take(open(), &err);

		opened(code);
		error::check(code, err);
	}
	explicit snapshot(tach_error &err) noexcept
	{
		opened(tach_snapshot_take(open(), &err));
	}
	snapshot(int process, tach_error &err) noexcept
	{
		opened(tach_snapshot_take_process(process, open(), &err));
	}
	/* Loads a report in JSON. */
	snapshot(const char *json, size_t length, tach_error &err) noexcept
	{
		opened(tach_snapshot_load(json, length, open(), &err));
	}
	/* The counts from `older` to this one. */
	snapshot since(const snapshot &older, tach_error &err) const noexcept
	{
		tach_snapshot *between = nullptr;

		if (tach_snapshot_since(get(), older.get(), &between, &err) < 0)
			between = nullptr;
		return snapshot(between);
	}
	/* Takes over the result of a C function. */
	explicit snapshot(tach_snapshot *own) noexcept : owner(own)
	{
	}
	int nregions() const noexcept
	{
		return tach_snapshot_nregions(get());
	}
	tach_region_info info(int number) const noexcept
	{
		tach_region_info out = tach_region_info();

		out.size = sizeof out;
		tach_snapshot_region(get(), number, &out);
		return out;
	}
	tach_value value(int number, int quantity,
			 tach_part part = TACH_PART_INCLUSIVE) const noexcept
	{
		tach_value out = tach_value();

		if (tach_snapshot_value(get(), number, quantity, part, &out) < 0)
			out.flags = TACH_FLAG_LOST;
		return out;
	}
	tach_value derived(int number, int metric,
			   tach_part part = TACH_PART_INCLUSIVE) const noexcept
	{
		tach_value out = tach_value();

		if (tach_snapshot_derived(get(), number, metric, part, &out) < 0)
			out.flags = TACH_FLAG_LOST;
		return out;
	}
	nanoseconds time(int number, tach_part part = TACH_PART_INCLUSIVE) const noexcept
	{
		return nanoseconds(value(number, TACH_QUANTITY_TIME, part).value);
	}
	const char *missing() const noexcept
	{
		return tach_snapshot_missing(get());
	}
	/* Writes text to a descriptor, or the format of the name's suffix to a file. Returns 0
	 * or an error. */
	int report(int fd, tach_error &err) const noexcept
	{
		return tach_report_fd(get(), nullptr, fd, &err);
	}
	int report(const char *file, tach_error &err) const noexcept
	{
		return tach_report_file(get(), nullptr, file, &err);
	}
};

/* Owns a struct tach_formula. */
class formula : public owner<tach_formula, tach_formula_free>
{
      public:
	explicit formula(const char *text)
	{
		tach_error err = TACH_ERROR_INIT;
		int code = tach_formula_compile(text, nullptr, open(), &err);

		opened(code);
		error::check(code, err);
	}
	formula(const char *text, tach_error &err,
		const tach_formula_options *opt = nullptr) noexcept
	{
		opened(tach_formula_compile(text, opt, open(), &err));
	}
	double eval(const uint64_t *operands,
		    std::chrono::duration<double, std::nano> elapsed =
			    std::chrono::duration<double, std::nano>(0),
		    uint32_t *flags = nullptr) const noexcept
	{
		return tach_formula_eval(get(), operands, elapsed.count(), flags);
	}
};

/* Owns a struct tach_expansion: a derived event, resolved to native events. */
class expansion : public owner<tach_expansion, tach_expansion_free>
{
      public:
	expansion(tach_derived *in, int pmu, const char *name, tach_error &err) noexcept
	{
		opened(tach_derived_expand(in, pmu, name, open(), &err));
	}
};

/* Owns a struct tach_derived: a private registry. tach_derived_default() is the registry of the
 * process. */
class derived : public owner<tach_derived, tach_derived_free>
{
      public:
	explicit derived(tach_error &err, const tach_derived_options *opt = nullptr) noexcept
	{
		opened(tach_derived_create(opt, open(), &err));
	}
	/* Returns the number of accepted records, or an error. */
	int load(const char *path, tach_error &err) noexcept
	{
		return tach_derived_load(get(), path, &err);
	}
};

/* Owns a struct tach_uncore: counts of boxes, for all programs together. */
class uncore : public owner<tach_uncore, tach_uncore_close>
{
      public:
	uncore(const char *events, tach_error &err) noexcept
	{
		tach_uncore_options opt = TACH_UNCORE_OPTIONS_INIT;

		opt.events = events;
		opened(tach_uncore_open(&opt, open(), &err));
	}
	int start() noexcept
	{
		return tach_uncore_start(get());
	}
	int stop() noexcept
	{
		return tach_uncore_stop(get());
	}
	int count() const noexcept
	{
		return tach_uncore_count(get());
	}
	uint32_t read(uint64_t *value, uint32_t *flags = nullptr) const noexcept
	{
		return tach_uncore_read(get(), value, flags);
	}
};

/* Owns a struct tach_bench: the results of a benchmark. */
class bench : public owner<tach_bench, tach_bench_free>
{
      public:
	/* Runs f(iterations) many times, on this thread only. f must not throw. */
	template <class function,
		  class = typename std::enable_if<!std::is_integral<
			  typename std::remove_reference<function>::type>::value>::type>
	bench(const char *name, function &&f, tach_error &err,
	      const tach_bench_options *opt = nullptr)
	{
		opened(tach_bench_run(name, call<function>,
				      const_cast<void *>(static_cast<const void *>(&f)), opt,
				      open(), &err));
	}
	/* Loads a saved result in JSON. */
	bench(const char *json, size_t length, tach_error &err) noexcept
	{
		opened(tach_bench_load(json, length, open(), &err));
	}
	int count() const noexcept
	{
		return tach_bench_count(get());
	}
	const char *missing() const noexcept
	{
		return tach_bench_missing(get());
	}

      private:
	template <class function> static void call(void *context, uint64_t iterations)
	{
		(*static_cast<typename std::remove_reference<function>::type *>(context))(
			iterations);
	}
};

#pragma GCC diagnostic pop

} // namespace tach

#endif
