/* SPDX-License-Identifier: MIT */
/*
 * C++ over the same inline code: scope guards that cost what the macros cost, owners for sets
 * and readers. C++11, with or without exceptions and RTTI.
 *
 * What opens has two forms. With a tach_error as its last argument it never throws: on failure
 * the object is empty (false, get() is a null pointer), and the error says why. Without one it
 * throws tach::error; where exceptions are switched off (-fno-exceptions) it cannot, and the
 * object is empty as well. An empty set or reader may be destroyed, moved and asked, and a
 * reader of an empty set is empty; only measure() needs one that is not. Nothing else throws.
 */
#ifndef TACH_HPP
#define TACH_HPP

#include <stdexcept>
#include <utility>
#include <tach.h>

namespace tach
{

/* What a failed call says: what() is the sentence, code an enum tach_code or a negated errno.
 */
class error : public std::runtime_error
{
      public:
	error(int c, const char *text) : std::runtime_error(text), code(c)
	{
	}
	/* What a failed call becomes; where exceptions are switched off, nothing. */
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

/* A mark is filled by those who use it, and a moved object has its pointer swapped. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"

/*
 * A region from here to the end of the block, however it is left:
 *
 *	static tach_site site = TACH_SITE_INIT("parse", 0, __func__);
 *	tach::scope guard(site);
 *
 * or TACH_GUARD(parse). 1 instead of 0, or TACH_GUARD_FENCED: both edges are fenced. Neither
 * copied nor moved: the counts at its start belong to this thread.
 */
class scope
{
      public:
	__attribute__((always_inline)) explicit scope(tach_site &site) noexcept
	{
		tach__region_start(&site, &mark);
	}
	__attribute__((always_inline)) ~scope()
	{
		tach__region_stop(&mark);
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	tach_region_mark mark;
};

/* Owns a struct tach_set, which must outlive its readers. */
class set
{
      public:
	explicit set(const tach_set_options &opt)
	{
		tach_error err = TACH_ERROR_INIT;

		error::check(tach_set_create(&opt, &handle, &err), err);
	}
	set(const tach_set_options &opt, tach_error &err) noexcept
	{
		if (tach_set_create(&opt, &handle, &err))
			handle = nullptr;
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
	set(const set &) = delete;
	set &operator=(const set &) = delete;
	set(set &&other) noexcept
	{
		std::swap(handle, other.handle);
	}
	set &operator=(set &&other) noexcept
	{
		std::swap(handle, other.handle);
		return *this;
	}
	~set()
	{
		tach_set_free(handle);
	}
	const tach_set *get() const noexcept
	{
		return handle;
	}
	explicit operator bool() const noexcept
	{
		return handle != nullptr;
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
	tach_set *handle = nullptr;
};

/* Owns a struct tach_reader. Lives and dies on the thread that made it. */
class reader
{
      public:
	explicit reader(const set &what)
	{
		tach_error err = TACH_ERROR_INIT;

		error::check(tach_reader_open(what.get(), &handle, &err), err);
	}
	reader(const set &what, tach_error &err) noexcept
	{
		if (tach_reader_open(what.get(), &handle, &err))
			handle = nullptr;
	}
	reader(const reader &) = delete;
	reader &operator=(const reader &) = delete;
	~reader()
	{
		tach_reader_close(handle);
	}
	tach_reader *get() const noexcept
	{
		return handle;
	}
	explicit operator bool() const noexcept
	{
		return handle != nullptr;
	}
	/* Runs the function between begin and end of the first n members; provenance flags. */
	template <unsigned n, class function>
	__attribute__((always_inline)) uint32_t measure(uint64_t (&delta)[n], function &&f)
	{
		tach_mark mark;

		tach_reader_begin_n(handle, &mark, n);
		f();
		return tach_reader_end_n(handle, &mark, delta, n);
	}

      private:
	tach_reader *handle = nullptr;
};

#pragma GCC diagnostic pop

} // namespace tach

/* A region by name, like TACH_SCOPE, as an object that C++ knows of. */
#ifdef TACH_DISABLE
#define TACH_GUARD(name)	((void)0)
#define TACH_GUARD_FENCED(name) ((void)0)
#else
#define TACH__GUARD(name, fenced)                                                              \
	static struct tach_site tach__site_##name = TACH_SITE_INIT(#name, fenced, __func__);   \
	::tach::scope tach__guard_##name(*TACH_ADDRESS(tach__site_##name))
#define TACH_GUARD(name)	TACH__GUARD(name, 0)
#define TACH_GUARD_FENCED(name) TACH__GUARD(name, 1)
#endif

#endif
