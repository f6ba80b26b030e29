/* SPDX-License-Identifier: MIT */
/*
 * A group with top-down metrics on a simulated counter of slots and PERF_METRICS, used by
 * core/reader/topdown_look.c. A handler may interrupt at every load of the page, every counter,
 * every read(2) and every fence.
 */
#ifndef TESTS_UNIT_READER_TOPDOWN_H
#define TESTS_UNIT_READER_TOPDOWN_H

#include <string.h>
#include "tests/unit/reader/simulated.h"
#include "core/reader/reader.h"
#include "tests/check.h"

enum { SLOTS = 4, PLAIN = 6, BACKEND = 1, RETIRING = 0, NONE = 5, MEMBERS = 4 };
enum { ALL_FIELDS = 0x20000000, INDEX = 10, TOLERATED = 1 << 13, FRESH = (1 << 18) / 255 };

static struct perf_event_mmap_page pages[TACH_COUNTERS_MAX];
static struct tach__reader reader;
static struct tach__group group;
static struct {
	uint64_t slots, fields;		    /* the registers */
	uint64_t kernel[TACH_COUNTERS_MAX]; /* earlier read(2) values of slots, by member */
	int state;			    /* result of a read(2) that succeeds or fails */
	int faults, other_fails; /* the counter whose read faults: 1 slots, 2 metrics */
	char trace[64];		 /* sequence of events */
	int at;			 /* at that step */
	void (*act)(void);	 /* comes this */
} sim;

static void step(char what)
{
	size_t n = strlen(sim.trace);
	void (*act)(void) = sim.act;

	if (n + 1 < sizeof sim.trace)
		sim.trace[n] = what;
	if ((int)n != sim.at || !act)
		return;
	sim.act = NULL;
	act();
}

#undef TACH_PAGE_LOAD
#define TACH_PAGE_LOAD(page, field)                                                            \
	(step(*#field), *(const volatile __typeof__((page)->field) *)&(page)->field)

static uint64_t sim_counter(uint32_t number, uint32_t *seen)
{
	int metrics = number == ALL_FIELDS;

	step(metrics ? 'M' : 'S');
	CHECK(metrics || number == INDEX - 1, "%u", number);
	*seen |= sim.faults == 1 + metrics;
	return metrics ? sim.fields : sim.slots;
}

#undef TACH_COUNTER
#define TACH_COUNTER(way, number, value, seen) ((value) = sim_counter(number, &(seen)))

static int sim_sum_of(struct tach_way way, int extend, uint64_t *sum)
{
	step('P');
	CHECK(way.page == &pages[PLAIN] && extend);
	*sum = sim.kernel[PLAIN];
	return !sim.other_fails;
}

static uint64_t part_of(int member)
{
	return sim.slots * (sim.fields >> 8 * reader.topdown.field[member] & 255) / 255;
}

/* A read(2) resets both registers if the thread runs on a core that has them. */
static int sim_read(struct tach__group_read *now)
{
	step('R');
	if (sim.state <= 0)
		return sim.state;
	if (pages[SLOTS].index) {
		sim.kernel[BACKEND] += part_of(BACKEND);
		sim.kernel[RETIRING] += part_of(RETIRING);
		sim.kernel[SLOTS] += sim.slots;
		sim.slots = 0;
	}
	now->enabled = 3000;
	now->running = 2500;
	for (int i = 0; i <= MEMBERS; i++)
		now->value[i] = sim.kernel[group.member[i]];
	return 1;
}

static int sim_group_read(const struct tach__group *g, struct tach__group_read *now)
{
	CHECK(g == &group && reader.hybrid);
	return sim_read(now);
}

/* On a machine with one core type, this is sim_read. */
static int sim_read_or_recover(struct tach__reader *r, struct tach__group_read *now)
{
	CHECK(r == &reader && !r->hybrid);
	return sim_read(now);
}

static void sim_fence(int order)
{
	CHECK(order == __ATOMIC_SEQ_CST);
	step('F');
}

#define tach__sum_of		     sim_sum_of
#define tach__group_read(group, now) sim_group_read(group, now)
#define tach__read_or_recover	     sim_read_or_recover
#define __atomic_signal_fence	     sim_fence
#include "core/reader/topdown_look.c"
#undef tach__group_read

static struct tach__topdown *const t = &reader.topdown;

/*
 * The group was reset at lock 100, with 1000 slots and 100 of all others; 2550 slots were
 * counted since.
 */
static void begin(const char *order)
{
	memset(&sim, 0, sizeof sim);
	memset(&reader, 0, sizeof reader);
	memset(pages, 0, sizeof pages);
	group.count = MEMBERS;
	for (int i = 0; i <= MEMBERS; i++)
		group.member[i] = (uint8_t)(order[i] - '0');
	t->group = &group;
	t->way = reader.hot.way;
	t->members = 1u << BACKEND | 1u << RETIRING;
	t->field[BACKEND] = 3;
	for (int m = 0; m < TACH_COUNTERS_MAX; m++) {
		reader.hot.way[m].page = &pages[m];
		t->base[m] = t->least[m] = sim.kernel[m] = 100;
	}
	t->base[SLOTS] = sim.kernel[SLOTS] = 1000;
	t->lock = 100;
	t->behind = 7;
	pages[SLOTS].lock = 102;
	pages[SLOTS].index = INDEX;
	pages[SLOTS].cap_user_rdpmc = 1;
	sim.slots = 2550;
	sim.fields = 102u << 24 | 0xabcd00 | 51; /* 1020 and 510 of them */
	sim.state = 1;
	sim.at = -1;
}

static const char *const orders[] = {"46105", "41065"};

static int look(struct tach__look *l)
{
	memset(l, 0x77, sizeof *l);
	memset(sim.trace, 0, sizeof sim.trace);
	return tach__topdown_look(&reader, l);
}

#endif
