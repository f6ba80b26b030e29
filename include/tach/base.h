/* SPDX-License-Identifier: MIT */
/* What every public header needs: linkage, attributes, version. */
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
/* What is inline here passes the strictest warnings of both languages. */
#define TACH__CAST(type, value) static_cast<type>(value)
#define TACH__NULL		nullptr
#else
#define TACH_BEGIN_DECLS
#define TACH_END_DECLS
/* Before C11 an extension of gcc and clang. */
#define TACH_STATIC_ASSERT(cond, text) __extension__ _Static_assert(cond, text)
#define TACH_NOTHROW
#define TACH__CAST(type, value) ((type)(value))
#define TACH__NULL		NULL
#endif

/*
 * Every exported function carries TACH_API; everything else is hidden. The line above each says
 * what it is safe for, in the terms of attributes(7):
 *
 *   MT  any thread at any time; race:x = but two threads must not do it to the same x at once;
 *	 env, locale = it reads the environment, the locale
 *   AS  in signal handlers
 *   AC  under asynchronous cancellation
 *
 * and whether it may allocate: by malloc, or, what is AS-Safe, by mapping pages.
 * (tests/check/attributes.sh holds these lines against the compiled library.)
 */
#define TACH_API __attribute__((visibility("default")))
/*
 * On declarations: the arguments, numbered from 1, that must not be NULL, and that to drop the
 * result is a mistake. (Functions that return a code answer TACH_ERR_INVAL to a NULL that they
 * cannot use, and have no TACH_NONNULL.)
 */
#if defined(__GNUC__)
#define TACH_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#define TACH_MUST_USE	  __attribute__((warn_unused_result))
#else
#define TACH_NONNULL(...)
#define TACH_MUST_USE
#endif
/* Not to be followed by -finstrument-functions: what that adds would be measured. */
#define TACH_INLINE static inline __attribute__((always_inline, unused, no_instrument_function))
/*
 * Inline functions of the API. The library has each of them as a symbol of the same name too,
 * for other languages and for code that takes the address: gnu_inline never emits a copy.
 */
#ifndef TACH_API_INLINE
#define TACH_API_INLINE                                                                        \
	extern inline __attribute__((gnu_inline, always_inline, no_instrument_function))
#endif
/* What those are made of: not static, which inline functions with linkage must not refer to. */
#define TACH__INLINE                                                                           \
	extern inline __attribute__((gnu_inline, always_inline, no_instrument_function))
#define TACH_COLD	 __attribute__((cold, noinline))
#define TACH_LIKELY(x)	 __builtin_expect(!!(x), 1)
#define TACH_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Structs that begin with `size` can grow: a program and a library that were built with
 * different versions of them understand each other. The program sets size to sizeof the struct
 * (the _INIT macros do) and the rest to 0; 0 as size stands for the struct of 0.2.0, as in
 * perf_event_attr. All functions treat them alike:
 *
 * - Structs for the library to read. What a shorter one (of an older program) does not have is
 *   taken as 0. A longer one (of a newer program) must be 0 where this library does not know
 *   it, else the call fails with TACH_ERR_INVAL, and the error tells which byte it was.
 * - Structs for the library to fill. What both know is filled, what a longer one has beyond
 *   becomes 0, and size stays.
 * - A size that no version can have is TACH_ERR_INVAL: one above 65536, or no multiple of the
 *   alignment (8 where the struct holds a pointer or 64 bits, else 4).
 *
 * Elements of arrays that have no size, and structs of a few numbers (tach_value, tach_bucket,
 * tach_register), have the layout they have; their `reserved` is 0.
 */

/*
 * The most counters one set may hold. A thread can have more events open, in several sets; one
 * pinned group larger than this exists on no PMU Linux knows (Golden Cove: 8 general, 4 fixed).
 */
#define TACH_COUNTERS_MAX 16

TACH_BEGIN_DECLS

/* "0.2.0": the version of the library that is loaded. Static storage. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_version(void);

TACH_END_DECLS
#endif
