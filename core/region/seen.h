/* SPDX-License-Identifier: MIT */
/*
 * The state of the counters' pages when a thread last looked them up; reads.h explains its use.
 */
#ifndef TACH_CORE_REGION_SEEN_H
#define TACH_CORE_REGION_SEEN_H

#include <tach/region.h>

/* For one counter. */
struct tach__seen {
#ifdef TACH_COUNTER_AT
	const char *at; /* the code that reads it */
	const struct perf_event_mmap_page *page;
#else
	uint64_t number; /* upper half: the page's lock when it had this number */
#endif
};

/* The leader's lock and the sum of all locks, as in a mark. An odd sum: no look up yet. */
struct tach__since {
	uint32_t lock, flags;
	uint64_t locks;
};
TACH_STATIC_ASSERT(offsetof(struct tach_mark, flags) == 4 &&
			   offsetof(struct tach_mark, reader) == 8,
		   "since");

#endif
