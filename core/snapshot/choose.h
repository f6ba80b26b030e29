/* SPDX-License-Identifier: MIT */
/* Leaves out regions that matter least. */
#ifndef TACH_CORE_SNAPSHOT_CHOOSE_H
#define TACH_CORE_SNAPSHOT_CHOOSE_H

#include <tach/snapshot.h>

/*
 * Removes regions for which `is` returns 1, except the `most` regions of them with the most
 * self time. Regions below one that is left out move to the nearest region around it.
 */
void tach__snapshot_choose(struct tach_snapshot *snapshot, int most,
			   int (*is)(const void *context, const struct tach_region_info *info),
			   const void *context);

#endif
