/* SPDX-License-Identifier: MIT */
/* Rows: adding a thread's slot to a region's sums, and arrays of them. */
#include <string.h>
#include "core/registry.h"

void tach__rows_init(struct tach__rows *rows, uint32_t count)
{
	*rows = (struct tach__rows){
		.count = count,
		.stride = (uint32_t)(offsetof(struct tach__row, cell) +
				     (1 + (size_t)count) * sizeof(struct tach__cell)),
	};
}

void tach__rows_free(struct tach__rows *rows)
{
	for (uint32_t id = 0; id < rows->limit; id++)
		tach__histograms_free(tach__rows_at(rows, id)->histograms, rows->count + 1);
	tach__pages_free(rows->base, rows->size);
	rows->base = NULL;
	rows->limit = 0;
}

struct tach__row *tach__rows_at(struct tach__rows *rows, uint32_t id)
{
	if (id >= rows->limit) {
		size_t size = tach__pages_round((size_t)(id + 1) * rows->stride * 3 / 2);
		char *base = tach__pages_grow(rows->base, rows->size, size);

		if (!base)
			return NULL;
		rows->base = base;
		rows->size = size;
		rows->limit = (uint32_t)(size / rows->stride);
	}
	return (struct tach__row *)(void *)(rows->base + (size_t)id * rows->stride);
}

int tach__rows_copy(struct tach__rows *to, const struct tach__rows *from)
{
	uint32_t sums = from->count + 1;

	if (!from->base)
		return 0;
	to->base = tach__pages(from->size);
	if (!to->base)
		return TACH_ERR_NOMEM;
	to->size = from->size;
	to->limit = from->limit;
	memcpy(to->base, from->base, (size_t)from->limit * from->stride);
	for (uint32_t id = 0; id < to->limit; id++) {
		struct tach__row *row = tach__rows_at(to, id);
		const uint32_t *old = row->histograms;

		if (!old)
			continue;
		row->histograms = tach__histograms_make(sums);
		if (row->histograms)
			tach__histograms_merge(row->histograms, old, sums);
	}
	return 0;
}

void tach__rows_clear(struct tach__rows *rows)
{
	if (rows->base)
		memset(rows->base, 0, rows->size);
}

void tach__row_add(struct tach__row *row, const struct tach_slot *slot,
		   const struct tach__thread *record)
{
	const struct tach__overhead *overhead = &record->overhead[slot->calibrator];
	uint32_t count = record->count;
	int fenced = slot->fenced;
	double outermost = (double)slot->outermost, calls = (double)slot->calls;
	double pairs[2] = {(double)slot->nested, (double)slot->nested_fenced};
	double children[2] = {(double)slot->direct, (double)slot->direct_fenced};

	row->calls += slot->calls;
	row->outermost += slot->outermost;
	row->nested += slot->nested + slot->nested_fenced;
	row->direct += slot->direct + slot->direct_fenced;
	row->skipped += slot->skipped;
	row->excluded += slot->excluded;
	for (int i = 0; i < 6; i++)
		row->provenance[i] += slot->provenance[i];
	row->threads++;
	if (count < record->config->count)
		row->provenance[5] += slot->calls; /* TACH_LOST: the counters did not open */
	if (slot->histograms) {
		if (!row->histograms)
			row->histograms = tach__histograms_make(record->config->count + 1);
		if (row->histograms)
			tach__histograms_merge(row->histograms, slot->histograms, count + 1);
	}
	for (uint32_t i = 0; i <= count; i++) {
		struct tach__cell *cell = &row->cell[i];
		double bound[2][2]; /* [inclusive, self][least, spread] */

		cell->inclusive += slot->sum[i].inclusive;
		cell->self += slot->sum[i].self;
		for (int b = 0; b < 2; b++) {
			bound[0][b] = outermost * overhead->empty[fenced][b][i];
			bound[1][b] = calls * overhead->empty[fenced][b][i];
			for (int mode = 0; mode < 2; mode++) {
				double pair = overhead->pair[mode][b][i];
				double empty = overhead->empty[mode][b][i];

				bound[0][b] += pairs[mode] * pair;
				/* What an empty child shows is the child's; the rest stays
				 * here. */
				bound[1][b] += children[mode] * (b ? pair : pair - empty);
			}
		}
		for (int what = 0; what < 2; what++) {
			cell->overhead[what] += bound[what][0];
			cell->error[what] += bound[what][1];
		}
	}
}
