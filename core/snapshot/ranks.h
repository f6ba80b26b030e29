/* SPDX-License-Identifier: MIT */
/* The ranks of a parallel job: what all did, what each did, and how evenly. */
#ifndef TACH_CORE_SNAPSHOT_RANKS_H
#define TACH_CORE_SNAPSHOT_RANKS_H

#include <tach/snapshot.h>

/* -1: it is of no rank, or of several. */
int tach__snapshot_rank(const struct tach_snapshot *snapshot);
/*
 * `whole` is the sum of the list, which has a snapshot for each rank, in their order, and whose
 * regions are renamed: "NAME [rank N]". In *out are the regions of all, each followed by its
 * ranks', and a metric more: "imbalance", the longest time of a rank by their mean, a rank
 * that did not enter the region included. List and whole stay the caller's. 0 or a code.
 */
int tach__snapshot_ranks(struct tach_snapshot *const *list, int n,
			 const struct tach_snapshot *whole, struct tach_snapshot **out,
			 struct tach_error *err);

#endif
