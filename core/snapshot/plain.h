/* SPDX-License-Identifier: MIT */
/*
 * What every snapshot is: plain data, with nothing left to work out. One that was taken has it
 * from evaluate.c, one that was read from a report or merged of others from load.c and merge.c.
 */
#ifndef TACH_CORE_SNAPSHOT_PLAIN_H
#define TACH_CORE_SNAPSHOT_PLAIN_H

#include <tach/snapshot.h>
#include "core/base/arena.h"
#include "core/region/region.h"
#include "core/snapshot/sample.h"
#include "core/set/set.h"

struct tach__plain_metric {
	const char *name;
	const char *text; /* over N0 = the quantity after time, ...; NULL: not known */
	struct tach_formula *formula; /* NULL where text is, and in a snapshot that was taken */
	struct tach__place node;
};

struct tach__plain_buckets {
	int count, room; /* room: 0 where they were never merged */
	struct tach_bucket *at;
};

struct tach__plain_worst {
	struct tach_worst info;
	double *value;	/* per quantity */
	uint64_t begun; /* ticks of the region clock; 0: of a saved report */
};

struct tach__plain_region {
	struct tach_region_info info;
	struct tach_value *value[2]; /* per part: quantities, then metrics */
	/* Per part and quantity, where values are scaled up; NULL: not, or not known how. */
	struct tach__sample *sample[2];
	struct tach__plain_buckets *histogram; /* per quantity */
	struct tach__plain_worst *worst;       /* the worst first */
	int nworst;
	int number; /* where it was before its list was sorted */
	int rank;   /* 1 + the rank of which it is a row; 0: of all that there is */
};

struct tach__plain {
	struct tach__arena
		arena; /* of what was read or merged: all that is below, but formulas */
	void *pages;   /* the same of what was taken */
	size_t pages_size;
	void *more_pages; /* what beside.c added to it */
	size_t more_size;
	int nquantities, nmetrics, nregions;
	int worst; /* 1 + the quantity that tells the worst; 0: none are kept */
	const char **quantity;
	struct tach__plain_metric *metric;
	struct tach__plain_region *region;
};

enum {
	TACH__PLAIN_QUANTITIES_MAX = 1 + TACH_FORMULA_OPERANDS_MAX,
	TACH__PLAIN_METRICS_MAX = 1024, /* each is looked for by name among the others */
};

struct tach_snapshot;

/* ---- evaluate.c ---- */

/*
 * Of the rows of regions, in that order, what a snapshot says. Of the snapshot, config and
 * clock are needed. Memory is one piece of pages, which becomes the snapshot's: handlers of
 * deadly signals come here. 0 or TACH_ERR_NOMEM.
 */
int tach__snapshot_evaluate(struct tach_snapshot *s, const struct tach__rows *rows,
			    const uint32_t *order, uint32_t nregions);

/* ---- worst.c ---- */

struct tach__row;
/* Into room for as many as the row has. */
void tach__plain_worst_take(const struct tach_snapshot *s, struct tach__plain_region *to,
			    const struct tach__row *row);
/* Those of another snapshot too, as many as the one of them has that has more. 0 or
 * TACH_ERR_NOMEM. map: its quantities' numbers. */
int tach__plain_worst_add(struct tach__plain *plain, int region,
			  const struct tach__plain *other, int other_region, const int *map);
/* Without those that an older one had. */
void tach__plain_worst_since(struct tach__plain_region *region,
			     const struct tach__plain_region *older);

/* ---- parents.c ---- */

/* Drops parents that do not exist, and those that make a circle. */
void tach__parents_check(struct tach__plain *plain);
/* Before regions are sorted; and after that, so that parents are right again. */
void tach__parents_number(struct tach__plain *plain);
void tach__parents_follow(struct tach__plain *plain);

/* ---- plain.c: what is read or merged ---- */

void tach__plain_free(struct tach__plain *plain);
void tach__plain_free_pages(struct tach__plain *plain); /* the same of one that was taken */
/* Arrays for as many as nquantities, nmetrics and nregions say; 0 or TACH_ERR_NOMEM. */
int tach__plain_allocate(struct tach__plain *plain);
int tach__plain_allocate_region(struct tach__plain *plain, int region);
/* Compiles the metrics' texts. */
int tach__plain_compile(struct tach__plain *plain, struct tach_error *err);
/* The number of the quantity of that name, or -1. */
int tach__plain_quantity(const struct tach__plain *plain, const char *name);
/* Regions by file and line, and by their names before. */
int tach__file_order(const struct tach_region_info *x, const struct tach_region_info *y);
int tach__place_order(const struct tach_region_info *x, const struct tach_region_info *y);
/* What a metric is now that its operands are there. */
void tach__plain_derive(struct tach__plain *plain, int region, int metric, enum tach_part part);

#endif
