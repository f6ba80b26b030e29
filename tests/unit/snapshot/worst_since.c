/* SPDX-License-Identifier: MIT */
/*
 * The begin of worst entries, and the entries that are new since an older snapshot, with a
 * simulated clock: the thread may lose its processor for seconds, and the snapshots may have
 * very different estimates of the clock's frequency.
 */
#include <math.h>
#include <string.h>
#include <time.h>
#include <tach.h>
#include "core/region/region.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

enum { STEP = 40, AWAY_S = 5, RATE = 1000000000, LOOKS = 40 };
static const uint64_t begins = 7000000000u; /* the tick at a time of 0 s */
static uint64_t passed;
static int away_in; /* number of clock reads before the thread loses its processor; below 0:
		       never */

static uint64_t planted(void)
{
	passed += away_in-- == 0 ? (uint64_t)AWAY_S * RATE : STEP;
	return passed;
}

static int planted_time(clockid_t clock, struct timespec *t)
{
	uint64_t ns = planted() - begins;

	CHECK(clock == CLOCK_REALTIME);
	*t = (struct timespec){(time_t)(ns / RATE), (long)(ns % RATE)};
	return 0;
}

#define tach_clock()		 planted()
#define clock_gettime(clock, to) planted_time(clock, to)
#include "core/snapshot/worst.c"

/*
 * Two entries of one thread and tag, 300 us apart, with durations that differ by half a
 * percent.
 */
enum { ENTRIES = 2 };
static const uint64_t at[ENTRIES] = {3000000000u, 3000300000u};
static struct tach__worst *kept;

static void keep(void)
{
	kept = tach__worst_make(ENTRIES, 1);
	kept->n = ENTRIES;
	for (int i = 0; i < ENTRIES; i++) {
		struct tach__kept *k = tach__worst_at(kept, (uint64_t)i);

		k->begun = begins + at[i];
		k->sum[0] = 200000 - 1000 * (uint64_t)i;
		k->key = k->sum[0];
		k->thread = 77;
	}
}

struct shot {
	struct tach__plain_region region;
	struct tach__plain_worst worst[ENTRIES];
	double value[ENTRIES];
	char name[ENTRIES][16];
};

/* Takes a snapshot whose clock rate is wrong by this factor. */
static void take(struct shot *shot, double fast, int away)
{
	struct tach_snapshot s = {.clock_hz = RATE * fast};
	struct tach__row row = {.worst = kept};

	memset(shot, 0, sizeof *shot);
	shot->region.worst = shot->worst;
	for (int i = 0; i < ENTRIES; i++) {
		shot->worst[i].value = &shot->value[i];
		shot->worst[i].info.thread_name = shot->name[i];
	}
	passed = begins + 4 * (uint64_t)RATE;
	away_in = away;
	tach__plain_worst_take(&s, &shot->region, &row);
	CHECK(shot->region.nworst == ENTRIES);
}

static void when_they_began(void)
{
	struct shot shot;

	for (int away = -1; away < LOOKS; away++) {
		take(&shot, 1, away);
		for (int i = 0; i < ENTRIES; i++)
			CHECK(fabs(shot.worst[i].info.at - (double)at[i] / RATE) < 1e-9,
			      "away at the %dth: %.9f", away, shot.worst[i].info.at);
	}
}

/* 2 % of a second are 20 ms, and 2 % of an entry of 200 us are 4 us. */
static void old_entries_are_not_new(void)
{
	struct shot older, newer;

	for (int away = -1; away < LOOKS; away++) {
		take(&older, 1.02, away);
		take(&newer, 1, -1);
		tach__plain_worst_since(&newer.region, &older.region);
		CHECK(newer.region.nworst == 0, "away at the %dth: %d", away,
		      newer.region.nworst);
	}
}

static void another_like_it_is_new(void)
{
	struct shot older, newer;

	for (int i = 0; i < ENTRIES; i++) {
		take(&older, 1, -1);
		take(&newer, 1, -1);
		older.worst[0] = older.worst[i];
		older.region.nworst = 1;
		tach__plain_worst_since(&newer.region, &older.region);
		CHECK(newer.region.nworst == 1 &&
			      newer.worst[0].begun == begins + at[ENTRIES - 1 - i],
		      "%d: %d", i, newer.region.nworst);
	}
}

/* The tick of saved entries is unknown. */
static void of_saved_reports(void)
{
	struct shot older, newer;

	take(&older, 1, -1);
	take(&newer, 1.000001, -1);
	older.worst[0].begun = older.worst[1].begun = 0;
	tach__plain_worst_since(&newer.region, &older.region);
	CHECK(newer.region.nworst == 0, "%d", newer.region.nworst);
}

int main(void)
{
	keep();
	CASE(when_they_began);
	CASE(old_entries_are_not_new);
	CASE(another_like_it_is_new);
	CASE(of_saved_reports);
	tach__worst_free(kept);
	return check_done();
}
