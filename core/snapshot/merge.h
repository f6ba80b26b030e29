/* SPDX-License-Identifier: MIT */
/* Several snapshots becoming one, as merge.c and passes.c see it. */
#ifndef TACH_CORE_SNAPSHOT_MERGE_H
#define TACH_CORE_SNAPSHOT_MERGE_H

#include "core/snapshot/plain.h"
#include "core/snapshot/snapshot.h"

/* A region of one of the snapshots. */
struct tach__source {
	const struct tach_snapshot *snapshot;
	const int *map; /* its quantities' numbers in the whole */
	int region;
	struct tach_region_info info;
	int number; /* of the snapshot, in the list */
};

struct tach__merge {
	const struct tach_snapshot *const *list;
	int n;
	const struct tach__passes_whole *passes; /* they are of the same run; NULL: added up */
	struct tach_snapshot *whole;
	struct tach__plain *plain;
	int (*map)[TACH__PLAIN_QUANTITIES_MAX]; /* per snapshot */
	struct tach__source *source;
	size_t nsources;
};

/* ---- merge.c ---- */
/* As tach_snapshot_merge: of m it needs list, n, passes. */
int tach__merge(struct tach_snapshot **out, struct tach__merge *m, struct tach_error *err);
/* A copy in the whole's memory; TACH_ERR_NOMEM. */
int tach__merge_place(struct tach__plain *s, struct tach__place *to,
		      const struct tach__place *from);

/* ---- parents.c ---- */
void tach__parents_merge(struct tach__merge *m, const int *region);

/* ---- shared.c ---- */
/* A quantity of the whole machine belongs to no thread: other rows do not lack it. */
int tach__merge_is_shared(const struct tach__merge *m, int quantity);

/* ---- buckets.c ---- */
/* Adds a source's histogram of that quantity of its own; TACH_ERR_NOMEM. */
int tach__merge_buckets(struct tach__merge *m, struct tach__plain_buckets *to,
			const struct tach__source *from, int quantity);
/* Of a region with one source; TACH_ERR_NOMEM. */
int tach__merge_samples(struct tach__plain *s, int region, const struct tach__source *from);

/* ---- passes.c: instead of adding up ---- */
/* What a snapshot calls a quantity is called so in the whole. */
const char *tach__passes_name(const struct tach__passes_whole *p, const char *name);
/* The names of the whole's quantities, in their order; and its metrics. */
int tach__passes_quantities(struct tach__merge *m);
int tach__passes_metrics(struct tach__merge *m);
/* A region of the whole, of `n` sources that are that region in one pass or another. */
int tach__passes_region(struct tach__merge *m, int region, const struct tach__source *source,
			size_t n);
void tach__passes_counts(struct tach__merge *m);

#endif
