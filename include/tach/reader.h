/* SPDX-License-Identifier: MIT */
/* One thread's open, mapped view of a set, and the inline reads: begin, end, read. */
#ifndef TACH_READER_H
#define TACH_READER_H

#include <tach/arch.h>
#include <tach/flags.h>
#include <tach/set.h>

/*
 * Hot half of a reader; users inline against it, so its layout is ABI (tach__abi_1). The cold
 * half (descriptors, set, times) lies behind it, known to core/ only. A reader belongs to the
 * thread that opened it.
 */
struct tach_reader {
	uint32_t count; /* counters in the set, 0 .. TACH_COUNTERS_MAX */
	uint32_t fast;	/* all of them may be read in user space: test before the inline path */
	uint64_t mask; /* 2^width - 1 of the narrowest counter, applied to deltas; see DESIGN */
	const volatile struct perf_event_mmap_page *page[TACH_COUNTERS_MAX];
};

/* What begin leaves for end. On the caller's stack: nesting and recursion cost nothing. */
struct tach_mark {
	const struct tach_reader *reader;
	uint32_t lock;	/* the leader's lock when it was read */
	uint32_t flags; /* TACH_SYSCALL, TACH_LOST: how begin was read */
	uint64_t clock; /* TSC or CNTVCT; written by the region macros only */
	uint64_t value[TACH_COUNTERS_MAX]; /* offset + counter, not masked */
};

TACH_BEGIN_DECLS

/* Opens and maps the set for the calling thread. System calls, allocation. */
TACH_API int tach_reader_open(struct tach_reader **out, const struct tach_set *set,
			      struct tach_error *err);
/* Only by the thread that opened it, or after that thread ended. */
TACH_API void tach_reader_close(struct tach_reader *reader);
TACH_API const struct tach_set *tach_reader_set(const struct tach_reader *reader);

/*
 * The inline operations, defined in this header for native code and exported under the same
 * names with the suffix _fn for other languages:
 *
 *   void	tach_begin(struct tach_reader *, struct tach_mark *);
 *   uint32_t	tach_end(struct tach_reader *, const struct tach_mark *, uint64_t *delta);
 *   uint32_t	tach_read(struct tach_reader *, uint64_t *value);
 *   tach_begin_n / tach_end_n / tach_read_n: the same with the count as a compile-time
 * constant.
 *
 * end writes count deltas, masked, and returns provenance flags.
 */

TACH_END_DECLS
#endif
