/* SPDX-License-Identifier: MIT */
/*
 * CPUs that have their own table here but share one in libpfm-4: callers find libpfm-4's table,
 * by its name, and no other core PMU; events with either name encode.
 */
#include <tach/pmu.h>

static int fake_host(int *pmus, int max, struct tach_error *err);
#define tach_pmu_host fake_host
#include "compat/libpfm4/state.c"
#include "compat/libpfm4/attrs.c"
#include "compat/libpfm4/encode.c"
#include "compat/libpfm4/errors.c"
#include "compat/libpfm4/info.c"
#include "tests/check.h"

static const char *machine;

static int fake_host(int *pmus, int max, struct tach_error *err)
{
	(void)max, (void)err;
	pmus[0] = tach_pmu_find(machine);
	return 1;
}

static int encodes(const char *pmu, char *name, size_t size)
{
	char string[80], *fstr = NULL;
	uint64_t *codes = NULL;
	int count = 0, rc;

	snprintf(string, sizeof string, "%s%sINSTRUCTION_RETIRED:u", pmu, *pmu ? "::" : "");
	rc = pfm_get_event_encoding(string, PFM_PLM3, &fstr, NULL, &codes, &count);
	if (rc == PFM_SUCCESS)
		snprintf(name, size, "%s", fstr);
	free(fstr);
	free(codes);
	return rc;
}

/* Returns the names of all active core PMUs except the architectural one. */
static void present_cores(char *names, size_t size)
{
	pfm_pmu_info_t info;
	int pmu;

	*names = 0;
	pfm_for_all_pmus(pmu)
	{
		memset(&info, 0, sizeof info);
		info.size = sizeof info;
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && info.is_present &&
		    info.type == PFM_PMU_TYPE_CORE && strcmp(info.name, "ix86arch") != 0)
			snprintf(names + strlen(names), size - strlen(names), "%s ", info.name);
	}
}

static void shared_tables(void)
{
	static const char *const cpus[][2] = {
		{"rkl", "icl"}, {"tgl", "icl"}, {"wsm_ex", "wsm_dp"}, {"bdw_de", "bdw_ep"},
		{"ehl", "tmt"}, {"skl", "skl"}, {"emr", "emr"},	      {"hsw_ep", "hsw_ep"},
	};

	for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
		char names[256], name[256], want[32];

		machine = cpus[i][0];
		CHECK(pfm_initialize() == PFM_SUCCESS);
		present_cores(names, sizeof names);
		snprintf(want, sizeof want, "%s ", cpus[i][1]);
		CHECK(strcmp(names, want) == 0, "%s: %s", machine, names);
		for (int prefix = 0; prefix < 3; prefix++) {
			const char *pmu = prefix ? cpus[i][prefix - 1] : "";

			CHECK(encodes(pmu, name, sizeof name) == PFM_SUCCESS, "%s on %s", pmu,
			      machine);
			snprintf(want, sizeof want, "%s::", prefix ? pmu : cpus[i][1]);
			CHECK(strncmp(name, want, strlen(want)) == 0, "%s on %s: %s", pmu,
			      machine, name);
		}
		CHECK(encodes("nhm", name, sizeof name) == PFM_ERR_NOTFOUND, "%s", machine);
		pfm_terminate();
	}
}

int main(void)
{
	CASE(shared_tables);
	return check_done();
}
