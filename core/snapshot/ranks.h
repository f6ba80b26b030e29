/* SPDX-License-Identifier: MIT */
/* The ranks of a parallel job: rows for all, rows for each, and their imbalance. */
#ifndef TACH_CORE_SNAPSHOT_RANKS_H
#define TACH_CORE_SNAPSHOT_RANKS_H

#include <tach/snapshot.h>

/* Returns the snapshot's rank, or -1 if it belongs to no rank or to several. */
int tach__snapshot_rank(const struct tach_snapshot *snapshot);
/*
 * The list has one snapshot for each rank, in order. `whole` is the sum of the list. *out has
 * the regions of `whole`, each followed by the rows of the ranks, "NAME [rank N]". It has one
 * more metric, "imbalance": the longest time of a rank divided by the mean. The list's regions
 * are renamed. A rank that did not enter the region counts as zero. The caller still frees list
 * and whole. 0 or a code.
 */
int tach__snapshot_ranks(struct tach_snapshot *const *list, int n,
			 const struct tach_snapshot *whole, struct tach_snapshot **out,
			 struct tach_error *err);

#endif
