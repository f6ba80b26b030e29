/* SPDX-License-Identifier: MIT */
/* The data of each snapshot, fully evaluated. It comes from evaluate.c for a new snapshot, from
 * load.c for a saved report, and from merge.c for several snapshots. */
#ifndef TACH_CORE_SNAPSHOT_PLAIN_H
#define TACH_CORE_SNAPSHOT_PLAIN_H

#include <tach/snapshot.h>
#include "core/base/arena.h"
#include "core/region/region.h"
#include "core/snapshot/sample.h"
#include "core/set/set.h"

struct tach__plain_metric {
	const char *name;
	const char *text; /* N0 is the quantity after time, and so on; NULL: unknown */
	struct tach_formula *formula; /* NULL if text is NULL, and in a new snapshot */
	struct tach__place node;
};

struct tach__plain_buckets {
	int count,
		room; /* room: number of allocated elements of `at`; 0 if it was never merged */
	struct tach_bucket *at;
};

struct tach__plain_worst {
	struct tach_worst info;
	double *value;	/* per quantity */
	uint64_t begun; /* ticks of the region clock; 0: from a saved report */
};

struct tach__plain_region {
	struct tach_region_info info;
	struct tach_value *value[2]; /* for each part: quantities, then metrics */
	/*
	 * For each part: the samples of all quantities. NULL if values are not scaled up, or if
	 * their samples are unknown.
	 */
	struct tach__sample *sample[2];
	struct tach__plain_buckets *histogram; /* per quantity */
	struct tach__plain_worst *worst;       /* in descending order */
	int nworst;
	int number;  /* the region's place before the list was sorted */
	int rank;    /* 1 + the rank of the row; 0: a row of all ranks */
	int repeats; /* 1: the values are in another row too, so the row has no share of time */
	int spread;  /* for teams.c: compare the threads of this region */
};

enum {
	TACH__PLAIN_QUANTITIES_MAX = 1 + TACH_FORMULA_OPERANDS_MAX,
	/* limited, because adding a metric searches all names */
	TACH__PLAIN_METRICS_MAX = 1024,
};

struct tach__plain {
	struct tach__arena arena; /* the data of a loaded or merged snapshot, except formulas */
	void *pages;		  /* used instead of `arena` by a new snapshot */
	size_t pages_size;
	void *more_pages; /* memory that beside.c allocated */
	size_t more_size;
	int nquantities, nmetrics, nregions;
	/* A bit for each quantity that only metrics use: reports leave its column out. */
	uint64_t operands[TACH__PLAIN_QUANTITIES_MAX / 64 + 1];
	int worst; /* 1 + the quantity for comparing worst entries; 0: none are kept */
	const char **quantity;
	struct tach__plain_metric *metric;
	struct tach__plain_region *region;
};

TACH_INLINE int tach__plain_is_operand(const struct tach__plain *p, int q)
{
	return (int)(p->operands[q / 64] >> q % 64 & 1);
}

TACH_INLINE void tach__plain_mark_operand(struct tach__plain *p, int q, int is)
{
	uint64_t bit = (uint64_t)1 << q % 64;

	p->operands[q / 64] = is ? p->operands[q / 64] | bit : p->operands[q / 64] & ~bit;
}

struct tach_snapshot;

/* ---- evaluate.c ---- */

/*
 * Evaluates the rows of regions, in the given order, into the snapshot, with the snapshot's
 * config and clock. Handlers of deadly signals call this, so the memory is one piece of pages,
 * which the snapshot owns. 0 or TACH_ERR_NOMEM.
 */
int tach__snapshot_evaluate(struct tach_snapshot *s, const struct tach__rows *rows,
			    const uint32_t *order, uint32_t nregions);

/* ---- worst.c ---- */

struct tach__row;
/* Copies the row's worst entries to `to`, which has room for all. */
void tach__plain_worst_take(const struct tach_snapshot *s, struct tach__plain_region *to,
			    const struct tach__row *row);
/* Adds the entries of another snapshot. Keeps the number of entries of the longer list. 0 or
 * TACH_ERR_NOMEM. map: the numbers of the other's quantities in `plain`. */
int tach__plain_worst_add(struct tach__plain *plain, int region,
			  const struct tach__plain *other, int other_region, const int *map);
/* Removes entries that the older region has. */
void tach__plain_worst_since(struct tach__plain_region *region,
			     const struct tach__plain_region *older);

/* ---- parents.c ---- */

/* Removes parents that do not exist, and parents that form a cycle. */
void tach__parents_check(struct tach__plain *plain);
/* Correct the parents: call the first before regions are sorted, and the second afterwards. */
void tach__parents_number(struct tach__plain *plain);
void tach__parents_follow(struct tach__plain *plain);

/* ---- plain.c: loaded or merged snapshots ---- */

void tach__plain_free(struct tach__plain *plain);
void tach__plain_free_pages(struct tach__plain *plain); /* for a new snapshot */
/* Allocates arrays by nquantities, nmetrics and nregions; 0 or TACH_ERR_NOMEM. */
int tach__plain_allocate(struct tach__plain *plain);
int tach__plain_allocate_region(struct tach__plain *plain, int region);
/* Compiles the metrics' texts. */
int tach__plain_compile(struct tach__plain *plain, struct tach_error *err);
/* Returns the number of the quantity with that name, or -1. */
int tach__plain_quantity(const struct tach__plain *plain, const char *name);
/* Compare regions for sorting: the first by file and line; the second by name, then file and
 * line. */
int tach__file_order(const struct tach_region_info *x, const struct tach_region_info *y);
int tach__place_order(const struct tach_region_info *x, const struct tach_region_info *y);
/* Computes a metric from its operands. */
void tach__plain_derive(struct tach__plain *plain, int region, int metric, enum tach_part part);

#endif
