/* SPDX-License-Identifier: MIT */
/* Combines rows that are divided by thread: one row for all threads, and rows that show how
 * threads differ. */
#ifndef TACH_CORE_SNAPSHOT_TEAMS_H
#define TACH_CORE_SNAPSHOT_TEAMS_H

#include <tach/snapshot.h>

/* New strings for a region. They must stay valid until tach__snapshot_teams returns. */
struct tach__renamed {
	const char *name, *file, *function;
	uint32_t line;
	int spread; /* set it to 1 to compare the threads of this region */
};
/* Returns 1 if it changed `to`, which has the region's present strings. */
typedef int (*tach__rename)(void *context, struct tach__renamed *to);

/*
 * Renames the regions of a loaded or merged snapshot. If `spread` is 1, replaces the rows of a
 * region's threads by their sum. If the region has several threads and `rename` requests it,
 * adds the rows "NAME [least]", "NAME [median]" and "NAME [most]". Each value of these rows is
 * the value of one thread; for an even number of threads, the median is the lower value. All
 * rows get the metric "imbalance": the longest self time of a thread divided by the mean. The
 * caller frees *out, and the snapshot, whose names have changed. 0 or a code.
 */
int tach__snapshot_teams(struct tach_snapshot *snapshot, int spread, tach__rename rename,
			 void *context, struct tach_snapshot **out, struct tach_error *err);

#endif
