/* SPDX-License-Identifier: MIT */
/* The overhead, computed from scripted trials. */
#include <string.h>
#include "core/region/trial.h"
#include "tests/check.h"

static struct tach__shown shown;
static struct tach__sampling sampling;
static int no_memory, ends, residues, decided;
static uint64_t of_pair; /* result of the region around a pair; 200 more with fences */

/* An outer region shows 1000 with an entry in it, and 200 less if the entry is skipped. */
static void sim_run(const struct tach__trials *r, void (*trial)(const struct tach__poke *),
		    const struct tach__poke *poke, const uint32_t *ids)
{
	int fenced = trial == tach__trial_pair_fenced;
	uint64_t outer = of_pair + (fenced ? 200 : 0);

	CHECK(r->warm == 3 && r->tries == TACH__TRIES);
	CHECK(ids == (fenced ? tach__trial_fenced_ids : tach__trial_ids));
	if (trial == tach__trial_one) {
		CHECK(poke->at == &sampling.gap && poke->value <= 1);
		outer = poke->value ? 800 : 1000;
	}
	for (uint32_t i = 0; i <= r->record->count; i++)
		for (int k = 0; k < TACH__TRIES; k++) {
			shown.sum[TACH__TRIAL_INNER][i][k] = (fenced ? 140 : 100) + (uint64_t)k;
			shown.sum[TACH__TRIAL_OUTER][i][k] = outer + 2 * (uint64_t)k;
		}
}

static int sim_begin(struct tach__trials *trials, struct tach__thread *record)
{
	*trials =
		(struct tach__trials){.record = record, .shown = &shown, .sampling = &sampling};
	return !no_memory;
}

static void sim_end(const struct tach__trials *trials)
{
	CHECK(trials->shown == &shown);
	ends++;
}

static int sim_decided(void)
{
	return decided;
}

static void sim_residue(const struct tach__trials *trials)
{
	CHECK(trials->record && !trials->warm);
	residues++;
}

#define tach__trials_run	 sim_run
#define tach__trials_begin	 sim_begin
#define tach__trials_end	 sim_end
#define tach__regions_are_frozen sim_decided
#define tach__residue_measure	 sim_residue
#include "core/region/overhead.c"

static struct tach__thread record;

static void what_is_measured(void)
{
	const struct tach__overhead *o = &record.overhead;

	for (decided = 0; decided < 2; decided++) {
		memset(&record, 0x77, sizeof record);
		record.count = 1;
		of_pair = 1500;
		tach__overhead_measure(&record);
		CHECK(ends == decided + 1 && residues == 1);
	}
	for (int i = 0; i < 2; i++) {
		CHECK(o->empty[0][0][i] == 100 && o->empty[0][1][i] == 13);
		CHECK(o->pair[0][0][i] == 1400 && o->pair[0][1][i] == 26);
		CHECK(o->passed[0][i] == 1200 && o->passed[1][i] == 26);
		CHECK(o->empty[1][0][i] == 140 && o->pair[1][0][i] == 1600);
		CHECK(record.entry_cost.empty[0][i] == 100 &&
		      record.entry_cost.pair[0][i] == 1400);
		CHECK(record.entry_cost.empty[1][i] == 140 &&
		      record.entry_cost.pair[1][i] == 1600);
	}
	/* A negative value becomes 0, and the minimum is used unchanged. */
	for (of_pair = 99; of_pair <= 101; of_pair++) {
		uint64_t more = of_pair > 100;

		tach__overhead_measure(&record);
		CHECK(o->pair[0][0][0] == (double)more && o->passed[0][0] == 0);
	}
	of_pair = 300;
	tach__overhead_measure(&record);
	CHECK(o->passed[0][0] == 0);
	of_pair = 301;
	tach__overhead_measure(&record);
	CHECK(o->passed[0][0] == 1);
}

/* No values of an earlier thread remain. */
static void no_memory_for_trials(void)
{
	static const struct tach__thread none;

	memset(&record, 0x77, sizeof record);
	no_memory = 1;
	tach__overhead_measure(&record);
	CHECK(!memcmp(&record.overhead, &none.overhead, sizeof none.overhead));
	CHECK(!memcmp(&record.entry_cost, &none.entry_cost, sizeof none.entry_cost));
	CHECK(!memcmp(&record.residue, &none.residue, sizeof none.residue));
	CHECK(!record.residue_known && !record.flat_known);
}

int main(void)
{
	CASE(what_is_measured);
	CASE(no_memory_for_trials);
	return check_done();
}
