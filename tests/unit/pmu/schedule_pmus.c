/* SPDX-License-Identifier: MIT */
/*
 * Scheduling for real PMUs: events that fit one group, how the others are split, and the texts
 * of errors.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include <tach/set.h>
#include "tests/check.h"

enum { MOST = 16 };

static struct tach_event events[MOST];
static struct tach_schedule plan = {.size = sizeof plan};
static struct tach_error err;

/* Encodes a blank-separated list for that PMU and schedules it; ngroups or an error. */
static int schedule(const char *pmu, const char *list, int nanchors, uint32_t flags)
{
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_encode_options how = TACH_ENCODE_OPTIONS_INIT;
	char copy[1024], *save = NULL;
	int n = 0, rc;

	opt.pmu = how.pmu = tach_pmu_find(pmu);
	opt.flags = flags;
	snprintf(copy, sizeof copy, "%s", list);
	for (char *e = strtok_r(copy, " ", &save); e && n < MOST;
	     e = strtok_r(NULL, " ", &save)) {
		memset(&events[n], 0, sizeof *events);
		rc = tach_event_encode(e, &how, &events[n++], &err);
		CHECK(rc == 0, "%s %s: %s", pmu, e, err.text);
		if (rc)
			return rc;
	}
	rc = tach_schedule_split(events, n, nanchors, &opt, &plan, &err);
	return rc ? rc : plan.ngroups;
}

#define FOUR_SKL                                                                               \
	"BR_INST_RETIRED:ALL_BRANCHES BR_MISP_RETIRED:ALL_BRANCHES MEM_LOAD_RETIRED:L1_HIT "   \
	"MEM_LOAD_RETIRED:L2_HIT "
#define FIXED_SKL "INST_RETIRED.ANY CPU_CLK_UNHALTED.THREAD CPU_CLK_UNHALTED.REF_TSC "

static void fixed_counters_add_to_general_ones(void)
{
	int n;

	n = schedule("skl", FOUR_SKL FIXED_SKL, 0, 0);
	CHECK(n == 1, "%d", n);
	for (int i = 4; i < 7; i++)
		CHECK(plan.counter[i] == 32 + i - 4, "event %d on %d", i, plan.counter[i]);
	n = schedule("skl", FOUR_SKL "MEM_LOAD_RETIRED:L3_HIT", 0, 0);
	CHECK(n == 2 && plan.nfit == 4, "%d groups, %d fit", n, plan.nfit);
	/* The general form of an event that has a fixed counter may use the fixed counter. */
	n = schedule("skl", FOUR_SKL "INST_RETIRED:ANY_P CPU_CLK_UNHALTED:THREAD_P", 0, 0);
	CHECK(n == 1, "%d", n);
	/* ... but a counter mask needs a general counter. */
	n = schedule("skl", FOUR_SKL "INST_RETIRED:ANY_P:c=1", 0, 0);
	CHECK(n == 2, "%d", n);
}

static void the_watchdog_holds_a_counter(void)
{
	const char *full = FOUR_SKL FIXED_SKL;
	int n = schedule("skl", full, 0, TACH_SCHEDULE_WATCHDOG);

	CHECK(n == 2 && plan.nfit == 6, "%d groups, %d fit", n, plan.nfit);
	n = schedule("skl", FOUR_SKL "INST_RETIRED.ANY", 0, TACH_SCHEDULE_WATCHDOG);
	CHECK(n == 1, "%d: the watchdog has the fixed cycle counter", n);
}

static void offcore_registers_are_two(void)
{
	const char *three = "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE "
			    "OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE "
			    "OFFCORE_RESPONSE_0:DMND_CODE_RD:ANY_RESPONSE "
			    "OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE";
	int n = schedule("skl", three, 0, 0);

	CHECK(n == 2 && plan.nfit == 3, "%d groups, %d fit", n, plan.nfit);
	CHECK(plan.group[0] == plan.group[3], "equal values share a register");
}

static void metrics_cost_no_counters(void)
{
	const char *all = "TOPDOWN_M:SLOTS TOPDOWN_M:RETIRING TOPDOWN_M:BAD_SPEC "
			  "TOPDOWN_M:FRONTEND_BOUND TOPDOWN_M:BACKEND_BOUND INST_RETIRED.ANY "
			  "CPU_CLK_UNHALTED.THREAD";

	CHECK(schedule("spr", all, 0, 0) == 1, "%d", plan.ngroups);
	CHECK(schedule("spr", "TOPDOWN_M:RETIRING", 0, 0) == TACH_ERR_FEATCOMB);
	CHECK(strstr(err.text, "slots") != NULL, "%s", err.text);
}

static void other_makers(void)
{
	const char *six =
		"RETIRED_INSTRUCTIONS CYCLES_NOT_IN_HALT RETIRED_BRANCH_INSTRUCTIONS "
		"RETIRED_INSTRUCTIONS:k RETIRED_INSTRUCTIONS:c=1 RETIRED_INSTRUCTIONS:c=2";
	char seven[512];
	int n;

	n = schedule("amd64_fam19h_zen4", six, 0, 0);
	CHECK(n == 1, "%d", n);
	snprintf(seven, sizeof seven, "%s RETIRED_INSTRUCTIONS:c=3", six);
	n = schedule("amd64_fam19h_zen4", seven, 0, 0);
	CHECK(n == 2, "%d", n);
	n = schedule("arm_n1",
		     "CPU_CYCLES INST_RETIRED L1D_CACHE L1I_CACHE BR_RETIRED MEM_ACCESS "
		     "L1D_TLB",
		     0, 0);
	CHECK(n == 1 && plan.counter[0] == 32, "%d groups, cycles on %d", n, plan.counter[0]);
	n = schedule("arm_n1",
		     "INST_RETIRED L1D_CACHE L1I_CACHE BR_RETIRED MEM_ACCESS L1D_TLB "
		     "L1I_TLB",
		     0, 0);
	CHECK(n == 2, "%d", n);
	n = schedule("apple_firestorm", "INST_ALL INST_BRANCH INST_ALL", 0, 0);
	CHECK(n == 1, "%d: counters 1, 7; 5-7", n);
	n = schedule("apple_firestorm", "INST_ALL INST_ALL INST_ALL", 0, 0);
	CHECK(n == 2, "%d: counters 1 and 7", n);
}

static void anchors_are_in_every_group(void)
{
	int n = schedule("skl",
			 "INST_RETIRED:ANY_P:c=1 " FOUR_SKL "MEM_LOAD_RETIRED:L3_HIT "
			 "MEM_LOAD_RETIRED:FB_HIT",
			 1, 0);

	/* Three places besides the anchor: 6 events in 2 groups. */
	CHECK(n == 2, "%d", n);
	n = schedule("skl",
		     "INST_RETIRED:ANY_P:c=1 INST_RETIRED:ANY_P:c=2 INST_RETIRED:ANY_P:c=3 "
		     "INST_RETIRED:ANY_P:c=4 BR_INST_RETIRED:ALL_BRANCHES",
		     4, 0);
	CHECK(n == TACH_ERR_NOASSIGN, "%d", n);
	CHECK(strstr(err.text, "anchor") != NULL, "%s", err.text);
}

/* tach_set_create reports how many events fit, and which groups would be needed. */
static void a_set_that_does_not_fit(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;
	int rc;

	opt.pmu = tach_pmu_find("skl");
	opt.events = "BR_INST_RETIRED:ALL_BRANCHES,BR_MISP_RETIRED:ALL_BRANCHES,MEM_LOAD_"
		     "RETIRED:L1_HIT,"
		     "MEM_LOAD_RETIRED:L2_HIT,MEM_LOAD_RETIRED:L3_HIT";
	rc = tach_set_create(&opt, &set, &err);
	CHECK(rc == TACH_ERR_NOCOUNTER, "%d: %s", rc, err.text);
	CHECK(strcmp(err.text, "4 of 5 events fit one group; tach run --passes or --turns "
			       "counts all, in 2 groups: "
			       "BR_INST_RETIRED:ALL_BRANCHES, "
			       "BR_MISP_RETIRED:ALL_BRANCHES, MEM_LOAD_RETIRED:L1_HIT, "
			       "MEM_LOAD_RETIRED:L2_HIT | "
			       "MEM_LOAD_RETIRED:L3_HIT") == 0,
	      "%s", err.text);
	opt.flags = TACH_SET_MULTIPLEX;
	rc = tach_set_create(&opt, &set, &err);
	CHECK(rc == 0, "%d: %s", rc, err.text);
	tach_set_free(set);
}

static void bad_arguments(void)
{
	CHECK(tach_schedule_split(NULL, 1, 0, NULL, &plan, &err) == TACH_ERR_INVAL);
	CHECK(tach_schedule_split(events, 1, 2, NULL, &plan, &err) == TACH_ERR_INVAL);
	CHECK(tach_schedule_split(events, 1, 0, NULL, NULL, &err) == TACH_ERR_INVAL);
	CHECK(tach_schedule_split(events, TACH_SCHEDULE_MAX + 1, 0, NULL, &plan, &err) ==
	      TACH_ERR_TOOMANY);
}

/* Events given as codes are recognised: fields of PERF_METRICS, and events with the EQ bit. */
static void raw_codes(void)
{
	int n = schedule("spr", "r8200", 0, 0);

	CHECK(n == TACH_ERR_FEATCOMB, "%d: %s", n, err.text);
	n = schedule("spr", "TOPDOWN:SLOTS r8200 cpu/event=0x0,umask=0x80/", 0, 0);
	CHECK(n == 1 && plan.counter[1] == 50 && plan.counter[2] == 48, "%d: %d %d", n,
	      plan.counter[1], plan.counter[2]);
	n = schedule("skl", "r8200", 0, 0);
	CHECK(n == TACH_ERR_NOASSIGN || n == TACH_ERR_FEATCOMB, "%d: Skylake has none", n);
	/* The fixed counter cannot count an event with a comparison. */
	n = schedule("lnl_lnc", "CPU_CLK_UNHALTED.THREAD_P:c=1:eq", 0, 0);
	CHECK(n == 1 && plan.counter[0] < 32, "%d: on %d", n, plan.counter[0]);
}

/*
 * Raw codes use the counters of the table's event with this code: L2_RQSTS on Ice Lake can use
 * four of eight.
 */
static void raw_codes_have_the_counters_of_events(void)
{
	int n = schedule("icl", "r0124 r0224 r0424 r0824 r1024", 0, 0);

	CHECK(n == 2, "%d: %s", n, err.text);
	for (int i = 0; i < 5; i++)
		CHECK(plan.counter[i] < 4, "%d on %d", i, plan.counter[i]);
	/* A umask that no event has uses the counters of its event select. */
	n = schedule("icl", "r0124 r0224 r0424 r0824 r0024", 0, 0);
	CHECK(n == 2, "%d: %s", n, err.text);
	/* L1D_PEND_MISS:PENDING on hsw: only the third counter. */
	n = schedule("hsw", "r0148", 0, 0);
	CHECK(n == 1 && plan.counter[0] == 2, "%d: on %d", n, plan.counter[0]);
	/* Retired branches, and a code that no table has: any counter. */
	n = schedule("icl", "r00c4 r04c4 r08c4 r10c4 r20c4 r40c4 r80c4 r02c4", 0, 0);
	CHECK(n == 1, "%d: %s", n, err.text);
	n = schedule("icl", "r01ff r02ff r04ff r08ff r10ff", 0, 0);
	CHECK(n == 1, "%d: %s", n, err.text);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	CASE(fixed_counters_add_to_general_ones);
	CASE(the_watchdog_holds_a_counter);
	CASE(offcore_registers_are_two);
	CASE(metrics_cost_no_counters);
	CASE(other_makers);
	CASE(anchors_are_in_every_group);
	CASE(a_set_that_does_not_fit);
	CASE(bad_arguments);
	CASE(raw_codes);
	CASE(raw_codes_have_the_counters_of_events);
	return check_done();
}
