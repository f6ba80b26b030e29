/* SPDX-License-Identifier: MIT */
/* The cold half of a reader. */
#ifndef TACH_CORE_READER_H
#define TACH_CORE_READER_H

#include <tach/reader.h>
#include "core/os/emulator.h"
#include "core/reader/topdown.h"

struct tach__hybrid;

/* A group of events scheduled together: the hardware members, or the software members. */
struct tach__group {
	int leader;			   /* descriptor; -1: there is none */
	uint64_t id;			   /* which event that is: core/os/descriptor.h */
	int count;			   /* its members ... */
	uint8_t member[TACH_COUNTERS_MAX]; /* ... their numbers in the set, in read(2)'s order
					    */
};

/* What one read(2) of a group with times gives (PERF_FORMAT_GROUP, perf_event_open(2)). */
struct tach__group_read {
	uint64_t count, enabled, running; /* ns */
	uint64_t value[TACH_COUNTERS_MAX];
};

/*
 * One mapping holds it all: the reader's page, a page for each member that can be (perf's, or
 * zeros), and the spare page.
 */
enum { TACH__SPARE = TACH_COUNTERS_MAX, TACH__PAGES = TACH_COUNTERS_MAX + 2 };

struct tach__reader {
	struct tach_reader hot; /* first: users hold a pointer to this */
	const struct tach_set *set;
	const void *owner; /* tach__thread_token() of the thread that opened it; NULL: none */
	size_t page_size;
	/* -1: closed, as a mapping keeps the event open and its leader's descriptor reads it.
	 */
	int fd[TACH_COUNTERS_MAX];
	uint64_t id[TACH_COUNTERS_MAX]; /* which events those are: core/os/descriptor.h */
	uint32_t mapped;		/* a bit for each member whose page is perf's */
	struct tach__group hard, soft;
	struct tach__hybrid
		*hybrid; /* NULL, or what `hard` has members of: core/reader/hybrid.h */
	/*
	 * Sums are extended by sign: always where the hot path does so, else when counters are
	 * too narrow to be modular. Then member 0's page, which begin and end look at first, is
	 * one of zeros and way[0].page, the real one, is the spare: the slow exit reads it.
	 */
	int extend;
	/*
	 * enabled - running of the hardware group, in ns, when last looked at, and the leader's
	 * lock when it was last found to have grown; see tach__note_lag.
	 */
	uint64_t lag;
	uint32_t grown_lock;
	struct tach__topdown topdown;
	/* Members that an emulator counts: the thread's counts, and what they were when it was
	 * opened. */
	struct {
		int count;
		const uint64_t *counts;
		uint64_t begun[TACH__EMULATED_COUNTS];
	} emulated;
	struct tach__reader *next, **link; /* list of all, for fork; core/reader/open.c */
	/* Why the fast way is not open: the first cause; in words when it is asked for. */
	enum tach__slow {
		TACH__FAST,
		TACH__SLOW_MULTIPLEX,
		TACH__SLOW_METRIC,
		TACH__SLOW_FIRMWARE,
		TACH__SLOW_BLOCKED,
		TACH__SLOW_MAP,
		TACH__SLOW_ACCESS
	} slow;
	int slow_code; /* METRIC: the member; MAP: the negated errno */
	char why[256];
};

TACH_INLINE struct tach__reader *tach__reader(const struct tach_reader *reader)
{
	return (struct tach__reader *)reader;
}

TACH_INLINE void *tach__reader_page(struct tach__reader *r, int member)
{
	return (char *)r + r->page_size * (size_t)(member + 1);
}

/* In a child whose fork ran no handlers, by its only thread: as the handler does. */
void tach__readers_orphaned(void);

/* Names the thread without a system call. No later thread has the same, as it might have the
 * address of a variable. */
const void *tach__thread_token(void);

/* 1, 0 for a group in error state, or a negated errno. */
int tach__group_read(const struct tach__group *group, struct tach__group_read *to);

/*
 * The same of the hardware group, enabled again if it was in error state: what region is open
 * then is incomplete.
 */
int tach__read_or_recover(struct tach__reader *r, struct tach__group_read *to);

/*
 * offset + counter, extended by sign or not, read until nothing came in between: 1, 2 if that
 * took several times; 0 if it cannot be read here.
 */
int tach__sum_of(struct tach_way way, int extend, uint64_t *sum);

/* Counts lost while no group had a counter are made up for in proportion to time. */
uint32_t tach__scale(const struct tach__reader *r, const struct tach_mark *mark,
		     const struct tach__group_read *now, unsigned n, uint64_t *delta);

TACH_INLINE const struct perf_event_mmap_page *tach__leader_page(const struct tach__reader *r)
{
	return r->hot.way[r->hard.member[0]].page;
}

/*
 * Was the group without counters since its leader's lock read `since`? enabled - running stands
 * still while it counts and while the thread does not run, and grows while it wants counters
 * and has none. Looks come at any time and from nested regions, so it is the lock at the last
 * growth that counts: growth found after `since` may lie before it, never the other way round,
 * hence errs towards "incomplete".
 */
uint32_t tach__note_lag(struct tach__reader *r, uint64_t lag, uint32_t lock, uint32_t since);

/*
 * Time enabled stands still while the events are turned off, by an ioctl or prctl of other
 * code. Between two read(2) it grows otherwise. *now becomes the later of the two.
 */
uint32_t tach__turned_off(const struct tach__group *g, struct tach__group_read *now);

/*
 * The software members, and whether they count. Flags are those of hardware members where there
 * are any, so that entries of such sets are lost where software alone is incomplete.
 */
uint32_t tach__soft_read(const struct tach__reader *r, struct tach__group_read *now);

/* Brings lag up to date; what became of a region begun under that lock. */
uint32_t tach__reader_since(struct tach__reader *r, uint32_t lock);

/*
 * Of a region whose ends were both read inline and whose group was rescheduled in between: its
 * flags. The differences, which are modulo 2^width, become whole ones, by the region's length
 * in ticks of the clock and by what is counted now. Of what was counted until now the little
 * since the end goes: that is known modulo 2^width.
 */
uint32_t tach__reader_settle(struct tach__reader *r, const struct tach_mark *mark,
			     uint64_t ticks, uint64_t *delta);

/* slow.c: a difference of modular sums as a whole count; `updates` of the leader's page since.
 */
uint64_t tach__reader_unwrap(const struct perf_event_mmap_page *page, uint64_t difference,
			     uint32_t updates);

/*
 * other.c: as tach_reader_end, by any thread, while the reader stays open. *error: of top-down
 * metrics, in slots.
 */
uint32_t tach__reader_end_other(const struct tach_reader *reader, const struct tach_mark *mark,
				uint64_t *delta, uint64_t *error);

/* Do begin and end read inline, and come to the slow exit only when something changed under
 * them? */
int tach__reader_inline(const struct tach__reader *r);

#endif
