/* SPDX-License-Identifier: MIT */
/*
 * Our own presets: every one of every PMU can be counted there, has a description, and fits one
 * group or a known number of them; every PMU has those that every CPU can count.
 */
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include "tests/check.h"

static struct tach_derived *presets;

static const char *pmu_name(int pmu)
{
	struct tach_pmu_info info = {.size = sizeof info};

	tach_pmu_info(pmu, &info);
	return info.name;
}

static int core_pmus(void)
{
	return tach_pmu_count() - 2; /* the last two are the kernel's */
}

static void all_can_be_counted(void)
{
	int definitions = 0;

	for (int pmu = 0; pmu < core_pmus(); pmu++) {
		int n = tach_derived_count(presets, pmu);

		CHECK(n >= 10, "%s has %d presets", pmu_name(pmu), n);
		for (int i = 0; i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info};
			struct tach_expansion *x = NULL;
			struct tach_error err = TACH_ERROR_INIT;

			tach_derived_at(presets, pmu, i, &info);
			definitions++;
			CHECK(tach_derived_expand(presets, pmu, info.name, &x, &err) == 0,
			      "%s %s: %s", pmu_name(pmu), info.name, err.text);
			CHECK(info.short_description[0], "%s: no description", info.name);
			CHECK(info.preset == !strncmp(info.name, "PAPI_", 5), "%s: kind",
			      info.name);
			CHECK(!x || tach_formula_uses(tach_expansion_formula(x)) ==
					      ~(uint64_t)0 >> (64 - tach_expansion_count(x)),
			      "%s %s: every event is used", pmu_name(pmu), info.name);
			tach_expansion_free(x);
		}
	}
	printf("# %d definitions for %d PMUs\n", definitions, core_pmus());
	CHECK(definitions > 7000, "%d definitions", definitions);
}

/* Two spellings in one definition must not be one event: a slip there, or in the table. */
static void events_differ(void)
{
	for (int pmu = 0; pmu < core_pmus(); pmu++)
		for (int i = 0, n = tach_derived_count(presets, pmu); i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info}, base = info;
			struct tach_expansion *x = NULL;
			const char *event;
			int nested = 0;

			tach_derived_at(presets, pmu, i, &info);
			event = info.events;
			for (int k = 0; k < info.nevents; k++, event += strlen(event) + 1)
				nested |= !tach_derived_find(presets, pmu, event, &base);
			if (nested || tach_derived_expand(presets, pmu, info.name, &x, NULL))
				continue;
			CHECK(tach_expansion_count(x) == info.nevents, "%s %s", pmu_name(pmu),
			      info.name);
			tach_expansion_free(x);
		}
}

static void everywhere(void)
{
	static const char *const names[] = {"PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_BR_INS",
					    "PAPI_BR_MSP",  "ipc",	    "branch_mpki"};
	struct tach_derived_info info = {.size = sizeof info};

	for (int pmu = 0; pmu < core_pmus(); pmu++)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			CHECK(tach_derived_find(presets, pmu, names[i], &info) == 0,
			      "%s has no %s", pmu_name(pmu), names[i]);
}

/* On the PMU alone, whatever this machine is. */
static void groups(void)
{
	int one = 0, more = 0, most = 0;

	for (int pmu = 0; pmu < core_pmus(); pmu++) {
		struct tach_pmu_info row = {.size = sizeof row};

		tach_pmu_info(pmu, &row);
		if (!strcmp(row.arch, "ia64")) /* Linux never scheduled its counters */
			continue;
		for (int i = 0, n = tach_derived_count(presets, pmu); i < n; i++) {
			struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
			struct tach_derived_info info = {.size = sizeof info};
			struct tach_error err = TACH_ERROR_INIT;
			struct tach_expansion *x = NULL;
			struct tach_schedule s;
			int rc;

			opt.pmu = pmu;
			opt.flags = TACH_SCHEDULE_NO_WATCHDOG;
			tach_derived_at(presets, pmu, i, &info);
			if (tach_derived_expand(presets, pmu, info.name, &x, &err))
				continue; /* complained about elsewhere */
			rc = tach_schedule(tach_expansion_encoded(x), tach_expansion_count(x),
					   0, &opt, &s, &err);
			CHECK(rc == 0, "%s %s: %s", pmu_name(pmu), info.name, err.text);
			if (rc == 0) {
				one += s.ngroups == 1;
				more += s.ngroups > 1;
				most = s.ngroups > most ? s.ngroups : most;
			}
			tach_expansion_free(x);
		}
	}
	printf("# %d fit one group, %d take more, at most %d\n", one, more, most);
	CHECK(one > 9 * more && most <= 4, "one %d, more %d, at most %d", one, more, most);
}

int main(void)
{
	struct tach_derived_options opt = {.size = sizeof opt, .flags = TACH_DERIVED_PRESETS};

	if (tach_derived_create(&presets, &opt, NULL))
		return 1;
	CASE(all_can_be_counted);
	CASE(events_differ);
	CASE(everywhere);
	CASE(groups);
	tach_derived_free(presets);
	return check_done();
}
