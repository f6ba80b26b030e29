/* SPDX-License-Identifier: MIT */
/* Rows: adds a thread's slot to a region's sums; arrays of rows. */
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

static void free_details(const struct tach__row *row, uint32_t count)
{
	tach__histograms_free(row->histograms, count + 1);
	tach__worst_free(row->worst);
}

void tach__rows_free(struct tach__rows *rows)
{
	for (uint32_t id = 0; id < rows->limit; id++)
		free_details(tach__rows_at(rows, id), rows->count);
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
		/* In this order of stores, a child that is forked at any moment sees a
		 * consistent array. */
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
		free_details(tach__rows_at(rows, id), rows->count);
	if (rows->base)
		memset(rows->base, 0, rows->size);
}

static void join_cell(struct tach__cell *to, const struct tach__cell *from)
{
	to->inclusive += from->inclusive;
	to->self += from->self;
	to->square += from->square;
	to->most = to->most > from->most ? to->most : from->most;
	for (int what = 0; what < 2; what++) {
		to->overhead[what] += from->overhead[what];
		to->error[what] += from->error[what];
		to->turned[what] += from->turned[what];
		to->crossed[what] += from->crossed[what];
	}
}

void tach__row_join_sums(struct tach__row *to, const struct tach__row *from, uint32_t count)
{
	to->calls += from->calls;
	to->outermost += from->outermost;
	to->nested += from->nested;
	to->direct += from->direct;
	to->skipped += from->skipped;
	to->excluded += from->excluded;
	to->lost += from->lost;
	for (int i = 0; i < 6; i++)
		to->provenance[i] += from->provenance[i];
	to->flags |= from->flags;
	to->overlapped |= from->overlapped;
	to->threads += from->threads;
	to->turns += from->turns;
	to->passed += from->passed;
	to->paced[0] += from->paced[0];
	to->paced[1] += from->paced[1];
	for (uint32_t i = 0; i <= count; i++)
		join_cell(&to->cell[i], &from->cell[i]);
}

static void join_row(struct tach__row *to, struct tach__row *from, uint32_t count)
{
	tach__row_join_sums(to, from, count);
	if (!to->histograms) {
		to->histograms = from->histograms;
		from->histograms = NULL;
	} else if (from->histograms) {
		tach__histograms_merge(to->histograms, from->histograms, count + 1);
	}
	if (!to->worst) {
		to->worst = from->worst;
		from->worst = NULL;
	} else if (from->worst) {
		tach__worst_merge(to->worst, from->worst, NULL);
	}
}

int tach__rows_join(struct tach__rows *to, struct tach__rows *from)
{
	int code = 0;

	for (uint32_t id = 0; id < from->limit && !code; id++) {
		struct tach__row *row = tach__rows_at(from, id), *ours;

		if (!tach__row_is_used(row) && !row->threads)
			continue;
		ours = tach__rows_at(to, id);
		if (ours)
			join_row(ours, row, from->count);
		else
			code = TACH_ERR_NOMEM;
	}
	tach__rows_free(from);
	return code;
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

/* Number of measured entries (calls), and inside these: skipped entries (passed), unfenced
 * pairs (plain), and fenced pairs. */
struct measured {
	double calls, passed, plain, fenced;
};

static struct measured inclusive_of(const struct tach__slot *slot, uint32_t count)
{
	const struct tach__part *part = tach__part(slot, count, 0);
	const struct tach__sampling *s = slot->sampling;

	return (struct measured){
		.calls = (double)part->calls,
		.passed = s ? (double)TACH__GET(s->inside) : 0,
		.plain = (double)(part->nested[0] - part->nested[1]),
		.fenced = (double)part->nested[1],
	};
}

static struct measured self_of(const struct tach__slot *slot, uint32_t count)
{
	const struct tach__children *children = tach__children(slot, count, 0);
	const struct tach__sampling *s = slot->sampling;

	return (struct measured){
		.calls = (double)(tach__part(slot, count, 0)->calls +
				  tach__part(slot, count, 1)->calls),
		.passed = s ? (double)TACH__GET(s->inside) - (double)TACH__GET(s->below[0]) : 0,
		.plain = (double)(children->direct[0] - children->direct[1]),
		.fenced = (double)children->direct[1],
	};
}

/* The cost of measuring in a sum: the minimum, or the spread above it. */
enum { LEAST, SPREAD };
static double cost_of(const struct measured *m, const struct tach__slot *slot,
		      const struct tach__overhead *o, int bound, uint32_t i)
{
	return m->calls * o->empty[slot->fenced][bound][i] +
	       (double)slot->flat * o->flat[bound][i] + m->passed * o->passed[bound][i] +
	       m->plain * o->pair[0][bound][i] + m->fenced * o->pair[1][bound][i];
}

static void add_overhead(struct tach__row *row, const struct tach__slot *slot,
			 const struct tach__thread *record)
{
	const struct tach__overhead *o = &record->overhead;
	struct measured all = inclusive_of(slot, record->count);
	struct measured self = self_of(slot, record->count);

	row->passed += self.passed;
	for (uint32_t i = 0; i <= record->count; i++) {
		struct tach__cell *cell = &row->cell[i];

		cell->overhead[0] += cost_of(&all, slot, o, LEAST, i);
		/* The counts of an empty child belong to the child. The rest of its pair
		 * belongs to this region. */
		cell->overhead[1] += cost_of(&self, slot, o, LEAST, i) -
				     self.plain * o->empty[0][LEAST][i] -
				     self.fenced * o->empty[1][LEAST][i];
		cell->error[0] += cost_of(&all, slot, o, SPREAD, i);
		cell->error[1] += cost_of(&self, slot, o, SPREAD, i);
	}
}

static void add_error(struct tach__row *row, const struct tach__slot *slot,
		      const struct tach__thread *record)
{
	const struct tach__inexact *off = tach__inexact(slot, record->count);

	for (uint32_t i = 0; i < record->count; i++) {
		double *error = row->cell[i + 1].error;

		error[0] += (double)TACH__GET(off->inclusive) * record->steps[i];
		error[1] += (double)TACH__GET(off->self) * record->steps[i];
	}
}

static void add_turned(struct tach__cell *cell, int what, uint64_t sum, double entries)
{
	double value = (double)(int64_t)sum;

	cell->turned[what] += value * value;
	cell->crossed[what] += value * entries;
}

/* Adds the counts of one turn of a set. They show how much turns differ. */
static void add_turn(struct tach__row *row, const struct tach__slot *slot, uint32_t count)
{
	const struct tach__part *part = tach__part(slot, count, 0);
	const struct tach__part *inner = tach__part(slot, count, 1);
	const struct tach__children *children = tach__children(slot, count, 0);
	double outermost = (double)part->calls, all = (double)(part->calls + inner->calls);

	row->turns++;
	row->paced[0] += outermost * outermost;
	row->paced[1] += all * all;
	for (uint32_t i = 0; i <= count; i++) {
		add_turned(&row->cell[i], 0, part->sum[i], outermost);
		add_turned(&row->cell[i], 1, part->sum[i] + inner->sum[i] - children->sum[i],
			   all);
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
		int by_thread = (record->config->split.by & TACH__SPLIT_THREAD) != 0;

		/*
		 * In a thread's row, calls are segments that ran on the thread. A task may have
		 * begun on another thread: without calls in this row, the task's time would be
		 * in no row.
		 */
		row->calls -= by_thread ? 0 : slot->continued[0] + slot->continued[1];
		row->outermost -= by_thread ? 0 : slot->continued[0];
	} else {
		row->skipped += slot->skipped;
		row->excluded += slot->excluded;
	}
	row->lost += slot->lost;
	for (int i = 0; i < 6; i++)
		row->provenance[i] += slot->provenance[i];
	row->overlapped |= slot->overlapped;
	row->threads += !record->turning.before;
	if (count < record->config->count)
		/* TACH_FLAG_LOST: the counters did not open */
		row->provenance[5] += part->calls + inner->calls + slot->flat;
	/* The inner entries are inside an entry that is open or was left. The inclusive sums do
	 * not contain them yet. */
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

		cell->inclusive += part->sum[i];
		cell->self += part->sum[i] + inner->sum[i] - children->sum[i];
		if (slot->sampling) {
			double square, most = (double)TACH__GET(slot->sampling->most[i]);

			__atomic_load(&slot->sampling->square[i], &square, __ATOMIC_RELAXED);
			cell->square += square;
			cell->most = cell->most > most ? cell->most : most;
		}
	}
	add_overhead(row, slot, record);
}
