/* SPDX-License-Identifier: MIT */
/*
 * Numbers of tags and tasks, without rows: they are limited, and constant after they are
 * assigned.
 */
#include <string.h>
#include "core/os/sys.h"
#include "core/region/region.h"
#include "tests/check.h"
#include "tests/ordered.h"
#include "tests/unit/region/locked.h"

enum { MOST = TACH__SPLIT_MOST, TASKS = TACH__SPLIT_TASKS };

static int without;
static uint32_t over;
static struct tach_site kept[2 * TASKS];
static size_t nkept;

static void sim_over(struct tach__split *split, uint32_t which)
{
	(void)split;
	over |= which;
}

static struct tach_site *sim_site_get(const char *name)
{
	CHECK(!locks);
	if (without)
		return NULL;
	for (size_t i = 0; i < nkept; i++)
		if (strcmp(kept[i].name, name) == 0)
			return &kept[i];
	CHECK(nkept < sizeof kept / sizeof *kept);
	kept[nkept].name = strdup(name);
	return &kept[nkept++];
}

#define tach__split_over    sim_over
#define tach__site_get_here sim_site_get
#include "core/region/numbers.c"

/* A word that others read without the lock is stored last. */
static void ordered(const void *at, int order)
{
	int is_number = at >= (void *)place && at < (void *)(place + PLACES) &&
			(const char *)at - (const char *)place >= 0;

	for (int i = 0; i < PLACES && is_number; i++)
		if (at == (void *)&place[i].tag)
			is_number = 0;
	if (is_number || at == (void *)&tasks)
		CHECK(order == __ATOMIC_RELEASE);
}

static struct tach__split split = {.tags = MOST};

static void fresh(void)
{
	memset(tag_of, 0, sizeof tag_of);
	memset(place, 0, sizeof place);
	memset(task_of, 0, sizeof task_of);
	tags = tasks = over = 0;
	is_numbering = 1;
	without = 0;
	meanwhile = NULL;
	split.tags = MOST;
}

static uint32_t number_of(uint64_t tag)
{
	return tach__split_tag_number(&split, tag);
}

/* Requests a number in a handler that interrupted library code. */
static uint32_t number_within(uint64_t tag)
{
	uint32_t number;

	tach__signals_held++;
	number = number_of(tag);
	tach__signals_held--;
	return number;
}

/* ---- tags ---- */

static void tags_by_number(void)
{
	fresh();
	CHECK(sizeof tag_of / sizeof *tag_of == MOST + 1);
	CHECK(number_of(0) == 0 && tags == 0);
	for (uint32_t i = 1; i <= MOST; i++)
		CHECK(number_of(i * 1000ull) == i && tags == i);
	for (uint32_t i = 1; i <= MOST; i++)
		CHECK(number_of(i * 1000ull) == i && tach__split_tag(i) == i * 1000ull);
	CHECK(!over);
	CHECK(number_of(7) == MOST + 1 && over == TACH__SPLIT_TAG && tags == MOST);
	/* Another set distinguishes fewer tags. */
	over = 0;
	split.tags = 2;
	CHECK(number_of(2000) == 2 && !over);
	CHECK(number_of(3000) == 3 && over == TACH__SPLIT_TAG);
	over = 0;
	CHECK(number_of(4000) == 3 && over == TACH__SPLIT_TAG);
	fresh();
	split.tags = 1;
	CHECK(number_of(5) == 1 && number_of(6) == 2 && over && tags == 1);
}

/* Values are spread, whichever of their bits differ: addresses, counts, digests. */
static void spread(void)
{
	for (int shift = 0; shift <= 56; shift++) {
		static char here[PLACES];
		int different = 0;

		memset(here, 0, sizeof here);
		for (uint64_t i = 0; i < 200; i++) {
			uint32_t at = first_place(i << shift);

			CHECK(at < PLACES);
			different += !here[at];
			here[at] = 1;
		}
		CHECK(different > 130, "%d of 200, by %d bits", different, shift);
	}
}

/*
 * All values have the same place; after the last place, the search continues at the first one.
 */
static void collisions(void)
{
	uint64_t at_last[3], n = 0;
	uint32_t number;

	fresh();
	for (uint64_t tag = 1; n < 3; tag++)
		if (first_place(tag) == PLACES - 1)
			at_last[n++] = tag;
	for (uint32_t i = 0; i < 3; i++)
		CHECK(number_of(at_last[i]) == i + 1);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(number_of(at_last[i]) == i + 1 && tags == 3);
	CHECK(tag_find(at_last[1], &number) == place && number == 2);
}

static void another_adds_it(void)
{
	meanwhile = NULL;
	number_of(70);
	number_of(71);
}

static void another_fills_it(void)
{
	tags = MOST;
}

static void races(void)
{
	fresh();
	meanwhile = another_adds_it;
	CHECK(number_of(71) == 2 && tags == 2);
	fresh();
	meanwhile = another_fills_it;
	CHECK(number_of(71) == MOST + 1 && tags == MOST && over == TACH__SPLIT_TAG);
}

/* A handler that interrupts library code makes no number and takes no lock. */
static void within(void)
{
	fresh();
	CHECK(number_of(5) == 1 && number_within(5) == 1 && !over);
	CHECK(number_within(6) == MOST + 1 && over == TACH__SPLIT_TAG && tags == 1);
	tach__calibrating++;
	CHECK(number_within(6) == 2);
	tach__calibrating--;
}

/* ---- tasks ---- */

static uint32_t task_number(const struct tach_site *site)
{
	uint32_t number = tach__split_task_number(site);

	over |= number > TASKS ? TACH__SPLIT_TASK : 0;
	return number;
}

static void tasks_by_number(void)
{
	static struct tach_site site[TASKS + 2];
	static char name[TASKS + 2][8];

	fresh();
	CHECK(sizeof task_of / sizeof *task_of == TASKS + 1);
	is_numbering = 0;
	CHECK(tach__split_task_number(&site[1]) == 0 && tasks == 0);
	tach__split_number_tasks();
	for (uint32_t i = 1; i <= TASKS; i++) {
		site[i].name = name[i];
		sprintf(name[i], "t%u", i);
		CHECK(task_number(&site[i]) == i && tasks == i && !over);
	}
	site[TASKS + 1].name = "more";
	CHECK(task_number(&site[TASKS + 1]) == TASKS + 1 && over == TACH__SPLIT_TASK);
	over = 0;
	CHECK(task_number(&site[TASKS + 1]) == TASKS + 1 && over == TACH__SPLIT_TASK);
	over = 0;
	for (uint32_t i = 1; i <= TASKS; i++) {
		CHECK(task_number(&site[i]) == i && !over);
		CHECK(strcmp(tach__split_task_name(i), name[i]) == 0 &&
		      tach__split_task_name(i) != name[i]);
	}
	CHECK(tasks == TASKS);
}

/* A library was unloaded, and another library has a site at its address. */
static void reloaded_sites_get_new_numbers(void)
{
	struct tach_site site = {.name = "a"}, same = {.name = "b"};

	fresh();
	CHECK(task_number(&site) == 1);
	site.name = "b";
	CHECK(task_number(&site) == 2 && task_number(&same) == 3);
	site.name = "a";
	CHECK(task_number(&site) == 1 && tasks == 3);
}

static struct tach_site raced = {.name = "raced"};

static void another_adds_task(void)
{
	meanwhile = NULL;
	task_number(&raced);
}

static void another_fills_tasks(void)
{
	tasks = TASKS;
	for (int i = 1; i <= TASKS; i++)
		task_of[i].site = &kept[0];
}

static void tasks_refused(void)
{
	struct tach_site site = {.name = "s"};
	uint32_t number;

	fresh();
	meanwhile = another_adds_task;
	CHECK(task_number(&raced) == 1 && tasks == 1 && !over);
	meanwhile = another_fills_tasks;
	CHECK(task_number(&site) == TASKS + 1 && tasks == TASKS && over == TACH__SPLIT_TASK);
	fresh();
	without = 1;
	CHECK(task_number(&site) == TASKS + 1 && tasks == 0 && over == TACH__SPLIT_TASK);
	without = over = 0;
	tach__signals_held++;
	number = task_number(&site);
	tach__signals_held--;
	CHECK(number == TASKS + 1 && tasks == 0 && over == TACH__SPLIT_TASK);
	tach__signals_held++;
	tach__calibrating++;
	number = task_number(&site);
	CHECK(number == 1 && tasks == 1);
	tach__calibrating--;
	CHECK(task_number(&site) == 1);
	tach__signals_held--;
}

int main(void)
{
	CASE(tags_by_number);
	CASE(spread);
	CASE(collisions);
	CASE(races);
	CASE(within);
	CASE(tasks_by_number);
	CASE(reloaded_sites_get_new_numbers);
	CASE(tasks_refused);
	return check_done();
}
