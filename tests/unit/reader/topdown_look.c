/* SPDX-License-Identifier: MIT */
/* Reads of a group with top-down metrics, with interruptions. */
#include "tests/unit/reader/topdown.h"

static void reading_has_slots_and_metrics(void)
{
	struct tach__look l;

	for (int k = 0; k < 2; k++) {
		begin(orders[k]);
		sim.kernel[PLAIN] = 4711;
		CHECK(look(&l) == 1);
		CHECK(!strcmp(sim.trace, "FliSMSPFlFF"), "%s", sim.trace);
		CHECK(l.count[SLOTS] == 3550 && l.count[PLAIN] == 4711);
		CHECK(l.count[BACKEND] == 1120 && l.count[RETIRING] == 610);
		CHECK(l.slots == 2550 && l.error == 11 && l.behind == 7);
		CHECK(l.lock == 102 && l.flags == 0);
		/* Data recorded for the next read. */
		CHECK(t->turn == 0 && t->slots == 2550);
		CHECK(t->least[BACKEND] == 1120 && t->least[RETIRING] == 610);
		CHECK(t->least[SLOTS] == 100 && t->least[PLAIN] == 100 &&
		      t->least[NONE] == 100);
		/* A value does not decrease. */
		sim.fields = 101u << 24 | 52;
		CHECK(look(&l) == 1 && l.count[BACKEND] == 1120 && l.count[RETIRING] == 620);
	}
}

static void no_look(void)
{
	struct tach__look l;

	for (int k = 0; k < 7; k++) {
		begin(orders[0]);
		t->turn = k == 0;
		pages[SLOTS].index = k == 1 ? 0 : INDEX;
		sim.faults = k == 2 ? 1 : k == 3 ? 2 : 0;
		sim.other_fails = k == 4;
		t->slots = k == 5 ? 2551 : 2550;
		CHECK(look(&l) == (k == 6), "%d", k);
		CHECK(t->turn == (k == 0) && t->slots == (k == 5 ? 2551 : 2550));
	}
}

static void one_more(void)
{
	sim.slots++;
}

static void one_less(void)
{
	sim.slots--;
}

static void put_on_again(void)
{
	pages[SLOTS].lock += 2;
	sim.slots++;
}

/* At each step. */
static void interrupted_readings_are_repeated(void)
{
	enum { AFTER_SLOTS = 4, LAST_LOOK = 8, STEPS = 11 };
	struct tach__look l;

	for (int at = 0; at < STEPS; at++) {
		begin(orders[0]);
		sim.at = at;
		sim.act = one_more;
		CHECK(look(&l) == 1 && l.slots == 2550 + (unsigned)(at < AFTER_SLOTS));
		/* Another process has reset the group. */
		begin(orders[0]);
		sim.at = at;
		sim.act = one_less;
		CHECK(look(&l) == (at < AFTER_SLOTS || at > AFTER_SLOTS + 1), "%d", at);
		begin(orders[0]);
		sim.at = at;
		sim.act = put_on_again;
		CHECK(look(&l) == 1 && l.slots == 2550 + (unsigned)(at <= LAST_LOOK), "%d", at);
		CHECK(l.lock == (at <= LAST_LOOK ? 104 : 102));
		CHECK(strlen(sim.trace) == (at < 2 || at > LAST_LOOK ? STEPS : STEPS + 9),
		      "%d: %s", at, sim.trace);
	}
}

static void how_well_metrics_are_known(void)
{
	CHECK(tach__topdown_unknown(0, 0) == 1 && tach__topdown_unknown(254, 0) == 1);
	CHECK(tach__topdown_unknown(255, 0) == 2 && tach__topdown_unknown(2550, 3) == 11);
	CHECK(tach__topdown_unknown(2550, 4) == 21 && tach__topdown_unknown(2550, 8) == 31);
}

/* Reads the group; if much was counted since the last reset, resets it first. */
static void looks_afresh(void)
{
	struct tach__look l;

	for (uint64_t error = FRESH; error <= FRESH + 1; error++) {
		begin(orders[0]);
		sim.slots = (error - 1) * 255;
		CHECK(tach__topdown_look_afresh(&reader, &l) == 1);
		CHECK(l.flags == 0 && l.count[SLOTS] == 1000 + (error - 1) * 255);
		CHECK(t->turn == (error > FRESH ? 2 : 0));
		CHECK(l.error == (error > FRESH ? 1 : error));
	}
	begin(orders[0]);
	sim.faults = 1;
	CHECK(tach__topdown_look_afresh(&reader, &l) == 0);
	CHECK(l.flags == TACH_FLAG_SYSCALL && l.count[SLOTS] == 3550 && l.enabled == 3000);
	for (int state = -5; state <= 0; state += 5) {
		begin(orders[0]);
		sim.faults = 1;
		sim.state = state;
		CHECK(tach__topdown_look_afresh(&reader, &l) < 0);
	}
}

/* count of the read(2) in the check minus that of the earlier read */
static uint64_t counted;

static void count_on(void)
{
	sim.slots += counted;
}

static void taken(void)
{
	sim.kernel[SLOTS] += sim.slots;
	sim.slots = counted;
}

/* Steps of the check after the steps of its inline read: index, slots, reset. */
enum { LOOK_STEPS = 11, AT_SLOTS = LOOK_STEPS + 1, AT_READ = LOOK_STEPS + 4 };

/* Returns the slots of a read(2) that replaces the inline read, or AS_IT_WAS. */
static const uint64_t AS_IT_WAS = UINT64_MAX;
static uint64_t checked(uint64_t error, int at, void (*act)(void), uint64_t count)
{
	struct tach__look l = {.error = error};

	sim.at = at;
	sim.act = act;
	counted = count;
	memset(sim.trace, 0, sizeof sim.trace);
	tach__topdown_check(&reader, &l);
	return l.flags ? l.count[SLOTS] : AS_IT_WAS;
}

static void a_long_region_is_checked(void)
{
	begin(orders[0]);
	CHECK(checked(FRESH, -1, NULL, 0) == AS_IT_WAS && t->turn == 0);
	CHECK(checked(FRESH + 1, -1, NULL, 0) == AS_IT_WAS && t->turn == 2);
	for (unsigned more = 0; more < 2; more++) {
		begin(orders[0]);
		CHECK(checked(FRESH + 1, AT_READ, count_on, TOLERATED + more) ==
		      (more ? 3550 + TOLERATED + more : AS_IT_WAS));
		/* Counts before the second read of the slots do not belong to it. */
		begin(orders[0]);
		CHECK(checked(FRESH + 1, AT_SLOTS, count_on, 2u * TOLERATED) == AS_IT_WAS);
		/* Another process reset the group and read its counts. */
		begin(orders[0]);
		CHECK(checked(FRESH + 1, AT_SLOTS, taken, 2549 + more) ==
		      (more ? AS_IT_WAS : 3550 + 2549u));
	}
}

static void withdrawn(void)
{
	pages[SLOTS].index = 0;
	sim.kernel[SLOTS] = 1000000;
}

static void faulting(void)
{
	sim.faults = 1;
	sim.kernel[SLOTS] = 1000000;
}

static void failing(void)
{
	sim.state = (int)counted - 5;
	sim.slots = 1;
}

/* If the check itself is impossible, there is no result. */
static void checks_that_fail(void)
{
	begin(orders[0]);
	sim.faults = 1;
	CHECK(checked(FRESH + 1, -1, NULL, 0) == AS_IT_WAS && t->turn == 0);
	begin(orders[0]);
	CHECK(checked(FRESH + 1, LOOK_STEPS, withdrawn, 0) == AS_IT_WAS && t->turn == 0);
	begin(orders[0]);
	CHECK(checked(FRESH + 1, AT_SLOTS, faulting, 0) == AS_IT_WAS && t->turn == 0);
	for (unsigned state = 0; state <= 5; state += 5) {
		begin(orders[0]);
		CHECK(checked(FRESH + 1, AT_SLOTS, failing, state) == AS_IT_WAS &&
		      t->turn == 2);
	}
}

int main(void)
{
	CASE(reading_has_slots_and_metrics);
	CASE(no_look);
	CASE(interrupted_readings_are_repeated);
	CASE(how_well_metrics_are_known);
	CASE(looks_afresh);
	CASE(a_long_region_is_checked);
	CASE(checks_that_fail);
	return check_done();
}
