/* SPDX-License-Identifier: MIT */
/*
 * Numbers of tags and tasks, which divide rows (split.h). A tag or task gets the next number at
 * its first use, for ever.
 */
#include <string.h>
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/region.h"

enum { PLACES_LOG2 = 11, PLACES = 1 << PLACES_LOG2 };
TACH_STATIC_ASSERT(PLACES >= 2 * TACH__SPLIT_MOST, "searches end soon, and at a free place");

/* Tags by number, from 1, and a table to find them. Readers take no lock. A place is free while
 * its number is 0; the number is stored last. */
static uint64_t tag_of[TACH__SPLIT_MOST + 1];
static struct tag_place {
	uint64_t tag;
	uint32_t number;
} place[PLACES];
static struct {
	const struct tach_site *site;
	const char *name;
} task_of[TACH__SPLIT_TASKS + 1];
static uint32_t tags, tasks; /* under the lock */
static int is_numbering;     /* 1: tasks get numbers */

/* Uses the top bits, because all bits of a tag affect them. */
static uint32_t first_place(uint64_t tag)
{
	return (uint32_t)(tag * 0x9e3779b97f4a7c15u >> (64 - PLACES_LOG2));
}

static struct tag_place *tag_find(uint64_t tag, uint32_t *number)
{
	for (uint32_t at = first_place(tag);; at++) {
		struct tag_place *p = &place[at % PLACES];

		*number = __atomic_load_n(&p->number, __ATOMIC_ACQUIRE);
		if (!*number || TACH__GET(p->tag) == tag)
			return p;
	}
}

static uint32_t tag_add(uint64_t tag, uint32_t most)
{
	struct tag_place *p;
	struct tach__held held;
	uint32_t number;

	tach__lock(&held);
	p = tag_find(tag, &number);
	if (!number && tags < most) {
		number = tags + 1;
		tag_of[number] = tag;
		TACH__SET(p->tag, tag);
		__atomic_store_n(&p->number, number, __ATOMIC_RELEASE);
		TACH__SET(tags, number);
	}
	tach__unlock(&held);
	return number;
}

/* Returns 0 for no tag, and one more than the maximum for each tag beyond the maximum. */
uint32_t tach__split_tag_number(struct tach__split *split, uint64_t tag)
{
	uint32_t number, most = split->tags;

	if (!tag)
		return 0;
	tag_find(tag, &number);
	if (!number && TACH__GET(tags) < most && tach__signals_held == tach__calibrating)
		number = tag_add(tag, most);
	if (number && number <= most)
		return number;
	tach__split_over(split, TACH__SPLIT_TAG);
	return most + 1;
}

static uint32_t task_find(const struct tach_site *site)
{
	uint32_t n = __atomic_load_n(&tasks, __ATOMIC_ACQUIRE);

	for (uint32_t i = 1; i <= n; i++)
		if (task_of[i].site == site && strcmp(task_of[i].name, site->name) == 0)
			return i;
	return 0;
}

static void task_add(const struct tach_site *site)
{
	const struct tach_site *named = tach__site_get_here(site->name);
	struct tach__held held;

	tach__lock(&held);
	if (named && !task_find(site) && tasks < TACH__SPLIT_TASKS) {
		task_of[tasks + 1].site = site;
		task_of[tasks + 1].name = named->name; /* it is never freed */
		__atomic_store_n(&tasks, tasks + 1, __ATOMIC_RELEASE);
	}
	tach__unlock(&held);
}

void tach__split_number_tasks(void)
{
	TACH__SET(is_numbering, 1);
}

uint32_t tach__split_numbers_tasks(void)
{
	return TACH__GET(is_numbering) != 0;
}

uint32_t tach__split_task_number(const struct tach_site *site)
{
	uint32_t number;

	if (!TACH__GET(is_numbering))
		return 0;
	number = task_find(site);
	if (!number && tach__signals_held == tach__calibrating) {
		task_add(site);
		number = task_find(site);
	}
	return number ? number : TACH__SPLIT_TASKS + 1;
}

uint64_t tach__split_tag(uint32_t number)
{
	return tag_of[number];
}

const char *tach__split_task_name(uint32_t number)
{
	return task_of[number].name;
}
