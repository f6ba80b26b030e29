/* SPDX-License-Identifier: MIT */
/* Data and functions for merging snapshots, which merge.c and passes.c share. */
#ifndef TACH_CORE_SNAPSHOT_MERGE_H
#define TACH_CORE_SNAPSHOT_MERGE_H

#include "core/snapshot/plain.h"
#include "core/snapshot/snapshot.h"

/* A region of one snapshot. */
struct tach__source {
	const struct tach_snapshot *snapshot;
	const int *map; /* the numbers of the snapshot's quantities in the result */
	int region;
	struct tach_region_info info;
	int number; /* index of the snapshot in the list */
};

struct tach__merge {
	const struct tach_snapshot *const *list;
	int n;
	/* passes of one run; NULL: the snapshots are added up */
	const struct tach__passes_whole *passes;
	struct tach_snapshot *whole;
	struct tach__plain *plain;
	int (*map)[TACH__PLAIN_QUANTITIES_MAX]; /* for each snapshot, the map of struct
						   tach__source */
	struct tach__source *source;
	size_t nsources;
};

/* ---- merge.c ---- */
/* As tach_snapshot_merge. Set list, n and passes of m before. */
int tach__merge(struct tach_snapshot **out, struct tach__merge *m, struct tach_error *err);
/* Copies `from` into the memory of the result. 0 or TACH_ERR_NOMEM. */
int tach__merge_place(struct tach__plain *s, struct tach__place *to,
		      const struct tach__place *from);

/* ---- parents.c ---- */
void tach__parents_merge(struct tach__merge *m, const int *region);

/* ---- shared.c ---- */
/* A quantity of the whole machine belongs to no thread, so it is not missing in other rows. */
int tach__merge_is_shared(const struct tach__merge *m, int quantity);

/* ---- buckets.c ---- */
/* Adds a source's histogram; `quantity` is the number in the source. 0 or TACH_ERR_NOMEM. */
int tach__merge_buckets(struct tach__merge *m, struct tach__plain_buckets *to,
			const struct tach__source *from, int quantity);
/* Copies the samples of a region with one source. 0 or TACH_ERR_NOMEM. */
int tach__merge_samples(struct tach__plain *s, int region, const struct tach__source *from);

/* ---- passes.c: combines passes instead of adding them up ---- */
/* Returns the name that a snapshot's quantity has in the result. */
const char *tach__passes_name(const struct tach__passes_whole *p, const char *name);
/* Set the names of the result's quantities, in order, and its metrics. */
int tach__passes_quantities(struct tach__merge *m);
int tach__passes_metrics(struct tach__merge *m);
/* Makes a region of the result from `n` sources: the same region in different passes. */
int tach__passes_region(struct tach__merge *m, int region, const struct tach__source *source,
			size_t n);
void tach__passes_counts(struct tach__merge *m);

#endif
