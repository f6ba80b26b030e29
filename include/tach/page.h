/* SPDX-License-Identifier: MIT */
/* Reads one counter through its page. Programs are compiled against this layout. */
#ifndef TACH_PAGE_H
#define TACH_PAGE_H

#include <tach/arch.h>
#include <tach/set.h>

/*
 * Hot half of a reader. Inline code in programs depends on its layout, so this is ABI
 * (tach__abi_1): see the assertions below. The cold half (descriptors, set, times) follows it,
 * and only core/ uses it.
 *
 * A reader belongs to the thread that opened it: its pages describe that thread's counters,
 * while the counter instruction reads the counters of the thread that runs on this CPU. With
 * -DTACH_DEBUG the inline reads check the thread and return TACH_FLAG_LOST; the slow path
 * always checks it.
 *
 * A member that inline code cannot read has a page of zeros: a software event, top-down metrics
 * and their slots, no permission, or a width that this code does not support. So its index is
 * 0, and the test that each read makes anyway leads to the slow path.
 */
struct tach_way {
	const struct perf_event_mmap_page *page;
	const char *stubs; /* arm64: address of its counter instructions; NULL elsewhere */
};
struct tach_reader {
	uint32_t count; /* members of the set, 0 .. TACH_COUNTERS_MAX */
	uint32_t fast; /* nonzero: all members could be read in user space when it was opened */
	uint64_t mask; /* 2^width - 1 of the narrowest counter; all ones if sums are signed */
	struct tach_way way[TACH_COUNTERS_MAX];
};

/* Data from begin to end, on the caller's stack: nesting and recursion cost nothing. */
struct tach_mark {
	/* lock of member 0's page when it was read; odd: begin took the slow path */
	uint32_t lock;
	uint32_t flags; /* how begin was read; written only by the slow path */
	const struct tach_reader *reader; /* written with TACH_DEBUG and by the region macros */
	uint64_t clock;			  /* written by the region macros */
	uint64_t enabled, running; /* ns; written only by the slow path of multiplexed sets */
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

/* a program built against this layout needs this symbol */
extern TACH_API const char tach__abi_1;

TACH_END_DECLS

/* ---- the read ---- */

/*
 * All accesses to a page use these names, so that a test can stop between any two of them. LOAD
 * is one load at that point. OPERAND may also be the memory operand of the instruction that
 * uses the value. Compilers do not allow this for volatile accesses, so put OPERAND between two
 * compiler barriers.
 */
#ifndef TACH_PAGE_LOAD
#define TACH_PAGE_LOAD(page, field)                                                            \
	(*TACH__CAST(const volatile __typeof__((page)->field) *, &(page)->field))
#define TACH_PAGE_OPERAND(page, field) ((page)->field)
#endif
/*
 * Sums are modular if counters have 40 bits or more (x86): offset + counter, without sign
 * extension of the counter, equals the count modulo 2^width, and end masks the difference of
 * two such sums once. If counters may have 32 bits (arm64), a region may count more than
 * 2^width, so both ends add the sign-extended counter. That is exact if the page was mapped
 * before the first read(2) and the event is never RESET; core/reader/pages.c ensures this.
 */
#ifndef TACH_MODULAR
#define TACH_MODULAR (!TACH_ARCH_SIGNED)
#endif

#if TACH_ARCH_SIGNED
#define TACH__EXTEND(page, raw)	 (raw)
#define tach__extend(raw, width) (raw)
#else
/* Width 0 shifts by 0: no guard needed, no undefined shift by 64. */
TACH__INLINE uint64_t tach__extend(uint64_t raw, unsigned width)
{
	unsigned shift = (64 - width) & 63;

	return TACH__CAST(uint64_t, TACH__CAST(int64_t, raw << shift) >> shift);
}
#define TACH__EXTEND(page, raw) tach__extend(raw, TACH_PAGE_LOAD(page, pmc_width))
#endif

/* How to sign-extend a sum's counter: not at all; by the width in its page; as 48 bits.
 * Absolute counts require it, because counters start below zero and are mostly negative. */
enum { TACH__AS_IT_IS, TACH__BY_WIDTH, TACH__BY_48 };

#if TACH_ARCH_FAST
#ifndef TACH_COUNTER_48
#define TACH_COUNTER_48(way, number, value, seen)                                              \
	do {                                                                                   \
		TACH_COUNTER(way, number, value, seen);                                        \
		(value) = TACH_ARCH_SIGNED ? (value) : tach__extend(value, 48);                \
	} while (0)
#endif

/*
 * Reads one counter under the lock of its own page: stores offset + counter in *sum and the
 * lock in *lock. Returns 0 on failure. If the counter cannot be read in user space, *lock is
 * odd, even if the page has changed since. There is no loop: a page changes only if the kernel
 * interrupts this code, and then the slow path reads again.
 *
 * Order: page accesses are volatile or between compiler barriers. This is enough, because the
 * kernel writes the page of a thread's own event on the CPU of that thread, so the thread sees
 * program order. `offset` may be loaded after the counter because both are between the two
 * reads of the lock. The thread itself cannot see an odd lock.
 *
 * The cost on x86 for a sum in begin: load lock; load index; sub 1; jb; rdpmc; shl; add; jz;
 * add offset from memory; cmp lock in memory; jne; store: 12. Subtracting one gives RDPMC's
 * operand and, by the borrow, the test for index 0. Fewer are impossible, because index, offset
 * and lock are read each time, the halves of the counter arrive in two registers, and a counter
 * may be hidden (tach/arch/x86.h).
 */
TACH__INLINE int tach__sum(struct tach_way way, int extend, uint64_t *sum, uint32_t *lock)
{
	tach__word seen = TACH_WORD(TACH_PAGE_LOAD(way.page, lock)), number;
	uint64_t value;

	if (TACH_UNLIKELY(TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number))) {
		*lock = 1;
		return 0;
	}
	if (extend == TACH__BY_48)
		TACH_COUNTER_48(way, number, value, seen);
	else
		TACH_COUNTER(way, number, value, seen);
	if (extend == TACH__BY_WIDTH)
		value = TACH__EXTEND(way.page, value);
	TACH_ADD(value, TACH_PAGE_OPERAND(way.page, offset));
	*sum = value;
	*lock = TACH__CAST(uint32_t, seen);
	return TACH_WORD(TACH_PAGE_OPERAND(way.page, lock)) == seen;
}

/*
 * Reads member 0 at the end of a region. begin's lock replaces the first read of the lock. If
 * the page still has this lock after the read of the counter, nothing has changed since begin.
 * So one comparison validates the read and shows that the group was not rescheduled. (A lock
 * that returns to the same value needs 2^31 updates within the region.) If the lock differs, or
 * is odd because begin took the slow path, take the slow path.
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

/* Reads under the lock of its own page: correct even if the group was rescheduled. */
TACH__INLINE int tach__end_any(const struct tach_reader *reader, const struct tach_mark *mark,
			       uint64_t *delta, unsigned i)
{
	uint32_t lock;
	uint64_t sum = 0; /* because some compilers warn about an uninitialized value */

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

/* Absolute counts exceed 2^width within about a day, so their counters are sign-extended. */
#define TACH__WHOLE (TACH_MODULAR ? TACH__BY_48 : TACH__BY_WIDTH)
TACH__INLINE int tach__read_one(const struct tach_reader *reader, uint64_t *value, unsigned i)
{
	uint32_t lock;

	return tach__sum(tach__way(reader, i), TACH__WHOLE, &value[i], &lock);
}

/*
 * Returns 1 if inline code sign-extends the reader's counters correctly. If not, read out of
 * line. All x86 processors since 2011 have 48 bits: see the mask's upper half.
 */
TACH__INLINE int tach__whole(const struct tach_reader *reader)
{
	uint32_t half;

	if (TACH__WHOLE != TACH__BY_48)
		return 1;
	__builtin_memcpy(&half,
			 TACH__CAST(const char *, TACH__CAST(const void *, &reader->mask)) + 4,
			 sizeof half);
	return half == 0xffff;
}

#endif
