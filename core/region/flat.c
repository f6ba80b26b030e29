/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of flat regions (TACH_START_FLAT), and the extra counts of an entry that
 * began flat but cannot end flat. Such an entry was rescheduled, or had a nested region,
 * perhaps one that was left without STOP.
 *
 * An entry is flat if it is outside any region and no other region ends in it. Such an entry
 * needs no bookkeeping for recursion, enclosing or nested regions. A flat START stores the same
 * data as any START. From this data, STOP detects that an entry is not flat. It ends such an
 * entry as a normal one, and subtracts the extra cost that is measured here.
 */
#include <string.h>
#include "core/region/cost.h"
#include "core/region/trial.h"

enum { WARM = 3, HIGH = 13 };

/* Stores the minimum counts of the empty flat region. */
static void measure_flat(uint64_t *least, const struct tach__trials *trials,
			 void (*trial)(const struct tach__poke *), volatile uint64_t *at,
			 uint64_t value)
{
	const struct tach__poke poke = {at, value};
	struct tach__trials of = *trials;

	of.planted = 1;
	tach__trials_run(&of, trial, &poke, tach__trial_flat_ids);
	for (uint32_t i = 0; i <= trials->record->count; i++)
		least[i] = trials->shown->sum[TACH__TRIAL_INNER][i][0];
}

/* Measures, for each reason, how much more a flat region shows than a normal one. Both contain
 * the cost of pokes. */
static void measure_unflat(const struct tach__trials *trials, const uint64_t *flat)
{
	struct tach__thread *record = trials->record;
	volatile uint64_t *limit = &record->hot->limit;
	uint64_t(*unflat)[TACH__SUMS] = record->unflat, usual[TACH__SUMS], other[TACH__SUMS];
	const uint64_t *empty = record->entry_cost.empty[0], *pair = record->entry_cost.pair[0];
	uint64_t known[TACH__UNFLAT][TACH__SUMS] = {{0}};

	if (record->count) {
		measure_flat(usual, trials, tach__trial_flat_moved, NULL, 0);
		for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
			measure_flat(other, trials, tach__trial_flat_moved, NULL,
				     TACH__POKE_PAGE(2, elsewhere));
			for (uint32_t i = 0; i <= record->count; i++)
				known[TACH__FLAT_MOVED + elsewhere][i] =
					other[i] - usual[i] + flat[i] - empty[i];
		}
	}
	measure_flat(other, trials, tach__trial_flat_pair, NULL, 0);
	for (uint32_t i = 0; i <= record->count; i++)
		known[TACH__FLAT_INSIDE][i] = other[i] - empty[i] - pair[i];
	measure_flat(usual, trials, tach__trial_flat_one, limit, record->limit);
	measure_flat(other, trials, tach__trial_flat_one, limit, 0);
	for (uint32_t i = 0; i <= record->count; i++)
		known[TACH__FLAT_STATE][i] = other[i] - usual[i] + known[TACH__FLAT_INSIDE][i];
	memcpy(unflat, known, sizeof known);
}

static void measure(const struct tach__trials *given)
{
	struct tach__trials trials = *given;
	struct tach__thread *record = trials.record;
	struct tach__overhead *o = &record->overhead;
	uint64_t flat[TACH__SUMS];

	if (!record->residue_known)
		tach__residue_measure(&trials);
	memset(record->unflat, 0, sizeof record->unflat);
	trials.warm = WARM;
	trials.tries = TACH__TRIES;
	measure_flat(flat, &trials, tach__trial_flat, NULL, 0);
	for (uint32_t i = 0; i <= record->count; i++) {
		o->flat[0][i] = (double)flat[i];
		o->flat[1][i] =
			(double)(trials.shown->sum[TACH__TRIAL_INNER][i][HIGH] - flat[i]);
	}
	measure_unflat(&trials, flat);
	record->flat_known = 1;
}

int tach__flat_ready(struct tach__thread *record)
{
	const struct tach__hot *hot = record->hot;

	/* Flat regions do not support splits or turns. */
	if (!hot->begin_flat || !hot->end_flat || record->splits || record->config->ring.next)
		return 0;
	if (!record->flat_known && !tach__calibrating && record == tach__self->record)
		tach__trials_inside(record, measure);
	return record->flat_known;
}
