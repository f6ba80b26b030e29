/* SPDX-License-Identifier: MIT */
/*
 * Lists of events are divided into passes: the place of each event, events in all passes, and
 * the maximum number.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/set/passes.h"
#include "core/set/plan.h"
#include "tests/allocations.h"
#include "tests/child.h"

/* On skl only one counter can count this event, with any threshold. */
#define ONE "INST_RETIRED:PREC_DIST"

static void are(const char *events, int with_interrupts, const char *want)
{
	struct tach__passes *passes = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	char got[1000] = "";
	size_t n = 0;

	CHECK(tach__passes_plan(&passes, events, 0, with_interrupts, &err) == 0, "%s: %s",
	      events, err.text);
	for (int i = 0; passes && i < passes->count; i++)
		n += (size_t)snprintf(got + n, sizeof got - n, "%s%s", i ? " | " : "",
				      passes->events[i]);
	CHECK(strcmp(got, want) == 0, "%s: %s, want %s", events, got, want);
	free(passes);
}

static void events_have_their_pass(void)
{
	/* All events fit one pass: the list is unchanged, except for braces. */
	are("cycles, x=branches", 0, "cycles, x=branches");
	are("", 0, "");
	are("{cycles,x=branches}:k,y=bogus", 0, "cycles:k,x=branches:k,y=bogus");
	are("instructions," ONE ",x=" ONE ":c=1,cycles", 0,
	    ONE ",cycles,instructions | x=" ONE ":c=1,instructions");
	are("instructions:k,x=instructions," ONE "," ONE ":c=1", 0,
	    "instructions:k,x=instructions," ONE ":c=1,instructions | " ONE ",instructions");
	/*
	 * An event that cannot be encoded is in the first pass, derived events are in the last.
	 */
	are("ipc,cycles", 0, "cycles,instructions | instructions,ipc,");
	are("bogus," ONE ",x=ipc,y=bogus2," ONE ":c=1,PAPI_L1_TCM", 0,
	    "bogus,y=bogus2," ONE ",instructions | " ONE
	    ":c=1,instructions | instructions,x=ipc,PAPI_L1_TCM,");
	/* Interrupts need one more general counter, but appear in no list. */
	are(ONE "," ONE ":c=1", 1, ONE ":c=1,instructions | " ONE ",instructions");
}

static void too_long_a_name_is_odd(void)
{
	char list[TACH_EVENT_NAME_MAX + 100], want[TACH_EVENT_NAME_MAX + 120];
	int n = TACH_EVENT_NAME_MAX;

	snprintf(list, sizeof list, ONE "," ONE ":c=1,%0*d", n, 0);
	snprintf(want, sizeof want, "%0*d," ONE ",instructions | " ONE ":c=1,instructions", n,
		 0);
	are(list, 0, want);
}

/* A set holds 16 events, although more software events would fit one group. */
static void large_groups_are_divided(void)
{
	for (int with = 0; with < 2; with++)
		for (int n = 13; n < 50; n++) {
			struct tach__passes *passes = NULL;
			int room = TACH_COUNTERS_MAX - 1 - with, seen = 0, code;
			char list[1000] = "";

			for (int i = 0; i < n; i++)
				sprintf(list + strlen(list), "s%d=page-faults,", i);
			code = tach__passes_plan(&passes, list, 0, with, NULL);
			CHECK(code == 0 && passes->count == (n + room - 1) / room,
			      "%d with %d: %d passes", n, with, passes ? passes->count : code);
			for (int k = 0; passes && k < passes->count; k++) {
				int here = 0;

				for (const char *at = passes->events[k];
				     (at = strstr(at, "=page")); at++)
					here++;
				CHECK(here <= room, "%d in pass %d", here, k);
				seen += here;
			}
			CHECK(seen == n, "%d of %d", seen, n);
			free(passes);
		}
}

/* An unknown level cannot be encoded; making the set reports it. */
static void unknown_level_is_left_to_the_set(void)
{
	static const char list[] = "instructions," ONE "," ONE ":c=1";
	static const struct {
		uint32_t privilege;
		int count;
	} cases[] = {{0, 2}, {TACH_PRIVILEGE_KERNEL, 2}, {0x80, 1}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach__passes *passes = NULL;

		CHECK(tach__passes_plan(&passes, list, cases[i].privilege, 0, NULL) == 0 &&
			      passes->count == cases[i].count,
		      "%#x: %d", cases[i].privilege, passes ? passes->count : 0);
		if (cases[i].count == 1)
			CHECK(strcmp(passes->events[0], list) == 0, "%s", passes->events[0]);
		free(passes);
	}
}

/*
 * An event with a fixed counter stays in its group; fields of PERF_METRICS stay with their
 * slots.
 */
static void of_fixed_counters(void)
{
	char list[600] = "", want[700] = "";

	setenv("TACH_PMU", "icl", 1);
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		sprintf(list + strlen(list), "s%d=page-faults,", i);
	strcat(list, ONE ",TOPDOWN:SLOTS,topdown-retiring,topdown-bad-spec");
	for (int i = 0; i < TACH_COUNTERS_MAX - 5; i++)
		sprintf(want + strlen(want), "s%d=page-faults,", i);
	strcat(want, ONE ",TOPDOWN:SLOTS,topdown-retiring,topdown-bad-spec,instructions | ");
	for (int i = TACH_COUNTERS_MAX - 5; i < TACH_COUNTERS_MAX; i++)
		sprintf(want + strlen(want), "s%d=page-faults,", i);
	strcat(want, "instructions");
	are(list, 0, want);
}

static void fixed_counters(void)
{
	in_child(of_fixed_counters);
}

/* If a PMU has no event for interrupts, they need no counter. */
static void without_interrupts(void)
{
	char list[400] = "", want[400];

	setenv("TACH_PMU", "icl", 1);
	for (int i = 0; i < TACH_COUNTERS_MAX - 1; i++)
		sprintf(list + strlen(list), "%ss%d=page-faults", i ? "," : "", i);
	snprintf(want, sizeof want, "%s", list);
	are(list, 1, want);
}

static void interrupts_that_nothing_counts(void)
{
	in_child(without_interrupts);
}

/* The capacity of an unknown PMU is unknown: the list stays as written. */
static void of_an_unknown_pmu(void)
{
	setenv("TACH_PMU", "nosuch", 1);
	are(ONE "," ONE ":c=1,ipc,cycles", 0, ONE "," ONE ":c=1,ipc,cycles");
	are("{cycles,r01c0}:k,instructions", 1, "cycles:k,r01c0:k,instructions");
}

static void unknown_pmus(void)
{
	in_child(of_an_unknown_pmu);
}

static int many(const char *event, int n, int with_interrupts, int *count,
		struct tach_error *err)
{
	char *list = calloc((size_t)n + 1, 120), *to = list;
	struct tach__passes *passes = NULL;
	int code;

	for (int i = 0; i < n; i++)
		to += sprintf(to, "label%070d=%s%d,", i, event, i);
	sprintf(to, "ipc");
	code = tach__passes_plan(&passes, list, 0, with_interrupts, err);
	*count = passes ? passes->count : 0;
	/* The last pass is complete. */
	if (code == 0)
		CHECK(strcmp(passes->events[*count - 1], "instructions,ipc,") == 0 &&
			      strstr(passes->events[*count - 2], ",instructions"),
		      "%s", passes->events[*count - 1]);
	free(passes);
	free(list);
	return code;
}

static void as_many_as_there_may_be(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	int count;

	CHECK(many(ONE ":c=", TACH__PASSES_MAX - 1, 0, &count, &err) == 0 &&
		      count == TACH__PASSES_MAX,
	      "%d: %s", count, err.text);
#if WATCHED
	CHECK(overrun == 0, "written behind what there is room for");
#endif
	CHECK(many(ONE ":c=", TACH__PASSES_MAX, 0, &count, &err) == TACH_ERR_TOOMANY &&
		      strcmp(err.text, "64 passes; at most 63") == 0 && !err.line &&
		      !err.column,
	      "%d:%d: %s", err.line, err.column, err.text);
}

/* Groups that arise by division count too. */
static void more_by_division(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__passes *passes = NULL;
	char list[8000] = "";

	for (int i = 0; i < TACH__PASSES_MAX - 4; i++)
		sprintf(list + strlen(list), ONE ":c=%d,", i);
	for (int i = 0; i < 130; i++)
		strcat(list, "page-faults,");
	CHECK(tach__passes_plan(&passes, list, 0, 0, &err) == TACH_ERR_TOOMANY && !passes &&
		      strcmp(err.text, "64 passes; at most 63") == 0,
	      "%s", err.text);
}

static void more_than_are_looked_at(void)
{
	for (int with = 0; with < 2; with++) {
		char list[TACH_SCHEDULE_MAX * 13 + 1] = "", *to = list;
		struct tach__passes *passes = NULL;
		struct tach_error err = TACH_ERROR_INIT;
		int most = TACH_SCHEDULE_MAX - 1 - with, room = TACH_COUNTERS_MAX - 1 - with;
		char text[80];

		for (int i = 0; i < most; i++)
			to += sprintf(to, "page-faults,");
		CHECK(tach__passes_plan(&passes, list, 0, with, &err) == 0 &&
			      passes->count == (most + room - 1) / room,
		      "%s", err.text);
		free(passes);
		passes = NULL;
		sprintf(to, "page-faults,");
		snprintf(text, sizeof text, "a benchmark counts %d events at most", most);
		CHECK(tach__passes_plan(&passes, list, 0, with, &err) == TACH_ERR_TOOMANY &&
			      strcmp(err.text, text) == 0 && !err.line && !err.column,
		      "%s", err.text);
	}
}

/* In a pass, event i is called m<i>, except the event that is in all passes. */
static void names_in_passes(void)
{
	struct tach__passes_whole whole = {
		.nevents = 12, .repeated = TACH__PASSES_REPEATED, .repeats = -1};
	static const struct {
		const char *name;
		int event, repeats;
	} cases[] = {
		{"m0", 0, -1},
		{"m7", 7, -1},
		{"m11", 11, -1},
		{"m12", -1, -1},
		{"m", -1, -1},
		{"m1x", -1, -1},
		{"x1", -1, -1},
		{"M1", -1, -1},
		{"m-1", -1, -1},
		{"m 1", -1, -1},
		{"instructions", -1, -1},
		{"instructions", 0, 0},
		{"instructions", 3, 3},
		{"m3", 3, 3},
		{"instruction", -1, 3},
		{"m99999999999999999999", -1, 3},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		whole.repeats = cases[i].repeats;
		CHECK(tach__plan_event(&whole, cases[i].name) == cases[i].event, "%s: %d",
		      cases[i].name, tach__plan_event(&whole, cases[i].name));
	}
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(interrupts_that_nothing_counts);
	CASE(unknown_pmus);
	CASE(fixed_counters);
	CASE(events_have_their_pass);
	CASE(unknown_level_is_left_to_the_set);
	CASE(too_long_a_name_is_odd);
	CASE(large_groups_are_divided);
	CASE(as_many_as_there_may_be);
	CASE(more_by_division);
	CASE(more_than_are_looked_at);
	CASE(names_in_passes);
	return check_done();
}
