/* SPDX-License-Identifier: MIT */
/* What sets that took turns counted, as if all of it had been counted in every entry. */
#ifndef TACH_CORE_SNAPSHOT_TURNS_H
#define TACH_CORE_SNAPSHOT_TURNS_H

#include "core/snapshot/snapshot.h"

/* One set's part, or the only one's. */
struct tach__took {
	struct tach__config *config; /* a reference */
	struct tach__rows rows;
};

/* Sums of calls and times of all sets, for the order in which regions are shown. */
int tach__turns_total(struct tach__rows *total, struct tach__took *took, int n);
/* As tach__snapshot_evaluate, of several. */
int tach__turns_evaluate(struct tach_snapshot *s, struct tach__took *took, int n,
			 const struct tach__order *order);

#endif
