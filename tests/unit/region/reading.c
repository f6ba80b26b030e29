/* SPDX-License-Identifier: MIT */
/* Counts of an open region up to now, from its mark and its thread; reads are scripted. */
#include <string.h>
#include "core/region/beacon.h"
#include "core/region/reads.h"
#include "core/region/region.h"
#include "tests/check.h"

enum { COUNT = 3, OPENING = 9, LEVEL = 4 };

static int tries, handlers, since;
static struct tach__hot hot = {.count = COUNT};
static struct tach__config config = {.generation = 77};
static struct tach__thread record = {.config = &config};
static struct tach_region_mark the_mark;
static const struct tach__beacon *the_owner;

/* If a handler's region disturbs a read, the read is repeated, with the present level. */
static int sim_stop(const struct tach__hot *self, const struct tach_region_mark *m,
		    uint64_t state, struct tach__reading *r, int fenced)
{
	CHECK(self == &hot && m == &the_mark && state == hot.state && !fenced && !since);
	tries++;
	if (handlers) {
		handlers--;
		return 0;
	}
	for (uint32_t i = 0; i <= COUNT; i++)
		r->delta[i] = 100 + i;
	r->flags = 5;
	return 1;
}

static void sim_since(const struct tach__hot *self, const struct tach_region_mark *m,
		      struct tach__reading *r)
{
	CHECK(self == &hot && m == &the_mark && r->flags == 5 && r->delta[0] == 100);
	since++;
	r->flags = 6;
}

static const struct tach__beacon *sim_owner(void)
{
	return the_owner;
}

#define tach__edges_stop   sim_stop
#define tach__edges_since  sim_since
#define tach__beacon_owner sim_owner
#include "core/region/read.c"

static uint64_t values[COUNT + 2];
static uint32_t flags, generation;

static int look(int n)
{
	memset(values, 0xee, sizeof values);
	flags = generation = 0;
	tries = since = 0;
	return tach_region_read(&the_mark, values, n, &flags, &generation);
}

static void some_end(struct tach_region_mark *m)
{
	(void)m;
}

static void begin(void)
{
	tach__self = &hot;
	hot.record = &record;
	hot.state = TACH__STATE(OPENING, 3, LEVEL + 1);
	the_mark = (struct tach_region_mark){.end = some_end,
					     .state = TACH__STATE(OPENING, 2, LEVEL)};
	handlers = 0;
	the_owner = NULL;
}

static void values_fit_the_callers_array(void)
{
	begin();
	for (int n = 0; n <= COUNT + 2; n++) {
		CHECK(look(n) == COUNT + 1 && flags == 6 && generation == 77);
		CHECK(tries == 1 && since == 1);
		for (int i = 0; i < COUNT + 2; i++)
			CHECK(values[i] ==
			      (i < n && i <= COUNT ? 100u + (unsigned)i : 0xeeeeeeeeeeeeeeeeu));
	}
	CHECK(look(-1) == TACH_ERR_INVAL && !tries);
}

static void open_ones(void)
{
	begin();
	hot.state = TACH__STATE(OPENING, 3, LEVEL + 7); /* with others inside */
	CHECK(look(1) == COUNT + 1);
	hot.state = TACH__STATE(OPENING, 3, LEVEL); /* given up */
	CHECK(look(1) == TACH_ERR_STATE);
	hot.state = TACH__STATE(OPENING, 3, LEVEL - 1);
	CHECK(look(1) == TACH_ERR_STATE);
	hot.state = TACH__STATE(OPENING + 1, 3, LEVEL + 1);
	CHECK(look(1) == TACH_ERR_STATE);
	begin();
	the_mark.end = NULL;
	CHECK(look(1) == TACH_ERR_STATE);
	begin();
	hot.record = NULL;
	CHECK(look(1) == TACH_ERR_STATE && !tries && !flags && !generation);
}

static void reads_disturbed_by_handlers_are_repeated(void)
{
	begin();
	handlers = 5;
	CHECK(look(1) == COUNT + 1 && tries == 6 && since == 1 && values[0] == 100);
}

static int owners(const struct tach_region_mark *m, uint64_t *v, int n, uint32_t *f,
		  uint32_t *g)
{
	CHECK(m == &the_mark && v == values && n == 2 && f == &flags && g == &generation);
	return 42;
}

/*
 * Another copy of the library owns the regions, in this version or in a version that cannot
 * read open regions.
 */
static void another_copy(void)
{
	struct tach__beacon theirs = {.size = sizeof theirs, .read = owners};

	begin();
	the_owner = &theirs;
	CHECK(look(2) == 42 && !tries);
	theirs.size = offsetof(struct tach__beacon, read) + sizeof theirs.read;
	CHECK(look(2) == 42);
	theirs.size = offsetof(struct tach__beacon, read);
	CHECK(look(2) == TACH_ERR_NOTSUPP);
	CHECK(look(-1) == TACH_ERR_INVAL);
}

int main(void)
{
	struct tach__hot *self = tach__self;

	CASE(values_fit_the_callers_array);
	CASE(open_ones);
	CASE(reads_disturbed_by_handlers_are_repeated);
	CASE(another_copy);
	tach__self = self;
	return check_done();
}
