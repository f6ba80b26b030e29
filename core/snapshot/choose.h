/* SPDX-License-Identifier: MIT */
/* Leaves out regions with the least self time. */
#ifndef TACH_CORE_SNAPSHOT_CHOOSE_H
#define TACH_CORE_SNAPSHOT_CHOOSE_H

#include <tach/snapshot.h>

/*
 * Removes regions for which `is` returns 1, except the `most` of these with the most self time.
 * If the parent of a region is removed, the nearest remaining region around it becomes its
 * parent.
 */
void tach__snapshot_choose(struct tach_snapshot *snapshot, int most,
			   int (*is)(const void *context, const struct tach_region_info *info),
			   const void *context);

#endif
