/* SPDX-License-Identifier: MIT */
/* Callers' own attrs in sets: the fields that are used, and the counters that they need. */
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include <tach/set.h>
#include "tests/check.h"

static struct tach_error err;

static void attrs_are_taken(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[2];
	struct tach_set_member member[2] = {{"mine", &attr[0]}, {NULL, &attr[1]}};
	struct tach_set *set;

	memset(attr, 0, sizeof attr);
	attr[0].type = PERF_TYPE_RAW;
	attr[0].config = 0x1234;
	attr[0].inherit = attr[0].pinned = attr[0].exclusive = 1;
	attr[1].type = PERF_TYPE_SOFTWARE;
	attr[1].size = sizeof attr[1];
	opt.attrs = member;
	opt.nattrs = 2;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	CHECK(tach_set_attr(set, 0)->config == 0x1234 && !tach_set_attr(set, 0)->inherit);
	CHECK(strcmp(tach_set_name(set, 0), "mine") == 0);
	tach_set_free(set);
	attr[1].type = PERF_TYPE_RAW;
	attr[1].pinned = 1;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_INVAL && !set,
	      "a pinned sibling is taken");
	attr[1].pinned = 0;
	attr[1].size = 8000;
	CHECK(set == NULL);
}

/*
 * Linux 7's attr of 144 bytes (PERF_ATTR_SIZE_VER9), and the permitted content of a longer one.
 */
static void longer_attrs_are_taken(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	union {
		struct perf_event_attr attr;
		char bytes[200];
	} theirs;
	struct tach_set_member member = {"mine", &theirs.attr};
	struct tach_set *set;

	memset(&theirs, 0, sizeof theirs);
	theirs.attr.type = PERF_TYPE_RAW;
	theirs.attr.config = 0x1234;
	theirs.attr.size = 144;
	theirs.bytes[144] = 1; /* beyond the end of the attr */
	opt.attrs = &member;
	opt.nattrs = 1;
	CHECK(tach_set_create(&opt, &set, &err) == 0 &&
		      tach_set_attr(set, 0)->config == 0x1234 &&
		      tach_set_attr(set, 0)->size == sizeof theirs.attr,
	      "%s", err.text);
	tach_set_free(set);
	theirs.attr.size = 152;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOTSUPP && !set && !err.line &&
		      !err.column &&
		      strcmp(err.text, "mine: the attr has fields that this library does not "
				       "know") == 0,
	      "%s", err.text);
}

/* Callers' attrs need counters too: on skl only one counter can count this event. */
static void attrs_take_counters(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[2] = {
		{.type = PERF_TYPE_RAW, .size = sizeof *attr, .config = 0x01c0},
		{.type = PERF_TYPE_RAW, .size = sizeof *attr, .config = 0x010001c0}};
	struct tach_set_member member[2] = {{"one", &attr[0]}, {"two", &attr[1]}};
	struct tach_set *set;

	opt.attrs = member;
	opt.nattrs = 2;
	opt.pmu = tach_pmu_find("skl");
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOCOUNTER && !set &&
		      strstr(err.text, "one | two"),
	      "%s", err.text);
	opt.flags = TACH_SET_MULTIPLEX;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	tach_set_free(set);
	opt.flags = 0;
	opt.nattrs = 1;
	opt.events = "cycles,INST_RETIRED:PREC_DIST";
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOCOUNTER && !set, "%s", err.text);
	opt.events = "cycles,branches,page-faults";
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	tach_set_free(set);
}

/* Attrs do not take the counter of a merged event: only one counter can count it. */
static void attrs_after_a_merged_event(void)
{
	static const char text[] = "EVENT,my_uops,DERIVED_ADD,SCHEDULE_UOP,RETIRE_UOP\n";
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof attr, .config = 0x2e};
	struct tach_set_member member = {"one", &attr};
	struct tach_set *set = NULL;

	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, sizeof text - 1,
				     NULL) == 1);
	opt.events = "x=RETIRE_UOP,my_uops";
	opt.attrs = &member;
	opt.nattrs = 1;
	opt.pmu = tach_pmu_find("apple_firestorm");
	CHECK(tach_set_create(&opt, &set, &err) == 0 && tach_set_count(set) == 3, "%s",
	      err.text);
	tach_set_free(set);
	opt.events = "x=RETIRE_UOP,my_uops,RETIRE_UOP:k";
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOCOUNTER && !set, "%s", err.text);
}

int main(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(attrs_are_taken);
	CASE(longer_attrs_are_taken);
	CASE(attrs_take_counters);
	CASE(attrs_after_a_merged_event);
	return check_done();
}
