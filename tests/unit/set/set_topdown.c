/* SPDX-License-Identifier: MIT */
/*
 * Sets of top-down metrics: the tree of each machine, its depth, and the message if it is
 * missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach.h>
#include "core/os/sys.h"
#include "core/set/set.h"
#include "tests/check.h"

static int make(struct tach_set **set, const char *pmu, const char *events, const char *metrics,
		struct tach_error *err)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	*set = NULL;
	opt.pmu = tach_pmu_find(pmu);
	opt.events = events;
	opt.metrics = metrics;
	CHECK(opt.pmu >= 0, "no PMU %s", pmu);
	return tach_set_create(&opt, set, err);
}

static int deepest(const struct tach_set *set)
{
	int level = 0;

	for (int i = 0; i < set->nmetrics; i++)
		if (set->metric[i].node.level > level)
			level = set->metric[i].node.level;
	return level;
}

/*
 * First levels: presets with plain events if they fit; the vendor's metrics if they are deeper.
 */
static const struct {
	const char *pmu, *metrics, *root;
	int nmetrics, level;
} machines[] = {
	{"skl", "topdown", "topdown_frontend", 4, 1},
	{"icl", "topdown", "topdown_frontend", 4, 1},
	{"spr", "topdown:1", "topdown_frontend", 4, 1},
	{"spr", "topdown", "Frontend_Bound", 12, 2},
	{"arl_lnc", "topdown:2", "Frontend_Bound", 12, 2},
	{"ptl_cgc", "topdown", "tma_frontend_bound", 12, 2},
	{"arl_skt", "topdown", "topdown_frontend", 12, 2},
	{"amd64_fam19h_zen4", "topdown", "topdown_smt_contention", 5, 1},
	{"arm_n2", "topdown", "topdown_frontend", 4, 1},
	{"arm_armv8", "topdown", "topdown_frontend", 4, 1},
	{"arm_kunpeng", "topdown", "frontend_bound", 4, 1},
};

static void every_kind_of_machine(void)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_set *set;
		int found = 0;

		CHECK(make(&set, machines[i].pmu, NULL, machines[i].metrics, &err) == 0,
		      "%s: %s", machines[i].pmu, err.text);
		if (!set)
			continue;
		for (int k = 0; k < set->nmetrics; k++)
			found |= !strcmp(set->metric[k].name, machines[i].root);
		CHECK(found, "%s has no %s", machines[i].pmu, machines[i].root);
		CHECK(set->nmetrics == machines[i].nmetrics, "%s: %d metrics", machines[i].pmu,
		      set->nmetrics);
		CHECK(deepest(set) == machines[i].level, "%s: level %d", machines[i].pmu,
		      deepest(set));
		CHECK(!strcmp(tach_set_missing(set), ""), "%s: %s", machines[i].pmu,
		      tach_set_missing(set));
		tach_set_free(set);
	}
}

static void nodes_know_their_place(void)
{
	struct tach_set *set;

	CHECK(make(&set, "spr", NULL, "topdown", NULL) == 0);
	for (int i = 0; set && i < set->nmetrics; i++) {
		const struct tach__place *n = &set->metric[i].node;

		CHECK(n->scale == 100 && strstr(n->unit, "percent") && *n->description, "%s",
		      set->metric[i].name);
		CHECK((n->level == 2) == (*n->parent != '\0'), "%s", set->metric[i].name);
		if (!strcmp(set->metric[i].name, "Memory_Bound"))
			CHECK(!strcmp(n->parent, "Backend_Bound") && strchr(n->threshold, '>'));
	}
	tach_set_free(set);
}

/* ---- a kernel with a PMU whose host provides no PERF_METRICS ---- */

static int gives_slots;

static long without_metrics(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;

	if (number != SYS_perf_event_open)
		return tach__sys_real(number, a, b, c, d, e, f);
	if (attr->type != PERF_TYPE_HARDWARE &&
	    ((attr->config & 0x80ff) == 0x8000 || (attr->config == 0x400 && !gives_slots)))
		return -EINVAL;
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int needs_metrics(const struct tach_set *set)
{
	int needs = 0;

	for (int i = 0; i < set->count; i++)
		needs |= tach__is_metrics(&set->member[i].attr);
	return needs;
}

static void without_perf_metrics(void)
{
	static const char *const pmus[] = {"icl", "spr", "gnr", "mtl_rwc", "lnl_lnc"};

	for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++)
		for (gives_slots = 0; gives_slots < 2; gives_slots++) {
			struct tach_error err = TACH_ERROR_INIT;
			struct tach_set *set;
			int code;

			tach__sys = without_metrics;
			code = make(&set, pmus[i], NULL, "topdown", &err);
			tach__sys = tach__sys_real;
			CHECK(code == 0, "%s: %s", pmus[i], err.text);
			if (code)
				continue;
			CHECK(!needs_metrics(set), "%s", pmus[i]);
			CHECK(set->nmetrics == 4 && deepest(set) == 1, "%s: %d metrics",
			      pmus[i], set->nmetrics);
			CHECK(strstr(tach_set_missing(set), "PERF_METRICS"), "%s: '%s'",
			      pmus[i], tach_set_missing(set));
			tach_set_free(set);
		}
}

static void other_metrics_stay(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set;

	CHECK(make(&set, "icl", "instructions", " a = 2 * instructions ; topdown;\n ipc",
		   &err) == 0,
	      "%s", err.text);
	if (set) {
		CHECK(!strcmp(set->member[0].name, "instructions"));
		CHECK(!strcmp(set->metric[0].name, "a") && !strcmp(set->metric[1].name, "ipc"));
		CHECK(set->metric[0].node.level == 0 && set->nmetrics == 6);
	}
	tach_set_free(set);
	/* If the tree is requested twice, the first request applies. */
	CHECK(make(&set, "spr", NULL, "topdown:1;topdown:2 ;topdown", &err) == 0 &&
		      set->nmetrics == 4,
	      "%s", err.text);
	tach_set_free(set);
	/* Names of an event and of a metric may contain the word. */
	CHECK(make(&set, "icl", NULL, "topdown:slots", &err) == 0 && set->count == 1 &&
	      set->nmetrics == 0);
	tach_set_free(set);
	CHECK(make(&set, "icl", NULL, "topdown = instructions", &err) == 0 &&
	      set->nmetrics == 1);
	tach_set_free(set);
}

static void deeper_than_there_is(void)
{
	struct tach_set *set;

	CHECK(make(&set, "spr", NULL, "topdown:6", NULL) == 0);
	if (set)
		CHECK(deepest(set) == 2 && strstr(tach_set_missing(set), "level 2") &&
			      strstr(tach_set_missing(set), "not level 6"),
		      "%s", tach_set_missing(set));
	tach_set_free(set);
}

static void refused(const char *pmu, const char *metrics, int code, int column,
		    const char *words)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set;
	int got = make(&set, pmu, NULL, metrics, &err);

	CHECK(got == code && !set, "%s '%s': %d (%s)", pmu, metrics, got, err.text);
	CHECK(err.column == column, "%s '%s': column %d", pmu, metrics, err.column);
	CHECK(strstr(err.text, words), "%s '%s': %s", pmu, metrics, err.text);
}

static void errors_are_clear(void)
{
	refused("core", "topdown", TACH_ERR_NOTSUPP, 1, "has no events for its issue slots");
	refused("knl", "ipc; topdown", TACH_ERR_NOCOUNTER, 6, "first level");
	refused("spr", "  topdown:0", TACH_ERR_SYNTAX, 3, "from 1 to 6");
	refused("spr", "topdown:7", TACH_ERR_SYNTAX, 1, "from 1 to 6");
	refused("spr", "topdown:99999999999999999999", TACH_ERR_SYNTAX, 1, "from 1 to 6");
	/* An error in another metric is reported at that metric. */
	refused("spr", "topdown; b = nothing_known / 2", TACH_ERR_NOTFOUND, 14,
		"nothing_known");
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	CASE(every_kind_of_machine);
	CASE(nodes_know_their_place);
	CASE(without_perf_metrics);
	CASE(other_metrics_stay);
	CASE(deeper_than_there_is);
	CASE(errors_are_clear);
	return check_done();
}
