/* SPDX-License-Identifier: MIT */
/* Combines the runs of a program that ran several times with the same arguments, each time with
 * different events. The result shows all events as if they had been counted at once. */
#ifndef TACH_CORE_SNAPSHOT_PASSES_H
#define TACH_CORE_SNAPSHOT_PASSES_H

#include <tach/snapshot.h>
#include "core/set/set.h"

/*
 * As tach_snapshot_merge, with these differences. If all passes count a quantity, such as time,
 * the result has its mean, and the error includes half of the difference between passes. Each
 * pass of a region is compared with the first pass that has the region. If the number of calls
 * or of instructions differs, the pass is not used: its values, and metrics over them, are NaN
 * and TACH_FLAG_LOST, and the snapshot's note says so. Each snapshot must have a region at most
 * once.
 */
int tach__snapshot_passes(const struct tach_snapshot *const *list, int n,
			  const struct tach__passes_whole *whole, struct tach_snapshot **out,
			  struct tach_error *err);

#endif
