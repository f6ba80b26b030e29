/* SPDX-License-Identifier: MIT */
/* The cold half of a reader. */
#ifndef TACH_CORE_READER_H
#define TACH_CORE_READER_H

#include <tach/reader.h>

/* A group of events scheduled together: hardware members, or software members. */
struct tach__group {
	int leader;			   /* descriptor; -1: there is none */
	int count;			   /* its members ... */
	uint8_t member[TACH_COUNTERS_MAX]; /* ... and their numbers in the set, in read(2)'s
					      order */
};

/* What one read(2) of a group with times gives (PERF_FORMAT_GROUP, perf_event_open(2)). */
struct tach__group_read {
	uint64_t count, enabled, running;
	uint64_t value[TACH_COUNTERS_MAX];
};

/* One mapping holds it all: the reader's page, then TACH_COUNTERS_MAX pages, perf's or zeros.
 */
struct tach__reader {
	struct tach_reader hot; /* first: users hold a pointer to this */
	const struct tach_set *set;
	const void *owner; /* tach__thread_token() of the thread that opened it */
	size_t page_size;
	int fd[TACH_COUNTERS_MAX];
	struct tach__group hard, soft;
	/*
	 * enabled - running of the hardware group, in ns, when last looked at, the leader's
	 * lock at that time, and the lock when it was last found grown. See tach__end_slow.
	 */
	uint64_t lag;
	uint32_t lag_lock, grown_lock;
	char why[256];
};

TACH_INLINE struct tach__reader *tach__reader(const struct tach_reader *reader)
{
	return (struct tach__reader *)reader;
}

/* A word per thread: its address names the thread without a system call. */
const void *tach__thread_token(void);

/* 1, 0 for a group in error state, or a negated errno. No memory but *to is touched. */
int tach__group_read(const struct tach__group *group, struct tach__group_read *to);

#endif
