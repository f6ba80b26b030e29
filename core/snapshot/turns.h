/* SPDX-License-Identifier: MIT */
/* Sets that took turns: estimates all values as if each had been counted in every entry. */
#ifndef TACH_CORE_SNAPSHOT_TURNS_H
#define TACH_CORE_SNAPSHOT_TURNS_H

#include "core/snapshot/snapshot.h"

/* The part of one set; without turns there is one part. */
struct tach__took {
	struct tach__config *config; /* a reference */
	struct tach__rows rows;
};

/* Adds calls and times over all sets, for the order of regions in reports. */
int tach__turns_total(struct tach__rows *total, struct tach__took *took, int n);
/* As tach__snapshot_evaluate, for several sets. */
int tach__turns_evaluate(struct tach_snapshot *s, struct tach__took *took, int n,
			 const struct tach__order *order);

#endif
