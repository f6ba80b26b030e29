/* SPDX-License-Identifier: MIT */
/* Rows that are divided by thread: one row for all threads, and how they differ. */
#ifndef TACH_CORE_SNAPSHOT_TEAMS_H
#define TACH_CORE_SNAPSHOT_TEAMS_H

#include <tach/snapshot.h>

/* Better strings for a region. They must stay valid until tach__snapshot_teams returns. */
struct tach__renamed {
	const char *name, *file, *function;
	uint32_t line;
	int spread; /* set it to 1 for a region whose threads are to be compared */
};
/* Returns 1 if it changed `to`, which has the region's present strings. */
typedef int (*tach__rename)(void *context, struct tach__renamed *to);

/*
 * Renames the regions of a loaded or merged snapshot. `spread`: replaces the rows of a region's
 * threads by their sum, and adds the rows "NAME [least]", "NAME [median]" and "NAME [most]" if
 * the region has several threads and `rename` asks for it. Each value of those rows is the
 * value of one thread; the median of an even number is the lower one. It adds the metric
 * "imbalance" to all: the longest self time of a thread divided by the mean. The caller frees
 * *out, and the snapshot, whose names have changed. 0 or a code.
 */
int tach__snapshot_teams(struct tach_snapshot *snapshot, int spread, tach__rename rename,
			 void *context, struct tach_snapshot **out, struct tach_error *err);

#endif
