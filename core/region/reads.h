/* SPDX-License-Identifier: MIT */
/* How edges read their counters: straight code where their number is a constant. */
#ifndef TACH_CORE_REGION_READS_H
#define TACH_CORE_REGION_READS_H

#include "core/region/add.h"
#include "core/region/edges.h"

TACH_INLINE int tach__begin_reads(const struct tach_reader *reader, struct tach_mark *mark,
				  uint32_t count)
{
#define STEP(i) tach__begin_one(reader, mark, i)
	return TACH__STEPS(count, STEP);
#undef STEP
}

TACH_INLINE int tach__end_parked(const struct tach_reader *reader, const struct tach_mark *mark,
				 uint64_t *delta, uint32_t i, uint32_t count)
{
	if (!tach__end_any(reader, mark, delta, i))
		return 0;
	if (tach__is_parked(i, count))
		delta[i] = TACH_PARK(delta[i]);
	return 1;
}

/*
 * Every counter under its own page's lock, which it keeps whatever happened since begin: the
 * differences are right although the group was rescheduled.
 */
TACH_INLINE int tach__end_reads(const struct tach_reader *reader, const struct tach_mark *mark,
				uint64_t *delta, uint32_t count)
{
#define STEP(i) tach__end_parked(reader, mark, delta, i, count)
	return TACH__STEPS(count, STEP);
#undef STEP
}

/*
 * By the numbers that the pages showed when they were last looked up, or the addresses of the
 * code that they lead to, which is said of numbers here. A lock only ever grows
 * (by 2^31 updates it comes round, as for all that goes by it), so the sum of all is what it
 * was, if and only if each is; one comparison, behind the last counter, does for all.
 *
 * START takes the sum that was seen before it takes any number. A number is as new as the sum
 * or newer, since it is stored before, together with its lock, and never gives way to an older
 * one (`look`, cold_start.c); and it is no newer than the page. So where the pages have that
 * sum behind the reads, all numbers are what they show, from when they were looked up until
 * now. START leaves the sum in the mark, and STOP compares with that: then all this is so since
 * START, and the group was not rescheduled.
 *
 * Where a number of before does harm (arm64 branches by it: 0 lies before the stubs, and access
 * may be revoked) the leader's page is asked beforehand, as others ask for index 0: its group
 * comes and goes with it.
 *
 * A fault shows in the lowest bit of the sum, which no lock changes.
 */
typedef tach__word tach__locks __attribute__((may_alias));

#ifdef TACH_COUNTER_AT
TACH_INLINE struct tach__seen tach__known_way(const struct tach__hot *self,
					      const struct tach_reader *reader, uint32_t i)
{
	(void)reader;
	return self->seen[i];
}
#else
TACH_INLINE struct tach_way tach__known_way(const struct tach__hot *self,
					    const struct tach_reader *reader, uint32_t i)
{
	(void)self;
	return tach__way(reader, i);
}
#endif

TACH_INLINE uint64_t tach__known_one(const struct tach__hot *self,
				     const struct tach_reader *reader, uint32_t i,
				     const uint64_t *begun, tach__locks *locks)
{
	__typeof__(tach__known_way(self, reader, i)) way = tach__known_way(self, reader, i);
	uint64_t value;

#ifdef TACH_COUNTER_AT
	TACH_COUNTER_AT(way.at, value, *locks);
#else
	tach__word number = (tach__word)TACH__GET(self->seen[i].number);

	TACH_COUNTER_SHOWN(way, number, value, *locks);
#endif
	value += (uint64_t)TACH_PAGE_OPERAND(way.page, offset);
	if (begun)
		value -= *begun;
	__asm__ volatile("" : "+r"(value) : : "memory");
	if (!TACH_COUNTER_SHOWN_MEMORY)
		*locks -= TACH_WORD(TACH_PAGE_OPERAND(way.page, lock));
	return value;
}

/* Where each lock is subtracted as soon as it may be, its page's address is still at hand. */
TACH_INLINE int tach__known_same(const struct tach__hot *self, const struct tach_reader *reader,
				 const tach__locks *locks, uint32_t count)
{
	tach__word sum = 0;

#define STEP(i)                                                                                \
	(sum += TACH_WORD(TACH_PAGE_OPERAND(tach__known_way(self, reader, i).page, lock)), 1)
	if (TACH_COUNTER_SHOWN_MEMORY)
		TACH__STEPS(count, STEP);
#undef STEP
	return sum == *locks;
}

TACH_INLINE int tach__known_asks(const struct tach__hot *self, const struct tach_reader *reader,
				 uint32_t lock)
{
	return !TACH_COUNTER_STALE &&
	       TACH_WORD(TACH_PAGE_LOAD(tach__known_way(self, reader, 0).page, lock)) != lock;
}

/* In the mark: from where a fault is to show. Elsewhere a copy of it, `locks`. */
TACH_INLINE tach__locks *tach__known_locks(struct tach_mark *mark, tach__locks *locks)
{
	return TACH_COUNTER_SHOWN_MEMORY ? (tach__locks *)(void *)&mark->reader : locks;
}

TACH_INLINE int tach__known_begin(const struct tach__hot *self, struct tach_mark *mark,
				  uint32_t count)
{
	const struct tach_reader *reader = self->reader;
	struct tach__since since;
	tach__locks own, *locks = tach__known_locks(mark, &own);

	if (count == 0)
		return 1;
	memcpy(&since, &self->since, sizeof since);
	memcpy(mark, &since, sizeof since);
	TACH__ORDER();
	own = (tach__word)since.locks;
	if (TACH_UNLIKELY(tach__known_asks(self, reader, since.lock)))
		return 0;
#define STEP(i) (mark->value[i] = tach__known_one(self, reader, i, NULL, locks), 1)
	TACH__STEPS(count, STEP);
#undef STEP
	return tach__known_same(self, reader, locks, count);
}

TACH_INLINE int tach__known_end(const struct tach__hot *self, struct tach_mark *mark,
				uint64_t *delta, uint32_t count)
{
	const struct tach_reader *reader = self->reader;
	tach__locks own, *locks = tach__known_locks(mark, &own);

	if (count == 0)
		return 1;
	own = *(tach__locks *)(void *)&mark->reader;
	if (TACH_UNLIKELY(tach__known_asks(self, reader, mark->lock)))
		return 0;
#define STEP(i)                                                                                \
	(delta[i] = tach__known_one(self, reader, i, &mark->value[i], locks) &                 \
		    (TACH_MODULAR ? reader->mask : UINT64_MAX),                                \
	 delta[i] = tach__is_parked(i, count) ? TACH_PARK(delta[i]) : delta[i], 1)
	TACH__STEPS(count, STEP);
#undef STEP
	return tach__known_same(self, reader, locks, count);
}

/* A mark whose START took the slow exit: no sum is odd. */
TACH_INLINE void tach__known_never(struct tach_mark *mark)
{
	uint64_t locks = 1;

	memcpy(&mark->reader, &locks, sizeof locks);
}

/* Since begin; an odd lock tells that begin took the slow exit. */
TACH_INLINE int tach__moved(const struct tach_reader *reader, const struct tach_mark *mark)
{
	struct tach_way way = tach__way(reader, 0);

	return TACH_UNLIKELY(TACH_PAGE_OPERAND(way.page, lock) != mark->lock);
}

/*
 * What was read, for a tail call with nothing but the mark: no register is kept for it. There
 * are TACH__UNROLLED at most; clang warns of more before it inlines.
 */
TACH_INLINE void tach__stash(struct tach_region_mark *mark, const uint64_t *delta,
			     uint32_t count)
{
#define STEP(i)                                                                                \
	(mark->counters.value[(TACH__UNROLLED + (i)) % TACH_COUNTERS_MAX] = delta[1 + (i)], 1)
	TACH__STEPS(count, STEP);
#undef STEP
	memcpy(&mark->counters.reader, delta, sizeof *delta); /* has no other use by now */
}

TACH_INLINE void tach__stashed(struct tach__reading *r, const struct tach_region_mark *mark,
			       uint32_t count)
{
	memcpy(r->delta, &mark->counters.reader, sizeof *r->delta);
	memcpy(r->delta + 1, mark->counters.value + TACH__UNROLLED, count * sizeof *r->delta);
}

#endif
