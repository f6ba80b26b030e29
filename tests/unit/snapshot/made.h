/* SPDX-License-Identifier: MIT */
/* Snapshots with numbers and texts set by a test, as if they had been loaded. */
#ifndef TESTS_UNIT_SNAPSHOT_MADE_H
#define TESTS_UNIT_SNAPSHOT_MADE_H

#include <string.h>
#include <tach.h>
#include "core/os/memory.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

/* Makes a snapshot with these quantities, metrics, and regions without names. */
static inline struct tach_snapshot *made(const char *const *quantities,
					 const struct tach__plain_metric *metrics, int nmetrics,
					 int nregions)
{
	struct tach_snapshot *s = tach__pages(sizeof *s);
	struct tach__plain *p = &s->plain;

	while (quantities[p->nquantities])
		p->nquantities++;
	p->nmetrics = nmetrics;
	p->nregions = nregions;
	s->reports = 1;
	CHECK(tach__plain_allocate(p) == 0);
	memcpy(p->quantity, quantities, (size_t)p->nquantities * sizeof *quantities);
	if (nmetrics)
		memcpy(p->metric, metrics, (size_t)nmetrics * sizeof *metrics);
	for (int r = 0; r < nregions; r++) {
		CHECK(tach__plain_allocate_region(p, r) == 0);
		p->region[r].info = (struct tach_region_info){.name = "",
							      .file = "",
							      .function = "",
							      .of = "",
							      .task = "",
							      .tag = "",
							      .thread = "",
							      .parent = -1};
	}
	return s;
}

/* Merges a list that ends with NULL into one snapshot, and frees the list's. */
static inline struct tach_snapshot *made_one(int code, struct tach_snapshot *one,
					     struct tach_snapshot **list)
{
	CHECK(code == 0 && one, "%d", code);
	for (int i = 0; list[i]; i++)
		tach_snapshot_free(list[i]);
	return one;
}

#define MADE_LIST(list) ((const struct tach_snapshot *const *)(list))

#endif
