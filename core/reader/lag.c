/* SPDX-License-Identifier: MIT */
/*
 * Detects that a group was without its counters: taken away, in error state, turned off, or
 * multiplexed.
 */
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/set/set.h"

/* A point where tests can run a handler. */
#ifndef TACH_HANDLER_STEP
#define TACH_HANDLER_STEP() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#endif

uint32_t tach__note_lag(struct tach__reader *r, uint64_t lag, uint32_t lock, uint32_t since)
{
	uint64_t known = __atomic_load_n(&r->lag, __ATOMIC_RELAXED);
	uint64_t grown = lag > known ? UINT64_MAX : 0, changed = lock != since ? UINT64_MAX : 0;
	uint32_t at;

	/* This code has no branches, so that each end of a region takes the same number of
	 * instructions. */
	__asm__ volatile("" : "+r"(grown), "+r"(changed));
	TACH_HANDLER_STEP();
	/*
	 * A handler may run here and find growth. Both rely on grown_lock. So this code reads
	 * the lag first and writes it last, and the lag is never newer than grown_lock. If this
	 * code overwrites a handler's result, a later call finds the growth again.
	 */
	at = (uint32_t)((lock & grown) |
			(__atomic_load_n(&r->grown_lock, __ATOMIC_RELAXED) & ~grown));
	TACH_HANDLER_STEP();
	__atomic_store_n(&r->grown_lock, at, __ATOMIC_RELAXED);
	TACH_HANDLER_STEP();
	__atomic_store_n(&r->lag, (lag & grown) | (known & ~grown), __ATOMIC_RELAXED);
	return (uint32_t)changed & (TACH_FLAG_RESCHEDULED << ((int32_t)(at - since) > 0));
}
TACH_STATIC_ASSERT(TACH_FLAG_RESCHEDULED << 1 == TACH_FLAG_INCOMPLETE, "tach__note_lag");

uint32_t tach__reader_since(struct tach__reader *r, uint32_t since)
{
	const struct perf_event_mmap_page *page = tach__leader_page(r);
	uint64_t enabled, running;
	uint32_t lock;

	do {
		lock = TACH_PAGE_LOAD(page, lock);
		enabled = TACH_PAGE_LOAD(page, time_enabled);
		running = TACH_PAGE_LOAD(page, time_running);
	} while (TACH_PAGE_LOAD(page, lock) != lock);
	return tach__note_lag(r, enabled - running, lock, since);
}

/* A pinned group that lost its counters stays in error state until it is enabled again. Its
 * times do not advance in that state, so a region that is open then is incomplete. */
int tach__read_or_recover(struct tach__reader *r, struct tach__group_read *to)
{
	int state = tach__group_read(&r->hard, to);

	if (state != 0 ||
	    tach__sys(SYS_ioctl, r->hard.leader, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0) != 0)
		return state;
	state = tach__group_read(&r->hard, to);
	if (state > 0) {
		r->grown_lock = TACH_PAGE_LOAD(tach__leader_page(r), lock);
		r->lag = to->enabled - to->running;
	}
	return state;
}

/* Reads up to 8 times, because a read takes less than a tick of some clocks (250 ns on riscv64
 * with a clock of 4 MHz). */
uint32_t tach__turned_off(const struct tach__group *g, struct tach__group_read *now)
{
	uint64_t enabled = now->enabled;

	for (int tries = 0; tries < 8; tries++)
		if (tach__group_read(g, now) <= 0 || now->enabled != enabled)
			return 0;
	return TACH_FLAG_INCOMPLETE;
}

uint32_t tach__soft_read(const struct tach__reader *r, struct tach__group_read *now)
{
	struct tach__group_read again;

	if (tach__group_read(&r->soft, now) <= 0)
		return TACH_FLAG_LOST;
	again = *now;
	if (!tach__turned_off(&r->soft, &again))
		return 0;
	return r->hard.count ? TACH_FLAG_LOST : TACH_FLAG_INCOMPLETE;
}

uint32_t tach__scale(const struct tach__reader *r, const struct tach_mark *mark,
		     const struct tach__group_read *now, unsigned n, uint64_t *delta)
{
	uint64_t enabled = now->enabled - mark->enabled, running = now->running - mark->running;

	if (enabled == 0)
		return TACH_FLAG_INCOMPLETE; /* turned off during the whole region */
	/* The times of several groups are read one after the other, so running may be a few ns
	 * longer. */
	if ((int64_t)(enabled - running) <= 0)
		return 0;
	if (!(r->set->flags & TACH_SET_MULTIPLEX))
		return TACH_FLAG_INCOMPLETE;
	if (running == 0)
		return TACH_FLAG_INCOMPLETE | TACH_FLAG_LOST;
	for (int i = 0; i < r->hard.count; i++) {
		uint64_t *d = &delta[r->hard.member[i]];

		if (r->hard.member[i] < n)
			*d = (uint64_t)((unsigned __int128)*d * enabled / running);
	}
	return TACH_FLAG_SCALED | TACH_FLAG_INCOMPLETE;
}
