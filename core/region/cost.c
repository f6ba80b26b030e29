/* SPDX-License-Identifier: MIT */
/* What a cold exit costs; cost.h says how it is reckoned. */
#include <string.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/region/cost.h"

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
	/* What this takes depends on what was before: inside. */
	tach__hold(&cost->all);
}

/* The row of an epoch: what had been spent when it ended. NULL: out of memory. */
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

/*
 * No open region began in a later epoch than `epoch`: the next one is free, whatever was there.
 * `ended`: its row is written, as the slot was used since.
 */
static void cost_reckon(struct tach__cost *cost, const uint64_t *residue, uint32_t epoch,
			int ended)
{
	struct tach__thread *record = cost->record;
	struct tach__hot *hot = record->hot;
	uint64_t delta[TACH__SUMS], *row = log_row(record, epoch);

	if (!row || epoch + 1 == TACH__EPOCHS)
		return;
	if (!ended)
		memcpy(row, record->cold, (1 + (size_t)record->count) * sizeof *row);
	record->epoch = epoch + 1;
	TACH__SET(hot->state,
		  TACH__STATE(TACH__OPENING(hot->state), epoch + 1, TACH__LEVEL(hot->state)));
	/* Exact if the group was rescheduled meanwhile, as it may well be. */
	tach__edges_read(hot, &cost->mark, delta, 0);
	for (uint32_t i = 0; i <= record->count; i++)
		record->cold[i] += delta[i] + residue[i];
}

void tach__cost_end(struct tach__cost *cost, const uint64_t *residue, uint32_t epoch, int ended)
{
	tach__release(&cost->all);
	/* The thread may have moved on to another set. */
	if (cost->record && tach__self->record == cost->record)
		cost_reckon(cost, residue, epoch, ended);
	tach__signals_release(&cost->signals);
}

void tach__cost_settle(struct tach__thread *record, uint32_t epoch, const uint64_t *spent,
		       uint64_t *delta)
{
	const uint64_t *row = log_row(record, epoch);

	for (uint32_t i = 0; row && i <= record->count; i++)
		delta[i] -= spent[i] - row[i];
}

void tach__epochs_begin(struct tach__hot *hot)
{
	hot->record->epoch = 0;
	TACH__SET(hot->state, TACH__STATE(TACH__OPENING(hot->state), 0, 0));
}

uint32_t tach__epoch_inside(const struct tach__thread *record, uint32_t level)
{
	const struct tach__slot *slot = *tach__stack(record->hot, level);

	for (int inner = 0; level && inner < 2; inner++) {
		uint64_t begun = tach__part(slot, record->count, inner)->ceiling;

		if (TACH__LEVEL(begun) == level)
			return TACH__EPOCH(begun);
	}
	return TACH__EPOCH(record->hot->state);
}
