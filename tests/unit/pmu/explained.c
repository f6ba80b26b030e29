/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's explanation of events that do not fit, and scheduling on the counters that
 * options leave.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include "core/pmu/pmu.h"
#include "tests/check.h"

enum { MOST = 16 };

static struct tach_event events[MOST];
static struct tach_error err;

static int encode(const char *pmu, const char *list)
{
	struct tach_encode_options how = TACH_ENCODE_OPTIONS_INIT;
	char copy[1024], *save = NULL;
	int n = 0;

	how.pmu = tach_pmu_find(pmu);
	how.sysfs = how.tracefs = "/nonexistent";
	snprintf(copy, sizeof copy, "%s", list);
	for (char *e = strtok_r(copy, " ", &save); e && n < MOST;
	     e = strtok_r(NULL, " ", &save)) {
		memset(&events[n], 0, sizeof *events);
		CHECK(tach_event_encode(e, &how, &events[n++], &err) == 0, "%s: %s", e,
		      err.text);
	}
	return n;
}

static int split(const char *pmu, int n, int nanchors, uint32_t general, uint32_t fixed,
		 struct tach_schedule *plan)
{
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;

	*plan = (struct tach_schedule){.size = sizeof *plan};
	opt.pmu = tach_pmu_find(pmu);
	opt.general = general;
	opt.fixed = fixed;
	err = (struct tach_error)TACH_ERROR_INIT;
	return tach_schedule_split(events, n, nanchors, &opt, plan, &err);
}

#define SAYS(want)                                                                             \
	CHECK(strcmp(err.text, want) == 0 && err.line == 0 && err.column == 0, "%d:%d: %s",    \
	      err.line, err.column, err.text)

static void bad_arguments_are_refused(void)
{
	static struct tach_event many[TACH_SCHEDULE_MAX + 1];
	struct tach_schedule plan;
	int n = encode("skl", "INST_RETIRED:ANY_P INST_RETIRED:ANY_P:c=1"), rc;

	CHECK(split("skl", -1, 0, 0, 0, &plan) == TACH_ERR_INVAL);
	SAYS("an argument is missing");
	CHECK(split("skl", 2, -1, 0, 0, &plan) == TACH_ERR_INVAL);
	SAYS("an argument is missing");
	CHECK(split("skl", 2, 3, 0, 0, &plan) == TACH_ERR_INVAL);
	SAYS("an argument is missing");
	CHECK(split("skl", 2, 2, 0, 0, &plan) == 0 && plan.ngroups == 1, "%s", err.text);
	CHECK(tach_schedule_split(NULL, 0, 0, NULL, &plan, &err) == TACH_ERR_NOHARDWARE);
	SAYS("no table for counters of that PMU");
	CHECK(split("skx_unc_imc0", n, 0, 0, 0, &plan) == TACH_ERR_INVAL);
	SAYS("no table for counters of that PMU");
	CHECK(split("perf", n, 0, 0, 0, &plan) == TACH_ERR_NOTSUPP);
	SAYS("no table for counters of that PMU");
	events[1].size = sizeof *events - 8;
	rc = split("skl", 2, 0, 0, 0, &plan);
	CHECK(rc == TACH_ERR_INVAL, "%d", rc);
	events[1].size = sizeof *events;
	plan.size = 7;
	CHECK(tach_schedule_split(events, 1, 0, NULL, &plan, &err) == TACH_ERR_INVAL);
	plan.size = sizeof plan;
	for (int i = 0; i <= TACH_SCHEDULE_MAX; i++)
		many[i] = (struct tach_event){.size = sizeof *many, .type = PERF_TYPE_SOFTWARE};
	err = (struct tach_error)TACH_ERROR_INIT;
	CHECK(tach__schedule_set(tach_pmu_find("skl"), many, TACH_SCHEDULE_MAX + 1, &err) ==
	      TACH_ERR_TOOMANY);
	SAYS("193 events; at most 192");
	CHECK(tach__schedule_set(tach_pmu_find("skl"), many, TACH_SCHEDULE_MAX, &err) == 0);
}

/* Events from another version of the struct have a larger distance; all have one size. */
static void larger_events(void)
{
	static struct {
		struct tach_event event;
		char more[16];
	} larger[3];
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_schedule plan = {.size = sizeof plan};

	encode("skl", "INST_RETIRED.ANY INST_RETIRED:ANY_P:c=1 CPU_CLK_UNHALTED.REF_TSC");
	for (int i = 0; i < 3; i++) {
		larger[i].event = events[i];
		larger[i].event.size = sizeof *larger;
	}
	opt.pmu = tach_pmu_find("skl");
	CHECK(tach_schedule_split(&larger[0].event, 3, 0, &opt, &plan, &err) == 0 &&
		      plan.ngroups == 1 && plan.counter[0] == 32 && plan.counter[1] == 0 &&
		      plan.counter[2] == 34,
	      "%d %d %d %s", plan.counter[0], plan.counter[1], plan.counter[2], err.text);
	larger[2].event.size = sizeof *events;
	CHECK(tach_schedule_split(&larger[0].event, 3, 0, &opt, &plan, &err) == TACH_ERR_INVAL);
	SAYS("event 2 has another size than the first");
}

static void explained(void)
{
	struct tach_schedule plan;
	int n = encode("spr", "TOPDOWN_M:RETIRING");

	CHECK(split("spr", n, 0, 0, 0, &plan) == TACH_ERR_FEATCOMB);
	SAYS("topdown metric events count only together with their slots event "
	     "(TOPDOWN:SLOTS): add "
	     "it to the set, first");
	/*
	 * Slots in every group serve all groups; fields in every group need slots in every
	 * group.
	 */
	n = encode("spr", "TOPDOWN_M:SLOTS TOPDOWN_M:RETIRING");
	CHECK(split("spr", n, 1, 0, 0, &plan) == 0 && plan.ngroups == 1, "%s", err.text);
	n = encode("spr", "TOPDOWN_M:RETIRING TOPDOWN_M:SLOTS");
	CHECK(split("spr", n, 1, 0, 0, &plan) == TACH_ERR_FEATCOMB);
	CHECK(split("spr", n, 0, 0, 0, &plan) == 0 && plan.ngroups == 1, "%s", err.text);
	CHECK(split("spr", n, 2, 0, 0, &plan) == 0 && plan.ngroups == 1, "%s", err.text);
	n = encode("skl", "INST_RETIRED:ANY_P UNHALTED_REFERENCE_CYCLES:u");
	CHECK(split("skl", n, 0, 0, 3, &plan) == TACH_ERR_NOASSIGN);
	SAYS("UNHALTED_REFERENCE_CYCLES fits none of the counters that skl has here");
	n = encode("skl", "UNHALTED_REFERENCE_CYCLES INST_RETIRED:ANY_P");
	CHECK(split("skl", n, 0, 0, 3, &plan) == TACH_ERR_NOASSIGN);
	SAYS("UNHALTED_REFERENCE_CYCLES fits none of the counters that skl has here");
	n = encode("skl", "r1c4:u r2c4 r4c4 r8c4 r10c4");
	CHECK(split("skl", n, 4, 0, 0, &plan) == TACH_ERR_NOASSIGN);
	SAYS("the anchor events leave no counter for the others on skl");
}

/*
 * The explanation shows the users' names of their events, in the groups that could count them.
 */
static void groups_are_explained(void)
{
	static const struct {
		const char *list, *text;
	} all[] = {
		{"r1c4:u cpu/event=0xc4,umask=2/ cpu/event=0xc4,umask=4,name=a::b/u r8c4 r10c4 "
		 "cpu//",
		 "4 of 6 events fit one group; tach run --passes or --turns counts all, in 2 "
		 "groups: r1c4, "
		 "cpu/event=0xc4,umask=2/, cpu/event=0xc4,umask=4,name=a::b/, r8c4 | r10c4, "
		 "cpu//"},
		{"BR_INST_RETIRED:NEAR_CALL:c=1:u MEM_LOAD_RETIRED:L1_HIT:k "
		 "BR_INST_RETIRED:0x20:k r8c4 page-faults r10c4",
		 "5 of 6 events fit one group; tach run --passes or --turns counts all, in 2 "
		 "groups: "
		 "BR_INST_RETIRED:NEAR_CALL, MEM_LOAD_RETIRED:L1_HIT, BR_INST_RETIRED:0x20, "
		 "r8c4, PERF_COUNT_SW_PAGE_FAULTS | r10c4"},
		/* Shows no more events than fit. */
		{"BR_INST_RETIRED:NEAR_CALL:u BR_INST_RETIRED:NEAR_TAKEN:u "
		 "BR_INST_RETIRED:FAR_BRANCH:u BR_INST_RETIRED:CONDITIONAL:u "
		 "BR_MISP_RETIRED:NEAR_TAKEN:u BR_MISP_RETIRED:CONDITIONAL:u "
		 "MEM_LOAD_RETIRED:L1_HIT:u MEM_LOAD_RETIRED:L2_HIT:u",
		 "4 of 8 events fit one group; tach run --passes or --turns counts all, in 2 "
		 "groups: "
		 "BR_INST_RETIRED:NEAR_CALL, BR_INST_RETIRED:NEAR_TAKEN, "
		 "BR_INST_RETIRED:FAR_BRANCH, BR_INST_RETIRED:CONDITIONAL | "
		 "BR_MISP_RETIRED:NEAR_TAKEN, ..."},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		int n = encode("skl", all[i].list), rc;

		err = (struct tach_error)TACH_ERROR_INIT;
		rc = tach__schedule_set(tach_pmu_find("skl"), events, n, &err);
		CHECK(rc == TACH_ERR_NOCOUNTER && err.code == rc && !err.line && !err.column,
		      "%d", rc);
		CHECK(strcmp(err.text, all[i].text) == 0, "%s", err.text);
	}
}

/* ---- groups ---- */

/* To place the last event, each of the others must move once more. */
static void how_many_fit(void)
{
	static const struct tach__want wants[] = {
		{.counters = 0x60}, {.counters = 0x03}, {.counters = 0x21}, {.counters = 0x01}};
	struct tach__machine m = {.counters = 0x63};
	struct tach_schedule plan = {.size = sizeof plan};

	CHECK(tach__schedule(&m, wants, 4, 0, &plan) == 0 && plan.nfit == 4 &&
		      plan.ngroups == 1,
	      "%d fit, %d groups", plan.nfit, plan.ngroups);
	CHECK(plan.counter[0] == 6 && plan.counter[1] == 1 && plan.counter[2] == 5 &&
	      plan.counter[3] == 0);
}

/*
 * An anchor in ten groups with the maximum number of events; software events need no counter.
 */
static void many_events(void)
{
	enum { N = 185, TAKING = 30 };
	static struct tach__want wants[N];
	struct tach__machine m = {.counters = 0xf};
	struct tach_schedule plan = {.size = sizeof plan};
	int in[10] = {0};

	wants[0].counters = 0xf;
	for (int i = 0; i < TAKING; i++)
		wants[N - 1 - i].counters = 0xf;
	CHECK(tach__schedule(&m, wants, N, 1, &plan) == 0 && plan.ngroups == 10 &&
		      plan.nfit == N - TAKING + 3,
	      "%d groups, %d fit", plan.ngroups, plan.nfit);
	CHECK(plan.counter[0] >= 0 && plan.counter[0] < 4);
	for (int i = 1; i < N - TAKING; i++)
		CHECK(plan.counter[i] == -1 && plan.group[i] == 0, "%d: %d in %d", i,
		      plan.counter[i], plan.group[i]);
	for (int i = N - TAKING; i < N; i++) {
		CHECK(plan.counter[i] >= 0 && plan.counter[i] < 4 && plan.group[i] < 10);
		in[plan.group[i] % 10]++;
	}
	for (int g = 0; g < 10; g++)
		CHECK(in[g] == 3, "%d in %d", in[g], g);
}

/* ---- the machine ---- */

static void fewer_counters(void)
{
	struct tach_schedule plan;
	int n = encode("skl", "r1c4 r2c4 r4c4 r8c4");

	CHECK(split("skl", n, 0, 0, 0, &plan) == 0 && plan.ngroups == 1 && plan.nfit == 4);
	CHECK(split("skl", n, 0, 0x5, 0, &plan) == 0 && plan.ngroups == 2 && plan.nfit == 2);
	CHECK(plan.counter[0] == 0 && plan.counter[1] == 2 && plan.counter[2] == 0, "%d %d %d",
	      plan.counter[0], plan.counter[1], plan.counter[2]);
	n = encode("skl", "INST_RETIRED.ANY CPU_CLK_UNHALTED.THREAD");
	CHECK(split("skl", n, 0, 0, 0, &plan) == 0 && plan.counter[0] == 32 &&
	      plan.counter[1] == 33);
	CHECK(split("skl", n, 0, 0, 2, &plan) == 0 && plan.counter[0] == 0 &&
		      plan.counter[1] == 33,
	      "%d %d", plan.counter[0], plan.counter[1]);
	/* Fixed counters are 16. */
	CHECK(split("skl", n, 0, 0, 0xffff0001, &plan) == 0 && plan.counter[0] == 32 &&
		      plan.counter[1] == 0,
	      "%d %d", plan.counter[0], plan.counter[1]);
}

static void watchdogs(void)
{
	static const struct {
		uint32_t flags;
		int watchdog;
	} all[] = {
		{0, 0},
		{TACH_SCHEDULE_WATCHDOG, 1},
		{TACH_SCHEDULE_NO_WATCHDOG, 0},
		{TACH_SCHEDULE_WATCHDOG | TACH_SCHEDULE_NO_WATCHDOG, 0},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
		struct tach__machine m;

		opt.pmu = tach_pmu_find("skl");
		opt.flags = all[i].flags;
		CHECK(tach__machine(&opt, &m) == 0 && !m.host && m.pmu == opt.pmu);
		CHECK(!m.watchdog == !all[i].watchdog, "%x: %llx", opt.flags,
		      (unsigned long long)m.watchdog);
	}
}

/* The struct's old content is overwritten. */
static void machines(void)
{
	static const char *const pmus[] = {"skl", "arm_n1", "amd64_fam19h_zen4", "rv_bullet",
					   "arm_ac57"};

	for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
		struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
		struct tach__machine m, zeroed;

		memset(&m, 0x5a, sizeof m);
		memset(&zeroed, 0, sizeof zeroed);
		opt.pmu = tach_pmu_find(pmus[i]);
		CHECK(tach__machine(&opt, &m) == 0 && tach__machine(&opt, &zeroed) == 0);
		for (int k = 0; i > 0 && k < TACH__NSHARED; k++)
			CHECK(m.nshared[k] == 0, "%s has no registers that are shared",
			      pmus[i]);
		CHECK(memcmp(&m, &zeroed, sizeof m) == 0 && !m.host && m.counters, "%s",
		      pmus[i]);
	}
}

/* Boxes, software events, tracepoints and breakpoints use none of a core's counters. */
static void other_events(void)
{
	static const struct {
		uint32_t type;
		const char *pmu;
		int takes;
	} all[] = {
		{PERF_TYPE_HARDWARE, "perf", 1},    {PERF_TYPE_SOFTWARE, "perf", 0},
		{PERF_TYPE_TRACEPOINT, "perf", 0},  {PERF_TYPE_HW_CACHE, "perf", 1},
		{PERF_TYPE_RAW, "perf_raw", 1},	    {PERF_TYPE_BREAKPOINT, "perf_raw", 0},
		{PERF_TYPE_RAW, "skx_unc_imc0", 0}, {PERF_TYPE_RAW, "tgl_unc_imc_free1", 0},
		{PERF_TYPE_RAW, "skl", 1},
	};
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach__machine m;

	opt.pmu = tach_pmu_find("skl");
	CHECK(tach__machine(&opt, &m) == 0);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_event e = {.size = sizeof e, .type = all[i].type, .config = 0x1c4};
		struct tach__want want;

		if (all[i].type == PERF_TYPE_HARDWARE || all[i].type == PERF_TYPE_HW_CACHE)
			e.config = 0;
		e.pmu = tach_pmu_find(all[i].pmu);
		memset(&want, 0x5a, sizeof want);
		tach__want(&m, &e, &want);
		CHECK(!want.counters == !all[i].takes, "%zu: %llx", i,
		      (unsigned long long)want.counters);
		CHECK(want.counters || (!want.shared && !want.value && !want.metrics), "%zu",
		      i);
	}
}

/* Numbers outside the boxes' range are refused. */
static void no_boxes(void)
{
	const int numbers[] = {-1, tach__npmus() - 1, tach__npmus() + tach__nboxes()};
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach__machine m;

	opt.pmu = tach__npmus();
	CHECK(tach__machine(&opt, &m) == TACH_ERR_INVAL);
	opt.pmu = tach_pmu_find("skl");
	CHECK(tach__machine(&opt, &m) == 0);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct tach_event e = {
			.size = sizeof e, .type = PERF_TYPE_RAW, .config = 0x1c4};
		struct tach__want want;

		e.pmu = numbers[i];
		tach__want(&m, &e, &want);
		CHECK(want.counters, "%d", numbers[i]);
	}
}

int main(void)
{
	setenv("TACH_PMU", "nosuch", 1);
	CASE(bad_arguments_are_refused);
	CASE(larger_events);
	CASE(explained);
	CASE(groups_are_explained);
	CASE(how_many_fit);
	CASE(many_events);
	CASE(fewer_counters);
	CASE(watchdogs);
	CASE(no_boxes);
	CASE(machines);
	CASE(other_events);
	return check_done();
}
