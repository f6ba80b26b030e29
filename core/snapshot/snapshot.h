/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_SNAPSHOT_H
#define TACH_CORE_SNAPSHOT_H

#include <tach/report.h>
#include "core/region/region.h"
#include "core/snapshot/saved.h"

struct tach_snapshot {
	struct tach__saved *saved;   /* not NULL: that is all, and there is no config */
	struct tach__config *config; /* a reference */
	struct tach__rows rows;
	uint32_t *order; /* ids of the regions that were entered */
	int nregions;
	uint64_t threads, refused, lost, stale;
	uint32_t unopened, reports;
	double clock_hz, clock_error; /* the latter a fraction */
	uint32_t clock_flags;
	char note[1024];
};

/* The text of a metric's formula, N0 being the quantity after time, or NULL; to be freed. */
char *tach__snapshot_formula(const struct tach_snapshot *s, int metric);

#endif
