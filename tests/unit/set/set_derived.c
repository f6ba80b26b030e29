/* SPDX-License-Identifier: MIT */
/*
 * Presets and user events in places where a set accepts names: as events, and inside metrics.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "tests/check.h"

static struct tach_set *set(const char *events, const char *metrics, int *code)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *s = NULL;

	opt.events = events;
	opt.metrics = metrics;
	opt.pmu = tach_pmu_find("skl");
	*code = tach_set_create(&opt, &s, &err);
	if (*code)
		printf("# %s | %s: %s\n", events ? events : "", metrics ? metrics : "",
		       err.text);
	return s;
}

/* Members count 1000, 100, 10, 1. */
static double value(const struct tach_set *s, const char *name)
{
	static const uint64_t deltas[TACH_COUNTERS_MAX] = {1000, 100, 10, 1};
	static const uint32_t flags[TACH_COUNTERS_MAX];
	uint32_t out = 0;

	for (int i = 0; i < tach_set_nmetrics(s); i++)
		if (!strcmp(tach_set_metric_name(s, i), name))
			return tach_set_eval(s, i, deltas, flags, 0, &out);
	return NAN;
}

static void as_events(void)
{
	int code;
	struct tach_set *s = set("PAPI_TOT_CYC, ipc, mine=branch_mpki", NULL, &code);

	CHECK(s, "%d", code);
	if (!s)
		return;
	/* The members are cycles, instructions and all mispredicted branches, each once. */
	CHECK(tach_set_count(s) == 3, "%d members", tach_set_count(s));
	CHECK(!strcmp(tach_set_name(s, 0), "PAPI_TOT_CYC"), "as written");
	CHECK(tach_set_nmetrics(s) == 2, "%d metrics", tach_set_nmetrics(s));
	CHECK(value(s, "ipc") == 100.0 / 1000, "%g", value(s, "ipc"));
	CHECK(value(s, "mine") == 1000 * 10.0 / 100, "%g", value(s, "mine"));
	tach_set_free(s);
}

/* Modifiers and a PMU's name apply to every event of a derived event. */
static void with_modifiers(void)
{
	static const char *const members[] = {"INSTRUCTION_RETIRED:k", "UNHALTED_CORE_CYCLES:k",
					      "skl::L1D:REPLACEMENT:u:k",
					      "skl::L2_RQSTS:ALL_CODE_RD:u:k"};
	int code;
	struct tach_set *s = set("ipc:k, skl::PAPI_L1_TCM:u:k", "twice = ipc:k * 2", &code);

	CHECK(s, "%d", code);
	if (!s)
		return;
	CHECK(tach_set_count(s) == 4, "%d members", tach_set_count(s));
	for (int i = 0; i < 4 && i < tach_set_count(s); i++)
		CHECK(!strcmp(tach_set_name(s, i), members[i]), "%s", tach_set_name(s, i));
	CHECK(value(s, "ipc:k") == 10, "%g", value(s, "ipc:k"));
	CHECK(value(s, "skl::PAPI_L1_TCM:u:k") == 11, "%g", value(s, "skl::PAPI_L1_TCM:u:k"));
	CHECK(value(s, "twice") == 20, "%g", value(s, "twice"));
	tach_set_free(s);
	s = set("ipc:nosuch", NULL, &code);
	CHECK(!s && code == TACH_ERR_ATTR, "%d", code);
	tach_set_free(s);
}

static void in_metrics(void)
{
	int code;
	struct tach_set *s =
		set("INST_RETIRED:ANY_P",
		    "a = 2 * ipc; b = PAPI_BR_INS + 1; c = ipc - ipc / (1 + ipc)", &code);

	CHECK(s, "%d", code);
	if (!s)
		return;
	CHECK(value(s, "a") == 2 * 1000.0 / 100, "%g", value(s, "a"));
	CHECK(value(s, "b") == 11, "%g", value(s, "b"));
	CHECK(fabs(value(s, "c") - (10 - 10 / 11.0)) < 1e-12, "%g", value(s, "c"));
	tach_set_free(s);
}

static void user_event(void)
{
	static const char text[] = "EVENT,my_share,DERIVED_INFIX,N0/N1,BR_INST_RETIRED,ipc\n"
				   "EVENT,my_ring,NOT_DERIVED,my_ring\n"
				   "EVENT,my_gone,NOT_DERIVED,NO_SUCH_EVENT\n"
				   "EVENT,my_faults,NOT_DERIVED,page-faults\n";
	struct tach_set *s;
	int code;

	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, strlen(text),
				     NULL) == 4,
	      "load");
	s = set("my_share", NULL, &code);
	/* branches, instructions, cycles */
	CHECK(s && value(s, "my_share") == 1000 / (100.0 / 10), "value");
	tach_set_free(s);
	/* The event has two names, one of which may not be in the tables. */
	s = set("x=my_faults,my_faults:u:k", NULL, &code);
	CHECK(s && tach_set_count(s) == 2 && tach_set_nmetrics(s) == 0 &&
		      tach_set_attr(s, 0)->type == PERF_TYPE_SOFTWARE &&
		      tach_set_attr(s, 0)->config == PERF_COUNT_SW_PAGE_FAULTS &&
		      tach_set_attr(s, 0)->exclude_kernel &&
		      !tach_set_attr(s, 1)->exclude_kernel && !strcmp(tach_set_name(s, 0), "x"),
	      "%d", code);
	tach_set_free(s);
	s = set(NULL, "x = my_ring + 1", &code);
	CHECK(!s && code == TACH_ERR_CYCLE, "%d", code);
	s = set("my_gone", NULL, &code);
	CHECK(!s && code == TACH_ERR_NOTFOUND, "%d", code);
}

/* An error in a part of a derived event is reported at the derived name. */
static void error_is_reported_at_the_derived_name(void)
{
	static const char text[] = "EVENT,my_cpu,DERIVED_ADD,cycles,branches:cpu=0\n"
				   "EVENT,my_one,DERIVED_ADD,INST_RETIRED:PREC_DIST,cycles\n";
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *s = NULL;
	int code;

	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, strlen(text),
				     NULL) == 2);
	opt.pmu = tach_pmu_find("skl");
	opt.events = "cycles,x=my_cpu";
	CHECK(tach_set_create(&opt, &s, &err) == TACH_ERR_NOTSUPP && !s && err.line == 0 &&
		      err.column == 10 && strstr(err.text, "cpu= has no meaning"),
	      "%d: %s", err.column, err.text);
	/*
	 * An event that is counted with another name needs no second counter: only one counter
	 * could count it.
	 */
	s = set("x=INST_RETIRED:PREC_DIST,my_one", "b = x + my_one", &code);
	CHECK(s && tach_set_count(s) == 2 && value(s, "my_one") == 1100 &&
		      value(s, "b") == 2100,
	      "%d", code);
	tach_set_free(s);
}

/* A full set permits metrics of its own members. */
static void in_full_sets(void)
{
	char events[400] = "INSTRUCTION_RETIRED,UNHALTED_CORE_CYCLES";
	struct tach_set *s;
	int code;

	for (int i = 2; i < TACH_COUNTERS_MAX; i++)
		sprintf(events + strlen(events), ",x%d=page-faults", i);
	s = set(events, "a = 2 * ipc; ipc", &code);
	CHECK(s && tach_set_count(s) == TACH_COUNTERS_MAX && value(s, "a") == 20 &&
		      value(s, "ipc") == 10,
	      "%d", code);
	tach_set_free(s);
}

/* On success, the error is not changed; if the caller passes no error, none is written. */
static void errors_of_no_use(void)
{
	static const char text[] = "EVENT,my_cpu,DERIVED_ADD,cycles,branches:cpu=0\n";
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT, before = TACH_ERROR_INIT;
	struct tach_set *s = NULL;

	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, strlen(text),
				     NULL) == 1);
	opt.pmu = tach_pmu_find("skl");
	opt.events = "cycles,ipc,x=PAPI_TOT_INS";
	opt.metrics = "a = 2 * ipc; branch_mpki";
	CHECK(tach_set_create(&opt, &s, &err) == 0 && memcmp(&err, &before, sizeof err) == 0,
	      "%d at %d: %s", err.code, err.column, err.text);
	tach_set_free(s);
	opt.events = "cycles,my_cpu";
	CHECK(tach_set_create(&opt, &s, NULL) == TACH_ERR_NOTSUPP && !s);
	opt.events = "cycles";
	opt.metrics = "my_cpu";
	CHECK(tach_set_create(&opt, &s, NULL) == TACH_ERR_NOTSUPP && !s);
}

/* Two members are equal only if all fields that define the event are equal. */
static void what_counts_the_same(void)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_RAW,
					     .config = 0xc0,
					     .config1 = 2,
					     .config2 = 3,
					     .exclude_kernel = 1,
					     .exclude_hv = 1};
	struct perf_event_attr other[13];

	for (int i = 0; i < 13; i++)
		other[i] = attr;
	other[0].type = PERF_TYPE_HARDWARE;
	other[1].config = 0xc1;
	other[2].config1 = 3;
	other[3].config2 = 2;
	other[4].exclude_user = 1;
	other[5].exclude_kernel = 0;
	other[6].exclude_hv = 0;
	other[7].exclude_host = 1;
	other[8].exclude_guest = 1;
	other[9].size = PERF_ATTR_SIZE_VER0;
	other[10].disabled = 1;
	other[11].pinned = other[11].exclusive = 1;
	for (int i = 0; i < 13; i++)
		CHECK(tach__set_same_attr(&attr, &other[i]) == (i > 8) &&
			      tach__set_same_attr(&other[i], &attr) == (i > 8),
		      "%d", i);
}

int main(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(as_events);
	CASE(with_modifiers);
	CASE(in_metrics);
	CASE(user_event);
	CASE(error_is_reported_at_the_derived_name);
	CASE(in_full_sets);
	CASE(errors_of_no_use);
	CASE(what_counts_the_same);
	return check_done();
}
