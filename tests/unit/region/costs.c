/* SPDX-License-Identifier: MIT */
/*
 * The record of slow paths' costs: the log, its sum and its epochs, with a simulated clock,
 * counters and locks.
 */
#include <stdio.h>
#include <string.h>
#include "core/os/memory.h"
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/region/cost.h"
#include "tests/check.h"

static void sim_signals_hold(sigset_t *before);
static void sim_signals_release(const sigset_t *before);
static void sim_hold(struct tach__held *held);
static void sim_release(const struct tach__held *held);
static void sim_reader_begin(struct tach_reader *reader, struct tach_mark *mark);
static uint64_t sim_clock(void);
static uint32_t sim_read(const struct tach__hot *of, const struct tach_mark *begun,
			 uint64_t *delta, int fenced);
static void *sim_larger(const void *old, size_t old_size, size_t new_size);
static void sim_residue_ready(struct tach__thread *of);

#define tach__signals_hold    sim_signals_hold
#define tach__signals_release sim_signals_release
#define tach__hold	      sim_hold
#define tach__release	      sim_release
#define tach_reader_begin     sim_reader_begin
#define tach_clock	      sim_clock
#define tach__edges_read      sim_read
#define tach__pages_larger    sim_larger
#define tach__residue_ready   sim_residue_ready
#include "tests/ordered.h"
static void handler(void);
#undef TACH__ORDER
#define TACH__ORDER() handler()
#include "core/region/cost.c"
#undef tach__pages_larger

enum { COUNT = 2, OPENING = 9, LEVEL = 3, LAST = TACH__EPOCHS - 1 };

static _Alignas(4096) char memory[TACH__RECORD_AT];
static struct tach__hot *const self = (struct tach__hot *)(void *)memory;
static struct tach__thread own, other;
static union tach__slot_copy around, unused;
static const uint64_t left_over[] = {100, 200, 300};
static char said[80];
static int no_memory;

/*
 * If another thread forks during the change, the child finds the complete copy, and then its
 * size.
 */
static void ordered(const void *at, int order)
{
	CHECK((at != &own.log && at != &own.log_size) || order == __ATOMIC_RELEASE);
}

static void sim_signals_hold(sigset_t *before)
{
	sigemptyset(before);
	strcat(said, "signals ");
}

static void sim_signals_release(const sigset_t *before)
{
	CHECK(!sigismember(before, SIGINT));
	strcat(said, "free ");
}

static void sim_hold(struct tach__held *held)
{
	held->within = 5;
	strcat(said, "hold ");
}

static void sim_release(const struct tach__held *held)
{
	CHECK(held->within == 5);
	strcat(said, "release ");
}

static void sim_reader_begin(struct tach_reader *reader, struct tach_mark *mark)
{
	CHECK(reader == own.reader);
	mark->clock = 1;
	mark->value[0] = 60;
	strcat(said, "begin ");
}

static uint64_t sim_clock(void)
{
	return 70;
}

static uint32_t sim_read(const struct tach__hot *of, const struct tach_mark *begun,
			 uint64_t *delta, int fenced)
{
	CHECK(of == self && begun->clock == 70 && !fenced);
	CHECK(begun->value[0] == (own.count ? 60 : 0));
	for (uint32_t i = 0; i <= own.count; i++)
		delta[i] = 10 + i;
	strcat(said, "read ");
	return 0;
}

static void *sim_larger(const void *old, size_t old_size, size_t new_size)
{
	return no_memory ? NULL : tach__pages_larger(old, old_size, new_size);
}

static void sim_residue_ready(struct tach__thread *of)
{
	CHECK(of == &own);
	strcat(said, "residue ");
}

static uint32_t state_epoch(void)
{
	CHECK(TACH__OPENING(self->state) == OPENING && TACH__LEVEL(self->state) == LEVEL);
	return TACH__EPOCH(self->state);
}

static void start(uint32_t epoch)
{
	tach__pages_free(own.log, own.log_size);
	memset(memory, 0, sizeof memory);
	memset(&own, 0, sizeof own);
	memset(&other, 0, sizeof other);
	memset(&around, 0, sizeof around);
	said[0] = '\0';
	no_memory = 0;
	tach__self = self;
	self->record = &own;
	self->state = TACH__STATE(OPENING, epoch, LEVEL);
	own.hot = self;
	own.count = COUNT;
	own.epoch = epoch;
	own.reader = (void *)memory;
	for (uint32_t i = 0; i <= COUNT; i++)
		own.cold[i] = 1000 * (i + 1);
}

/* A slow path inside regions; the last region began in that epoch. */
static void spend(uint32_t epoch)
{
	struct tach__cost cost;

	for (uint32_t k = 0; k < LEVEL; k++)
		tach__stack(self, k)[1] = &around.slot;
	tach__part(&around.slot, own.count, 0)->ceiling = TACH__STATE(OPENING, epoch, LEVEL);

	said[0] = 0;
	memset(&cost, 0, sizeof cost);
	tach__cost_begin(&cost, LEVEL);
	CHECK(cost.record == &own);
	tach__cost_end(&cost, left_over, LEVEL);
}

static int row_is(uint32_t epoch, uint64_t times)
{
	for (uint64_t i = 0; i <= own.count; i++)
		if (own.log[epoch * (own.count + 1) + i] != times * (i + 1))
			return 0;
	return 1;
}

static int cold_is(uint64_t a, uint64_t b, uint64_t c)
{
	return own.cold[0] == a && own.cold[1] == b && own.cold[2] == c;
}

static void slow_path_adds_its_cost(void)
{
	start(0);
	spend(0);
	CHECK(strcmp(said, "signals begin hold release read free ") == 0, "%s", said);
	CHECK(row_is(0, 1000) && state_epoch() == 1 && own.epoch == 1);
	CHECK(cold_is(1110, 2211, 3312));
	/* A finished epoch has its row. */
	spend(0);
	CHECK(row_is(0, 1000) && state_epoch() == 1 && own.epoch == 1);
	CHECK(cold_is(1220, 2422, 3624));
	/* Only the clock. */
	start(0);
	own.count = 0;
	spend(0);
	CHECK(strcmp(said, "signals hold release read free ") == 0, "%s", said);
	CHECK(cold_is(1110, 2000, 3000) && row_is(0, 1000));
}

static void no_cost_without_an_enclosing_region(void)
{
	struct tach__cost cost;

	start(0);
	tach__cost_begin(&cost, 0);
	CHECK(!cost.record);
	tach__cost_end(&cost, NULL, 0);
	CHECK(strcmp(said, "signals hold release free ") == 0, "%s", said);
	CHECK(cold_is(1000, 2000, 3000) && state_epoch() == 0 && !own.log);
}

/* The thread changes to another set, which has its own record. */
static void moved(void)
{
	struct tach__cost cost;

	start(0);
	tach__cost_begin(&cost, LEVEL);
	self->record = &other;
	tach__cost_end(&cost, left_over, LEVEL);
	CHECK(cold_is(1000, 2000, 3000) && state_epoch() == 0 && !own.log && !other.log);
}

static void out_of_memory(void)
{
	uint64_t delta[] = {5, 6, 7};

	start(0);
	no_memory = 1;
	spend(0);
	CHECK(cold_is(1000, 2000, 3000) && state_epoch() == 0 && own.epoch == 0 && !own.log);
	/* The open regions get this flag. */
	CHECK(around.slot.provenance[1] == LEVEL, "%d", (int)around.slot.provenance[1]);
	tach__cost_subtract(&own, 0, own.cold, delta);
	CHECK(delta[0] == 5 && delta[1] == 6 && delta[2] == 7);
}

/* A growing log keeps its rows. region_overlap.c tests the time after the last epoch. */
static void all_epochs(void)
{
	start(0);
	for (uint32_t e = 0; e < LAST; e++) {
		for (uint64_t i = 0; i <= COUNT; i++)
			own.cold[i] = (e + 1) * (i + 1);
		spend(e);
		CHECK(state_epoch() == e + 1 && own.epoch == e + 1, "%u", e);
	}
	for (uint32_t e = 0; e < LAST; e++)
		CHECK(row_is(e, e + 1), "%u", e);
	CHECK(own.log_size >= LAST * (1 + COUNT) * sizeof(uint64_t));
}

static void costs_are_subtracted_at_the_end(void)
{
	static const uint64_t when_read[] = {1500, 2700, 3900};
	uint64_t delta[] = {5000, 5000, 5000};

	start(6);
	spend(6);
	CHECK(row_is(6, 1000) && state_epoch() == 7);
	tach__cost_subtract(&own, 6, when_read, delta);
	CHECK(delta[0] == 4500 && delta[1] == 4300 && delta[2] == 4100);
}

/* ---- known costs ---- */

static const uint64_t known[] = {10, 0, 7};
static void add_known(void)
{
	tach__cost_add(&own, known, LEVEL);
}

/* Simulates open regions: the last one began in that epoch, in that part of its slot. */
static void open_in(uint32_t epoch, int inner)
{
	struct tach__slot **stack = tach__stack(self, LEVEL);

	stack[0] = &around.slot;
	tach__part(&around.slot, COUNT, inner)->ceiling = TACH__STATE(OPENING, epoch, LEVEL);
	tach__part(&around.slot, COUNT, !inner)->ceiling = TACH__CEILING_OPEN;
}

static void known_costs(void)
{
	for (int inner = 0; inner < 2; inner++) {
		start(0);
		spend(0);
		open_in(1, inner);
		CHECK(row_is(0, 1000) && state_epoch() == 1);
		own.cold[0] = own.cold[1] = own.cold[2] = 5000;
		add_known();
		CHECK(cold_is(5010, 5000, 5007) && state_epoch() == 2 && own.epoch == 2);
		CHECK(own.log[3] == 5000 && own.log[4] == 5000 && own.log[5] == 5000);
		/* The epoch that ended gets its row. */
		add_known();
		CHECK(cold_is(5020, 5000, 5014) && state_epoch() == 2 && own.epoch == 2);
		CHECK(own.log[3] == 5000 && own.log[5] == 5000 && own.log[6] == 0);
		/* Later epoch numbers are free again when the regions inside have ended. */
		self->state = TACH__STATE(OPENING, 9, LEVEL);
		add_known();
		CHECK(state_epoch() == 2 && own.epoch == 2 && own.log[3] == 5000);
	}
}

/* If there is no memory for its row, the epoch stays. */
static void known_without_memory(void)
{
	start(0);
	open_in(0, 0);
	add_known();
	CHECK(!own.log && state_epoch() == 0 && own.epoch == 0 && cold_is(1010, 2000, 3007));
}

/* A handler runs at one of the places where the order matters, and adds the same amounts. */
static int comes_at;
static void (*then)(void);
static void handler(void)
{
	if (--comes_at == 0 && then)
		then();
}

static void known_in_a_handler(void)
{
	for (int at = 1; at <= 3; at++) {
		start(0);
		spend(0);
		open_in(1, 0);
		own.cold[0] = own.cold[1] = own.cold[2] = 5000;
		comes_at = at;
		then = add_known;
		add_known();
		comes_at = 0;
		CHECK(cold_is(5020, 5000, 5014) && state_epoch() == 2 && own.epoch == 2, "%d",
		      at);
		/* Neither cost is added. */
		CHECK(own.log[3] == 5000 && own.log[4] == 5000 && own.log[5] == 5000, "%d", at);
	}
}

/*
 * The first call allocates memory and calibrates; it does nothing if its cost would not matter.
 */
static void asides(void)
{
	start(0);
	own.residue_known = 0;
	for (int i = 0; i <= COUNT; i++)
		own.residue.aside[i] = left_over[i];
	for (uint32_t k = 0; k < LEVEL; k++)
		tach__stack(self, k)[1] = &around.slot;
	open_in(0, 0);
	CHECK(tach__aside() == &own);
	CHECK(strcmp(said, "signals begin hold residue release read free ") == 0, "%s", said);
	CHECK(cold_is(1110, 2211, 3312) && state_epoch() == 1 && row_is(0, 1000));
	own.residue_known = 1;
	said[0] = 0;
	CHECK(tach__aside() == &own && !said[0]);
	/* No row fits. */
	own.log_size = 0;
	own.log = NULL;
	CHECK(tach__aside() == &own && said[0]);
	said[0] = 0;
	tach__signals_held++;
	CHECK(tach__aside() == NULL);
	tach__signals_held--;
	self->state = TACH__STATE(OPENING, 0, 0);
	CHECK(tach__aside() == NULL && !said[0]);
}

static void epochs(void)
{
	struct tach__slot **stack = tach__stack(self, LEVEL);

	start(4);
	tach__epochs_reset(self);
	CHECK(own.epoch == 0 && self->state == TACH__STATE(OPENING, 0, 0));
	/*
	 * The entry is in one of the two parts; either the part is known, or neither part has
	 * the entry.
	 */
	start(4);
	stack[0] = &around.slot;
	stack[1] = &unused.slot;
	for (int inner = 0; inner < 2; inner++) {
		tach__part(&around.slot, COUNT, inner)->ceiling =
			TACH__STATE(OPENING, 2, LEVEL);
		tach__part(&around.slot, COUNT, !inner)->ceiling = TACH__CEILING_OPEN;
		CHECK(epoch_inside(&own, LEVEL) == 2, "%d", inner);
		tach__part(&around.slot, COUNT, inner)->ceiling =
			TACH__STATE(OPENING, 2, LEVEL + 1);
		CHECK(epoch_inside(&own, LEVEL) == 4, "%d", inner);
	}
	/* TACH__OUTER_NONE, the level of no region, never gives a level. */
	tach__stack(self, 0)[0] = &around.slot;
	tach__part(&around.slot, COUNT, 0)->ceiling = TACH__STATE(OPENING, 2, 0);
	CHECK(epoch_inside(&own, 0) == 4);
}

int main(void)
{
	CASE(slow_path_adds_its_cost);
	CASE(no_cost_without_an_enclosing_region);
	CASE(moved);
	CASE(out_of_memory);
	CASE(all_epochs);
	CASE(costs_are_subtracted_at_the_end);
	CASE(epochs);
	CASE(known_costs);
	CASE(known_without_memory);
	CASE(known_in_a_handler);
	CASE(asides);
	return check_done();
}
