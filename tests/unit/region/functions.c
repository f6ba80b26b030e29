/* SPDX-License-Identifier: MIT */
/* START and STOP as functions: their work in addition to that of the inline versions. */
#include <string.h>
#include <tach/task.h>
#include "core/region/left.h"
#include "tests/check.h"

static char calls[64];

static void sim_look(const struct tach_site *site)
{
	strcat(calls, site->id ? "look " : "look off ");
}

static void end(struct tach_region_mark *mark) TACH_NOTHROW;
static void end(struct tach_region_mark *mark)
{
	CHECK(mark->end == end);
	strcat(calls, "end ");
}

static void begin(struct tach_site *site, struct tach_region_mark *mark) TACH_NOTHROW;
static void begin(struct tach_site *site, struct tach_region_mark *mark)
{
	CHECK(site->id && !mark->end);
	strcat(calls, "begin ");
	mark->end = end;
}

#define tach__overtaken_check sim_look
#include "core/region/mark.c"

/* The mark contains data of an earlier use. */
static const char *called(struct tach_site *site)
{
	struct tach_region_mark mark = {.end = end};

	calls[0] = 0;
	tach_region_begin(site, &mark);
	tach_region_end(&mark);
	return calls;
}

static void an_entry(void)
{
	struct tach_site site = {.begin = begin, .id = 9};

	CHECK(strcmp(called(&site), "look begin end ") == 0, "%s", calls);
	site.id = TACH_SITE_OFF;
	CHECK(strcmp(called(&site), "look off ") == 0, "%s", calls);
	CHECK(strcmp(called(NULL), "") == 0, "%s", calls);
}

/* The inline part of tach_task_resume checks the place first. */
static void a_task_at_a_place_switched_off(void)
{
	struct tach_site site = {.begin = begin, .id = TACH_SITE_OFF};
	struct tach_task task = {.site = &site};

	calls[0] = 0;
	tach_task_resume(&task);
	CHECK(!calls[0] && !task.running, "%s", calls);
}

static void the_size_of_a_mark(void)
{
	CHECK(tach_region_mark_size() == sizeof(struct tach_region_mark));
}

int main(void)
{
	CASE(an_entry);
	CASE(a_task_at_a_place_switched_off);
	CASE(the_size_of_a_mark);
	return check_done();
}
