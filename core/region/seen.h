/* SPDX-License-Identifier: MIT */
/* What the counters' pages showed when a thread looked them up; reads.h has what it is for. */
#ifndef TACH_CORE_REGION_SEEN_H
#define TACH_CORE_REGION_SEEN_H

#include <tach/region.h>

/* Of one counter. */
struct tach__seen {
#ifdef TACH_COUNTER_AT
	const char *at; /* the code that reads it */
	const struct perf_event_mmap_page *page;
#else
	uint64_t number; /* and above it the lock under which that stood there */
#endif
};

/* The leader's lock and the sum of all, as a mark has them. An odd sum: nothing was seen. */
struct tach__since {
	uint32_t lock, flags;
	uint64_t locks;
};
TACH_STATIC_ASSERT(offsetof(struct tach_mark, flags) == 4 &&
			   offsetof(struct tach_mark, reader) == 8,
		   "since");

#endif
