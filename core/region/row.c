/* SPDX-License-Identifier: MIT */
/* Rows: adding a thread's slot to a region's sums, and arrays of them. */
#include <string.h>
#include "core/region/region.h"

void tach__rows_init(struct tach__rows *rows, uint32_t count)
{
	*rows = (struct tach__rows){
		.count = count,
		.stride = (uint32_t)(offsetof(struct tach__row, cell) +
				     (1 + (size_t)count) * sizeof(struct tach__cell)),
	};
}

static void disown(const struct tach__row *row, uint32_t count)
{
	tach__histograms_free(row->histograms, count + 1);
	tach__worst_free(row->worst);
}

void tach__rows_free(struct tach__rows *rows)
{
	for (uint32_t id = 0; id < rows->limit; id++)
		disown(tach__rows_at(rows, id), rows->count);
	tach__pages_free(rows->base, rows->size);
	rows->base = NULL;
	rows->limit = 0;
}

struct tach__row *tach__rows_at(struct tach__rows *rows, uint32_t id)
{
	if (id >= rows->limit) {
		size_t size = tach__pages_round((size_t)(id + 1) * rows->stride * 3 / 2);
		size_t old_size = rows->size;
		char *old = rows->base, *base = tach__pages_larger(old, old_size, size);

		if (!base)
			return NULL;
		/* In this order: whole at any moment for a child that is forked. */
		__atomic_store_n(&rows->base, base, __ATOMIC_RELEASE);
		__atomic_store_n(&rows->size, size, __ATOMIC_RELEASE);
		__atomic_store_n(&rows->limit, (uint32_t)(size / rows->stride),
				 __ATOMIC_RELEASE);
		tach__pages_free(old, old_size);
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

		row->worst = tach__worst_copy(row->worst);
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
	for (uint32_t id = 0; id < rows->limit; id++)
		disown(tach__rows_at(rows, id), rows->count);
	if (rows->base)
		memset(rows->base, 0, rows->size);
}

static void add_histograms(struct tach__row *row, const struct tach__slot *slot,
			   const struct tach__thread *record)
{
	if (!slot->histograms)
		return;
	if (!row->histograms)
		row->histograms = tach__histograms_make(record->config->count + 1);
	if (row->histograms)
		tach__histograms_merge(row->histograms, slot->histograms, record->count + 1);
}

/* Of one sum: what is to be taken out, [inclusive, self][least, spread]. */
static void overhead_of(double bound[2][2], const struct tach__slot *slot,
			const struct tach__thread *record, uint32_t i)
{
	const struct tach__overhead *o = &record->overhead;
	const struct tach__part *part = tach__part(slot, record->count, 0);
	const struct tach__part *inner = tach__part(slot, record->count, 1);
	const struct tach__children *children = tach__children(slot, record->count, 0);
	double calls[2] = {(double)part->calls, (double)(part->calls + inner->calls)};
	double pairs[2] = {(double)(part->nested[0] - part->nested[1]),
			   (double)part->nested[1]};
	double direct[2] = {(double)(children->direct[0] - children->direct[1]),
			    (double)children->direct[1]};

	const struct tach__sampling *s = slot->sampling;
	double passed[2] = {0, 0};

	if (s) {
		passed[0] = (double)TACH__GET(s->inside);
		passed[1] = passed[0] - (double)TACH__GET(s->below[0]);
	}
	for (int b = 0; b < 2; b++) {
		for (int what = 0; what < 2; what++)
			bound[what][b] = calls[what] * o->empty[slot->fenced][b][i] +
					 (double)slot->flat * o->flat[b][i] +
					 passed[what] * o->passed[b][i];
		for (int mode = 0; mode < 2; mode++) {
			double pair = o->pair[mode][b][i], empty = o->empty[mode][b][i];

			bound[0][b] += pairs[mode] * pair;
			/* What an empty child shows is the child's; the rest stays here. */
			bound[1][b] += direct[mode] * (b ? pair : pair - empty);
		}
	}
}

static void add_error(struct tach__row *row, const struct tach__slot *slot,
		      const struct tach__thread *record)
{
	const struct tach__inexact *off = tach__inexact(slot, record->count);
	const double error[2] = {(double)TACH__GET(off->inclusive),
				 (double)TACH__GET(off->self)};

	for (uint32_t i = 0; i < record->count; i++)
		for (int what = 0; what < 2; what++)
			row->cell[i + 1].error[what] += error[what] * record->steps[i];
}

/* Of what a turn of a set counted, so that it shows how turns differ. */
static void add_turn(struct tach__row *row, const struct tach__slot *slot, uint32_t count)
{
	const struct tach__part *part = tach__part(slot, count, 0);
	const struct tach__part *inner = tach__part(slot, count, 1);
	const struct tach__children *children = tach__children(slot, count, 0);
	const double entries[2] = {(double)part->calls, (double)(part->calls + inner->calls)};

	row->turns++;
	for (int what = 0; what < 2; what++)
		row->paced[what] += entries[what] * entries[what];
	for (uint32_t i = 0; i <= count; i++) {
		const double sum[2] = {
			(double)(int64_t)part->sum[i],
			(double)(int64_t)(part->sum[i] + inner->sum[i] - children->sum[i])};

		for (int what = 0; what < 2; what++) {
			row->cell[i].turned[what] += sum[what] * sum[what];
			row->cell[i].crossed[what] += sum[what] * entries[what];
		}
	}
}

void tach__row_add(struct tach__row *row, const struct tach__slot *slot,
		   const struct tach__thread *record)
{
	uint32_t count = record->count;
	const struct tach__part *part = tach__part(slot, count, 0);
	const struct tach__part *inner = tach__part(slot, count, 1);
	const struct tach__children *children = tach__children(slot, count, 0);

	row->calls += part->calls + inner->calls + slot->flat;
	row->outermost += part->calls + slot->flat;
	row->nested += part->nested[0];
	row->direct += children->direct[0];
	if (slot->task) {
		row->calls -= slot->continued[0] + slot->continued[1];
		row->outermost -= slot->continued[0];
	} else {
		row->skipped += slot->skipped;
		row->excluded += slot->excluded;
	}
	row->lost += slot->lost;
	for (int i = 0; i < 6; i++)
		row->provenance[i] += slot->provenance[i];
	row->threads += !record->turning.before;
	if (count < record->config->count)
		/* TACH_FLAG_LOST: the counters did not open */
		row->provenance[5] += part->calls + inner->calls + slot->flat;
	/* Inside an entry that is open, or was left: the inclusive sums do not have them yet.
	 */
	if (inner->calls && part->ceiling != TACH__CEILING_OPEN)
		row->flags |= TACH_FLAG_INCOMPLETE;
	add_histograms(row, slot, record);
	if (record->worst && slot->id && !tach__worst_take(&row->worst, record, slot->id))
		row->flags |= TACH_FLAG_STALE;
	if (record->inexact)
		add_error(row, slot, record);
	if (record->config->ring.next)
		add_turn(row, slot, count);
	for (uint32_t i = 0; i <= count; i++) {
		struct tach__cell *cell = &row->cell[i];
		double bound[2][2];

		cell->inclusive += part->sum[i];
		cell->self += part->sum[i] + inner->sum[i] - children->sum[i];
		if (slot->sampling) {
			double square;

			__atomic_load(&slot->sampling->square[i], &square, __ATOMIC_RELAXED);
			cell->square += square;
		}
		overhead_of(bound, slot, record, i);
		for (int what = 0; what < 2; what++) {
			cell->overhead[what] += bound[what][0];
			cell->error[what] += bound[what][1];
		}
	}
}
