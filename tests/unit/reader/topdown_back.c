/* SPDX-License-Identifier: MIT */
/* Resets of a group with top-down metrics, and how the reader records them. */
#include "tests/unit/reader/topdown.h"

static void set_back(int state)
{
	struct tach__look l;

	memset(&l, 0x77, sizeof l);
	memset(sim.trace, 0, sizeof sim.trace);
	CHECK(tach__topdown_set_back(&reader, &l) == state);
	CHECK(t->turn % 2 == 0);
	if (state <= 0)
		return;
	CHECK(l.flags == TACH_FLAG_SYSCALL && l.error == 1);
	CHECK(sim.at < 0 ? l.behind == t->behind : l.behind <= t->behind);
	CHECK(l.enabled == 3000 && l.running == 2500 && l.lock == pages[SLOTS].lock);
	for (int i = 0; i < MEMBERS; i++)
		CHECK(l.count[group.member[i]] == sim.kernel[group.member[i]], "%d", i);
	CHECK(l.count[NONE] != sim.kernel[NONE]);
}

/* The record after a read(2) on this processor. */
static void set_back_here(void)
{
	for (int hybrid = 0; hybrid < 2; hybrid++) {
		begin(orders[0]);
		reader.hybrid = hybrid ? (struct tach__hybrid *)&reader : NULL;
		t->after = 5;
		sim.kernel[PLAIN] = 150;
		sim.kernel[NONE] = 151;
		set_back(1);
		CHECK(!strcmp(sim.trace, "FlRilFl"), "%s", sim.trace);
		CHECK(t->turn == 2 && t->lock == 102 && t->slots == 0 && t->after == 0);
		CHECK(t->behind == 7 + 11);
		CHECK(t->base[SLOTS] == 3550 && t->base[BACKEND] == 1120 &&
		      t->base[RETIRING] == 610);
		CHECK(t->base[PLAIN] == 150 && t->least[PLAIN] == 150 &&
		      t->least[BACKEND] == 1120 && t->least[RETIRING] == 610);
		CHECK(t->base[NONE] == 100 && t->least[NONE] == 100);
	}
}

/* On another processor, the kernel has already counted everything and resets nothing. */
static void set_back_while_elsewhere(void)
{
	for (int unknown = 0; unknown < 2; unknown++) {
		begin(orders[0]);
		pages[SLOTS].index = 0;
		sim.kernel[SLOTS] = 3000;
		t->slots = unknown ? UINT64_MAX : 17;
		set_back(1);
		CHECK(t->after == 2000 && t->slots == (unknown ? UINT64_MAX : 2000));
		CHECK(t->base[SLOTS] == 1000 && t->lock == 100 && t->behind == 7);
	}
}

static void moved(void)
{
	pages[SLOTS].lock += 2;
}

/*
 * Without user access, or if the thread moved during the read, it is unknown if the group was
 * reset.
 */
static void set_back_somewhere(void)
{
	begin(orders[0]);
	pages[SLOTS].index = pages[SLOTS].cap_user_rdpmc = 0;
	sim.kernel[SLOTS] = 3000;
	t->after = 5;
	set_back(1);
	CHECK(t->slots == UINT64_MAX && t->after == 0 && t->base[SLOTS] == 3000);
	for (int at = 0; at < 5; at++) {
		begin(orders[0]);
		sim.at = at;
		sim.act = moved;
		set_back(1);
		CHECK(t->slots == (at < 2 ? 0 : UINT64_MAX), "%d", at);
		CHECK(t->base[SLOTS] == 3550 && t->lock == 104);
	}
}

static void nothing_to_be_read(void)
{
	for (int state = -5; state <= 0; state += 5) {
		begin(orders[0]);
		sim.state = state;
		set_back(state);
		CHECK(t->turn == 2 && t->base[SLOTS] == 1000 && t->lock == 100);
	}
}

/* The handler reads the group, and then the same amount is counted again. */
static void handler(void)
{
	struct tach__group_read now;

	CHECK(tach__topdown_group(&reader, &now) == 1);
	CHECK(now.value[0] == sim.kernel[SLOTS]);
	sim.slots += 5100;
}

/* A handler runs at each step: an undisturbed record is right, and the reader continues. */
static void handlers_that_set_back(void)
{
	enum { LOOK, SET_BACK, KINDS };
	struct tach__look l;

	for (int what = 0; what < KINDS; what++)
		for (int at = 0; at < 13; at++) {
			uint32_t turn;

			begin(orders[0]);
			sim.at = at;
			sim.act = handler;
			if (what == LOOK && look(&l))
				CHECK(at == 0 || sim.act, "%d: a look went on", at);
			else if (what == SET_BACK)
				set_back(1);
			turn = t->turn;
			CHECK(turn % 2 == 0 && (sim.act || turn >= 2), "%d: turn %u", at, turn);
			sim.act = NULL;
			set_back(1);
			sim.slots += 255;
			CHECK(t->turn == turn + 2);
			CHECK(look(&l) == 1 && l.count[SLOTS] == sim.kernel[SLOTS] + 255,
			      "%d at %d", what, at);
			CHECK(l.count[BACKEND] == sim.kernel[BACKEND] + 102);
		}
}

int main(void)
{
	CASE(set_back_here);
	CASE(set_back_while_elsewhere);
	CASE(set_back_somewhere);
	CASE(nothing_to_be_read);
	CASE(handlers_that_set_back);
	return check_done();
}
