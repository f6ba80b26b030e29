/* SPDX-License-Identifier: MIT */
/* Rows: one region's sums over several threads, with the overhead in them. */
#ifndef TACH_CORE_REGION_ROW_H
#define TACH_CORE_REGION_ROW_H

#include "core/region/edges.h"

/* The cost of an empty region in one thread: [fenced][0 = minimum, 1 = spread above it] per
 * sum. empty: the counts of an empty region. pair: the counts that it adds to its enclosing
 * region. */
struct tach__overhead {
	double empty[2][2][TACH__SUMS];
	double pair[2][2][TACH__SUMS];
	double flat[2][TACH__SUMS];   /* counts of an empty flat region */
	double passed[2][TACH__SUMS]; /* counts that a skipped entry adds, in the same form */
};

struct tach__cell {
	uint64_t inclusive, self;
	/* Overhead to subtract, and its uncertainty: for inclusive [0] and self [1]. */
	double overhead[2], error[2];
	/* For outermost entries in sparse mode: sum of squares, and maximum. */
	double square, most;
	/* For turns, inclusive [0] and self [1]: sums over turns of the squared counts, and of
	 * the counts times the number of entries. */
	double turned[2], crossed[2];
};

struct tach__row {
	uint64_t calls, outermost, nested, direct, skipped, excluded, lost;
	uint64_t provenance[6];
	uint32_t flags; /* TACH_FLAG_STALE etc., combined with or */
	uint32_t overlapped;
	uint32_t threads;
	uint64_t turns; /* turns of the row's set; 0 if sets do not take turns */
	double passed;	/* entries that were skipped directly inside */
	/* sums over turns of the squared number of entries: outermost [0], all [1] */
	double paced[2];
	uint32_t *histograms;		    /* owned by the owner of the row */
	struct tach__worst *worst;	    /* also owned by the owner of the row */
	struct tach__cell cell[TACH__SUMS]; /* count + 1 elements */
};

/* Returns 1 if the row has something to report. */
static inline int tach__row_is_used(const struct tach__row *row)
{
	return row->calls || row->skipped || row->excluded || row->lost || row->flags;
}

/* A growable array of rows in pages of its own, indexed by site id. */
struct tach__rows {
	char *base;
	size_t size;
	uint32_t stride, count, limit;
};

void tach__rows_init(struct tach__rows *rows, uint32_t count);
void tach__rows_free(struct tach__rows *rows);
/* Returns the row of that id, which must exist. */
static inline const struct tach__row *tach__rows_row(const struct tach__rows *rows, uint32_t id)
{
	return (const struct tach__row *)(const void *)(rows->base + (size_t)id * rows->stride);
}
/* Returns the row of that id, and grows the array. NULL: out of memory. */
struct tach__row *tach__rows_at(struct tach__rows *rows, uint32_t id);
int tach__rows_copy(struct tach__rows *to, const struct tach__rows *from); /* deep; to: init */
/* Adds all rows of `from`, and empties it. Returns 0 or TACH_ERR_NOMEM. */
int tach__rows_join(struct tach__rows *to, struct tach__rows *from);
/* Adds all except histograms and worst entries. count: number of counters. */
void tach__row_join_sums(struct tach__row *to, const struct tach__row *from, uint32_t count);
void tach__rows_clear(struct tach__rows *rows);
/* Adds a slot of that thread. `slot` is a consistent copy, or no longer changes. */
struct tach__thread;
void tach__row_add(struct tach__row *row, const struct tach__slot *slot,
		   const struct tach__thread *record);

#endif
