/* SPDX-License-Identifier: MIT */
/*
 * C++ with the same inline code: scope guards that cost as much as the macros, owners for all
 * objects of the C interface, spans from C++20 on, durations of <chrono>. C++11, with or
 * without exceptions and RTTI. See tach.hpp(3).
 *
 * Functions that open an object have two forms. With a tach_error as last argument, they never
 * throw: on failure the object is empty (false, get() is a null pointer), and the error has the
 * reason. Without this argument, they throw tach::error; with -fno-exceptions, the object is
 * empty instead. You may destroy and move an empty object, call get(), and test whether it is
 * empty; objects made from an empty one are empty too. All other functions need an object that
 * is not empty. No other function throws. get() returns the argument for C functions; release()
 * gives the object to the caller.
 */
#ifndef TACH_HPP
#define TACH_HPP

#include <chrono>
#include <stdexcept>
#include <utility>
#ifdef __has_include
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif
#endif
#include <tach.h>

/* TACH_START_NAMED and TACH_SCOPE_NAMED for a std::string, or another type with a c_str(). */
template <class string>
__attribute__((always_inline)) inline auto
tach__region_start_named(tach_site *gate, tach_region_mark *mark, const string &name) noexcept
	-> decltype(static_cast<const char *>(name.c_str()), void())
{
	tach__region_start_named(gate, mark, static_cast<const char *>(name.c_str()));
}

namespace tach
{

/* The error of a failed call. what() is the sentence; code is an enum tach_code or a negated
 * errno. */
class error : public std::runtime_error
{
      public:
	error(int c, const char *text) : std::runtime_error(text), code(c)
	{
	}
	/* Throws an error if code is not 0. Does nothing if exceptions are switched off. */
	static void check(int code, const tach_error &err)
	{
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
		if (code)
			throw error(code, err.text);
#else
		(void)code, (void)err;
#endif
	}
	const int code;
};

/* -Weffc++ would warn about marks without an initializer, and about pointers in owners. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"

/*
 * A region from here to the end of the block, also if an exception leaves it:
 *
 *	static tach_site site = TACH_SITE_INIT("parse", 0, __func__);
 *	tach::scope guard(site);
 *
 * or TACH_GUARD(parse). With 1 instead of 0, or with TACH_GUARD_FENCED, both edges are fenced.
 * Use TACH_SITE_FLAT, or TACH_GUARD_FLAT, for a region outside all others (TACH_START_FLAT). A
 * guard cannot be copied or moved, because the counts at its start belong to this thread.
 */
class scope
{
      public:
	__attribute__((always_inline,
		       no_instrument_function)) explicit scope(tach_site &site) noexcept
	{
		tach__region_start(&site, &mark);
	}
	__attribute__((always_inline, no_instrument_function)) ~scope()
	{
		tach__region_stop(&mark);
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	tach_region_mark mark;
};

/*
 * A region with a name that is known at run time, for objects that outlive a block. Call
 * begin() and end() on the same thread, or nothing is measured. The destructor also ends the
 * region. The constructor looks the site up under a lock, so keep the object.
 */
class region
{
      public:
	explicit region(tach_site *at) noexcept : site(at)
	{
	}
	explicit region(const char *name) noexcept : site(tach_site_get(name))
	{
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;
	~region()
	{
		end();
	}
	void begin() noexcept
	{
		end();
		tach_region_begin(site, &mark);
	}
	void end() noexcept
	{
		if (mark.end)
			tach_region_end(&mark);
		mark.end = nullptr;
	}

      private:
	tach_site *site;
	tach_region_mark mark = TACH_REGION_MARK_INIT;
};

/* The common part of all owners. */
template <class object, void (*destroy)(object *)> class owner
{
      public:
	owner() noexcept = default;
	explicit owner(object *own) noexcept : handle(own)
	{
	}
	owner(const owner &) = delete;
	owner &operator=(const owner &) = delete;
	owner(owner &&other) noexcept : handle(other.release())
	{
	}
	owner &operator=(owner &&other) noexcept
	{
		std::swap(handle, other.handle);
		return *this;
	}
	~owner()
	{
		destroy(handle);
	}
	object *get() const noexcept
	{
		return handle;
	}
	/* The caller owns it from here on. */
	object *release() noexcept
	{
		object *mine = handle;

		handle = nullptr;
		return mine;
	}
	explicit operator bool() const noexcept
	{
		return handle != nullptr;
	}

      protected:
	/* Takes the result of a call that gave the object to open(), or an error. */
	void opened(int code) noexcept
	{
		if (code < 0)
			handle = nullptr;
	}
	object **open() noexcept
	{
		return &handle;
	}

      private:
	object *handle = nullptr;
};

/* Owns a struct tach_set, which must outlive its readers. */
class set : public owner<tach_set, tach_set_free>
{
      public:
	explicit set(const tach_set_options &opt)
	{
		tach_error err = TACH_ERROR_INIT;
		int code = tach_set_create(&opt, open(), &err);

		opened(code);
		error::check(code, err);
	}
	set(const tach_set_options &opt, tach_error &err) noexcept
	{
		opened(tach_set_create(&opt, open(), &err));
	}
	/* Lists as in tach_set_options; metrics may be nullptr. */
	explicit set(const char *events, const char *metrics = nullptr, uint32_t flags = 0)
	    : set(options(events, metrics, flags))
	{
	}
	set(const char *events, const char *metrics, uint32_t flags, tach_error &err) noexcept
	    : set(options(events, metrics, flags), err)
	{
	}
	const tach_set *get() const noexcept
	{
		return owner::get();
	}
	int count() const noexcept
	{
		return tach_set_count(get());
	}
	const char *name(int member) const noexcept
	{
		return tach_set_name(get(), member);
	}
	int nmetrics() const noexcept
	{
		return tach_set_nmetrics(get());
	}
	const char *metric_name(int metric) const noexcept
	{
		return tach_set_metric_name(get(), metric);
	}
	const char *missing() const noexcept
	{
		return tach_set_missing(get());
	}
	/* Evaluates deltas of all members, with their flags or nullptr. */
	double eval(int metric, const uint64_t *deltas,
		    std::chrono::duration<double, std::nano> elapsed,
		    const uint32_t *flags = nullptr, uint32_t *out = nullptr) const noexcept
	{
		return tach_set_eval(get(), metric, deltas, flags, elapsed.count(), out);
	}

      private:
	static tach_set_options options(const char *events, const char *metrics, uint32_t flags)
	{
		tach_set_options opt = TACH_SET_OPTIONS_INIT;

		opt.events = events;
		opt.metrics = metrics;
		opt.flags = flags;
		return opt;
	}
};

/* Owns a struct tach_reader. Use and destroy it on the thread that made it, also after a
 * move. */
class reader : public owner<tach_reader, tach_reader_close>
{
      public:
	explicit reader(const set &what)
	{
		tach_error err = TACH_ERROR_INIT;
		int code = tach_reader_open(what.get(), open(), &err);

		opened(code);
		error::check(code, err);
	}
	reader(const set &what, tach_error &err) noexcept
	{
		opened(tach_reader_open(what.get(), open(), &err));
	}
	/* Runs the function between begin and end of the first n members. Returns
	 * tach/flags.h. */
	template <unsigned n, class function>
	__attribute__((always_inline)) uint32_t measure(uint64_t (&delta)[n], function &&f)
	{
		tach_mark mark;

		tach_reader_begin_n(get(), &mark, n);
		f();
		return tach_reader_end_n(get(), &mark, delta, n);
	}
	/* Reads the counts of the first n members since open. Returns tach/flags.h. */
	template <unsigned n> __attribute__((always_inline)) uint32_t read(uint64_t (&value)[n])
	{
		return tach_reader_read_n(get(), value, n);
	}
#ifdef __cpp_lib_span
	/* A span of fixed extent is unrolled like an array. It must not be longer than the
	 * set. */
	template <std::size_t n, class function>
	__attribute__((always_inline)) uint32_t measure(std::span<uint64_t, n> delta,
							function &&f)
	{
		tach_mark mark;

		tach_reader_begin_n(get(), &mark, static_cast<unsigned>(delta.size()));
		f();
		return tach_reader_end_n(get(), &mark, delta.data(),
					 static_cast<unsigned>(delta.size()));
	}
	template <std::size_t n>
	__attribute__((always_inline)) uint32_t read(std::span<uint64_t, n> value)
	{
		return tach_reader_read_n(get(), value.data(),
					  static_cast<unsigned>(value.size()));
	}
#endif
	const char *missing() const noexcept
	{
		return tach_reader_missing(get());
	}
};

#pragma GCC diagnostic pop

} // namespace tach

/* Like TACH_SCOPE, but the region is a C++ object with a destructor. */
#ifdef TACH_DISABLE
#define TACH_GUARD(name)	((void)0)
#define TACH_GUARD_FENCED(name) ((void)0)
#define TACH_GUARD_FLAT(name)	((void)0)
#else
#define TACH__GUARD(name, fenced)                                                              \
	static struct tach_site tach__site_##name = TACH_SITE_INIT(#name, fenced, __func__);   \
	TACH__UNINITIALIZED ::tach::scope tach__guard_##name(*TACH_ADDRESS(tach__site_##name))
#define TACH_GUARD(name)	TACH__GUARD(name, 0)
#define TACH_GUARD_FENCED(name) TACH__GUARD(name, 1)
#define TACH_GUARD_FLAT(name)	TACH__GUARD(name, TACH_SITE_FLAT)
#endif

#include <tach/owners.hpp>
#include <tach/coroutine.hpp>

#endif
