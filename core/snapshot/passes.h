/* SPDX-License-Identifier: MIT */
/* A program that ran several times with the same arguments, with other events counted each
 * time: the result shows all events as if they had been counted at once. */
#ifndef TACH_CORE_SNAPSHOT_PASSES_H
#define TACH_CORE_SNAPSHOT_PASSES_H

#include <tach/snapshot.h>
#include "core/set/set.h"

/*
 * A quantity that all passes count, such as time, is their mean; its error includes half of
 * their difference. If a region was called more or less often than in the first pass that has
 * it, or executed another number of instructions, its values in that pass are not used: they,
 * and metrics over them, are NaN and TACH_FLAG_LOST, and the snapshot's note says so. Each
 * snapshot has a region once. Otherwise as tach_snapshot_merge.
 */
int tach__snapshot_passes(const struct tach_snapshot *const *list, int n,
			  const struct tach__passes_whole *whole, struct tach_snapshot **out,
			  struct tach_error *err);

#endif
