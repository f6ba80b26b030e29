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
/* Inline functions here pass the strictest warnings of both languages. */
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
 * Each exported function has TACH_API; everything else is hidden. The line above each function
 * states its safety, in the terms of attributes(7):
 *
 *     MT  any thread at any time; race:x: two threads must not use the same x at once;
 *         env, locale: it reads the environment, the locale
 *     AS  in signal handlers
 *     AC  under asynchronous cancellation
 *
 * and whether it may allocate: by malloc, or, if AS-Safe, by mapping pages.
 * (tests/check/attributes.sh compares these lines with the compiled library.)
 */
#define TACH_API __attribute__((visibility("default")))
/*
 * For declarations: the arguments, numbered from 1, that must not be NULL; and functions whose
 * result must be used. (Functions that return a code return TACH_ERR_INVAL for a NULL that they
 * cannot use, and have no TACH_NONNULL.)
 */
#if defined(__GNUC__)
#define TACH_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#define TACH_MUST_USE	  __attribute__((warn_unused_result))
#else
#define TACH_NONNULL(...)
#define TACH_MUST_USE
#endif
/* Excluded from -finstrument-functions, whose code would be measured. */
#define TACH_INLINE static inline __attribute__((always_inline, unused, no_instrument_function))
/*
 * Inline functions of the API. The library has each of them as a symbol of the same name too,
 * for other languages and for code that takes the address: gnu_inline never emits a copy.
 */
#ifndef TACH_API_INLINE
#define TACH_API_INLINE                                                                        \
	extern inline __attribute__((gnu_inline, always_inline, no_instrument_function))
#endif
/* Helpers of these functions: not static, because inline functions with linkage must not refer
 * to static ones. */
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
 *   count as 0. In a longer one (of a newer program) the unknown rest must be 0, otherwise the
 *   call fails with TACH_ERR_INVAL, and the error names the byte.
 * - Structs that the library fills. Fields that both know are filled, the rest of a longer
 *   struct becomes 0, and size is unchanged.
 * - A size that no version can have is TACH_ERR_INVAL: one above 65536, or not a multiple of
 *   the alignment (8 if the struct has a pointer or 64-bit field, otherwise 4).
 *
 * Elements of arrays without a size, and structs of a few numbers (tach_value, tach_bucket,
 * tach_register), never change their layout; their `reserved` is 0.
 */

/*
 * Maximum number of counters in one set. A thread can have more events open, in several sets.
 * No PMU that Linux supports can hold a larger pinned group (Golden Cove: 8 general, 4 fixed).
 */
#define TACH_COUNTERS_MAX 16

TACH_BEGIN_DECLS

/* "0.2.0": the version of the library that is loaded. Static storage. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_version(void);

TACH_END_DECLS
#endif
