/* SPDX-License-Identifier: MIT */
/*
 * What measuring costs: empty regions, timed in the thread and with the code that measures, and
 * what cold exits cost beyond what they see of themselves.
 *
 * Every trial runs straight code twice: as usual, and with one word changed beforehand so that
 * an edge takes its cold exit. What differs is that exit and nothing else.
 */
#include <string.h>
#include "core/region/region.h"
#include "core/os/sys.h"

enum { WARM = 3, TRIES = 16, HIGH = 13 }; /* HIGH: the rank whose distance is the spread */
enum { RESIDUE_WARM = 1, RESIDUE_TRIES = 3, SPARE = 100 };

/* As the macros make them, with ids that are given. */
#define SITE(word, fenced)                                                                     \
	{                                                                                      \
		(fenced) ? tach__region_begin_fenced : tach__region_begin, word, 0, fenced,    \
			"", "", ""                                                             \
	}
static struct tach_site empty = SITE(TACH__SITE_EMPTY, 0), fenced = SITE(TACH__SITE_FENCED, 1),
			enclosing = SITE(TACH__SITE_ENCLOSING, 0),
			middle = SITE(TACH__SITE_MIDDLE, 0),
			middle_fenced = SITE(TACH__SITE_MIDDLE_FENCED, 1);

/* What a trial writes before an inner START: the same value, or one that has a cold exit. */
struct poke {
	volatile uint64_t *at;
	uint64_t value;
};

/* ---- trials ---- */

static __attribute__((noinline)) void one(const struct poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

static __attribute__((noinline)) void one_fenced(const struct poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

static __attribute__((noinline)) void two(const struct poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

static __attribute__((noinline)) void three(const struct poke *poke)
{
	struct tach_region_mark outer, between, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(middle), &between);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&between);
	tach__region_stop(&outer);
}

static __attribute__((noinline)) void three_fenced(const struct poke *poke)
{
	struct tach_region_mark outer, between, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(middle_fenced), &between);
	TACH__SET(*poke->at, poke->value);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&between);
	tach__region_stop(&outer);
}

/* For what a pair adds to the region around it: without a poke in between. */
static __attribute__((noinline)) void pair(const struct poke *unused)
{
	struct tach_region_mark outer, inner;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

static __attribute__((noinline)) void pair_fenced(const struct poke *unused)
{
	struct tach_region_mark outer, inner;

	(void)unused;
	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

/* As if the group had been rescheduled; an odd lock stays odd. */
static __attribute__((noinline)) void moved(const struct poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(empty), &inner);
	inner.counters.lock ^= (uint32_t)poke->value;
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

static __attribute__((noinline)) void moved_fenced(const struct poke *poke)
{
	struct tach_region_mark outer, inner;

	tach__region_start(TACH_ADDRESS(enclosing), &outer);
	tach__region_start(TACH_ADDRESS(fenced), &inner);
	inner.counters.lock ^= (uint32_t)poke->value;
	tach__region_stop(&inner);
	tach__region_stop(&outer);
}

/* ---- running them ---- */

enum { SHOWN = 3 };
/* In pages of its own: the stack may be a signal handler's. */
struct shown {
	uint64_t sum[SHOWN][TACH__SUMS][TRIES];
	uint64_t before[SHOWN][TACH__SUMS];
};

struct run {
	struct tach__thread *record;
	struct shown *shown;
	int warm, tries;
};

/* By insertion: there are sixteen at most. */
static void sort(uint64_t *value, int n)
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

/* Entries of them that the kernel came into. */
static uint64_t rescheduled(const struct tach__thread *record, const uint32_t *id)
{
	uint64_t n = 0;

	for (int s = 0; s < SHOWN; s++)
		n += tach__slot_at(record, id[s])->provenance[0];
	return n;
}

/*
 * Into run->shown, sorted: what the regions of those ids show, each time. Not of a trial that
 * the kernel came into, as far as there are others: on a busy machine it may come into all of
 * three.
 */
static void run(const struct run *r, void (*trial)(const struct poke *),
		const struct poke *poke, const uint32_t *id)
{
	uint64_t(*before)[TACH__SUMS] = r->shown->before;
	uint32_t count = r->record->count;
	int planted = (trial == moved || trial == moved_fenced) && poke->value;
	int spare = planted ? 0 : SPARE;

	for (int try = -r->warm; try < r->tries; try++) {
		uint64_t came = rescheduled(r->record, id);

		for (int s = 0; s < SHOWN; s++)
			for (uint32_t i = 0; i <= count; i++)
				before[s][i] = sum_of(r->record, id[s], i);
		trial(poke);
		if (spare && rescheduled(r->record, id) != came) {
			spare--;
			try--;
			continue;
		}
		for (int s = 0; s < SHOWN && try >= 0; s++)
			for (uint32_t i = 0; i <= count; i++)
				r->shown->sum[s][i][try] =
					sum_of(r->record, id[s], i) - before[s][i];
	}
	for (int s = 0; s < SHOWN; s++)
		for (uint32_t i = 0; i <= count; i++)
			sort(r->shown->sum[s][i], r->tries);
}

static const uint32_t ids[SHOWN] = {TACH__SITE_EMPTY, TACH__SITE_ENCLOSING, TACH__SITE_MIDDLE};
static const uint32_t fenced_ids[SHOWN] = {TACH__SITE_FENCED, TACH__SITE_ENCLOSING,
					   TACH__SITE_MIDDLE_FENCED};
enum { INNER, OUTER, MIDDLE };

/* How much more region s shows, at the least, with the other value in the word. */
static void difference(uint64_t *out, const struct run *r, void (*trial)(const struct poke *),
		       struct poke poke, uint64_t other, int s)
{
	uint32_t count = r->record->count;
	uint64_t as_usual[TACH__SUMS];

	run(r, trial, &poke, fenced_ids);
	for (uint32_t i = 0; i <= count; i++)
		as_usual[i] = r->shown->sum[s][i][0];
	poke.value = other;
	run(r, trial, &poke, fenced_ids);
	for (uint32_t i = 0; i <= count; i++)
		out[i] = r->shown->sum[s][i][0] - as_usual[i];
}

/* ---- empty regions ---- */

static void bounds(double out[2][TACH__SUMS], const struct run *r, int s)
{
	for (uint32_t i = 0; i <= r->record->count; i++) {
		const uint64_t *sum = r->shown->sum[s][i];

		out[0][i] = (double)sum[0];
		out[1][i] = (double)(sum[HIGH] - sum[0]);
	}
}

static void measure_empty(const struct run *r)
{
	struct tach__overhead *o = &r->record->overhead;

	run(r, pair, NULL, ids);
	bounds(o->empty[0], r, INNER);
	bounds(o->pair[0], r, OUTER);
	run(r, pair_fenced, NULL, fenced_ids);
	bounds(o->empty[1], r, INNER);
	bounds(o->pair[1], r, OUTER);
	/* The enclosing region shows its own overhead besides the pair. */
	for (uint32_t i = 0; i <= r->record->count; i++)
		for (int mode = 0; mode < 2; mode++) {
			double more = o->pair[mode][0][i] - o->empty[0][0][i];

			o->pair[mode][0][i] = more > 0 ? more : 0;
		}
}

/* An inner entry that is passed over, beside one that is measured: a pair less the difference.
 */
static void measure_passed(const struct run *r, struct tach__sampling *sampling)
{
	struct tach__overhead *o = &r->record->overhead;
	struct poke gap = {&sampling->gap, 0};
	double measured[2][TACH__SUMS];

	run(r, one, &gap, ids);
	bounds(measured, r, OUTER);
	gap.value = 1;
	run(r, one, &gap, ids);
	bounds(o->passed, r, OUTER);
	for (uint32_t i = 0; i <= r->record->count; i++) {
		double cost = o->pair[0][0][i] + o->passed[0][i] - measured[0][i];

		o->passed[0][i] = cost > 0 ? cost : 0;
	}
}

/* ---- cold exits ---- */

/* Each that is known is taken out when the next one is measured. */
static void measure_residue(const struct run *r)
{
	struct tach__residue *residue = &r->record->residue;
	struct tach__hot *hot = r->record->hot;
	uint64_t unready = (uintptr_t)&tach__slot_unready, once[TACH__SUMS], twice[TACH__SUMS];
	volatile uint64_t *table = (volatile uint64_t *)(void *)tach__table(hot);
	struct poke limit = {&hot->limit, r->record->limit};
	struct poke slot[2] = {{&table[TACH__SITE_EMPTY], table[TACH__SITE_EMPTY]},
			       {&table[TACH__SITE_FENCED], table[TACH__SITE_FENCED]}};
	struct poke lock = {NULL, 0};

	memset(residue, 0, sizeof *residue);
	difference(once, r, one, limit, 0, OUTER);
	difference(twice, r, two, limit, 0, OUTER);
	for (uint32_t i = 0; i <= r->record->count; i++) {
		residue->begin[0][0][i] = twice[i] - once[i];
		residue->before[0][i] = 2 * once[i] - twice[i];
	}
	difference(residue->begin[0][1], r, one_fenced, limit, 0, OUTER);
	difference(residue->begin[1][0], r, one, slot[0], unready, OUTER);
	difference(residue->begin[1][1], r, one_fenced, slot[1], unready, OUTER);
	difference(residue->before[1], r, three_fenced, limit, 0, MIDDLE);
	difference(residue->after[0], r, three, limit, 0, OUTER);
	difference(residue->after[1], r, three_fenced, limit, 0, OUTER);
	difference(residue->rescheduled[0], r, moved, lock, 2, OUTER);
	difference(residue->rescheduled[1], r, moved_fenced, lock, 2, OUTER);
}

/*
 * What they share: they take entries to histograms, and in sparse mode ask whether to measure,
 * as the program's do, which costs instructions.
 */
static void slots_prepare(struct tach__thread *record, uint32_t *histograms,
			  struct tach__sampling *sampling)
{
	for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++) {
		struct tach__slot *slot = tach__slot_at(record, id);

		slot->id = id;
		slot->rest = sampling ? 0 : TACH__OUTER_NOBODY;
		slot->histograms = histograms;
		slot->sampling = sampling;
		for (int inner = 0; inner < 2; inner++)
			tach__part(slot, record->count, inner)->ceiling = TACH__CEILING_OPEN;
		tach__part(slot, record->count, 0)->outer = slot->rest;
		tach__table(record->hot)[id] = slot;
	}
}

__thread int tach__calibrating;

static void slots_done(struct tach__thread *record, uint32_t *histograms,
		       struct tach__sampling *sampling)
{
	for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++) {
		tach__slot_at(record, id)->histograms = NULL;
		tach__slot_at(record, id)->sampling = NULL;
	}
	tach__pages_free(sampling, sizeof *sampling);
	if (histograms)
		tach__histograms_free(histograms, record->count + 1);
}

/* The least, as in the sums of a report. */
static void entry_cost_keep(struct tach__thread *record)
{
	const struct tach__overhead *o = &record->overhead;

	for (int mode = 0; mode < 2; mode++)
		for (uint32_t i = 0; i <= record->count; i++) {
			record->entry_cost.empty[mode][i] = (uint64_t)o->empty[mode][0][i];
			record->entry_cost.pair[mode][i] = (uint64_t)o->pair[mode][0][i];
		}
}

void tach__overhead_measure(struct tach__thread *record)
{
	struct run r = {record, tach__pages(sizeof *r.shown), RESIDUE_WARM, RESIDUE_TRIES};
	struct tach__config *config = record->config;
	struct tach__sampling *sampling = NULL;
	uint32_t *histograms = NULL;
	struct tach__held held;

	memset(&record->entry_cost, 0, sizeof record->entry_cost);
	memset(&record->overhead, 0, sizeof record->overhead);
	memset(&record->residue, 0, sizeof record->residue);
	if (!r.shown)
		return;
	if (config->histograms)
		histograms = tach__histograms_make(record->count + 1);
	if (config->sparse > 1)
		sampling = tach__pages(sizeof *sampling);
	slots_prepare(record, histograms, sampling);
	tach__calibrating = tach__signals_held;
	TACH__SET(record->hot->limit, (uint64_t)record->limit);
	if (record->count == config->count &&
	    __atomic_load_n(&config->settled, __ATOMIC_ACQUIRE))
		record->residue = config->residue;
	else
		measure_residue(&r);
	r.warm = WARM;
	r.tries = TRIES;
	measure_empty(&r);
	if (sampling)
		measure_passed(&r, sampling);
	slots_done(record, histograms, sampling);
	entry_cost_keep(record);
	if (record->count == config->count) {
		tach__lock(&held);
		if (!config->settled)
			config->residue = record->residue;
		__atomic_store_n(&config->settled, 1, __ATOMIC_RELEASE);
		tach__unlock(&held);
	}
	TACH__SET(record->hot->limit, (uint64_t)0);
	tach__calibrating = 0;
	tach__pages_free(r.shown, sizeof *r.shown);
}
