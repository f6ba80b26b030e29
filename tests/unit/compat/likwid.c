/* SPDX-License-Identifier: MIT */
/*
 * LIKWID's marker functions with a simulated kernel: the counts of each thread in each region.
 */
#define LIKWID_PERFMON
#include "compat/likwid/edges.c"
#include "compat/likwid/group.c"
#include "compat/likwid/names.c"
#include "compat/likwid/presets.c"
#include "compat/likwid/results.c"
#include "compat/likwid/state.c"
#include "compat/likwid/table.c"
#include "compat/likwid/tables.c"
#include "compat/likwid/thread.c"
#include <sys/wait.h>
#include "tests/check.h"
#include "tests/unit/region/fakekernel.h"

#define PAIR "INSTR_RETIRED_ANY:FIXC0,BR_INST_RETIRED_ALL_BRANCHES:PMC0"

static double got[TACH_COUNTERS_MAX], seconds;
static int calls, room;

static void look_at(const char *tag)
{
	room = TACH_COUNTERS_MAX;
	LIKWID_MARKER_GET(tag, &room, got, &seconds, &calls);
}

static void begin(const char *events, int members)
{
	tach__sys = fake_sys;
	fake_members = members;
	setenv("TACH_PMU", "skl", 1);
	setenv("LIKWID_EVENTS", events, 1);
	setenv("LIKWID_FILEPATH", "/dev/null", 1);
	LIKWID_MARKER_INIT;
}

static void counts_are_the_regions(void)
{
	begin(PAIR, 2);
	for (int i = 0; i < 10; i++) {
		LIKWID_MARKER_START("loop");
		fake_count += 100;
		LIKWID_MARKER_STOP("loop");
	}
	LIKWID_MARKER_START("once");
	fake_count += 7;
	LIKWID_MARKER_STOP("once");
	look_at("loop");
	CHECK(room == 2 && calls == 10 && got[0] == 1000 && got[1] == 2000);
	CHECK(perfmon_getResult(0, 1, 0) == 14 && isnan(perfmon_getResult(0, 2, 0)) &&
	      isnan(perfmon_getResult(1, 0, 0)) && isnan(perfmon_getResult(0, 0, 1)));
	look_at("once");
	CHECK(room == 2 && calls == 1 && got[0] == 7 && got[1] == 14);
	look_at("never");
	CHECK(room == 2 && calls == 0 && got[0] == 0);
	room = 1;
	LIKWID_MARKER_GET("loop", &room, got, NULL, NULL);
	CHECK(room == 1 && got[0] == 1000);
	LIKWID_MARKER_GET("loop", NULL, NULL, &seconds, NULL);
	LIKWID_MARKER_CLOSE;
}

/* Each START and STOP inside an open region counts in it. */
static void regions_overlap(void)
{
	double edge = (double)(fake_before + fake_after);

	begin(PAIR, 2);
	LIKWID_MARKER_REGISTER("b");
	LIKWID_MARKER_START("a");
	fake_count += 100;
	LIKWID_MARKER_START("b");
	fake_count += 1000;
	LIKWID_MARKER_STOP("a");
	fake_count += 10000;
	LIKWID_MARKER_STOP("b");
	look_at("a");
	CHECK(calls == 1 && got[0] == 1100 + edge);
	look_at("b");
	CHECK(calls == 1 && got[0] == 11000 + edge);
	LIKWID_MARKER_CLOSE;
}

static void misuse_is_told(void)
{
	CHECK(likwid_markerStartRegion("early") == -EFAULT);
	CHECK(likwid_markerStopRegion("early") == -EFAULT);
	CHECK(likwid_markerRegisterRegion("early") == -EFAULT);
	begin(PAIR, 2);
	CHECK(likwid_markerStopRegion("never") == -EFAULT);
	CHECK(likwid_markerStartRegion(NULL) == -EFAULT);
	CHECK(likwid_markerStopRegion(NULL) == -EFAULT);
	CHECK(likwid_markerRegisterRegion(NULL) == -EFAULT);
	CHECK(likwid_markerResetRegion(NULL) == -EFAULT);
	CHECK(LIKWID_MARKER_START("twice") == 0);
	fake_count += 5;
	CHECK(likwid_markerResetRegion("twice") == -EFAULT);
	CHECK(LIKWID_MARKER_START("twice") == 0);
	fake_count += 6;
	CHECK(LIKWID_MARKER_STOP("twice") == 0 && LIKWID_MARKER_STOP("twice") == -EFAULT);
	look_at("twice");
	CHECK(calls == 1 && got[0] == 6);
	CHECK(likwid_markerResetRegion("twice") == 0);
	look_at("twice");
	CHECK(calls == 0 && got[0] == 0 && seconds == 0);
	LIKWID_MARKER_CLOSE;
	CHECK(LIKWID_MARKER_START("late") == -EFAULT && LIKWID_MARKER_STOP("late") == -EFAULT);
	CHECK(perfmon_getNumberOfRegions() == 0);
	LIKWID_MARKER_CLOSE;
}

/* One place with many names, as after inlining of a function with constant arguments. */
static inline __attribute__((always_inline)) void enter(const char *tag)
{
	LIKWID_MARKER_START(tag);
	fake_count += strlen(tag);
	LIKWID_MARKER_STOP(tag);
}

/* There are more places than numbers: regions of later cases are searched by name. */
static void names_are_what_they_say(void)
{
	char tag[16];

	begin(PAIR, 2);
	for (int round = 0; round < 3; round++) {
		enter("x");
		enter("xy");
		for (int i = 0; i < 1100; i++) {
			snprintf(tag, sizeof tag, "made%d", i);
			LIKWID_MARKER_START(tag);
			fake_count += (uint64_t)i;
			LIKWID_MARKER_STOP(tag);
		}
	}
	look_at("x");
	CHECK(calls == 3 && got[0] == 3);
	look_at("xy");
	CHECK(calls == 3 && got[0] == 6);
	for (int i = 0; i < 1100; i += 333) {
		snprintf(tag, sizeof tag, "made%d", i);
		look_at(tag);
		CHECK(calls == 3 && got[0] == 3 * i);
	}
	LIKWID_MARKER_CLOSE;
	CHECK(perfmon_getNumberOfRegions() == 1102);
}

static void *work(void *amount)
{
	LIKWID_MARKER_THREADINIT;
	for (int i = 0; i < 5; i++) {
		LIKWID_MARKER_START("shared");
		fake_count += *(uint64_t *)amount;
		LIKWID_MARKER_STOP("shared");
	}
	return NULL;
}

static void threads_have_their_own(void)
{
	enum { THREADS = 8 };
	uint64_t amount[THREADS];
	pthread_t thread[THREADS];
	int seen = 0;

	begin(PAIR, 2);
	for (int i = 0; i < THREADS; i++) {
		amount[i] = 10 + (uint64_t)i;
		pthread_create(&thread[i], NULL, work, &amount[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	LIKWID_MARKER_CLOSE;
	CHECK(perfmon_getNumberOfRegions() == 1 &&
	      perfmon_getThreadsOfRegion(0) == THREADS + 1);
	CHECK(strcmp(perfmon_getTagOfRegion(0), "shared") == 0);
	for (int t = 0; t <= THREADS; t++) {
		double n = perfmon_getResultOfRegionThread(0, 0, t) / 5 - 10;

		if (perfmon_getCountOfRegion(0, t) == 0)
			continue;
		CHECK(perfmon_getCountOfRegion(0, t) == 5 && n >= 0 && n < THREADS);
		seen |= 1 << (int)n;
	}
	CHECK(seen == (1 << THREADS) - 1);
	CHECK(fake_opens - fake_closes <= 2); /* the main thread's */
}

static void groups_take_turns(void)
{
	begin(PAIR "|BRANCH|INSTR_RETIRED_ANY:FIXC0,PWR_PKG_ENERGY:PWR0,NO_SUCH:PMC0", 2);
	CHECK(perfmon_getNumberOfGroups() == 3 && perfmon_getIdOfActiveGroup() == 0);
	for (int i = 0; i < 4; i++) {
		fake_members = lw_state.group[lw_state.active].set
				       ? tach_set_count(lw_state.group[lw_state.active].set)
				       : 0;
		LIKWID_MARKER_START("turn");
		fake_count += 50;
		LIKWID_MARKER_STOP("turn");
		LIKWID_MARKER_SWITCH;
	}
	LIKWID_MARKER_CLOSE;
	CHECK(perfmon_getNumberOfRegions() == 3);
	CHECK(perfmon_getCountOfRegion(0, 0) == 2 && perfmon_getCountOfRegion(1, 0) == 1 &&
	      perfmon_getCountOfRegion(2, 0) == 1);
	CHECK(perfmon_getResultOfRegionThread(0, 0, 0) == 100);
	CHECK(perfmon_getResultOfRegionThread(0, 1, 0) == 200);
	CHECK(strcmp(perfmon_getGroupName(0), "Custom") == 0 &&
	      strcmp(perfmon_getGroupName(1), "BRANCH") == 0);
	CHECK(strcmp(perfmon_getEventName(0, 1), "BR_INST_RETIRED_ALL_BRANCHES") == 0 &&
	      strcmp(perfmon_getCounterName(0, 1), "PMC0") == 0);
	CHECK(perfmon_getNumberOfMetrics(1) > 4);
	/* Energy does not belong to a thread, and missing values are not 0. */
	CHECK(perfmon_getResultOfRegionThread(2, 0, 0) == 50);
	CHECK(isnan(perfmon_getResultOfRegionThread(2, 1, 0)));
	CHECK(isnan(perfmon_getResultOfRegionThread(2, 2, 0)));
	CHECK(strstr(lw_state.group[2].missing, "PWR_PKG_ENERGY") &&
	      strstr(lw_state.group[2].missing, "NO_SUCH"));
	CHECK(isnan(perfmon_getResultOfRegionThread(7, 0, 0)) &&
	      isnan(perfmon_getResultOfRegionThread(0, 9, 0)) &&
	      *perfmon_getTagOfRegion(9) == 0 && *perfmon_getEventName(9, 9) == 0 &&
	      *perfmon_getMetricName(0, -1) == 0);
}

/* Each member of BRANCH shows (i + 1) times the count, so the expected ratios are known. */
static void metrics_are_of_the_region(void)
{
	const struct lw_group *group = &lw_state.group[0];

	begin("BRANCH", 5);
	fake_members = tach_set_count(group->set);
	LIKWID_MARKER_START("r");
	fake_count += 1000;
	LIKWID_MARKER_STOP("r");
	LIKWID_MARKER_CLOSE;
	for (int m = 0; m < group->nmetrics; m++) {
		double value = perfmon_getMetricOfRegionThread(0, m, 0);
		uint64_t counts[TACH_COUNTERS_MAX];

		for (int i = 0; i < TACH_COUNTERS_MAX; i++)
			counts[i] = 1000 * ((uint64_t)i + 1);
		if (m == 0)
			CHECK(value == perfmon_getTimeOfRegion(0, 0));
		if (strcmp(group->metric[m].name, "CPI") == 0 ||
		    strncmp(group->metric[m].name, "Branch", 6) == 0)
			CHECK(value == tach_set_eval(group->set, group->metric[m].index, counts,
						     NULL, 0, NULL));
	}
	CHECK(group->nmetrics == 8);
}

static void refused_counters_are_not_zero(void)
{
	fake_open_error = EMFILE;
	begin(PAIR, 2);
	LIKWID_MARKER_START("r");
	LIKWID_MARKER_STOP("r");
	look_at("r");
	CHECK(calls == 1 && isnan(got[0]) && isnan(got[1]));
	LIKWID_MARKER_CLOSE;
	CHECK(*lw_state.group[0].missing);
	fake_open_error = 0;
}

/* Measurements of the parent stay in the parent; a child may start its own. */
static void children_measure_their_own(void)
{
	pid_t child;
	int status;

	begin(PAIR, 2);
	LIKWID_MARKER_START("parent");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		int bad = LIKWID_MARKER_STOP("parent") != -EFAULT;

		LIKWID_MARKER_INIT;
		LIKWID_MARKER_START("child");
		fake_count += 9;
		LIKWID_MARKER_STOP("child");
		look_at("child");
		bad |= calls != 1 || got[0] != 9;
		LIKWID_MARKER_CLOSE;
		_exit(bad | (perfmon_getNumberOfRegions() != 1));
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	fake_count += 3;
	LIKWID_MARKER_STOP("parent");
	look_at("parent");
	CHECK(calls == 1 && got[0] == 3);
	LIKWID_MARKER_CLOSE;
}

/* A read(2) finds the group in error state, so its result is not used. */
static void lost_counts_are_not_shown(void)
{
	begin(PAIR, 2);
	LIKWID_MARKER_START("lost");
	fake_read_empty = 1;
	LIKWID_MARKER_STOP("lost");
	fake_read_empty = 0;
	look_at("lost");
	CHECK(calls == 1 && isnan(got[0]));
	LIKWID_MARKER_CLOSE;
}

int main(void)
{
	CASE(misuse_is_told);
	CASE(counts_are_the_regions);
	CASE(regions_overlap);
	CASE(names_are_what_they_say);
	CASE(threads_have_their_own);
	CASE(groups_take_turns);
	CASE(metrics_are_of_the_region);
	CASE(refused_counters_are_not_zero);
	CASE(children_measure_their_own);
	CASE(lost_counts_are_not_shown);
	return check_done();
}
