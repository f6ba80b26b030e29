/* SPDX-License-Identifier: MIT */
/* How edges read their counters: straight code if their number is a constant. */
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

/* Each counter is read under the lock of its own page. The differences are correct even if the
 * group was rescheduled between two reads. */
TACH_INLINE int tach__end_reads(const struct tach_reader *reader, const struct tach_mark *mark,
				uint64_t *delta, uint32_t count)
{
#define STEP(i) tach__end_parked(reader, mark, delta, i, count)
	return TACH__STEPS(count, STEP);
#undef STEP
}

/*
 * Reads with cached counter indexes (arm64: code addresses), which look_up (cold_start.c)
 * copied from the pages.
 *
 * A lock only grows (it wraps around after 2^31 updates, for every user of it). So the sum of
 * all locks is unchanged only if each lock is unchanged. One comparison after the last counter
 * is enough.
 *
 * look_up stores each index, then the sum of the locks, and never replaces an index by an older
 * one. START reads the cached sum before it reads any index. So each index that START uses is
 * at least as new as the sum, and at most as new as its page. If the locks in the pages have
 * the same sum after the reads, no page has changed since look_up, and all indexes are valid.
 * START stores the sum in the mark. If the pages have the same sum at STOP, no page has changed
 * since START, so the indexes are valid and the group was not rescheduled.
 *
 * On arm64 a stale index is harmful: the read branches to code of that index, index 0 has no
 * code, and access may have been revoked. So the leader's page is checked before the reads. The
 * leader is enough, because the kernel schedules all members with it. Other architectures check
 * for index 0 there.
 *
 * A fault makes the sum odd. The sum of valid locks is always even.
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

/* Each lock is subtracted at once, while the address of its page is still in a register. */
TACH_INLINE int tach__known_is_current(const struct tach__hot *self,
				       const struct tach_reader *reader,
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

TACH_INLINE int tach__known_is_stale(const struct tach__hot *self,
				     const struct tach_reader *reader, uint32_t lock)
{
	return !TACH_COUNTER_STALE &&
	       TACH_WORD(TACH_PAGE_LOAD(tach__known_way(self, reader, 0).page, lock)) != lock;
}

/* Returns a place in the mark if a fault must be able to write the sum, else the local one. */
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
	if (TACH_UNLIKELY(tach__known_is_stale(self, reader, since.lock)))
		return 0;
#define STEP(i) (mark->value[i] = tach__known_one(self, reader, i, NULL, locks), 1)
	TACH__STEPS(count, STEP);
#undef STEP
	return tach__known_is_current(self, reader, locks, count);
}

TACH_INLINE int tach__known_end(const struct tach__hot *self, struct tach_mark *mark,
				uint64_t *delta, uint32_t count)
{
	const struct tach_reader *reader = self->reader;
	tach__locks own, *locks = tach__known_locks(mark, &own);

	if (count == 0)
		return 1;
	own = *(tach__locks *)(void *)&mark->reader;
	if (TACH_UNLIKELY(tach__known_is_stale(self, reader, mark->lock)))
		return 0;
#define STEP(i)                                                                                \
	(delta[i] = tach__known_one(self, reader, i, &mark->value[i], locks) &                 \
		    (TACH_MODULAR ? reader->mask : UINT64_MAX),                                \
	 delta[i] = tach__is_parked(i, count) ? TACH_PARK(delta[i]) : delta[i], 1)
	TACH__STEPS(count, STEP);
#undef STEP
	return tach__known_is_current(self, reader, locks, count);
}

/* Marks a START that took the slow path. The sum becomes odd, unlike any sum of locks. */
TACH_INLINE void tach__known_invalidate(struct tach_mark *mark)
{
	uint64_t locks = 1;

	memcpy(&mark->reader, &locks, sizeof locks);
}

/* Returns 1 if the lock has changed since START. An odd lock in the mark means that START took
 * the slow path. */
TACH_INLINE int tach__lock_has_changed(const struct tach_reader *reader,
				       const struct tach_mark *mark)
{
	struct tach_way way = tach__way(reader, 0);

	return TACH_UNLIKELY(TACH_PAGE_OPERAND(way.page, lock) != mark->lock);
}

/*
 * Stores the reads in the mark, for a tail call with the mark as its only argument. So no
 * register is needed for them. There are at most TACH__UNROLLED; clang warns about more before
 * it inlines.
 */
TACH_INLINE void tach__store_reading(struct tach_region_mark *mark, const uint64_t *delta,
				     uint32_t count)
{
#define STEP(i)                                                                                \
	(mark->counters.value[(TACH__UNROLLED + (i)) % TACH_COUNTERS_MAX] = delta[1 + (i)], 1)
	TACH__STEPS(count, STEP);
#undef STEP
	/* the mark's reader is no longer needed */
	memcpy(&mark->counters.reader, delta, sizeof *delta);
}

TACH_INLINE void tach__load_reading(struct tach__reading *r,
				    const struct tach_region_mark *mark, uint32_t count)
{
	memcpy(r->delta, &mark->counters.reader, sizeof *r->delta);
	memcpy(r->delta + 1, mark->counters.value + TACH__UNROLLED, count * sizeof *r->delta);
}

#endif
