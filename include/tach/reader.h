/* SPDX-License-Identifier: MIT */
/* One thread's open, mapped view of a set, and the inline reads: begin, end, read. */
#ifndef TACH_READER_H
#define TACH_READER_H

#include <tach/arch.h>
#include <tach/flags.h>
#include <tach/set.h>

/*
 * Hot half of a reader. Users inline against it, so its layout is ABI (tach__abi_1): see the
 * assertions below. The cold half (descriptors, set, times) lies behind it, known to core/
 * only.
 *
 * A reader belongs to the thread that opened it: its pages describe that thread's counters,
 * while the counter instruction reads those of whatever runs on this CPU. Built with
 * -DTACH_DEBUG, the inline reads check the thread and answer TACH_FLAG_LOST; the slow exit
 * checks it always.
 *
 * A member that cannot be read in user space, or not inline (software event, top-down metrics
 * and their slots, no permission, width that this code is not made for) has a page of zeros:
 * its index is 0, which leads to the slow exit by the test that every read makes anyway.
 */
struct tach_way {
	const struct perf_event_mmap_page *page;
	const char *stubs; /* arm64: where its counter instructions are; NULL elsewhere */
};
struct tach_reader {
	uint32_t count; /* members of the set, 0 .. TACH_COUNTERS_MAX */
	uint32_t
		fast; /* nonzero: every member could be read in user space when it was opened */
	uint64_t
		mask; /* 2^width - 1 of the narrowest counter; all ones where sums are signed */
	struct tach_way way[TACH_COUNTERS_MAX];
};

/* What begin leaves for end, on the caller's stack: nesting and recursion cost nothing. */
struct tach_mark {
	uint32_t lock;	/* of member 0's page when it was read; odd: begin took the slow exit */
	uint32_t flags; /* how begin was read; written by the slow exit only */
	const struct tach_reader *reader; /* written with TACH_DEBUG and by the region macros */
	uint64_t clock;			  /* written by the region macros */
	uint64_t enabled, running; /* ns; written by the slow exit of multiplexed sets only */
	uint64_t value[TACH_COUNTERS_MAX]; /* offset + counter, not masked */
};

#define TACH__AT(type, field, offset)                                                          \
	TACH_STATIC_ASSERT(offsetof(struct type, field) == (offset), #type "." #field)
TACH__AT(tach_reader, count, 0);
TACH__AT(tach_reader, fast, 4);
TACH__AT(tach_reader, mask, 8);
TACH__AT(tach_reader, way, 16);
TACH_STATIC_ASSERT(sizeof(struct tach_reader) == 16 + 16 * TACH_COUNTERS_MAX,
		   "struct tach_reader");
TACH__AT(tach_mark, lock, 0);
TACH__AT(tach_mark, flags, 4);
TACH__AT(tach_mark, reader, 8);
TACH__AT(tach_mark, clock, 16);
TACH__AT(tach_mark, enabled, 24);
TACH__AT(tach_mark, value, 40);
TACH_STATIC_ASSERT(sizeof(struct tach_mark) == 40 + 8 * TACH_COUNTERS_MAX, "struct tach_mark");
#undef TACH__AT

TACH_BEGIN_DECLS

extern TACH_API const char tach__abi_1; /* what a program built against this layout needs */

/*
 * Opens and maps the set for the calling thread, and enables it. System calls and allocation;
 * not async-signal-safe. On failure *out is NULL and err tells the cause and the cure:
 * TACH_ERR_PERMISSION, TACH_ERR_NOHARDWARE, TACH_ERR_NOCOUNTER, TACH_ERR_NOMEM, or a negated
 * errno. The set must outlive the reader.
 */
/* MT-Safe | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_reader_open(const struct tach_set *set, struct tach_reader **out,
			      struct tach_error *err) TACH_MUST_USE;
/* Only by the thread that opened it, or after that thread ended. NULL is fine. */
/* MT-Safe race:reader | AS-Unsafe race:reader lock | AC-Unsafe lock fd | no allocation */
TACH_API void tach_reader_close(struct tach_reader *reader);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const struct tach_set *tach_reader_set(const struct tach_reader *reader)
	TACH_NONNULL(1);
/*
 * Why members are read by read(2) although they are hardware events, with the cure; "" when
 * they are not. May read files of /proc; the reader's own thread only.
 */
/* MT-Safe race:reader | AS-Unsafe race:reader | AC-Unsafe fd | no allocation */
TACH_API const char *tach_reader_missing(const struct tach_reader *reader) TACH_NONNULL(1);

/*
 * Inline for native code, as defined below, and symbols of the library for other languages. All
 * are async-signal-safe, allocate nothing, take no lock, and make no system call but in the
 * slow exit.
 *
 *   begin(reader, mark)	reads every member into *mark
 *   end(reader, mark, delta)	reads again, writes `count` differences, returns flags
 *   read(reader, value)	writes `count` counts since open, returns flags
 *   read_one(reader, i, value)	the same for member i alone
 *   ..._fenced			serialised: nothing leaks over the region's edges
 *   ..._n(..., n)		the same for the first n members; n constant: unrolled
 *
 * The end of a region that was rescheduled is read again, out of line: up to 40 instructions
 * more are counted. If the kernel stepped in amid begin itself, up to 100.
 *
 * Flags (tach/flags.h) are those of the hardware members; a software member is always read by
 * read(2): tach_reader_flags adds what is true of one member. 0 = exact and uninterrupted.
 *
 * A reader keeps one descriptor for its hardware events (one for each core type), and one for
 * each software event, top-down metric or event of a multiplexed set, at high numbers. A
 * program that closes them, or opens its own files there, loses what takes read(2), which is
 * TACH_FLAG_LOST then, and nothing of its own. The last 64 numbers below RLIMIT_NOFILE, or the
 * last eighth, are left to the program: opening gives -EMFILE instead.
 *
 * The events are the reader's own. If other code turns them off and on (prctl(2)'s
 * PR_TASK_PERF_EVENTS_DISABLE, an ioctl on a copied descriptor), a region that begins or ends
 * meanwhile is TACH_FLAG_INCOMPLETE, one around it all cannot be told from one rescheduled. A
 * RESET voids counts since open and the region in which it happens: that is TACH_FLAG_LOST if
 * less was counted after it than before the region, unless it came from another CPU at a bad
 * moment.
 *
 * Top-down metrics, in a set that slots lead, are read in user space too, but a read(2) of the
 * group through a copied descriptor sets slots and metrics to 0, and no page tells. A
 * region in which they went back is read by read(2), TACH_FLAG_MIXED; one that counted more
 * slots after it than there were before, and fewer than 2^18, is wrong.
 */
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API void tach_reader_begin(struct tach_reader *reader, struct tach_mark *mark)
	TACH_NONNULL(1, 2);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_end(struct tach_reader *reader, const struct tach_mark *mark,
				  uint64_t *delta) TACH_NONNULL(1, 2, 3);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_read(struct tach_reader *reader, uint64_t *value)
	TACH_NONNULL(1, 2);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_read_one(struct tach_reader *reader, unsigned member,
				       uint64_t *value) TACH_NONNULL(1, 3);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API void tach_reader_begin_fenced(struct tach_reader *reader, struct tach_mark *mark)
	TACH_NONNULL(1, 2);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_end_fenced(struct tach_reader *reader,
					 const struct tach_mark *mark, uint64_t *delta)
	TACH_NONNULL(1, 2, 3);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API void tach_reader_begin_n(struct tach_reader *reader, struct tach_mark *mark,
				  unsigned n) TACH_NONNULL(1, 2);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_end_n(struct tach_reader *reader, const struct tach_mark *mark,
				    uint64_t *delta, unsigned n) TACH_NONNULL(1, 2, 3);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_read_n(struct tach_reader *reader, uint64_t *value, unsigned n)
	TACH_NONNULL(1, 2);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API void tach_reader_begin_fenced_n(struct tach_reader *reader, struct tach_mark *mark,
					 unsigned n) TACH_NONNULL(1, 2);
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_end_fenced_n(struct tach_reader *reader,
					   const struct tach_mark *mark, uint64_t *delta,
					   unsigned n) TACH_NONNULL(1, 2, 3);

/*
 * Bytes of a struct tach_mark, aligned as uint64_t is (so is what malloc gives), for languages
 * that have no use for its declaration; one that is larger is as good.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API size_t tach_mark_size(void);

/*
 * How far off that member may be in what the reader's last end or read gave, in the member's
 * own unit. Top-down metrics alone are not known to the last count: the processor tells them in
 * 255ths of the slots since it set both back, which this library has it do (by read(2), in
 * begin) once 2^18 slots were counted; each time that the thread was put back on a processor
 * since then takes another 255th; the back-end's is off by up to three, which rounding leaves
 * of the other three fields. 0 for all others.
 */
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint64_t tach_reader_error(const struct tach_reader *reader, unsigned member)
	TACH_NONNULL(1);

/* Flags of one member, given those that end or read returned. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_flags(const struct tach_reader *reader, unsigned member,
				    uint32_t flags) TACH_NONNULL(1);

/* The slow exits: they read all over again, inline where that works, else by read(2). */
TACH_API TACH_COLD void tach__begin_slow(struct tach_reader *reader, struct tach_mark *mark,
					 unsigned n);
TACH_API TACH_COLD uint32_t tach__end_slow(struct tach_reader *reader,
					   const struct tach_mark *mark, uint64_t *delta,
					   unsigned n);
TACH_API TACH_COLD uint32_t tach__read_slow(struct tach_reader *reader, uint64_t *value,
					    unsigned first, unsigned n);
/* TACH_DEBUG's checks. */
TACH_API int tach__mine(const struct tach_reader *reader);

TACH_END_DECLS

/* ---- the hot path ---- */

/*
 * Every access to a page goes through these names, so that a test can step between any two.
 * LOAD is one load, now. OPERAND may also become the memory operand of the instruction that
 * uses the value, which compilers refuse to volatile accesses; it stands between two compiler
 * barriers.
 */
#ifndef TACH_PAGE_LOAD
#define TACH_PAGE_LOAD(page, field)                                                            \
	(*TACH__CAST(const volatile __typeof__((page)->field) *, &(page)->field))
#define TACH_PAGE_OPERAND(page, field) ((page)->field)
#endif
/*
 * Sums are modular where counters are 40 bits or wider (x86): offset + counter, the counter not
 * extended by sign, equals the count modulo 2^width, and end masks the difference of two such
 * sums once. Where counters may have 32 bits (arm64) a region may well count more than 2^width,
 * so both ends add the counter extended by sign; that is exact as long as the page was mapped
 * before the first read(2) and the event is never RESET, which is how core/reader/open.c does
 * it.
 */
#ifndef TACH_MODULAR
#define TACH_MODULAR (!TACH_ARCH_SIGNED)
#endif

#if TACH_ARCH_SIGNED
#define TACH__EXTEND(page, raw) (raw)
#else
/* Width 0 shifts by 0: no guard needed, no undefined shift by 64. */
TACH__INLINE uint64_t tach__extend(uint64_t raw, unsigned width)
{
	unsigned shift = (64 - width) & 63;

	return TACH__CAST(uint64_t, TACH__CAST(int64_t, raw << shift) >> shift);
}
#define TACH__EXTEND(page, raw) tach__extend(raw, TACH_PAGE_LOAD(page, pmc_width))
#endif

#if TACH_ARCH_FAST
/*
 * One counter under its own page's lock: offset + counter into *sum, the lock into *lock.
 * Returns 0 when that failed: *lock is odd if it cannot be read here, even if the page changed
 * meanwhile. There is no loop: a page that changed, which takes the kernel to step in between
 * two of these instructions, is one more thing for the slow exit, which reads all over again.
 *
 * Order: page accesses are volatile or lie between compiler barriers, which is all that is
 * needed: the page of a thread's own event is written by the kernel on this very CPU, so the
 * hardware shows program order. `offset` may be loaded after the counter because both lie
 * between the two looks at the lock. An odd lock cannot be seen from the thread itself.
 *
 * What it takes on x86 for a sum in begin: load lock; load index; sub 1; jb; rdpmc; shl; add;
 * jz; add offset from memory; cmp lock in memory; jne; store: 12. Subtracting one yields
 * RDPMC's operand and, by the borrow, the test for index 0. Fewer are not possible while index,
 * offset and lock are read anew each time, the halves of the counter arrive in two registers,
 * and a counter may be hidden (tach/arch/x86.h).
 */
TACH__INLINE int tach__sum(struct tach_way way, int extend, uint64_t *sum, uint32_t *lock)
{
	tach__word seen = TACH_WORD(TACH_PAGE_LOAD(way.page, lock)), number;
	uint64_t value;

	if (TACH_UNLIKELY(TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number))) {
		*lock = 1;
		return 0;
	}
	TACH_COUNTER(way, number, value, seen);
	if (extend)
		value = TACH__EXTEND(way.page, value);
	TACH_ADD(value, TACH_PAGE_OPERAND(way.page, offset));
	*sum = value;
	*lock = TACH__CAST(uint32_t, seen);
	return TACH_WORD(TACH_PAGE_OPERAND(way.page, lock)) == seen;
}

/*
 * Member 0 at the end of a region: begin's lock takes the place of the first look at the lock.
 * If the page still shows it after the counter was read, nothing changed since begin: one
 * comparison both validates the read and tells that the group was not rescheduled. (A lock that
 * came back to the same value needs 2^31 updates within the region.) Otherwise, and when begin
 * took the slow exit (odd), the slow exit sorts it out.
 */
TACH__INLINE int tach__sum_since(struct tach_way way, uint32_t lock, uint64_t *sum)
{
	tach__word seen = TACH_WORD(lock), number;
	uint64_t value;

	if (TACH_UNLIKELY(TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number)))
		return 0;
	TACH_COUNTER(way, number, value, seen);
	if (!TACH_MODULAR)
		value = TACH__EXTEND(way.page, value);
	TACH_ADD(value, TACH_PAGE_OPERAND(way.page, offset));
	*sum = value;
	return TACH_WORD(TACH_PAGE_OPERAND(way.page, lock)) == seen;
}
#else
TACH__INLINE int tach__sum(struct tach_way way, int extend, uint64_t *sum, uint32_t *lock)
{
	(void)way, (void)extend, (void)sum, (void)lock;
	return 0;
}
TACH__INLINE int tach__sum_since(struct tach_way way, uint32_t lock, uint64_t *sum)
{
	(void)way, (void)lock, (void)sum;
	return 0;
}
#endif

TACH__INLINE struct tach_way tach__way(const struct tach_reader *reader, unsigned i)
{
	struct tach_way way;

	way.page = TACH_PAGE(reader, i);
	way.stubs = reader->way[i].stubs;
	return way;
}

TACH__INLINE int tach__begin_one(const struct tach_reader *reader, struct tach_mark *mark,
				 unsigned i)
{
	uint32_t lock;

	if (TACH_UNLIKELY(
		    !tach__sum(tach__way(reader, i), !TACH_MODULAR, &mark->value[i], &lock)))
		return 0;
	if (i == 0)
		mark->lock = lock;
	return 1;
}

/* Under its own page's lock alone: right whatever happened to the group since begin. */
TACH__INLINE int tach__end_any(const struct tach_reader *reader, const struct tach_mark *mark,
			       uint64_t *delta, unsigned i)
{
	uint32_t lock;
	uint64_t sum = 0; /* for compilers that do not see that it is set */

	if (TACH_UNLIKELY(!tach__sum(tach__way(reader, i), !TACH_MODULAR, &sum, &lock)))
		return 0;
	sum -= mark->value[i];
	delta[i] = TACH_MODULAR ? sum & reader->mask : sum;
	return 1;
}

TACH__INLINE int tach__end_one(const struct tach_reader *reader, const struct tach_mark *mark,
			       uint64_t *delta, unsigned i)
{
	uint64_t sum = 0;

	if (i > 0)
		return tach__end_any(reader, mark, delta, i);
	if (TACH_UNLIKELY(!tach__sum_since(tach__way(reader, 0), mark->lock, &sum)))
		return 0;
	sum -= mark->value[0];
	delta[0] = TACH_MODULAR ? sum & reader->mask : sum;
	return 1;
}

TACH__INLINE int tach__read_one(const struct tach_reader *reader, uint64_t *value, unsigned i)
{
	uint32_t lock;

	/* An absolute count outgrows 2^width within a day or so: always extended by sign. */
	return tach__sum(tach__way(reader, i), 1, &value[i], &lock);
}

/* step(0) && step(1) ... && step(n - 1), unrolled at every optimisation level. */
#define TACH__EACH(n, step)                                                                    \
	(((n) < 1 || step(0)) && ((n) < 2 || step(1)) && ((n) < 3 || step(2)) &&               \
	 ((n) < 4 || step(3)) && ((n) < 5 || step(4)) && ((n) < 6 || step(5)) &&               \
	 ((n) < 7 || step(6)) && ((n) < 8 || step(7)) && ((n) < 9 || step(8)) &&               \
	 ((n) < 10 || step(9)) && ((n) < 11 || step(10)) && ((n) < 12 || step(11)) &&          \
	 ((n) < 13 || step(12)) && ((n) < 14 || step(13)) && ((n) < 15 || step(14)) &&         \
	 ((n) < 16 || step(15)))

/* Build all that begins and ends on the same reader with TACH_DEBUG, or nothing of it. */
#ifdef TACH_DEBUG
TACH__INLINE uint32_t tach__lost(uint64_t *delta, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		delta[i] = 0;
	return TACH_FLAG_LOST;
}
#define TACH__STARTS(reader, mark) ((mark)->reader = (reader), tach__mine(reader))
#define TACH__STOPS(reader, mark, delta, n)                                                    \
	do {                                                                                   \
		if ((mark)->reader != (reader) || !tach__mine(reader))                         \
			return tach__lost(delta, n);                                           \
	} while (0)
#else
#define TACH__STARTS(reader, mark)	    1
#define TACH__STOPS(reader, mark, delta, n) (void)0
#endif

TACH_API_INLINE void tach_reader_begin_n(struct tach_reader *reader, struct tach_mark *mark,
					 unsigned n)
{
#define TACH__STEP(i) tach__begin_one(reader, mark, i)
	if (TACH_UNLIKELY(!TACH__STARTS(reader, mark) || n == 0 || !TACH__EACH(n, TACH__STEP)))
		tach__begin_slow(reader, mark, n);
#undef TACH__STEP
}

TACH_API_INLINE uint32_t tach_reader_end_n(struct tach_reader *reader,
					   const struct tach_mark *mark, uint64_t *delta,
					   unsigned n)
{
#define TACH__STEP(i) tach__end_one(reader, mark, delta, i)
	TACH__STOPS(reader, mark, delta, n);
	if (TACH_UNLIKELY(n == 0 || !TACH__EACH(n, TACH__STEP)))
		return tach__end_slow(reader, mark, delta, n);
#undef TACH__STEP
	return 0;
}

TACH_API_INLINE uint32_t tach_reader_read_n(struct tach_reader *reader, uint64_t *value,
					    unsigned n)
{
#define TACH__STEP(i) tach__read_one(reader, value, i)
	if (TACH_UNLIKELY(!TACH__EACH(n, TACH__STEP)))
		return tach__read_slow(reader, value, 0, n);
#undef TACH__STEP
	return 0;
}

TACH_API_INLINE void tach_reader_begin(struct tach_reader *reader, struct tach_mark *mark)
{
	unsigned i = 0, n = reader->count;

	if (TACH_LIKELY(TACH__STARTS(reader, mark) && tach__begin_one(reader, mark, 0))) {
		while (++i < n)
			if (TACH_UNLIKELY(!tach__begin_one(reader, mark, i)))
				goto slow;
		return;
	}
slow:
	tach__begin_slow(reader, mark, n);
}

TACH_API_INLINE uint32_t tach_reader_end(struct tach_reader *reader,
					 const struct tach_mark *mark, uint64_t *delta)
{
	unsigned i = 0, n = reader->count;

	TACH__STOPS(reader, mark, delta, n);
	if (TACH_LIKELY(tach__end_one(reader, mark, delta, 0))) {
		while (++i < n)
			if (TACH_UNLIKELY(!tach__end_one(reader, mark, delta, i)))
				goto slow;
		return 0;
	}
slow:
	return tach__end_slow(reader, mark, delta, n);
}

TACH_API_INLINE uint32_t tach_reader_read(struct tach_reader *reader, uint64_t *value)
{
	unsigned i, n = reader->count;

	for (i = 0; i < n; i++)
		if (TACH_UNLIKELY(!tach__read_one(reader, value, i)))
			return tach__read_slow(reader, value, 0, n);
	return 0;
}

TACH_API_INLINE uint32_t tach_reader_read_one(struct tach_reader *reader, unsigned member,
					      uint64_t *value)
{
	uint32_t lock;

	if (TACH_LIKELY(tach__sum(tach__way(reader, member), 1, value, &lock)))
		return 0;
	return tach__read_slow(reader, value, member, 1);
}

/*
 * Fences on both sides of begin keep earlier work out of the region and the region's work
 * behind the read; end needs only the one before it: the region is over when it has executed.
 */
TACH_API_INLINE void tach_reader_begin_fenced_n(struct tach_reader *reader,
						struct tach_mark *mark, unsigned n)
{
	TACH_FENCE();
	tach_reader_begin_n(reader, mark, n);
	TACH_FENCE();
}

TACH_API_INLINE uint32_t tach_reader_end_fenced_n(struct tach_reader *reader,
						  const struct tach_mark *mark, uint64_t *delta,
						  unsigned n)
{
	TACH_FENCE();
	return tach_reader_end_n(reader, mark, delta, n);
}

TACH_API_INLINE void tach_reader_begin_fenced(struct tach_reader *reader,
					      struct tach_mark *mark)
{
	TACH_FENCE();
	tach_reader_begin(reader, mark);
	TACH_FENCE();
}

TACH_API_INLINE uint32_t tach_reader_end_fenced(struct tach_reader *reader,
						const struct tach_mark *mark, uint64_t *delta)
{
	TACH_FENCE();
	return tach_reader_end(reader, mark, delta);
}

#endif
