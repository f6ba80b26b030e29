/* SPDX-License-Identifier: MIT */
/* Rows: one region's sums over several threads, with the overhead that is in them. */
#ifndef TACH_CORE_REGION_ROW_H
#define TACH_CORE_REGION_ROW_H

#include "core/region/edges.h"

/*
 * What an empty region costs in one thread: [mode][0 = the least seen, 1 = spread above it] per
 * sum. empty: what an empty region shows; pair: what one adds to the region around it.
 */
struct tach__overhead {
	double empty[2][2][TACH__SUMS];
	double pair[2][2][TACH__SUMS];
	double flat[2][TACH__SUMS];   /* what an empty flat region shows */
	double passed[2][TACH__SUMS]; /* what an entry that is passed over adds, likewise */
};

struct tach__cell {
	uint64_t inclusive, self;
	/* To be subtracted, and how uncertain that is: for inclusive [0] and self [1]. */
	double overhead[2], error[2];
	/* Of the outermost entries, in sparse mode: the sum of squares, and the greatest. */
	double square, most;
	/* Of turns, inclusive [0] and self [1]: sums of squares of what each counted, and of
	 * that times its entries. */
	double turned[2], crossed[2];
};

struct tach__row {
	uint64_t calls, outermost, nested, direct, skipped, excluded, lost;
	uint64_t provenance[6];
	uint32_t flags; /* TACH_FLAG_STALE and the like, or-ed */
	uint32_t overlapped;
	uint32_t threads;
	uint64_t turns;		   /* of the row's set; 0 where no sets take turns */
	double passed;		   /* entries passed over inside, but not inside others */
	double paced[2];	   /* sum of squares of their entries: outermost [0], all [1] */
	uint32_t *histograms;	   /* owned by the owner of the row */
	struct tach__worst *worst; /* likewise */
	struct tach__cell cell[TACH__SUMS]; /* count + 1 of them exist */
};

/* Whether there is anything to say of it. */
static inline int tach__row_used(const struct tach__row *row)
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
/* One that is there. */
static inline const struct tach__row *tach__rows_row(const struct tach__rows *rows, uint32_t id)
{
	return (const struct tach__row *)(const void *)(rows->base + (size_t)id * rows->stride);
}
/* The row of that id, growing the array; NULL: out of memory. */
struct tach__row *tach__rows_at(struct tach__rows *rows, uint32_t id);
int tach__rows_copy(struct tach__rows *to, const struct tach__rows *from); /* deep; to: init */
/* Adds all of `from`, which is empty then. 0, or TACH_ERR_NOMEM. */
int tach__rows_join(struct tach__rows *to, struct tach__rows *from);
void tach__rows_clear(struct tach__rows *rows);
/* Adds a slot of that thread's; `slot` is a whole copy or will not change any more. */
struct tach__thread;
void tach__row_add(struct tach__row *row, const struct tach__slot *slot,
		   const struct tach__thread *record);

#endif
