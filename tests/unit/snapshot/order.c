/* SPDX-License-Identifier: MIT */
/* The order of regions in a report: each region with values, once. */
#include <stdlib.h>
#include <tach.h>
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/random.h"

static void check_order(const struct tach__rows *rows, uint32_t used)
{
	struct tach__order order;

	CHECK(tach__order_make(&order, rows) == 0 && order.n == used, "%d of %d", (int)order.n,
	      (int)used);
	CHECK(order.size >= order.n * sizeof *order.id);
	for (uint32_t i = 0; i < order.n; i++) {
		const struct tach__row *row = tach__rows_row(rows, order.id[i]);

		CHECK(order.id[i] >= TACH__SITE_FIRST && order.id[i] < rows->limit &&
		      tach__row_is_used(row));
		if (i) {
			uint64_t before =
				tach__rows_row(rows, order.id[i - 1])->cell[0].inclusive;

			CHECK(before > row->cell[0].inclusive ||
				      (before == row->cell[0].inclusive &&
				       order.id[i - 1] < order.id[i]),
			      "%d of %d", (int)i, (int)order.n);
		}
	}
	tach__order_free(&order);
}

/* Any number of rows, with many equal times. */
static void by_time_then_as_they_were_made(void)
{
	for (uint32_t n = 0; n < 200; n++) {
		struct tach__rows rows;

		tach__rows_init(&rows, 0);
		/* The library's own regions are not shown. */
		tach__rows_at(&rows, TACH__SITE_FIRST - 1)->calls = 1;
		for (uint32_t i = 0; i < n % 20; i++) {
			struct tach__row *row = tach__rows_at(&rows, TACH__SITE_FIRST + i);

			row->calls = 1;
			row->cell[0].inclusive = random_below(1 + n / 10);
		}
		check_order(&rows, n % 20);
		tach__rows_free(&rows);
	}
}

/* Lists as many rows as there is room for. */
static void used_rows_are_listed(void)
{
	struct tach__rows rows;

	tach__rows_init(&rows, 0);
	check_order(&rows, 0);
	tach__rows_at(&rows, 40)->flags = TACH_FLAG_STALE;
	tach__rows_at(&rows, TACH__SITE_FIRST)->skipped = 1;
	tach__rows_at(&rows, TACH__SITE_FIRST + 3)->lost = 1;
	tach__rows_at(&rows, rows.limit - 1)->excluded = 1;
	/* A row without calls, with any other values, is not shown. */
	tach__rows_at(&rows, TACH__SITE_FIRST + 1)->cell[0].inclusive = 9;
	check_order(&rows, 4);
	tach__rows_free(&rows);
}

int main(void)
{
	CASE(by_time_then_as_they_were_made);
	CASE(used_rows_are_listed);
	return check_done();
}
