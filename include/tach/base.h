/* SPDX-License-Identifier: MIT */
/* Definitions that all public headers need: linkage, attributes, version. */
#ifndef TACH_BASE_H
#define TACH_BASE_H

#include <stddef.h>
#include <stdint.h>

#define TACH_VERSION_MAJOR 0
#define TACH_VERSION_MINOR 2
#define TACH_VERSION_PATCH 0

#ifdef __cplusplus
#define TACH_BEGIN_DECLS	       extern "C" {
#define TACH_END_DECLS		       }
#define TACH_STATIC_ASSERT(cond, text) static_assert(cond, text)
#define TACH_NOTHROW		       noexcept
/* With these, inline functions pass the strictest warnings of both languages. */
#define TACH__CAST(type, value) static_cast<type>(value)
#define TACH__NULL		nullptr
#else
#define TACH_BEGIN_DECLS
#define TACH_END_DECLS
/* Before C11, _Static_assert is an extension of gcc and clang. */
#define TACH_STATIC_ASSERT(cond, text) __extension__ _Static_assert(cond, text)
#define TACH_NOTHROW
#define TACH__CAST(type, value) ((type)(value))
#define TACH__NULL		NULL
#endif

/*
 * Each exported function has TACH_API; all other functions are hidden. The line above each
 * function states its safety, in the terms of attributes(7):
 *
 *     MT  Any thread may call it at any time. race:x: two threads must not use the same x at
 *         once. env, locale: it reads the environment, the locale.
 *     AS  Signal handlers may call it.
 *     AC  Asynchronous cancellation may interrupt it.
 *
 * "allocates": it calls malloc or, if AS-Safe, maps pages.
 * (tests/check/attributes.sh compares these lines with the compiled library.)
 */
#define TACH_API __attribute__((visibility("default")))
/*
 * TACH_NONNULL(n, ...): arguments n, ... (from 1) must not be NULL. TACH_MUST_USE: the caller
 * must use the result. (A function that returns a code has no TACH_NONNULL: if it cannot use a
 * NULL, it returns TACH_ERR_INVAL.)
 */
#if defined(__GNUC__)
#define TACH_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#define TACH_MUST_USE	  __attribute__((warn_unused_result))
#else
#define TACH_NONNULL(...)
#define TACH_MUST_USE
#endif
/* Code of -finstrument-functions in these functions would be measured, so it is excluded. */
#define TACH_INLINE static inline __attribute__((always_inline, unused, no_instrument_function))
/*
 * Inline functions of the API. The library also exports a symbol for each, for other languages
 * and for code that takes its address: with gnu_inline, compilers never emit a copy.
 */
#ifndef TACH_API_INLINE
#define TACH_API_INLINE                                                                        \
	extern inline __attribute__((gnu_inline, always_inline, no_instrument_function))
#endif
/* Helpers of these functions. They are not static, because inline functions with linkage must
 * not refer to static functions. */
#define TACH__INLINE                                                                           \
	extern inline __attribute__((gnu_inline, always_inline, no_instrument_function))
#define TACH_COLD	 __attribute__((cold, noinline))
#define TACH_LIKELY(x)	 __builtin_expect(!!(x), 1)
#define TACH_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Structs that begin with `size` can grow: a program and a library built with different
 * versions of them work together. The program sets size to sizeof the struct (the _INIT macros
 * do) and the rest to 0. A size of 0 means the struct of 0.2.0, as in perf_event_attr. All
 * functions follow these rules:
 *
 * - Structs that the library reads. Fields missing in a shorter struct (of an older program)
 *   count as 0. In a longer struct (of a newer program) the unknown rest must be 0. Otherwise
 *   the call fails with TACH_ERR_INVAL, and the error names the byte.
 * - Structs that the library fills. It fills the fields that both know, sets the rest of a
 *   longer struct to 0, and leaves size unchanged.
 * - An impossible size is TACH_ERR_INVAL: above 65536, or not a multiple of the alignment (8 if
 *   the struct has a pointer or 64-bit field, otherwise 4).
 *
 * Array elements without a size, and structs of a few numbers (tach_value, tach_bucket,
 * tach_register), never change their layout. Their `reserved` is 0.
 */

/*
 * Maximum number of counters in a set. A thread can open more events in several sets.
 * No PMU that Linux supports can hold a larger pinned group (Golden Cove: 8 general, 4 fixed).
 */
#define TACH_COUNTERS_MAX 16

TACH_BEGIN_DECLS

/* Returns the version of the loaded library, such as "0.2.0". Static storage. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_version(void);

TACH_END_DECLS
#endif
