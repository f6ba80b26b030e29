/* SPDX-License-Identifier: MIT */
/*
 * A processor whose tables have PERF_METRICS, on a machine that may not provide them (the guest
 * x86-nometrics: PERF_CAPABILITIES bit 15 is 0): the set has a tree that can be counted, and
 * reports why it is not deeper.
 */
#if defined(__x86_64__)
#include <string.h>
#include <tach.h>
#include "core/set/set.h"
#include "tests/check.h"
#include "tests/guest/counter.h"
#include "tests/guest/loops.h"
#include "tests/guest/machine.h"

enum { TURNS = 50000, SLOTS = 0x400, RETIRING = 0x8000 };

static int given;

/* Asks the kernel, without the library. */
static int is_given(void)
{
	struct perf_event_attr slots = counter_attr(PERF_TYPE_RAW, SLOTS);
	struct perf_event_attr retiring = counter_attr(PERF_TYPE_RAW, RETIRING);
	struct counter leader = counter_open(&slots, 0, -1, -1), field = {-1, NULL};

	if (leader.fd >= 0)
		field = counter_open(&retiring, 0, -1, leader.fd);
	printf("# slots: %s, in their group: %s\n", leader.fd < 0 ? "refused" : "open",
	       field.fd < 0 ? "refused" : "open");
	given = field.fd >= 0;
	if (given)
		counter_close(&field);
	if (leader.fd >= 0)
		counter_close(&leader);
	return given;
}

static void refused_metrics_are_detected(void)
{
	int pmu = -1;

	CHECK(tach_pmu_host(&pmu, 1, NULL) >= 1);
	CHECK(tach__perf_metrics_refused(pmu) == !given);
}

static void the_tree_is_one_that_counts(void)
{
	struct tach_regions_options opt = {.size = sizeof opt};
	struct tach_set_options tree = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *shot = NULL;
	struct tach_region_info info = {0};
	struct tach_set *set = NULL;
	int needs = 0, shown = 0;

	tree.metrics = "topdown";
	CHECK(tach_set_create(&tree, &set, &err) == 0, "%s", err.text);
	if (!set)
		return;
	for (int i = 0; i < set->count; i++)
		needs |= tach__is_metrics(&set->member[i].attr);
	CHECK(given || !needs);
	CHECK(given || strstr(tach_set_missing(set), "PERF_METRICS"), "'%s'",
	      tach_set_missing(set));
	opt.set = set;
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	for (int i = 0; i < 5; i++) {
		TACH_START(counted);
		loop_straight(TURNS);
		TACH_STOP(counted);
	}
	CHECK(tach_snapshot_take(&shot, &err) == 0, "%s", err.text);
	for (int r = 0; shot && r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		for (int m = 0; !strcmp(info.name, "counted") && m < set->nmetrics; m++) {
			struct tach_value v;

			CHECK(tach_snapshot_derived(shot, r, m, TACH_PART_INCLUSIVE, &v) == 0);
			CHECK(!(v.flags & TACH_FLAG_LOST), "%s: %#x", set->metric[m].name,
			      v.flags);
			printf("# %s %.4f %#x\n", set->metric[m].name, v.value, v.flags);
			shown++;
		}
	}
	CHECK(shown >= 4, "%d shares", shown);
	tach_snapshot_free(shot);
	tach_regions_disable();
	tach_set_free(set);
}

int main(void)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event slots;

	if (!machine_has_pmu() || tach_event_encode("TOPDOWN:SLOTS", &opt, &slots, NULL) != 0) {
		puts("skip topdown_refused: the PMU has no top-down metrics");
		return 0;
	}
	is_given();
	CASE(refused_metrics_are_detected);
	CASE(the_tree_is_one_that_counts);
	return check_done();
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip topdown_refused: this architecture has no top-down metrics");
	return 0;
}
#endif
