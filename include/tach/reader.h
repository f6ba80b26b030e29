/* SPDX-License-Identifier: MIT */
/* Readers: the open counters of a set in one thread, and the inline reads begin, end and
 * read. */
#ifndef TACH_READER_H
#define TACH_READER_H

#include <tach/flags.h>
#include <tach/page.h>
#include <tach/set.h>

TACH_BEGIN_DECLS

/*
 * Opens and maps the set for the calling thread, and enables it. System calls and allocation;
 * not async-signal-safe. On failure *out is NULL and err has the cause and the cure:
 * TACH_ERR_PERMISSION, TACH_ERR_NOHARDWARE, TACH_ERR_NOCOUNTER, TACH_ERR_NOMEM, or a negated
 * errno. The set must outlive the reader.
 */
/* MT-Safe | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_reader_open(const struct tach_set *set, struct tach_reader **out,
			      struct tach_error *err) TACH_MUST_USE;
/* Call it only in the thread that opened the reader, or after that thread has ended. NULL is
 * fine. */
/* MT-Safe race:reader | AS-Unsafe race:reader lock | AC-Unsafe lock fd | no allocation */
TACH_API void tach_reader_close(struct tach_reader *reader);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const struct tach_set *tach_reader_set(const struct tach_reader *reader)
	TACH_NONNULL(1);
/* Returns why hardware events are read by read(2), and the cure, or "" if they are not. It may
 * read files of /proc. Call it only in the reader's own thread. */
/* MT-Safe race:reader | AS-Unsafe race:reader | AC-Unsafe fd | no allocation */
TACH_API const char *tach_reader_missing(const struct tach_reader *reader) TACH_NONNULL(1);

/*
 * These functions are inline for native code, and symbols of the library for other languages.
 * All are async-signal-safe, allocate nothing, take no lock, and make system calls only in the
 * slow path:
 *
 *   begin(reader, mark)	reads every member into *mark
 *   end(reader, mark, delta)	reads again, writes `count` differences, returns flags
 *   read(reader, value)	writes `count` counts since open, returns flags
 *   read_one(reader, i, value)	the same for member i alone
 *   ..._fenced			serialised: nothing leaks over the region's edges
 *   ..._n(..., n)		the same for the first n members; n constant: unrolled
 *
 * If a region was rescheduled, its end is read again, out of line. This adds up to 40
 * instructions to its counts, or up to 100 if the kernel interrupted begin itself.
 *
 * Members are read one after another. If a signal handler runs between two counter reads, only
 * some members include it, and no flag shows that. Each member is exact for the time between
 * its own two reads.
 *
 * Flags (tach/flags.h) are for the hardware members. A software member is always read by
 * read(2): tach_reader_flags gives the flags of one member. 0 = exact and uninterrupted.
 *
 * A reader keeps descriptors at high numbers: one for its hardware events (one for each core
 * type), and one for each software event, top-down metric or event of a multiplexed set. If a
 * program closes them, or opens its own files at their numbers, values that need read(2) are
 * TACH_FLAG_LOST; the program's files are not affected. A reader does not use the last 64
 * numbers below RLIMIT_NOFILE, or the last eighth: opening returns -EMFILE instead.
 *
 * The events belong to the reader. If other code turns them off and on (prctl(2)'s
 * PR_TASK_PERF_EVENTS_DISABLE, an ioctl on a copied descriptor), a region that begins or ends
 * in that time is TACH_FLAG_INCOMPLETE. If only software members of a set with hardware members
 * were off, the region is TACH_FLAG_LOST. A region that contains both moments looks
 * rescheduled; for software events it has no flag. If the set is multiplexed, or its counters
 * cannot be read in user space, only regions in which the events never counted have the flag. A
 * RESET invalidates the counts since open, and the region in which it happens. This region is
 * TACH_FLAG_LOST if fewer events were counted after the RESET than before the region, except
 * after a RESET from another CPU at an unfavourable moment.
 *
 * Top-down metrics, in a set with slots as leader, are read in user space too. But if other
 * code reads the group by read(2) through a copied descriptor, slots and metrics become 0, and
 * no page shows that. If they decreased in a region, its end is read by read(2)
 * (TACH_FLAG_MIXED). If a region counts more slots after such a reset than were counted before
 * it, but fewer than 2^18, its values are wrong.
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

/* Returns the size of struct tach_mark, for languages that cannot use its declaration. Align it
 * like uint64_t (as malloc does). A larger object is fine. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API size_t tach_mark_size(void);

/*
 * Returns the error of that member in the last end or read of the reader, in the member's own
 * unit. Only top-down metrics have an error, because the processor gives them in 255ths of the
 * slots since the last reset. After 2^18 slots, begin resets them by read(2). Each time that
 * the thread is rescheduled after the reset adds another 255th. The back-end's error is up to
 * three times as large, because it contains the rounding of the other three fields. All other
 * members: 0.
 */
/* MT-Safe race:reader | AS-Safe | AC-Safe | no allocation */
TACH_API uint64_t tach_reader_error(const struct tach_reader *reader, unsigned member)
	TACH_NONNULL(1);

/* Returns the flags of one member, from the flags that end or read returned. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_reader_flags(const struct tach_reader *reader, unsigned member,
				    uint32_t flags) TACH_NONNULL(1);

/* The slow paths: they read everything again, inline if that works, otherwise by read(2). */
TACH_API TACH_COLD void tach__begin_slow(struct tach_reader *reader, struct tach_mark *mark,
					 unsigned n);
TACH_API TACH_COLD uint32_t tach__end_slow(struct tach_reader *reader,
					   const struct tach_mark *mark, uint64_t *delta,
					   unsigned n);
TACH_API TACH_COLD uint32_t tach__read_slow(struct tach_reader *reader, uint64_t *value,
					    unsigned first, unsigned n);
/* Returns 1 if the calling thread opened the reader (checked with TACH_DEBUG). */
TACH_API int tach__mine(const struct tach_reader *reader);

TACH_END_DECLS

/* ---- the hot path ---- */

/* step(0) && step(1) ... && step(n - 1), unrolled at every optimisation level. */
#define TACH__EACH(n, step)                                                                    \
	(((n) < 1 || step(0)) && ((n) < 2 || step(1)) && ((n) < 3 || step(2)) &&               \
	 ((n) < 4 || step(3)) && ((n) < 5 || step(4)) && ((n) < 6 || step(5)) &&               \
	 ((n) < 7 || step(6)) && ((n) < 8 || step(7)) && ((n) < 9 || step(8)) &&               \
	 ((n) < 10 || step(9)) && ((n) < 11 || step(10)) && ((n) < 12 || step(11)) &&          \
	 ((n) < 13 || step(12)) && ((n) < 14 || step(13)) && ((n) < 15 || step(14)) &&         \
	 ((n) < 16 || step(15)))

/* Compile all code that begins and ends on the same reader with TACH_DEBUG, or none of it. */
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
	if (TACH_UNLIKELY(!tach__whole(reader) || !TACH__EACH(n, TACH__STEP)))
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

	if (TACH_UNLIKELY(!tach__whole(reader)))
		return tach__read_slow(reader, value, 0, n);
	for (i = 0; i < n; i++)
		if (TACH_UNLIKELY(!tach__read_one(reader, value, i)))
			return tach__read_slow(reader, value, 0, n);
	return 0;
}

TACH_API_INLINE uint32_t tach_reader_read_one(struct tach_reader *reader, unsigned member,
					      uint64_t *value)
{
	uint32_t lock;

	if (TACH_LIKELY(tach__whole(reader) &&
			tach__sum(tach__way(reader, member), TACH__WHOLE, value, &lock)))
		return 0;
	return tach__read_slow(reader, value, member, 1);
}

/*
 * Fences before and after begin keep earlier work out of the region, and the region's work
 * after the read. end needs a fence only before the read, because the region's work ends there.
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
