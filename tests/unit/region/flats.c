/* SPDX-License-Identifier: MIT */
/*
 * The overhead of flat regions, with scripted trials: how often each trial runs, with which
 * arguments, and the result.
 */
#include <string.h>
#include "core/region/trial.h"
#include "tests/check.h"

static void sim_run(const struct tach__trials *trials, void (*trial)(const struct tach__poke *),
		    const struct tach__poke *poke, const uint32_t *id);
static void sim_residue(const struct tach__trials *trials);
static int sim_inside(struct tach__thread *record,
		      void (*measure)(const struct tach__trials *trials));

#define tach__trials_run      sim_run
#define tach__residue_measure sim_residue
#define tach__trials_inside   sim_inside
#include "core/region/flat.c"

enum { LIMIT = 192, STEP = 11 };
enum { FLAT, MOVED_NOT, MOVED, MOVED_ELSEWHERE, PAIR, ONE, ONE_COLD, TRIALS };

static struct tach__config config;
static struct tach__thread record, other;
static struct tach__hot hot;
static struct tach__shown results;
static int runs[TRIALS], residues, insides;

/* The first run shows the minimum; each later run shows STEP more. */
static uint64_t shows(int which, uint32_t i)
{
	static const uint64_t least[TRIALS] = {100,    3000,	50000,	 60000,
					       700000, 8000000, 90000000};

	return least[which] * (i + 1);
}

static void ends_flat(struct tach_region_mark *unused)
{
	(void)unused;
}

static int is_zero(const void *at, size_t size)
{
	const char *byte = at;

	for (size_t i = 0; i < size; i++)
		if (byte[i])
			return 0;
	return 1;
}

static int which_of(void (*trial)(const struct tach__poke *), const struct tach__poke *poke)
{
	if (trial == tach__trial_flat || trial == tach__trial_flat_pair) {
		CHECK(!poke->at && !poke->value);
		return trial == tach__trial_flat ? FLAT : PAIR;
	}
	/* The lowest bit of a lock has another meaning, so it stays. */
	if (trial == tach__trial_flat_moved && poke->value == (uint64_t)2 << 32)
		return MOVED_ELSEWHERE;
	if (trial == tach__trial_flat_moved && (poke->value == 0 || poke->value == 2))
		return poke->value ? MOVED : MOVED_NOT;
	if (trial == tach__trial_flat_one && poke->at == &hot.limit &&
	    (poke->value == LIMIT || poke->value == 0))
		return poke->value ? ONE : ONE_COLD;
	CHECK(0, "%d", (int)poke->value);
	return FLAT;
}

static void sim_run(const struct tach__trials *trials, void (*trial)(const struct tach__poke *),
		    const struct tach__poke *poke, const uint32_t *id)
{
	int which = which_of(trial, poke);

	runs[which]++;
	CHECK(trials->record == &record && trials->shown == &results);
	CHECK(trials->warm == 3 && trials->tries == TACH__TRIES && id == tach__trial_flat_ids);
	/* No overhead is subtracted from an entry yet. */
	CHECK(is_zero(record.unflat, sizeof record.unflat));
	CHECK(record.residue_known && !record.flat_known);
	memset(&results, 0xee, sizeof results);
	for (uint32_t i = 0; i <= record.count; i++)
		for (int t = 0; t < TACH__TRIES; t++)
			results.sum[TACH__TRIAL_INNER][i][t] =
				shows(which, i) + STEP * (uint64_t)t;
}

static void sim_residue(const struct tach__trials *trials)
{
	CHECK(trials->record == &record);
	residues++;
	record.residue_known = 1;
}

static int sim_inside(struct tach__thread *of, void (*what)(const struct tach__trials *trials))
{
	const struct tach__trials trials = {.record = &record, .shown = &results};

	CHECK(of == &record);
	insides++;
	what(&trials);
	return 1;
}

static void begins(uint32_t count)
{
	memset(&record, 0, sizeof record);
	memset(&hot, 0, sizeof hot);
	memset(runs, 0, sizeof runs);
	residues = insides = 0;
	record.hot = &hot;
	record.config = &config;
	record.count = count;
	record.limit = LIMIT;
	hot.record = &record;
	hot.begin_flat = tach__begin_any;
	hot.end_flat = ends_flat;
	tach__self = &hot;
	memset(record.unflat, 0xdd, sizeof record.unflat);
	for (uint32_t i = 0; i < TACH__SUMS; i++) {
		record.entry_cost.empty[0][i] = 1 + i;
		record.entry_cost.empty[1][i] = 1000000 + i;
		record.entry_cost.pair[0][i] = 20 + i;
		record.entry_cost.pair[1][i] = 2000000 + i;
		record.overhead.flat[0][i] = record.overhead.flat[1][i] = -1;
	}
}

static void is_known(uint32_t count)
{
	const struct tach__entry_cost *cost = &record.entry_cost;

	for (uint32_t i = 0; i <= count; i++) {
		uint64_t empty = cost->empty[0][i], inside;

		CHECK(record.overhead.flat[0][i] == (double)shows(FLAT, i), "%g",
		      record.overhead.flat[0][i]);
		/* At most two of sixteen runs are slower. */
		CHECK(record.overhead.flat[1][i] == 13 * STEP, "%g",
		      record.overhead.flat[1][i]);
		for (int e = 0; e < 2; e++)
			CHECK(record.unflat[TACH__FLAT_MOVED + e][i] ==
				      (count ? shows(MOVED + e, i) - shows(MOVED_NOT, i) +
						       shows(FLAT, i) - empty
					     : 0),
			      "%d of %d, %d", (int)i, (int)count, e);
		inside = shows(PAIR, i) - empty - cost->pair[0][i];
		CHECK(record.unflat[TACH__FLAT_INSIDE][i] == inside, "%d of %d", (int)i,
		      (int)count);
		CHECK(record.unflat[TACH__FLAT_STATE][i] ==
			      shows(ONE_COLD, i) - shows(ONE, i) + inside,
		      "%d of %d", (int)i, (int)count);
		CHECK(record.unflat[TACH__FLAT_TORN][i] == 0);
	}
	for (int w = 0; w < TACH__UNFLAT; w++)
		CHECK(is_zero(record.unflat[w] + 1 + count,
			      (TACH_COUNTERS_MAX - count) * sizeof(uint64_t)),
		      "%d of %d", w, (int)count);
	for (uint32_t i = count + 1; i < TACH__SUMS; i++)
		CHECK(record.overhead.flat[0][i] == -1 && record.overhead.flat[1][i] == -1);
}

static void flat_overhead_is_measured_once(void)
{
	static const uint32_t counts[] = {0, 1, 2, TACH__UNROLLED};

	for (int n = 0; n < 4; n++)
		for (int known = 0; known < 2; known++) {
			begins(counts[n]);
			record.residue_known = known;
			CHECK(tach__flat_ready(&record) == 1);
			CHECK(insides == 1 && residues == !known, "%d, %d", insides, residues);
			for (int t = 0; t < TRIALS; t++)
				CHECK(runs[t] == (counts[n] > 0 ||
						  (t < MOVED_NOT || t > MOVED_ELSEWHERE)),
				      "%d of %d: %d", t, (int)counts[n], runs[t]);
			is_known(counts[n]);
			CHECK(tach__flat_ready(&record) == 1 && insides == 1);
		}
}

/*
 * There is no overhead without code for flat regions, and none if entries have more to store.
 */
static void no_flat_overhead_without_flat_code(void)
{
	static struct tach__slot **tables[1];

	for (int why = 0; why < 4; why++)
		for (int known = 0; known < 2; known++) {
			begins(2);
			record.flat_known = known;
			if (why == 0)
				hot.begin_flat = NULL;
			if (why == 1)
				hot.end_flat = NULL;
			if (why == 2)
				record.splits = tables;
			config.ring.next = why == 3 ? (void *)tables : NULL;
			CHECK(tach__flat_ready(&record) == 0 && insides == 0, "%d", why);
		}
	config.ring.next = NULL;
}

/* During another calibration, or if the thread has another record now. */
static void no_calibration_inside_another(void)
{
	for (int known = 0; known < 2; known++) {
		begins(2);
		record.flat_known = known;
		tach__calibrating = 1;
		CHECK(tach__flat_ready(&record) == known && insides == 0);
		tach__calibrating = 0;
		hot.record = &other;
		CHECK(tach__flat_ready(&record) == known && insides == 0);
	}
}

int main(void)
{
	CASE(flat_overhead_is_measured_once);
	CASE(no_flat_overhead_without_flat_code);
	CASE(no_calibration_inside_another);
	return check_done();
}
