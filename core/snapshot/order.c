/* SPDX-License-Identifier: MIT */
/* The order of regions in reports: by descending time, then by creation. */
#include "core/snapshot/snapshot.h"

static int comes_before(const struct tach__rows *rows, uint32_t x, uint32_t y)
{
	uint64_t p = tach__rows_row(rows, x)->cell[0].inclusive,
		 q = tach__rows_row(rows, y)->cell[0].inclusive;

	return p != q ? p > q : x < y;
}

/*
 * Moves the element at the root down to its place in the heap. The heap's root is the element
 * that comes last in reports.
 */
static void sift_down(const struct tach__rows *rows, uint32_t *order, uint32_t root, uint32_t n)
{
	uint32_t id = order[root], kid;

	for (; (kid = 2 * root + 1) < n; root = kid) {
		if (kid + 1 < n && comes_before(rows, order[kid], order[kid + 1]))
			kid++;
		if (!comes_before(rows, id, order[kid]))
			break;
		order[root] = order[kid];
	}
	order[root] = id;
}

/* qsort may use malloc, so this does not call it. */
static void sort(const struct tach__rows *rows, uint32_t *order, uint32_t n)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sift_down(rows, order, i, n);
	while (n-- > 1) {
		uint32_t last = order[0];

		order[0] = order[n];
		order[n] = last;
		sift_down(rows, order, 0, n);
	}
}

int tach__order_make(struct tach__order *order, const struct tach__rows *rows)
{
	uint32_t n = 0;

	order->size = ((size_t)rows->limit + 1) * sizeof *order->id;
	order->id = tach__pages(order->size);
	order->n = 0;
	if (!order->id)
		return TACH_ERR_NOMEM;
	for (uint32_t id = TACH__SITE_FIRST; id < rows->limit; id++)
		if (tach__row_is_used(tach__rows_row(rows, id)))
			order->id[n++] = id;
	sort(rows, order->id, n);
	order->n = n;
	return 0;
}

void tach__order_free(struct tach__order *order)
{
	tach__pages_free(order->id, order->size);
}
