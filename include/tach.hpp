/* SPDX-License-Identifier: MIT */
/*
 * C++ over the same inline code: scope guards that cost what the macros cost, owners for sets
 * and readers. Opening throws tach::error; nothing else does. C++11.
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
	const int code;
};

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
		int code = tach_set_create(&handle, &opt, &err);

		if (code)
			throw error(code, err.text);
	}
	/* Lists as in tach_set_options; metrics may be nullptr. */
	explicit set(const char *events, const char *metrics = nullptr, uint32_t flags = 0)
	    : set(options(events, metrics, flags))
	{
	}
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
		int code = tach_reader_open(&handle, what.get(), &err);

		if (code)
			throw error(code, err.text);
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
	/* Runs the function between begin and end of the first n members; provenance flags. */
	template <unsigned n, class function>
	__attribute__((always_inline)) uint32_t measure(uint64_t (&delta)[n], function &&f)
	{
		tach_mark mark;

		tach_begin_n(handle, &mark, n);
		f();
		return tach_end_n(handle, &mark, delta, n);
	}

      private:
	tach_reader *handle = nullptr;
};

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
