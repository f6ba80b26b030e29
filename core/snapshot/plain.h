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
	const char *text; /* over N0 = the quantity after time, ...; NULL: unknown */
	struct tach_formula *formula; /* NULL if text is, and in a new snapshot */
	struct tach__place node;
};

struct tach__plain_buckets {
	int count, room; /* room: 0 if they were never merged */
	struct tach_bucket *at;
};

struct tach__plain_worst {
	struct tach_worst info;
	double *value;	/* per quantity */
	uint64_t begun; /* ticks of the region clock; 0: from a saved report */
};

struct tach__plain_region {
	struct tach_region_info info;
	struct tach_value *value[2]; /* per part: quantities, then metrics */
	/*
	 * Per part and quantity, if values are scaled up. NULL: not scaled, or samples unknown.
	 */
	struct tach__sample *sample[2];
	struct tach__plain_buckets *histogram; /* per quantity */
	struct tach__plain_worst *worst;       /* in descending order */
	int nworst;
	int number;  /* its place before the list was sorted */
	int rank;    /* 1 + the rank of the row; 0: a row of all ranks */
	int repeats; /* 1: the values are in another row too, so the row has no share of time */
	int spread;  /* for teams.c: compare the threads of this region */
};

enum {
	TACH__PLAIN_QUANTITIES_MAX = 1 + TACH_FORMULA_OPERANDS_MAX,
	/* limited, because each is searched by name among the others */
	TACH__PLAIN_METRICS_MAX = 1024,
};

struct tach__plain {
	struct tach__arena
		arena; /* for a loaded or merged snapshot: all data below except formulas */
	void *pages;   /* the same for a new snapshot */
	size_t pages_size;
	void *more_pages; /* memory that beside.c added */
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
 * Evaluates the rows of regions, in the given order, into the snapshot. It uses the snapshot's
 * config and clock. The memory is one piece of pages, which the snapshot owns: handlers of
 * deadly signals call this. 0 or TACH_ERR_NOMEM.
 */
int tach__snapshot_evaluate(struct tach_snapshot *s, const struct tach__rows *rows,
			    const uint32_t *order, uint32_t nregions);

/* ---- worst.c ---- */

struct tach__row;
/* `to` has room for all entries of the row. */
void tach__plain_worst_take(const struct tach_snapshot *s, struct tach__plain_region *to,
			    const struct tach__row *row);
/* Adds the entries of another snapshot. Keeps the number of entries of the longer list. 0 or
 * TACH_ERR_NOMEM. map: the numbers of its quantities. */
int tach__plain_worst_add(struct tach__plain *plain, int region,
			  const struct tach__plain *other, int other_region, const int *map);
/* Removes entries that the older one has. */
void tach__plain_worst_since(struct tach__plain_region *region,
			     const struct tach__plain_region *older);

/* ---- parents.c ---- */

/* Drops parents that do not exist, and those that form a cycle. */
void tach__parents_check(struct tach__plain *plain);
/* Call one before regions are sorted and the other afterwards, which corrects the parents. */
void tach__parents_number(struct tach__plain *plain);
void tach__parents_follow(struct tach__plain *plain);

/* ---- plain.c: loaded or merged snapshots ---- */

void tach__plain_free(struct tach__plain *plain);
void tach__plain_free_pages(struct tach__plain *plain); /* the same for a new snapshot */
/* Allocates arrays by nquantities, nmetrics and nregions; 0 or TACH_ERR_NOMEM. */
int tach__plain_allocate(struct tach__plain *plain);
int tach__plain_allocate_region(struct tach__plain *plain, int region);
/* Compiles the metrics' texts. */
int tach__plain_compile(struct tach__plain *plain, struct tach_error *err);
/* The number of the quantity with that name, or -1. */
int tach__plain_quantity(const struct tach__plain *plain, const char *name);
/* Order of regions by file and line, and by name first. */
int tach__file_order(const struct tach_region_info *x, const struct tach_region_info *y);
int tach__place_order(const struct tach_region_info *x, const struct tach_region_info *y);
/* Computes a metric from its operands. */
void tach__plain_derive(struct tach__plain *plain, int region, int metric, enum tach_part part);

#endif
