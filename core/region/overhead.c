/* SPDX-License-Identifier: MIT */
/* Measures the cost of measuring, by empty regions in the same thread and with the same code.
 */
#include <string.h>
#include "core/region/trial.h"

enum { WARM = 3, HIGH = 13 }; /* HIGH: the rank whose distance from the minimum is the spread */

static void compute_bounds(double out[2][TACH__SUMS], const struct tach__trials *r, int s)
{
	for (uint32_t i = 0; i <= r->record->count; i++) {
		const uint64_t *sum = r->shown->sum[s][i];

		out[0][i] = (double)sum[0];
		out[1][i] = (double)(sum[HIGH] - sum[0]);
	}
}

/* Subtracts; a negative result becomes 0. */
static void subtract_sums(double *from, const double *what, uint32_t count)
{
	for (uint32_t i = 0; i <= count; i++)
		from[i] = from[i] > what[i] ? from[i] - what[i] : 0;
}

static void measure_empty(const struct tach__trials *r)
{
	struct tach__overhead *o = &r->record->overhead;
	uint32_t count = r->record->count;

	tach__trials_run(r, tach__hooked_pair ? tach__trial_pair_hooked : tach__trial_pair,
			 NULL, tach__trial_ids);
	compute_bounds(o->empty[0], r, TACH__TRIAL_INNER);
	compute_bounds(o->pair[0], r, TACH__TRIAL_OUTER);
	tach__trials_run(r, tach__trial_pair_fenced, NULL, tach__trial_fenced_ids);
	compute_bounds(o->empty[1], r, TACH__TRIAL_INNER);
	compute_bounds(o->pair[1], r, TACH__TRIAL_OUTER);
	/* The enclosing region contains its own overhead in addition to the pair. */
	subtract_sums(o->pair[0][0], o->empty[0][0], count);
	subtract_sums(o->pair[1][0], o->empty[0][0], count);
}

/*
 * Compares a skipped inner entry with a measured one. The cost of the skipped entry is
 * the cost of a pair minus the difference.
 */
static void measure_passed(const struct tach__trials *r)
{
	struct tach__overhead *o = &r->record->overhead;
	struct tach__poke gap = {&r->sampling->gap, 0};
	double measured[2][TACH__SUMS];

	tach__trials_run(r, tach__trial_one, &gap, tach__trial_ids);
	compute_bounds(measured, r, TACH__TRIAL_OUTER);
	gap.value = 1;
	tach__trials_run(r, tach__trial_one, &gap, tach__trial_ids);
	compute_bounds(o->passed, r, TACH__TRIAL_OUTER);
	for (uint32_t i = 0; i <= r->record->count; i++)
		o->passed[0][i] += o->pair[0][0][i];
	subtract_sums(o->passed[0], measured[0], r->record->count);
}

static void round_sums(uint64_t *to, const double *from, uint32_t count)
{
	for (uint32_t i = 0; i <= count; i++)
		to[i] = (uint64_t)from[i];
}

/* Stores the minimum cost for histograms. Reports subtract the same cost from sums. */
static void entry_cost_keep(struct tach__thread *record)
{
	const struct tach__overhead *o = &record->overhead;
	struct tach__entry_cost *cost = &record->entry_cost;

	round_sums(cost->empty[0], o->empty[0][0], record->count);
	round_sums(cost->empty[1], o->empty[1][0], record->count);
	round_sums(cost->pair[0], o->pair[0][0], record->count);
	round_sums(cost->pair[1], o->pair[1][0], record->count);
}

void tach__overhead_measure(struct tach__thread *record)
{
	struct tach__trials trials;

	memset(&record->entry_cost, 0, sizeof record->entry_cost);
	memset(&record->overhead, 0, sizeof record->overhead);
	memset(&record->residue, 0, sizeof record->residue);
	record->residue_known = record->flat_known = 0;
	if (!tach__trials_begin(&trials, record))
		return;
	if (!tach__regions_are_frozen())
		tach__residue_measure(&trials);
	trials.warm = WARM;
	trials.tries = TACH__TRIES;
	measure_empty(&trials);
	if (trials.sampling)
		measure_passed(&trials);
	tach__trials_end(&trials);
	entry_cost_keep(record);
}
