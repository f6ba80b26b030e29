/* SPDX-License-Identifier: MIT */
/* Rows without regions: their memory, and the blocks that they refer to. */
#include <stddef.h>
#include <string.h>
#include "tests/unit/region/rows.h"

/* pages: allocated minus freed; no_pages: the next allocation fails */
static int pages, no_pages;
static size_t freed;

static void *sim_pages(size_t size)
{
	pages += !no_pages;
	return no_pages ? NULL : tach__pages(size);
}

static void *sim_larger(const void *old, size_t old_size, size_t size)
{
	pages += !no_pages;
	return no_pages ? NULL : tach__pages_larger(old, old_size, size);
}

static void sim_free(void *at, size_t size)
{
	pages -= at != NULL;
	freed = at ? size : 0;
	tach__pages_free(at, size);
}

static int bins_freed, worst_freed;

static void sim_bins_free(uint32_t *at, uint32_t sums)
{
	bins_freed += at != NULL;
	CHECK(sums == SUMS);
}

static void sim_worst_free(struct tach__worst *at)
{
	worst_freed += at != NULL;
}

static struct tach__worst *sim_worst_copy(const struct tach__worst *at)
{
	return at ? &worst[at - worst + 1] : NULL;
}

#define tach__pages	       sim_pages
#define tach__pages_larger     sim_larger
#define tach__pages_free       sim_free
#define tach__histograms_make  sim_make
#define tach__histograms_merge sim_merge
#define tach__histograms_free  sim_bins_free
#define tach__worst_free       sim_worst_free
#define tach__worst_copy       sim_worst_copy
#include "core/region/row.c"

/* ---- memory ---- */

static void array_of_rows_grows(void)
{
	struct tach__rows rows = {.limit = 9};
	struct tach__row *row;
	uint32_t stride, limit;
	char *base;

	tach__rows_init(&rows, COUNT);
	stride = (uint32_t)(offsetof(struct tach__row, cell) +
			    SUMS * sizeof(((struct tach__row *)0)->cell[0]));
	CHECK(rows.count == COUNT && rows.stride == stride && !rows.limit && !rows.base);
	no_pages = 1;
	CHECK(!tach__rows_at(&rows, 0) && !rows.limit && !rows.base && !rows.size);
	no_pages = pages = 0;
	/* Allocates half more than needed, in whole pages, and uses all of them. */
	row = tach__rows_at(&rows, 99);
	CHECK(pages == 1 && rows.size == tach__pages_round((size_t)150 * stride));
	CHECK(rows.limit == rows.size / stride &&
	      rows.base + (size_t)99 * stride == (char *)row);
	row->calls = 5;
	limit = rows.limit;
	base = rows.base;
	row = tach__rows_at(&rows, limit - 1);
	CHECK(rows.base == base && rows.limit == limit);
	CHECK((char *)row == base + (size_t)(limit - 1) * stride);
	freed = 0;
	row = tach__rows_at(&rows, limit);
	CHECK(rows.limit > limit && pages == 1 &&
	      freed == tach__pages_round((size_t)150 * stride));
	CHECK(row->calls == 0 && tach__rows_at(&rows, 99)->calls == 5);
	limit = rows.limit;
	base = rows.base;
	no_pages = 1;
	CHECK(!tach__rows_at(&rows, limit) && rows.limit == limit && rows.base == base);
	no_pages = 0;
	tach__rows_free(&rows);
	CHECK(pages == 0 && !rows.base && !rows.limit && freed == rows.size);
	for (uint32_t id = 0; id < 40; id++) {
		tach__rows_init(&rows, COUNT);
		CHECK(tach__rows_at(&rows, id) != NULL);
		CHECK(rows.size == tach__pages_round((size_t)(id + 1) * stride * 3 / 2));
		tach__rows_free(&rows);
	}
}

static void copy_has_all_rows(void)
{
	struct tach__rows rows, to, none;
	uint32_t last;

	tach__rows_init(&rows, COUNT);
	tach__rows_init(&to, COUNT);
	tach__rows_init(&none, COUNT);
	CHECK(tach__rows_copy(&to, &none) == 0 && !to.base && !to.limit);
	tach__rows_at(&rows, 0)->calls = 1;
	last = rows.limit - 1;
	bins[0] = 40;
	bins[1] = 50;
	nbins = 2;
	tach__rows_at(&rows, 0)->histograms = &bins[0];
	tach__rows_at(&rows, last)->calls = 2;
	tach__rows_at(&rows, last)->histograms = &bins[1];
	tach__rows_at(&rows, last)->worst = &worst[1];
	no_pages = 1;
	CHECK(tach__rows_copy(&to, &rows) == TACH_ERR_NOMEM && !to.base && !to.limit);
	no_pages = pages = merges = 0;
	CHECK(tach__rows_copy(&to, &rows) == 0 && pages == 1 && merges == 2);
	CHECK(to.base != rows.base && to.size == rows.size && to.limit == rows.limit);
	CHECK(to.stride == rows.stride && sums_of == SUMS);
	CHECK(tach__rows_at(&to, 0)->calls == 1 && tach__rows_at(&to, last)->calls == 2);
	CHECK(tach__rows_at(&to, 0)->histograms == &bins[2] && bins[2] == 40);
	CHECK(tach__rows_at(&to, last)->histograms == &bins[3] && bins[3] == 50);
	CHECK(!tach__rows_at(&to, 0)->worst && tach__rows_at(&to, last)->worst == &worst[2]);
	CHECK(!tach__rows_at(&to, 1)->histograms && !tach__rows_at(&to, 1)->worst);
	/* The blocks are freed with their rows. */
	bins_freed = worst_freed = 0;
	tach__rows_clear(&to);
	CHECK(bins_freed == 2 && worst_freed == 1 && pages == 1 && to.limit == rows.limit);
	for (size_t i = 0; i < to.size; i++)
		if (to.base[i]) {
			CHECK(0, "%d", (int)i);
			break;
		}
	tach__rows_clear(&none);
	CHECK(bins_freed == 2 && !none.base);
	tach__rows_free(&to);
	CHECK(pages == 0 && bins_freed == 2);
	/* If there is no memory, the row has no histogram, and does not use the other row's. */
	no_bins = 1;
	merges = 0;
	CHECK(tach__rows_copy(&to, &rows) == 0 && !merges);
	CHECK(!tach__rows_at(&to, 0)->histograms && tach__rows_at(&to, 0)->calls == 1);
	no_bins = 0;
	tach__rows_free(&to);
	bins_freed = worst_freed = 0;
	tach__rows_free(&rows);
	CHECK(bins_freed == 2 && worst_freed == 1);
}

int main(void)
{
	CASE(array_of_rows_grows);
	CASE(copy_has_all_rows);
	return check_done();
}
