/* SPDX-License-Identifier: MIT */
/* The slots and the memory of trials. */
#include "core/os/sys.h"
#include "core/region/left.h"
#include "core/region/trial.h"

__thread int tach__calibrating;

/* The slots share this: they add entries to histograms, and in sparse mode check whether to
 * measure, as entries of the program do, because both cost instructions. */
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
