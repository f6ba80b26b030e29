/* SPDX-License-Identifier: MIT */
/* Runs trials; prepares their slots and their memory. */
#include "core/os/sys.h"
#include "core/region/left.h"
#include "core/region/trial.h"

enum { SPARE = 100 };

__thread int tach__calibrating;

/* The slots of trials share histograms and sampling. Trials use both like regions of the
 * program, because both cost instructions. */
int tach__trials_begin(struct tach__trials *trials, struct tach__thread *record)
{
	const struct tach__config *config = record->config;
	struct tach__sampling *sampling = NULL;
	uint32_t *histograms = NULL;

	record->hot->split = tach__table(record->hot);
	*trials = (struct tach__trials){
		record, tach__pages(sizeof *trials->shown), 0, 0, NULL, NULL, NULL, NULL, 0};
	if (!trials->shown)
		return 0;
	if (config->histograms)
		histograms = tach__histograms_make(record->count + 1);
	if (config->sparse > 1)
		sampling = tach__pages(sizeof *sampling);
	for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++) {
		struct tach__slot *slot = tach__slot_at(record, id);

		TACH__SET(slot->id, id); /* a snapshot may read it */
		slot->fenced = id == TACH__SITE_FENCED || id == TACH__SITE_MIDDLE_FENCED;
		slot->rest = sampling ? 0 : TACH__OUTER_NONE;
		slot->histograms = histograms;
		slot->sampling = sampling;
		slot->begin = record->hot->begin_flat ? record->hot->begin_flat
						      : record->hot->begin[0];
		tach__part(slot, record->count, 0)->ceiling = TACH__CEILING_OPEN;
		tach__part(slot, record->count, 1)->ceiling = TACH__CEILING_OPEN;
		tach__part(slot, record->count, 0)->outer = slot->rest;
		tach__table(record->hot)[id] = slot;
	}
	trials->histograms = histograms;
	trials->sampling = sampling;
	if (record->worst)
		trials->worst = tach__worst_make(config->worst, record->count + 1);
	if (trials->worst) {
		trials->worst->bar = UINT64_MAX;
		trials->worst_before = record->worst[TACH__SITE_EMPTY];
		record->worst[TACH__SITE_EMPTY] = trials->worst;
	}
	tach__calibrating = tach__signals_held;
	TACH__SET(record->hot->limit, (uint64_t)record->limit);
	return 1;
}

void tach__trials_end(const struct tach__trials *trials)
{
	struct tach__thread *record = trials->record;

	for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++) {
		tach__slot_at(record, id)->histograms = NULL;
		tach__slot_at(record, id)->sampling = NULL;
	}
	if (trials->worst)
		record->worst[TACH__SITE_EMPTY] = trials->worst_before;
	tach__worst_free(trials->worst);
	tach__split_choose(record->hot);
	tach__pages_free(record->owed, TACH__OWED_SIZE);
	record->owed = NULL;
	tach__pages_free(trials->sampling, sizeof *trials->sampling);
	if (trials->histograms)
		tach__histograms_free(trials->histograms, record->count + 1);
	TACH__SET(record->hot->limit, (uint64_t)0);
	tach__calibrating = 0;
	tach__pages_free(trials->shown, sizeof *trials->shown);
}

/* ---- running them ---- */

/* Sorts by insertion, because there are at most sixteen values. */
static void sort_values(uint64_t *value, int n)
{
	for (int i = 1; i < n; i++) {
		uint64_t v = value[i];
		int to = i;

		for (; to && value[to - 1] > v; to--)
			value[to] = value[to - 1];
		value[to] = v;
	}
}

static uint64_t sum_of(const struct tach__thread *record, uint32_t id, uint32_t i)
{
	return tach__part(tach__slot_at(record, id), record->count, 0)->sum[i];
}

/* Counts rescheduled entries of these regions, and STARTs that looked the counters up again.
 * The trial or the kernel caused them. */
static uint64_t count_reschedules(const struct tach__thread *record, const uint32_t *id)
{
	uint64_t n = record->stale;

	for (int s = 0; s < TACH__SHOWN; s++)
		n += tach__slot_at(record, id[s])->provenance[0];
	return n;
}

/* Waits for a varying time after an interrupted trial. Without this, all trials could be
 * interrupted periodically at the same place. */
static void wait_random_time(int number)
{
	for (int n = number * 67 % 101 * 50; n > 0; n--)
		__asm__ volatile("");
}

/*
 * The kernel only adds to the reschedules that the trial causes. So a run that the kernel did
 * not interrupt has the minimum number, and is used. If a run has fewer reschedules than
 * earlier runs, the earlier runs are repeated.
 */
void tach__trials_run(const struct tach__trials *r, void (*trial)(const struct tach__poke *),
		      const struct tach__poke *poke, const uint32_t *id)
{
	uint64_t(*before)[TACH__SUMS] = r->shown->before;
	uint32_t count = r->record->count;
	uint64_t least = r->planted ? UINT64_MAX : 0;
	int spare = SPARE;

	for (int try = -r->warm; try < r->tries; try++) {
		uint64_t came;

		if (spare < SPARE)
			wait_random_time(try + r->warm + spare);
		came = count_reschedules(r->record, id);
		for (int s = 0; s < TACH__SHOWN; s++)
			for (uint32_t i = 0; i <= count; i++)
				before[s][i] = sum_of(r->record, id[s], i);
		trial(poke);
		came = count_reschedules(r->record, id) - came;
		if (spare && came > least) {
			spare--;
			try--;
			continue;
		}
		if (came < least && try > 0)
			try = 0;
		least = came < least ? came : least;
		for (int s = 0; s < TACH__SHOWN && try >= 0; s++)
			for (uint32_t i = 0; i <= count; i++)
				r->shown->sum[s][i][try] =
					sum_of(r->record, id[s], i) - before[s][i];
	}
	for (int s = 0; s < TACH__SHOWN; s++)
		for (uint32_t i = 0; i <= count; i++)
			sort_values(r->shown->sum[s][i], r->tries);
}
