/* SPDX-License-Identifier: MIT */
/* The cost of slow paths; cost.h explains how it is computed. */
#include <string.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/region/cost.h"
#include "core/region/left.h"

void tach__cost_begin(struct tach__cost *cost, uint32_t around)
{
	struct tach__thread *record = tach__self->record;

	tach__signals_hold(&cost->signals);
	cost->record = around ? record : NULL;
	if (cost->record) {
		if (record->count)
			tach_reader_begin(record->reader, &cost->mark);
		cost->mark.clock = tach_clock();
	}
	/* This call is inside the measured part, because its cost varies. */
	tach__hold(&cost->all);
}

/* Returns the epoch's row in the log, which has the total cost up to the epoch's end, or NULL
 * without memory. */
static uint64_t *log_row(struct tach__thread *record, uint32_t epoch)
{
	size_t row = (1 + (size_t)record->count) * sizeof(uint64_t);
	size_t size = tach__pages_round((epoch + 1) * row);

	if (size > record->log_size) {
		size_t old_size = record->log_size;
		uint64_t *old = record->log, *log = tach__pages_larger(old, old_size, size);

		if (!log)
			return NULL;
		__atomic_store_n(&record->log, log, __ATOMIC_RELEASE);
		__atomic_store_n(&record->log_size, size, __ATOMIC_RELEASE);
		tach__pages_free(old, old_size);
	}
	return record->log + epoch * (row / sizeof(uint64_t));
}

void tach__cost_unknown(const struct tach__thread *record)
{
	uint32_t top = TACH__LEVEL(record->hot->state);

	for (uint32_t k = top > TACH__LEVELS_MOST ? top - TACH__LEVELS_MOST : 0; k < top; k++)
		TACH__ADD(tach__stack(record->hot, k)[1]->provenance[1], 1);
}

static void epoch_set(uint64_t *state, uint32_t epoch)
{
	TACH__SET(*state, TACH__STATE(TACH__OPENING(*state), epoch, TACH__LEVEL(*state)));
}

/* Called if the epoch numbers have run out. Renumbers from 0, in order, the epochs in which
 * open regions began. Returns 0 if some marks are unknown. */
static int renumber_epochs(struct tach__thread *record)
{
	struct tach__hot *hot = record->hot;
	size_t row = (1 + (size_t)record->count) * sizeof(uint64_t);
	uint32_t last = UINT32_MAX, n = UINT32_MAX;

	tach__remove_dead_entries(record, TACH__STACK_POINTER);
	if (TACH__LEVEL(hot->state) > TACH__LEVELS_MOST)
		return 0;
	for (uint32_t k = 0; k < TACH__LEVEL(hot->state); k++) {
		struct tach__slot **stack = tach__stack(hot, k);
		struct tach_region_mark *mark = *tach__marks(stack);
		struct tach__part *part = tach__part_at(record, stack[1], k);
		uint32_t epoch = TACH__EPOCH(mark->state);

		if (last != UINT32_MAX && epoch < last)
			return 0;
		if (epoch != last)
			memmove(log_row(record, ++n), log_row(record, epoch), row);
		last = epoch;
		epoch_set(&mark->state, n);
		if (part && !tach__part_is_closing(stack[1], part))
			TACH__SET(part->ceiling, mark->state + 1);
	}
	record->epoch = last == TACH__EPOCH(hot->state) ? n : n + 1;
	epoch_set(&hot->state, record->epoch);
	return 1;
}

/* Returns the epoch in which the innermost of `level` regions began, or the current epoch if
 * that is unknown. */
static uint32_t epoch_inside(const struct tach__thread *record, uint32_t level)
{
	const struct tach__slot *slot = *tach__stack(record->hot, level);

	for (int inner = 0; level && inner < 2; inner++) {
		uint64_t begun = tach__part(slot, record->count, inner)->ceiling;

		if (TACH__LEVEL(begun) == level)
			return TACH__EPOCH(begun);
	}
	return TACH__EPOCH(record->hot->state);
}

/* Reads the counters as START does, not as STOP. So a reschedule during the slow path does not
 * change the cost. No counter wraps in such a short time. */
static void cost_read(const struct tach__thread *record, const struct tach_mark *begun,
		      uint64_t *delta)
{
	const struct tach_reader *reader = record->reader;
	struct tach_mark now;

	if (!record->count || (begun->lock & 1) ||
	    !tach__reader_is_inline(tach__reader(reader))) {
		tach__edges_read(record->hot, begun, delta, 0);
		return;
	}
	tach_reader_begin(record->reader, &now);
	delta[0] = tach_clock() - begun->clock;
	for (uint32_t i = 0; i < record->count; i++)
		delta[i + 1] = (now.value[i] - begun->value[i]) &
			       (TACH_MODULAR ? reader->mask : UINT64_MAX);
}

/* No open region began in a later epoch than the innermost region. So the next epoch number is
 * free, even if it was used before. */
static void cost_reckon(struct tach__cost *cost, const uint64_t *residue, uint32_t level)
{
	struct tach__thread *record = cost->record;
	struct tach__hot *hot = record->hot;
	uint64_t delta[TACH__SUMS], *row;
	uint32_t epoch = epoch_inside(record, level);

	record->settled = TACH__GET(hot->pairs[0]);
	if (epoch + 1 == TACH__EPOCHS)
		epoch = renumber_epochs(record) ? epoch_inside(record, level) : epoch;
	row = epoch + 1 < TACH__EPOCHS ? log_row(record, epoch) : NULL;
	if (!row) {
		tach__cost_unknown(record);
		return;
	}
	/* If the epoch has ended, its row is already written. */
	if (epoch == TACH__EPOCH(hot->state))
		memcpy(row, record->cold, (1 + (size_t)record->count) * sizeof *row);
	record->epoch = epoch + 1;
	epoch_set(&hot->state, epoch + 1);
	cost_read(record, &cost->mark, delta);
	for (uint32_t i = 0; i <= record->count; i++)
		record->cold[i] += delta[i] + residue[i];
	record->costs++;
}

void tach__cost_end(struct tach__cost *cost, const uint64_t *residue, uint32_t level)
{
	tach__release(&cost->all);
	/* The thread may have switched to another set. */
	if (cost->record && tach__self->record == cost->record)
		cost_reckon(cost, residue, level);
	tach__signals_release(&cost->signals);
}

/* ---- without a system call ---- */

static int has_row(const struct tach__thread *record, uint32_t epoch)
{
	size_t row = (1 + (size_t)record->count) * sizeof(uint64_t);

	return epoch + 1 < TACH__EPOCHS && (epoch + 1) * row <= record->log_size;
}

/* Measures its own cost, and makes room in the log. */
void tach__aside_ready(struct tach__thread *record, uint32_t level)
{
	struct tach__cost cost;

	tach__cost_begin(&cost, level);
	tach__residue_ready(record);
	tach__cost_end(&cost, record->residue.aside, level);
}

struct tach__thread *tach__aside(void)
{
	const struct tach__hot *self = tach__self;
	struct tach__thread *record = self->record;
	uint32_t level = TACH__LEVEL(self->state);

	if (!level || tach__signals_held != tach__calibrating)
		return NULL;
	if (TACH_UNLIKELY(!record->residue_known || !has_row(record, TACH__EPOCH(self->state))))
		tach__aside_ready(record, level);
	return record;
}

/* Does what epoch_inside does, as straight code. */
TACH_INLINE uint32_t straight_epoch_inside(const struct tach__thread *record, uint64_t state,
					   uint32_t level)
{
	const struct tach__slot *slot = *tach__stack(record->hot, level);
	uint64_t outer = tach__part(slot, record->count, 0)->ceiling;
	uint64_t inner = tach__part(slot, record->count, 1)->ceiling;
	uint64_t is_outer = tach__when_equal(TACH__LEVEL(outer), level);
	uint64_t is_inner = tach__when_equal(TACH__LEVEL(inner), level) & ~is_outer;

	return TACH__EPOCH((outer & is_outer) | (inner & is_inner) |
			   (state & ~is_outer & ~is_inner));
}

/* If there is no memory for its row, the epoch does not end. In that case, tach__aside has
 * flagged the open regions. */
TACH_INLINE uint64_t state_after(uint64_t state, uint32_t epoch, uint64_t ends, uint64_t fits)
{
	uint64_t next =
		TACH__STATE(TACH__OPENING(state), (uint64_t)epoch + 1, TACH__LEVEL(state));
	uint64_t stays = ends & ~fits;

	return (state & stays) | (next & ~stays);
}

/*
 * A handler may call this function between any two instructions here. The epoch has then ended
 * when this code continues. Both calls write the same row, which has the cost before the
 * handler.
 */
void tach__cost_add(struct tach__thread *record, const uint64_t *cost, uint32_t level)
{
	struct tach__hot *hot = record->hot;
	uint64_t before[TACH__SUMS], unused[TACH__SUMS], state, next, costs, ends, fits;
	uint32_t epoch;
	uintptr_t row;

	do {
		costs = TACH__GET(record->costs);
		TACH__ORDER();
		for (uint32_t i = 0; i <= record->count; i++)
			before[i] = TACH__GET(record->cold[i]);
		state = TACH__GET(hot->state);
		TACH__ORDER();
	} while (TACH__GET(record->costs) != costs);
	epoch = straight_epoch_inside(record, state, level);
	ends = tach__when_equal(epoch, TACH__EPOCH(state));
	fits = 0 - (uint64_t)has_row(record, epoch);
	row = (uintptr_t)record->log + epoch * (1 + (size_t)record->count) * sizeof(uint64_t);
	row = (row & (uintptr_t)(ends & fits)) |
	      ((uintptr_t)unused & ~(uintptr_t)(ends & fits));
	for (uint32_t i = 0; i <= record->count; i++)
		TACH__SET(((uint64_t *)row)[i], before[i]);
	TACH__ORDER();
	next = state_after(state, epoch, ends, fits);
	TACH__SET(record->epoch, TACH__EPOCH(next));
	__atomic_compare_exchange_n(&hot->state, &state, next, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	for (uint32_t i = 0; i <= record->count; i++)
		TACH__COUNT(hot, record->cold[i], cost[i]);
	TACH__COUNT(hot, record->costs, 1);
}

void tach__cost_subtract(struct tach__thread *record, uint32_t epoch, const uint64_t *spent,
			 uint64_t *delta)
{
	const uint64_t *row = log_row(record, epoch);

	for (uint32_t i = 0; row && i <= record->count; i++)
		delta[i] -= spent[i] - row[i];
}

void tach__cost_between(struct tach__thread *record, uint32_t from, uint32_t to,
			uint64_t *delta)
{
	const uint64_t *spent =
		to == TACH__EPOCH(record->hot->state) ? record->cold : log_row(record, to);

	if (from != to && spent)
		tach__cost_subtract(record, from, spent, delta);
}

void tach__epochs_reset(struct tach__hot *hot)
{
	hot->record->epoch = 0;
	TACH__SET(hot->state, TACH__STATE(TACH__OPENING(hot->state), 0, 0));
}
