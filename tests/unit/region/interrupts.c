/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: the events that count them, the events they are subtracted from, and the message
 * if no event counts them. A simulated kernel counts, so every interrupt is known.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tach.h>
#include <tach/bench.h>
#include "core/set/set.h"
#include "tests/check.h"
#include "tests/unit/region/fakekernel.h"

/* ---- sets, planned for named machines ---- */

static struct tach_set *plan(const char *pmu, const char *events, uint32_t flags)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set = NULL;

	opt.events = events;
	opt.flags = flags;
	opt.pmu = tach_pmu_find(pmu);
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s %s: %s", pmu, events, err.text);
	return set;
}

/* `corrected`: a bit for each member from which interrupts are subtracted; NULL: no message. */
static void planned(const char *pmu, const char *events, int member, uint32_t corrected,
		    const char *missing)
{
	struct tach_set *set = plan(pmu, events, TACH_SET_CORRECT);
	uint64_t deltas[TACH_COUNTERS_MAX];
	uint32_t flags[TACH_COUNTERS_MAX] = {0};

	if (!set)
		return;
	CHECK(tach_set_interrupts(set) == member, "%s %s: %d", pmu, events,
	      tach_set_interrupts(set));
	CHECK(missing ? strstr(tach_set_missing(set), missing) != NULL
		      : !*tach_set_missing(set),
	      "%s %s: %s", pmu, events, tach_set_missing(set));
	for (int i = 0; i < tach_set_count(set); i++)
		deltas[i] = i == member ? 7 : 1000;
	tach_set_correct(set, deltas, flags);
	for (int i = 0; i < tach_set_count(set); i++)
		CHECK(deltas[i] == (corrected >> i & 1 ? 993u
				    : i == member      ? 7u
						       : 1000u) &&
			      flags[i] == (corrected >> i & 1 ? TACH_FLAG_CORRECTED : 0),
		      "%s %s: member %d is %d", pmu, events, i, (int)deltas[i]);
	tach_set_free(set);
}

static void sets_count_them(void)
{
	planned("skl", "cycles,instructions", 2, 2, NULL);
	planned("amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS", 1, 1, NULL);
	planned("spr", "INST_RETIRED:ANY,r00c0,branches", 3, 3, NULL);
	/* Interrupts are already counted, under any name. */
	planned("skl", "HW_INTERRUPTS:RECEIVED,instructions", 0, 2, NULL);
	planned("icl", "instructions,interrupts=r01cb", 1, 1, NULL);
	/*
	 * Interrupts are subtracted only from user-level instructions: other counts contain the
	 * kernel's own.
	 */
	planned("skl", "cycles,instructions:u:k", 2, 0, "subtracted from nothing");
	planned("skl", "cycles,INST_RETIRED:ANY_P:c=1", 2, 0, "subtracted from nothing");
	planned("arm_n1", "cycles,instructions", 2, 0,
		"they add no instruction on this architecture");
	planned("icl", "cycles,instructions", -1, 0, "interrupts=EVENT");
	planned("amd64_fam17h_zen1", "instructions", -1, 0, "no event for them on this PMU");
}

static void what_was_asked_for_by_name_comes_first(void)
{
	planned("amd64_fam10h_barcelona",
		"CPU_CLK_UNHALTED,RETIRED_INSTRUCTIONS,DATA_CACHE_ACCESSES,DATA_CACHE_MISSES",
		-1, 0, "leave no counter");
	planned("amd64_fam10h_barcelona",
		"CPU_CLK_UNHALTED,RETIRED_INSTRUCTIONS,DATA_CACHE_ACCESSES", 3, 2, NULL);
}

static void unasked_nothing_changes(void)
{
	struct tach_set *set = plan("skl", "instructions,interrupts", 0);
	uint64_t deltas[2] = {1000, 7};
	uint32_t flags[2] = {0, 0};

	CHECK(tach_set_interrupts(set) == -1);
	tach_set_correct(set, deltas, flags);
	CHECK(deltas[0] == 1000 && flags[0] == 0);
	tach_set_free(set);
	set = plan("skl", "instructions", TACH_SET_INTERRUPTS);
	CHECK(tach_set_interrupts(set) == 1);
	tach_set_correct(set, deltas, flags);
	CHECK(deltas[0] == 1000 && flags[0] == 0);
	tach_set_free(set);
}

/* An interrupt between the two reads of one end may count more interrupts than instructions. */
static void never_below_zero(void)
{
	struct tach_set *set = plan("skl", "instructions", TACH_SET_CORRECT);
	uint64_t deltas[2] = {3, 4};
	uint32_t flags[2] = {0, TACH_FLAG_RESCHEDULED};

	tach_set_correct(set, deltas, flags);
	CHECK(deltas[0] == 0 && flags[0] == (TACH_FLAG_CORRECTED | TACH_FLAG_RESCHEDULED));
	tach_set_free(set);
}

/* ---- regions ---- */

static struct tach_snapshot *shot;

static void look(void)
{
	tach_snapshot_free(shot);
	shot = NULL;
	CHECK(tach_snapshot_take(&shot, NULL) == 0);
}

static struct tach_value value(int quantity, enum tach_part part)
{
	struct tach_value v = {NAN, NAN, NAN, NAN, 0, 0};

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		struct tach_region_info info = {0};

		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, "outer") == 0)
			tach_snapshot_value(shot, r, quantity, part, &v);
	}
	return v;
}

/*
 * A unit of work counts 1 cycle and 2 instructions; an interrupt counts only as an interrupt.
 */
static void work(uint64_t n, uint64_t interrupts)
{
	fake_count += n;
	fake_extra[1] += interrupts;
	fake_extra[2] += interrupts;
}

static void enter(void)
{
	for (int i = 0; i < 10; i++) {
		TACH_START(outer);
		work(1000, 7);
		TACH_START(inner);
		work(100, 2);
		TACH_STOP(inner);
		TACH_STOP(outer);
	}
	look();
}

static int configure(const char *interrupts, int members)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code;

	tach__sys = fake_sys;
	fake_members = members;
	fake_still = 2;
	setenv("TACH_EVENTS", "cycles,instructions", 1);
	setenv("TACH_METRICS", "ipc = instructions / cycles", 1);
	setenv("TACH_INTERRUPTS", interrupts, 1);
	setenv("TACH_NOTES", "1", 1);
	code = tach_regions_configure(NULL, &err);
	CHECK(code == 0, "%s", err.text);
	return code;
}

static char report[1 << 16];

static int keep(void *context, const char *text, size_t length)
{
	size_t *used = context;

	if (*used + length >= sizeof report)
		return -1;
	memcpy(report + *used, text, length);
	report[ *used += length] = '\0';
	return 0;
}

static int says(enum tach_format format, const char *what)
{
	struct tach_report_options opt = {0};
	size_t used = 0;

	opt.format = format;
	*report = '\0';
	tach_report_write(shot, &opt, keep, &used, NULL);
	return strstr(report, what) != NULL;
}

static void regions_are_corrected(void)
{
	struct tach_value v, ipc;

	if (configure("correct", 3))
		return;
	enter();
	v = value(2, TACH_PART_INCLUSIVE);
	CHECK(v.value == 22000 && v.flags & TACH_FLAG_CORRECTED, "%g, raw %g", v.value, v.raw);
	CHECK(v.raw - v.overhead == 22090, "raw %g, overhead %g", v.raw, v.overhead);
	v = value(2, TACH_PART_SELF);
	CHECK(v.value == 20000, "self %g", v.value);
	v = value(3, TACH_PART_INCLUSIVE);
	CHECK(v.value == 90 && !(v.flags & TACH_FLAG_CORRECTED), "%g interrupts", v.value);
	CHECK(value(1, TACH_PART_INCLUSIVE).value == 11000);
	tach_snapshot_derived(shot, 0, 0, TACH_PART_INCLUSIVE, &ipc);
	CHECK(ipc.value == 2 && ipc.flags & TACH_FLAG_CORRECTED, "%g", ipc.value);
	CHECK(says(TACH_FORMAT_TEXT,
		   "Each interrupt counts one instruction, which is taken out"),
	      "%s", report);
	CHECK(says(TACH_FORMAT_HTML, "subtracted for every interrupt"));
	CHECK(says(TACH_FORMAT_JSON, "\"corrected\"") && says(TACH_FORMAT_CSV, "corrected"),
	      "%s", report);
}

/* A saved report equals the shown one, including raw counts. */
static void saved_and_added_up(void)
{
	struct tach_snapshot *saved = NULL, *sum = NULL, *live = shot;
	struct tach_value v;

	says(TACH_FORMAT_JSON, "");
	CHECK(tach_snapshot_load(report, strlen(report), &saved, NULL) == 0);
	CHECK(tach_snapshot_merge((const struct tach_snapshot *[]){saved, live}, 2, &sum,
				  NULL) == 0);
	shot = sum;
	v = value(2, TACH_PART_INCLUSIVE);
	CHECK(v.value == 44000 && v.raw - v.overhead == 44180 && v.flags & TACH_FLAG_CORRECTED,
	      "%g, raw %g", v.value, v.raw);
	shot = live;
	tach_snapshot_free(saved);
	tach_snapshot_free(sum);
}

static void regions_that_only_count(void)
{
	struct tach_value v;

	if (configure("1", 3))
		return;
	enter();
	v = value(2, TACH_PART_INCLUSIVE);
	CHECK(v.value == 22090 && !(v.flags & TACH_FLAG_CORRECTED), "%g", v.value);
	CHECK(value(3, TACH_PART_INCLUSIVE).value == 90);
	CHECK(!says(TACH_FORMAT_TEXT, "taken out"));
}

static void the_report_says_why_not(void)
{
	struct tach_set *with = plan("skl", "interrupts", 0);

	/* The kernel does not know the event. */
	fake_refused = tach_set_attr(with, 0)->config;
	configure("correct", 2);
	fake_refused = 0;
	look();
	CHECK(tach_snapshot_nquantities(shot) == 3);
	CHECK(strstr(tach_snapshot_missing(shot),
		     "interrupts: this machine's PMU cannot count"),
	      "%s", tach_snapshot_missing(shot));
	/* The event opens alone; the group does not. */
	tach_regions_disable();
	fake_room = fake_opens - fake_closes + 2;
	configure("correct", 2);
	look();
	CHECK(tach_snapshot_nquantities(shot) == 3);
	CHECK(says(TACH_FORMAT_TEXT, "interrupts: not counted, the set's other events"), "%s",
	      tach_snapshot_missing(shot));
	fake_room = 0;
	tach_set_free(with);
}

/* The program requests them, in valid and invalid combinations. */
static void options_ask_for_them(void)
{
	struct tach_regions_options opt = {.events = "cycles,instructions",
					   .interrupts = TACH_SET_CORRECT};
	struct tach_error err = TACH_ERROR_INIT;

	unsetenv("TACH_EVENTS");
	unsetenv("TACH_METRICS");
	unsetenv("TACH_INTERRUPTS");
	unsetenv("TACH_NOTES");
	fake_members = 3;
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	enter();
	CHECK(value(2, TACH_PART_INCLUSIVE).value == 22000);
	CHECK(tach_regions_configure(&(struct tach_regions_options){.events = "cycles"},
				     &err) == 0);
	look();
	CHECK(tach_snapshot_nquantities(shot) == 2);
	opt.interrupts = TACH_SET_MULTIPLEX;
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL);
}

/* ---- benchmarks ---- */

static void body(void *context, uint64_t n)
{
	(void)context;
	work(5 * n, n);
}

static void empty(void *context, uint64_t n)
{
	(void)context;
	work(2 * n, 0);
}

static void benchmarks_are_corrected(void)
{
	struct tach_bench_options opt = {.events = "cycles,instructions",
					 .iterations = 100,
					 .samples = 5,
					 .empty = empty,
					 .interrupts = TACH_SET_CORRECT};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench = NULL;
	struct tach_bench_quantity v = {.size = sizeof v};

	fake_members = 3;
	CHECK(tach_bench_run("b", body, NULL, &opt, &bench, &err) == 0, "%s", err.text);
	CHECK(tach_bench_count(bench) == 4, "%s", tach_bench_missing(bench));
	tach_bench_value(bench, 2, &v);
	CHECK(v.median == 6 && v.flags & TACH_FLAG_CORRECTED, "%s %g", v.name, v.median);
	tach_bench_value(bench, 3, &v);
	CHECK(v.median == 1, "%s %g", v.name, v.median);
	tach_bench_free(bench);
	opt.interrupts = 1;
	CHECK(tach_bench_run("b", body, NULL, &opt, &bench, &err) == TACH_ERR_INVAL);
}

/* Seven events on four general counters; every pass needs one counter for interrupts. */
static void every_pass_has_them(void)
{
	struct tach__passes *passes = NULL;
	int most = 0;

	CHECK(tach__passes_plan(&passes,
				"r01c4,r02c4,r04c4,r08c4,r10c4,r20c4,instructions,r40c4", 0, 1,
				NULL) == 0);
	for (int i = 0; passes && i < passes->count; i++) {
		struct tach_set *set = plan("skl", passes->events[i], TACH_SET_CORRECT);

		CHECK(tach_set_interrupts(set) >= 0, "%s", passes->events[i]);
		if (tach_set_count(set) > most)
			most = tach_set_count(set);
		tach_set_free(set);
	}
	CHECK(passes && passes->count == 3 && most == 5, "%d passes, at most %d events",
	      passes ? passes->count : 0, most);
	free(passes);
}

/*
 * A derived event adds events that the plan did not include; they would not open in a full
 * group.
 */
static void derived_events_have_a_pass(void)
{
	static const struct {
		const char *events;
		int passes;
	} lists[] = {
		{"r01c4,r02c4,r04c4,r08c4,ipc", 2},
		{"r01c4,r02c4,r04c4,r08c4,r10c4,x=ipc,r20c4,r40c4,r41c4", 3},
		{"r01c4,cycles", 1},
		{"ipc", 2},
	};

	for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
		struct tach__passes *passes = NULL;

		CHECK(tach__passes_plan(&passes, lists[l].events, 0, 0, NULL) == 0);
		CHECK(passes && passes->count == lists[l].passes, "%s: %d passes",
		      lists[l].events, passes ? passes->count : 0);
		for (int p = 0; passes && p < passes->count; p++) {
			struct tach_set *set = plan("skl", passes->events[p], 0);

			CHECK(tach_set_nmetrics(set) == (p == passes->count - 1 &&
							 strstr(lists[l].events, "ipc")),
			      "%s", passes->events[p]);
			tach_set_free(set);
		}
		free(passes);
	}
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	CASE(sets_count_them);
	CASE(what_was_asked_for_by_name_comes_first);
	CASE(unasked_nothing_changes);
	CASE(never_below_zero);
	CASE(regions_are_corrected);
	CASE(saved_and_added_up);
	CASE(regions_that_only_count);
	CASE(the_report_says_why_not);
	CASE(options_ask_for_them);
	CASE(benchmarks_are_corrected);
	CASE(every_pass_has_them);
	CASE(derived_events_have_a_pass);
	tach_snapshot_free(shot);
	return check_done();
}
