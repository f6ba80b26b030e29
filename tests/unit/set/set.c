/* SPDX-License-Identifier: MIT */
/* Sets: lists of events, labels, metrics, and messages about invalid ones. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include <tach/set.h>
#include "tests/child.h"

static struct tach_error err;

static struct tach_set *make(const char *events, const char *metrics)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;
	int code;

	memset(&err, 0, sizeof err);
	opt.events = events;
	opt.metrics = metrics;
	code = tach_set_create(&opt, &set, &err);
	CHECK(code == 0, "%s | %s: %s", events ? events : "", metrics ? metrics : "", err.text);
	return set;
}

static void fails(const char *events, const char *metrics, int want, int column)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = (struct tach_set *)&opt;
	int code;

	memset(&err, 0, sizeof err);
	opt.events = events;
	opt.metrics = metrics;
	code = tach_set_create(&opt, &set, &err);
	CHECK(code == want && err.code == want && err.line == 0 && err.column == column &&
		      set == NULL,
	      "%s | %s: %d at %d: %s", events ? events : "", metrics ? metrics : "", code,
	      err.column, err.text);
	CHECK(err.text[0] != '\0', "nothing said");
	if (code == 0)
		tach_set_free(set);
}

static void lists_are_split(void)
{
	struct tach_set *set = make(" cycles,instr=instructions\n\ttask-clock  r00c0", NULL);

	if (!set)
		return;
	CHECK(tach_set_count(set) == 4, "%d", tach_set_count(set));
	CHECK(strcmp(tach_set_name(set, 0), "cycles") == 0);
	CHECK(strcmp(tach_set_name(set, 1), "instr") == 0);
	CHECK(strcmp(tach_set_name(set, 2), "task-clock") == 0);
	CHECK(tach_set_kind(set, 1) == TACH_MEMBER_HARDWARE);
	CHECK(tach_set_kind(set, 2) == TACH_MEMBER_SOFTWARE);
	CHECK(tach_set_attr(set, 1)->config == PERF_COUNT_HW_INSTRUCTIONS);
	CHECK(tach_set_attr(set, 3)->type == PERF_TYPE_RAW);
	CHECK(tach_set_attr(set, 3)->config == 0xc0);
	CHECK(strstr(tach_set_qualified(set, 0), "PERF_COUNT_HW_CPU_CYCLES") != NULL, "%s",
	      tach_set_qualified(set, 0));
	CHECK(tach_set_attr(set, 4) == NULL && tach_set_name(set, -1) == NULL);
	tach_set_free(set);
	set = make("", NULL);
	CHECK(set && tach_set_count(set) == 0);
	tach_set_free(set);
}

/* perf's groups, names between slashes, and clocks. */
static void perfs_lists(void)
{
	const uint64_t deltas[] = {0, 0, 0, 0, 0, 0};
	struct tach_set *set =
		make("{cycles,instructions:k}:k {x=branches , cycles/name=y/u,"
		     "cpu/event=0xc0,name='a,b:c'/ },duration_time,{},t=duration_time",
		     "rate = 2 * cycles / duration_time");
	if (!set)
		return;
	CHECK(tach_set_count(set) == 6, "%d", tach_set_count(set));
	CHECK(strcmp(tach_set_name(set, 0), "cycles:k") == 0 &&
		      !tach_set_attr(set, 0)->exclude_kernel &&
		      tach_set_attr(set, 0)->exclude_user,
	      "%s", tach_set_name(set, 0));
	CHECK(strcmp(tach_set_name(set, 2), "x") == 0 && tach_set_attr(set, 2)->exclude_kernel);
	CHECK(strcmp(tach_set_name(set, 3), "y") == 0 &&
		      tach_set_attr(set, 3)->config == PERF_COUNT_HW_CPU_CYCLES,
	      "%s", tach_set_name(set, 3));
	CHECK(strcmp(tach_set_name(set, 4), "a,b:c") == 0, "%s", tach_set_name(set, 4));
	CHECK(tach_set_nmetrics(set) == 3 &&
		      strcmp(tach_set_metric_name(set, 0), "duration_time") == 0 &&
		      tach_set_eval(set, 1, deltas, NULL, 77, NULL) == 77,
	      "%d metrics", tach_set_nmetrics(set));
	tach_set_free(set);
	fails("cycles,user_time", NULL, TACH_ERR_NOTSUPP, 8);
	CHECK(strstr(err.text, "below the table") != NULL, "%s", err.text);
	fails("{cycles,instructions", NULL, TACH_ERR_SYNTAX, 1);
	fails("cycles,instructions}", NULL, TACH_ERR_SYNTAX, 20);
	fails("{cycles,{branches}}", NULL, TACH_ERR_SYNTAX, 1);
	fails("g={cycles,branches}", NULL, TACH_ERR_SYNTAX, 3);
	fails("{cycles,bogus}:u", NULL, TACH_ERR_NOTFOUND, 9);
	fails("{cycles,system_time}", NULL, TACH_ERR_NOTSUPP, 9);
	fails("cycles/name=y,period=5/", NULL, TACH_ERR_NOTSUPP, 1);
}

/*
 * MACHINE_CLEARS:COUNT is an event, although Machine_Clears is a metric that accepts modifiers.
 */
static void events_before_metrics(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	opt.events = "MACHINE_CLEARS:MEMORY_ORDERING,MACHINE_CLEARS:COUNT:c=1";
	opt.pmu = tach_pmu_find("skl");
	CHECK(tach_set_create(&opt, &set, &err) == 0 && tach_set_count(set) == 2 &&
		      tach_set_nmetrics(set) == 0 && tach_set_attr(set, 0)->config == 0x2c3,
	      "%s", err.text);
	tach_set_free(set);
}

/* The default is user level, except for events of the scheduler, which happen in the kernel. */
static void levels_are_the_users(void)
{
	struct tach_set *set = make("cycles cycles:k context-switches page-faults", NULL);

	if (!set)
		return;
	CHECK(tach_set_attr(set, 0)->exclude_kernel && !tach_set_attr(set, 0)->exclude_user);
	CHECK(!tach_set_attr(set, 1)->exclude_kernel && tach_set_attr(set, 1)->exclude_user);
	CHECK(!tach_set_attr(set, 2)->exclude_kernel);
	CHECK(tach_set_attr(set, 3)->exclude_kernel);
	tach_set_free(set);
}

static void metrics_bring_their_events(void)
{
	const uint64_t deltas[] = {300, 100, 7};
	const uint32_t flags[] = {TACH_FLAG_RESCHEDULED, TACH_FLAG_SYSCALL,
				  TACH_FLAG_INCOMPLETE};
	struct tach_set *set =
		make("c=cycles", "ipc = instructions / c;; branchy = branches / instructions\n"
				 "twice = c + c");
	uint32_t out = 0;
	double value;

	if (!set)
		return;
	CHECK(tach_set_count(set) == 3, "%d", tach_set_count(set));
	CHECK(strcmp(tach_set_name(set, 1), "instructions") == 0);
	CHECK(strcmp(tach_set_name(set, 2), "branches") == 0);
	CHECK(tach_set_nmetrics(set) == 3);
	CHECK(strcmp(tach_set_metric_name(set, 0), "ipc") == 0);
	value = tach_set_eval(set, 0, deltas, flags, 0, &out);
	CHECK(fabs(value - 1.0 / 3) < 1e-12 &&
		      out == (TACH_FLAG_RESCHEDULED | TACH_FLAG_SYSCALL),
	      "%g %#x", value, out);
	value = tach_set_eval(set, 1, deltas, flags, 0, &out);
	CHECK(fabs(value - 0.07) < 1e-12 && out == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE),
	      "%g %#x", value, out);
	value = tach_set_eval(set, 2, deltas, flags, 0, &out);
	CHECK(value == 600 && out == TACH_FLAG_RESCHEDULED, "%g %#x", value, out);
	tach_set_eval(set, 3, deltas, flags, 0, &out);
	CHECK(out == TACH_FLAG_LOST);
	tach_set_free(set);
}

static void a_zero_divisor_is_flagged(void)
{
	const uint64_t deltas[] = {0, 0};
	const uint32_t flags[] = {0, 0};
	struct tach_set *set = make("cycles", "ipc = instructions / cycles");
	uint32_t out = 0;

	if (!set)
		return;
	CHECK(isnan(tach_set_eval(set, 0, deltas, flags, 0, &out)) && out == TACH_FLAG_DIVZERO);
	tach_set_free(set);
}

/* The kernel may throttle a sampling event without showing it. */
static void samplers_are_refused(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr;
	struct tach_set_member member = {"mine", &attr};
	struct tach_set *set;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_RAW;
	attr.sample_period = 20000;
	opt.attrs = &member;
	opt.nattrs = 1;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOTSUPP && !set, "%s", err.text);
	CHECK(strstr(err.text, "mine: has a sample period of 20000"), "%s", err.text);
	attr.freq = 1;
	opt.flags = TACH_SET_OPTIONAL;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOTSUPP && !set, "%s", err.text);
	CHECK(strstr(err.text, "sample frequency of 20000"), "%s", err.text);
	fails("cycles,instructions:period=1000", NULL, TACH_ERR_NOTSUPP, 8);
	fails("cycles:freq=99", NULL, TACH_ERR_NOTSUPP, 1);
}

static void bad_ones_are_explained(void)
{
	static char many[400];

	fails("cycles,bogus", NULL, TACH_ERR_NOTFOUND, 8);
	fails("cycles cycles:bogus", NULL, TACH_ERR_ATTR, 15);
	fails("a=", NULL, TACH_ERR_SYNTAX, 3);
	fails("cycles, =instructions", NULL, TACH_ERR_SYNTAX, 9);
	fails("a=cycles a=instructions", NULL, TACH_ERR_INVAL, 10);
	fails("cycles:cpu=1", NULL, TACH_ERR_NOTSUPP, 1);
	fails(NULL, "2 * cycles", TACH_ERR_SYNTAX, 1);
	fails(NULL, "x = cycles; bogus", TACH_ERR_NOTFOUND, 13);
	fails(NULL, "a = cycles; = 3", TACH_ERR_SYNTAX, 13);
	fails(NULL, "a = cycles; a = 3", TACH_ERR_INVAL, 13);
	fails(NULL, "ipc = instructions / ", TACH_ERR_SYNTAX, 21);
	fails(NULL, "x = cycles / bogus", TACH_ERR_NOTFOUND, 14);
	fails(NULL, "x = 2 * cycles:period", TACH_ERR_ATTR_VALUE, 15);
	for (int i = 0; i < 17; i++)
		sprintf(many + strlen(many), "e%d=cycles ", i);
	fails(many, NULL, TACH_ERR_TOOMANY, (int)(strstr(many, "e16") - many) + 5);
}

/* A metric of an omitted member is omitted too, also by label, without a second message. */
static void metrics_of_members_left_out(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;

	opt.events = "faults=page-faults miss=bogus";
	opt.metrics = "a = 2 * miss; b = miss / faults; c = faults";
	opt.flags = TACH_SET_OPTIONAL;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	if (!set)
		return;
	CHECK(tach_set_nmetrics(set) == 1 && strcmp(tach_set_metric_name(set, 0), "c") == 0);
	CHECK(strstr(tach_set_missing(set), "bogus") != NULL, "%s", tach_set_missing(set));
	CHECK(strstr(tach_set_missing(set), "'miss'") == NULL, "%s", tach_set_missing(set));
	tach_set_free(set);
}

/* No member, or no metric, has this number. */
static void numbers_are_checked(void)
{
	static const int numbers[] = {-1, 2, INT_MIN, INT_MAX};
	const uint64_t deltas[] = {3, 4};
	struct tach_set *set = make("cycles,branches", "a = cycles + branches");
	uint32_t flags = 0;

	if (!set)
		return;
	for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
		int i = numbers[n];

		CHECK(!tach_set_name(set, i) && !tach_set_qualified(set, i) &&
		      !tach_set_attr(set, i) && tach_set_kind(set, i) == TACH_MEMBER_SOFTWARE);
		CHECK(!tach_set_metric_name(set, i) && !tach_set_metric(set, i));
		CHECK(tach_set_eval(set, i, deltas, NULL, 0, &flags) == 0 &&
		      flags == TACH_FLAG_LOST &&
		      tach_set_eval(set, i, deltas, NULL, 0, NULL) == 0);
	}
	CHECK(!tach_set_metric_name(set, 1) && !tach_set_metric(set, 1));
	CHECK(tach_set_metric(set, 0) && tach_set_eval(set, 0, deltas, NULL, 0, NULL) == 7);
	CHECK(tach_set_interrupts(set) == -1 && *tach_set_missing(set) == '\0');
	tach_set_free(set);
}

/* Levels, cpu= and flag bits of the group's first event. */
static void modifiers(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;

	fails("cycles, branches:cpu=0", NULL, TACH_ERR_NOTSUPP, 9);
	opt.events = "cycles context-switches cycles:k";
	opt.privilege = TACH_PRIVILEGE_KERNEL;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	for (int i = 0; i < tach_set_count(set); i++)
		CHECK(tach_set_attr(set, i)->exclude_user &&
		      !tach_set_attr(set, i)->exclude_kernel);
	tach_set_free(set);
	fails("cycles, skx_unc_imc0::UNC_M_CAS_COUNT:RD", NULL, TACH_ERR_NOTFOUND, 9);
}

/* An error in the caller's options is reported at the first event that uses them. */
static void of_other_options(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	opt.events = "  cycles";
	opt.privilege = 0x80;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_INVAL && !set && err.line == 0 &&
		      err.column == 3 && strcmp(err.text, "unknown privilege level 0x80") == 0,
	      "%d: %s", err.column, err.text);
}

/* The capacity of an unknown PMU is unknown too. */
static void of_an_unknown_pmu(void)
{
	struct tach_set *set;

	setenv("TACH_PMU", "nosuch", 1);
	set = make(
		"cycles,branches,r00c0,r01c0,r02c0,r03c0,r04c0,r05c0,r06c0,r07c0,r08c0,r09c0",
		NULL);
	CHECK(set && tach_set_count(set) == 12);
	tach_set_free(set);
}

static void unknown_pmus(void)
{
	in_child(of_an_unknown_pmu);
}

static void options_are_checked(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;

	CHECK(tach_set_create(&opt, NULL, &err) == TACH_ERR_INVAL);
	CHECK(tach_set_create(NULL, &set, NULL) == TACH_ERR_INVAL);
	opt.size = 3;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_INVAL);
	opt.size = 0;
	opt.flags = 0x80;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_INVAL);
	opt.flags = 0;
	opt.attrs = (struct tach_set_member[]){{"mine", NULL}};
	opt.nattrs = 1;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_INVAL &&
		      strstr(err.text, "attrs[0]") != NULL,
	      "%s", err.text);
	tach_set_free(NULL);
}

/*
 * Events that cannot be counted here are omitted with their metrics, and one sentence reports
 * it.
 */
static void optional_members_are_left_out(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;
	int hardware = 0;

	opt.events = "page-faults task-clock bogus cycles";
	opt.metrics = "ipc = instructions / cycles; rate = page-faults / task-clock";
	opt.flags = TACH_SET_OPTIONAL;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	if (!set)
		return;
	for (int i = 0; i < tach_set_count(set); i++)
		hardware += tach_set_kind(set, i) == TACH_MEMBER_HARDWARE;
	CHECK(strstr(tach_set_missing(set), "bogus") != NULL, "%s", tach_set_missing(set));
	if (hardware == 0)
		CHECK(strstr(tach_set_missing(set), "cycles") != NULL, "%s",
		      tach_set_missing(set));
	CHECK(tach_set_nmetrics(set) == (hardware == 2 ? 2 : 1), "%d metrics, %d counters",
	      tach_set_nmetrics(set), hardware);
	printf("# %s\n", tach_set_missing(set));
	tach_set_free(set);
}

int main(void)
{
	CASE(unknown_pmus); /* runs before this machine is identified */
	CASE(lists_are_split);
	CASE(perfs_lists);
	CASE(events_before_metrics);
	CASE(levels_are_the_users);
	CASE(metrics_bring_their_events);
	CASE(a_zero_divisor_is_flagged);
	CASE(samplers_are_refused);
	CASE(bad_ones_are_explained);
	CASE(numbers_are_checked);
	CASE(modifiers);
	CASE(of_other_options);
	CASE(options_are_checked);
	CASE(optional_members_are_left_out);
	CASE(metrics_of_members_left_out);
	return check_done();
}
