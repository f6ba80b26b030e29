/* SPDX-License-Identifier: MIT */
/* The cold half of a reader. */
#ifndef TACH_CORE_READER_H
#define TACH_CORE_READER_H

#include <tach/reader.h>
#include "core/os/emulator.h"
#include "core/reader/topdown.h"

struct tach__hybrid;

/*
 * A group of events that are scheduled together: the hardware members, or the software members.
 */
struct tach__group {
	int leader;			   /* descriptor; -1: no group */
	uint64_t id;			   /* identifies the event: core/os/descriptor.h */
	int count;			   /* number of members ... */
	uint8_t member[TACH_COUNTERS_MAX]; /* ... their numbers in the set, in read(2)'s order
					    */
};

/* The result of one read(2) of a group with times (PERF_FORMAT_GROUP, perf_event_open(2)). */
struct tach__group_read {
	uint64_t count, enabled, running; /* ns */
	uint64_t value[TACH_COUNTERS_MAX];
};

/* One mapping holds everything: the reader's page, one page for each possible member (perf's,
 * or zeros), and the spare page. */
enum { TACH__SPARE = TACH_COUNTERS_MAX, TACH__PAGES = TACH_COUNTERS_MAX + 2 };

struct tach__reader {
	struct tach_reader hot; /* first: users hold a pointer to this */
	const struct tach_set *set;
	const void *owner; /* tach__thread_token() of the thread that opened it; NULL: none */
	size_t page_size;
	/* Descriptors of members. -1: closed, because the mapping keeps the event open and the
	 * leader's descriptor reads it. */
	int fd[TACH_COUNTERS_MAX];
	uint64_t id[TACH_COUNTERS_MAX]; /* identify the events: core/os/descriptor.h */
	uint32_t mapped;		/* a bit for each member whose page is perf's */
	struct tach__group hard, soft;
	struct tach__hybrid *hybrid; /* NULL, or used instead of `hard`: core/reader/hybrid.h */
	/*
	 * 1: sums are sign-extended. This is the case if the fast path does so, or if counters
	 * are too narrow for modular sums. Then the page of member 0, which begin and end read
	 * first, is zeros, and way[0].page, the real one, is the spare page, which the slow
	 * path reads.
	 */
	int extend;
	/* lag: enabled - running of the hardware group in ns, when last read. grown_lock: the
	 * leader's lock when lag last grew. See tach__note_lag. */
	uint64_t lag;
	uint32_t grown_lock;
	struct tach__topdown topdown;
	/* Members that an emulator counts: the thread's counts, and their values at opening. */
	struct {
		int count;
		const uint64_t *counts;
		uint64_t begun[TACH__EMULATED_COUNTS];
	} emulated;
	/* list of all readers, for fork; core/reader/readers.c */
	struct tach__reader *next, **link;
	/* The first cause why the fast path is not used; tach_reader_missing converts it to
	 * text. */
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

/* Does the work of the fork handler, for a child with one thread whose fork ran no handlers. */
void tach__readers_orphaned(void);

/* Identifies the thread without a system call. No later thread gets the same token, while it
 * might get the address of a variable. */
const void *tach__thread_token(void);

/* Reads the group by read(2). Returns 1, 0 if the group is in error state, or a negated
 * errno. */
int tach__group_read(const struct tach__group *group, struct tach__group_read *to);

/* As tach__group_read, but enables a group in error state again. Then open regions are
 * incomplete. */
int tach__read_or_recover(struct tach__reader *r, struct tach__group_read *to);

/* Reads offset + counter, sign-extended if `extend`, until the page stays unchanged. Returns 1,
 * 2 after several attempts, or 0 if user space cannot read it. */
int tach__sum_of(struct tach_way way, int extend, uint64_t *sum);

/*
 * Estimates the counts that were lost while the group had no counters, in proportion to time.
 */
uint32_t tach__scale(const struct tach__reader *r, const struct tach_mark *mark,
		     const struct tach__group_read *now, unsigned n, uint64_t *delta);

TACH_INLINE const struct perf_event_mmap_page *tach__leader_page(const struct tach__reader *r)
{
	return r->hot.way[r->hard.member[0]].page;
}

/*
 * Returns INCOMPLETE if the group was without counters since its leader's lock was `since`.
 * enabled - running is constant while the group counts and while the thread does not run. It
 * grows while the group waits for counters. The lag is read at any time and in nested regions,
 * so the lock at the last growth decides. Growth is sometimes found late: after `since`,
 * although it happened before. So the answer errs towards "incomplete".
 */
uint32_t tach__note_lag(struct tach__reader *r, uint64_t lag, uint32_t lock, uint32_t since);

/* The enabled time does not advance while other code has turned the events off, by an ioctl or
 * prctl. Otherwise it grows between two read(2). *now becomes the later read. */
uint32_t tach__turned_off(const struct tach__group *g, struct tach__group_read *now);

/*
 * Reads the software members, and checks that they count. If they do not, returns INCOMPLETE,
 * or LOST if the set also has hardware members, because the flags of such a set describe those.
 */
uint32_t tach__soft_read(const struct tach__reader *r, struct tach__group_read *now);

/* Updates the lag, and returns the flags of a region that began when the leader's lock was
 * `lock`. */
uint32_t tach__reader_since(struct tach__reader *r, uint32_t lock);

/*
 * For a region whose ends were both read inline, and whose group was rescheduled in between:
 * returns its flags. Converts the differences, which are modulo 2^width, to full counts, by the
 * region's length in ticks of the clock and by the present counts. The counts since the end are
 * subtracted from the present ones: they are known modulo 2^width.
 */
uint32_t tach__reader_settle(struct tach__reader *r, const struct tach_mark *mark,
			     uint64_t ticks, uint64_t *delta);

/* slow.c: converts a difference of modular sums to a full count. `updates`: how much the lock
 * of the leader's page grew between the two sums. */
uint64_t tach__reader_unwrap(const struct perf_event_mmap_page *page, uint64_t difference,
			     uint32_t updates);

/* other.c: as tach_reader_end, but callable from any thread while the reader stays open.
 * *error: the error of top-down metrics, in slots. */
uint32_t tach__reader_end_other(const struct tach_reader *reader, const struct tach_mark *mark,
				uint64_t *delta, uint64_t *error);

/* 1 if begin and end read inline, and take the slow path only if something changed. */
int tach__reader_is_inline(const struct tach__reader *r);

#endif
