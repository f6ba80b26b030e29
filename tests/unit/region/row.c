/* SPDX-License-Identifier: MIT */
/* Rows without regions: how each word of a slot is added to them. */
#include <string.h>
#include "tests/unit/region/rows.h"

static int stale;

static int sim_worst_take(struct tach__worst **to, const struct tach__thread *record,
			  uint32_t id)
{
	CHECK(record->worst);
	*to = &worst[id];
	return !stale;
}

#define tach__histograms_make  sim_make
#define tach__histograms_merge sim_merge
#define tach__worst_take       sim_worst_take
#include "core/region/row.c"

static union tach__slot_copy copy;
static struct tach__slot *const slot = &copy.slot;
static struct tach__sampling sampling;
static struct tach__config config;
static struct tach__thread record;
static struct tach__row row;

/* Each word gets another number. */
static void begin(void)
{
	struct tach__part *part, *inner;
	struct tach__children *children;

	memset(&copy, 0, sizeof copy);
	memset(&sampling, 0, sizeof sampling);
	memset(&config, 0, sizeof config);
	memset(&record, 0, sizeof record);
	memset(&row, 0, sizeof row);
	config.count = record.count = COUNT;
	record.config = &config;
	part = tach__part(slot, COUNT, 0);
	inner = tach__part(slot, COUNT, 1);
	part->ceiling = TACH__CEILING_OPEN;
	part->calls = 5;
	inner->calls = 3;
	part->nested[0] = 11;
	part->nested[1] = 4;
	inner->nested[0] = 1000;
	inner->nested[1] = 2000;
	children = tach__children(slot, COUNT, 0);
	children->direct[0] = 7;
	children->direct[1] = 2;
	tach__children(slot, COUNT, 1)->direct[0] = 3000;
	for (uint64_t i = 0; i < SUMS; i++) {
		part->sum[i] = 100 + i;
		inner->sum[i] = 40 + 2 * i;
		children->sum[i] = 30 + 4 * i;
	}
	slot->flat = 13;
	slot->lost = 17;
	slot->skipped = 23;
	slot->excluded = 29;
	for (uint64_t i = 0; i < 6; i++)
		slot->provenance[i] = 50 + i;
	sampling.inside = 19;
	sampling.below[0] = 6;
	sampling.below[1] = 4000;
	for (int i = 0; i < SUMS; i++)
		sampling.square[i] = 60 + i;
}

static void numbers(void)
{
	begin();
	for (uint64_t n = 1; n < 3; n++) {
		tach__row_add(&row, slot, &record);
		CHECK(row.calls == n * 21 && row.outermost == n * 18);
		CHECK(row.nested == n * 11 && row.direct == n * 7);
		CHECK(row.skipped == n * 23 && row.excluded == n * 29 && row.lost == n * 17);
		for (uint64_t i = 0; i < 6; i++)
			CHECK(row.provenance[i] == n * (50 + i), "%d", (int)i);
		CHECK(row.threads == n && row.flags == 0 && row.turns == 0);
		CHECK(!row.histograms && !row.worst);
		for (uint64_t i = 0; i < SUMS; i++) {
			CHECK(row.cell[i].inclusive == n * (100 + i));
			CHECK(row.cell[i].self == n * (110 - i));
			CHECK(row.cell[i].square == 0 && row.cell[i].turned[0] == 0);
		}
	}
	/* A thread that continues with another record counts once. */
	record.turning.before = 2;
	tach__row_add(&row, slot, &record);
	CHECK(row.threads == 2);
	/* Segments of a task are not calls, unless they began the task. */
	begin();
	slot->task = 1;
	slot->continued[0] = 2;
	slot->continued[1] = 1;
	row.calls = row.outermost = 100;
	tach__row_add(&row, slot, &record);
	CHECK(row.calls == 118 && row.outermost == 116 && !row.skipped && !row.excluded);
	CHECK(!slot->sampling && row.cell[0].square == 0);
	slot->sampling = &sampling;
	for (int n = 1; n < 3; n++) {
		tach__row_add(&row, slot, &record);
		for (int i = 0; i < SUMS; i++)
			CHECK(row.cell[i].square == n * (60 + i), "%d", i);
	}
}

static void what_is_missing(void)
{
	begin();
	/* The thread's counters did not open: it has only the clock. */
	config.count = COUNT + 1;
	tach__row_add(&row, slot, &record);
	tach__row_add(&row, slot, &record);
	CHECK(row.provenance[5] == 2 * (55 + 21) && row.provenance[4] == 2 * 54);
	/* The enclosing entry is still open. */
	begin();
	row.flags = TACH_FLAG_MIXED;
	tach__part(slot, COUNT, 0)->ceiling = 4;
	tach__row_add(&row, slot, &record);
	CHECK(row.flags == (TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE));
	tach__part(slot, COUNT, 1)->calls = 0;
	row.flags = 0;
	tach__row_add(&row, slot, &record);
	CHECK(row.flags == 0);
}

static void rows_refer_to_blocks(void)
{
	static struct tach__worst *of[4];
	uint32_t bin = 9;

	begin();
	bins[0] = 0;
	nbins = merges = 0;
	slot->histograms = &bin;
	tach__row_add(&row, slot, &record);
	tach__row_add(&row, slot, &record);
	CHECK(row.histograms == &bins[0] && bins[0] == 18 && nbins == 1 && merges == 2);
	CHECK(sums_of == SUMS);
	begin();
	/* The histogram has as many sums as the set requests and the thread has. */
	record.count = 0;
	slot->histograms = &bin;
	no_bins = 1;
	tach__row_add(&row, slot, &record);
	CHECK(!row.histograms && merges == 2 && sums_of == SUMS);
	no_bins = 0;
	tach__row_add(&row, slot, &record);
	CHECK(row.histograms && merges == 3 && sums_of == 1);
	/* Slots of handlers have no id; their entries belong to the region's row. */
	begin();
	record.worst = of;
	stale = 1;
	tach__row_add(&row, slot, &record);
	CHECK(!row.worst && row.flags == 0);
	slot->id = 3;
	row.flags = TACH_FLAG_MIXED;
	tach__row_add(&row, slot, &record);
	CHECK(row.worst == &worst[3] && row.flags == (TACH_FLAG_MIXED | TACH_FLAG_STALE));
	row.flags = stale = 0;
	tach__row_add(&row, slot, &record);
	CHECK(row.flags == 0);
}

/*
 * One cost is 1, all others are 0: the sum shows how often this cost is included. [inclusive,
 * self]
 */
static void shows(double *cost, int spread, double inclusive, double self)
{
	for (int i = 0; i < SUMS; i++) {
		memset(&row, 0, sizeof row);
		cost[i] = 1;
		for (int n = 1; n < 3; n++) {
			tach__row_add(&row, slot, &record);
			for (int k = 0; k < SUMS; k++) {
				const double *in = spread ? row.cell[k].error
							  : row.cell[k].overhead,
					     *no = spread ? row.cell[k].overhead
							  : row.cell[k].error;

				CHECK(in[0] == (k == i) * n * inclusive, "%d: %g", k, in[0]);
				CHECK(in[1] == (k == i) * n * self, "%d: %g", k, in[1]);
				CHECK(no[0] == 0 && no[1] == 0);
			}
		}
		cost[i] = 0;
	}
}

static void overhead(void)
{
	struct tach__overhead *o = &record.overhead;

	begin();
	/* The spread above the minimum is not subtracted with a nested entry's cost. */
	shows(o->empty[0][0], 0, 5, 8 - 5);
	shows(o->empty[0][1], 1, 5, 8);
	shows(o->empty[1][0], 0, 0, -2);
	shows(o->empty[1][1], 1, 0, 0);
	shows(o->flat[0], 0, 13, 13);
	shows(o->flat[1], 1, 13, 13);
	shows(o->passed[0], 0, 0, 0);
	shows(o->passed[1], 1, 0, 0);
	for (int b = 0; b < 2; b++) {
		shows(o->pair[0][b], b, 11 - 4, 7 - 2);
		shows(o->pair[1][b], b, 4, 2);
	}
	slot->fenced = 1;
	shows(o->empty[0][0], 0, 0, -5);
	shows(o->empty[0][1], 1, 0, 0);
	shows(o->empty[1][0], 0, 5, 8 - 2);
	shows(o->empty[1][1], 1, 5, 8);
	slot->sampling = &sampling;
	shows(o->passed[0], 0, 19, 13);
	shows(o->passed[1], 1, 19, 13);
}

/* For top-down metrics: slots, and the steps of each field. */
static void inexact(void)
{
	begin();
	tach__inexact(slot, COUNT)->inclusive = 21;
	tach__inexact(slot, COUNT)->self = 31;
	record.steps[0] = 2;
	record.steps[1] = 5;
	record.steps[2] = 7;
	tach__row_add(&row, slot, &record);
	CHECK(row.cell[1].error[0] == 0 && row.cell[2].error[1] == 0);
	record.inexact = 1;
	for (int n = 1; n < 3; n++) {
		tach__row_add(&row, slot, &record);
		CHECK(row.cell[0].error[0] == 0 && row.cell[0].error[1] == 0);
		CHECK(row.cell[1].error[0] == n * 42 && row.cell[1].error[1] == n * 62);
		CHECK(row.cell[2].error[0] == n * 105 && row.cell[2].error[1] == n * 155);
		CHECK(row.cell[3].error[0] == 0 && row.cell[1].overhead[0] == 0);
		CHECK(row.cell[1].square == 0 && row.cell[2].square == 0);
	}
}

static void turns(void)
{
	begin();
	config.ring.next = &config;
	tach__part(slot, COUNT, 0)->sum[1] = (uint64_t)-9;
	for (int n = 1; n < 3; n++) {
		tach__row_add(&row, slot, &record);
		CHECK(row.turns == (uint64_t)n && !row.histograms);
		CHECK(row.paced[0] == n * 25 && row.paced[1] == n * 64);
		for (int i = 0; i < SUMS; i++) {
			double all = i == 1 ? -9 : 100 + i, self = all + 10 - 2 * i;
			const struct tach__cell *cell = &row.cell[i];

			CHECK(cell->turned[0] == n * all * all, "%d", i);
			CHECK(cell->turned[1] == n * self * self, "%d", i);
			CHECK(cell->crossed[0] == n * all * 5, "%d", i);
			CHECK(cell->crossed[1] == n * self * 8, "%d", i);
		}
		CHECK(row.cell[SUMS].turned[0] == 0);
	}
}

/* Tests each field: whether it makes a row count as used, and where it is. */
static void row_with_any_count_is_used(void)
{
	struct tach__rows rows = {.base = (char *)&row, .stride = 8};

	memset(&row, 0, sizeof row);
	CHECK(!tach__row_is_used(&row));
	row.nested = row.turns = row.threads = 7;
	CHECK(!tach__row_is_used(&row));
	CHECK(tach__row_is_used(&(struct tach__row){.calls = 1}));
	CHECK(tach__row_is_used(&(struct tach__row){.skipped = 1}));
	CHECK(tach__row_is_used(&(struct tach__row){.excluded = 1}));
	CHECK(tach__row_is_used(&(struct tach__row){.lost = 1}));
	CHECK(tach__row_is_used(&(struct tach__row){.flags = 1}));
	CHECK((const char *)tach__rows_row(&rows, 3) == rows.base + 24);
}

int main(void)
{
	CASE(numbers);
	CASE(what_is_missing);
	CASE(rows_refer_to_blocks);
	CASE(overhead);
	CASE(inexact);
	CASE(turns);
	CASE(row_with_any_count_is_used);
	return check_done();
}
