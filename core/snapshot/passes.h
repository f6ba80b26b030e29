/* SPDX-License-Identifier: MIT */
/*
 * A program that ran several times with the same arguments, with other events counted each
 * time: what it counted as if all had been counted at once.
 */
#ifndef TACH_CORE_SNAPSHOT_PASSES_H
#define TACH_CORE_SNAPSHOT_PASSES_H

#include <tach/snapshot.h>
#include "core/set/set.h"

/*
 * What all of them count, time too, is their mean, and its error has half of what they differ
 * by. A region that was not called as often, or executed another number of instructions, than
 * in the first pass that has it, is not taken from that pass: what was counted there,
 * and metrics over it, are NaN and TACH_FLAG_LOST, and the snapshot's note says so. Each
 * snapshot has a region once. As tach_snapshot_merge.
 */
int tach__snapshot_passes(const struct tach_snapshot *const *list, int n,
			  const struct tach__passes_whole *whole, struct tach_snapshot **out,
			  struct tach_error *err);

#endif
