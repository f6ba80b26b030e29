/* SPDX-License-Identifier: MIT */
/*
 * The drop-in's information about events besides codes, compared with libpfm-4.13; and strings
 * that continue.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/include/perfmon/pfmlib.h"
#include "tests/check.h"
#include "tests/unit/compat/dropin.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

static int (*find_event)(const char *);
static pfm_err_t (*event_info)(int, pfm_os_t, pfm_event_info_t *);
static pfm_err_t (*attr_info)(int, int, pfm_os_t, pfm_event_attr_info_t *);
static pfm_err_t (*pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
static pfm_err_t (*encode)(const char *, int, pfm_os_t, void *);

static pfm_event_info_t info_of_event(const char *name)
{
	pfm_event_info_t info = {.size = sizeof info};
	int idx = find_event(name);

	CHECK(idx >= 0 && event_info(idx, PFM_OS_NONE, &info) == PFM_SUCCESS, "%s", name);
	return info;
}

/* Umasks have the properties of their event. */
static void speculative_events_are_flagged(void)
{
	static const struct {
		const char *name;
		int is;
	} events[] = {
		{"icl::ARITH:DIVIDER_ACTIVE", PFM_EVENT_INFO_SPEC_TRUE},
		{"icx::ARITH:DIVIDER_ACTIVE", PFM_EVENT_INFO_SPEC_TRUE},
		{"spr::ICACHE_TAG:STALLS", PFM_EVENT_INFO_SPEC_TRUE},
		{"emr::ICACHE_TAG:STALLS", PFM_EVENT_INFO_SPEC_TRUE},
		{"icl::BR_INST_RETIRED:COND", PFM_EVENT_INFO_SPEC_FALSE},
		{"skl::L2_RQSTS:MISS", PFM_EVENT_INFO_SPEC_NA},
	};

	for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
		pfm_event_info_t info = info_of_event(events[i].name);
		int umasks = 0;

		CHECK((int)info.is_speculative == events[i].is, "%s", events[i].name);
		for (int a = 0; a < info.nattrs; a++) {
			pfm_event_attr_info_t attr = {.size = sizeof attr};

			CHECK(attr_info(info.idx, a, PFM_OS_NONE, &attr) == PFM_SUCCESS);
			if (attr.type != PFM_ATTR_UMASK)
				continue;
			umasks++;
			CHECK((int)attr.is_speculative == events[i].is, "%s: %s",
			      events[i].name, attr.name);
		}
		CHECK(umasks > 0, "%s", events[i].name);
	}
}

/* perf's cycles event can be sampled precisely only under that name. */
static void cycles_can_be_sampled_precisely(void)
{
	pfm_event_info_t info = info_of_event("perf::PERF_COUNT_HW_CPU_CYCLES");

	CHECK(info.is_precise && info.support_hw_smpl);
	info = info_of_event("perf::PERF_COUNT_HW_INSTRUCTIONS");
	CHECK(!info.is_precise && !info.support_hw_smpl);
}

/* libpfm-4 accepts one event: callers split lists first (perf_examples, google-benchmark). */
static void event_lists_are_refused(void)
{
	static const char *const strings[] = {"skl::INST_RETIRED:ANY_P,foo",
					      "skl::INST_RETIRED,", "skl::INST_RETIRED,u",
					      ",skl::INST_RETIRED"};
	uint64_t codes[4];

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		pfm_pmu_encode_arg_t arg = {.codes = codes, .count = 4, .size = sizeof arg};

		CHECK(encode(strings[i], PFM_PLM3, PFM_OS_NONE, &arg) == PFM_ERR_INVAL, "%s",
		      strings[i]);
		CHECK(find_event(strings[i]) == PFM_ERR_INVAL, "%s", strings[i]);
	}
}

/* If libpfm-4's alias differs from the vendor's umask, both names are still accepted. */
static void alias_and_target(void)
{
	static const char *const umasks[] = {"PF_MISS:L2_PF_MISS", "L2_PF_MISS:PF_MISS"};
	static const char *const pmus[] = {"hsw", "hsw_ep", "bdw", "bdw_ep"};
	static const char *const apart[] = {"PF_MISS:DEMAND_DATA_RD_MISS",
					    "DEMAND_DATA_RD_MISS:L2_PF_MISS",
					    "PF_MISS:L2_PF_MISS:DEMAND_DATA_RD_MISS"};
	char string[96];

	for (size_t p = 0; p < 4; p++) {
		uint64_t codes[4] = {0};
		char *name = NULL;
		pfm_pmu_encode_arg_t arg = {
			.codes = codes, .count = 4, .fstr = &name, .size = sizeof arg};

		for (size_t u = 0; u < 2; u++) {
			snprintf(string, sizeof string, "%s::L2_RQSTS:%s", pmus[p], umasks[u]);
			CHECK(encode(string, PFM_PLM3, PFM_OS_NONE, &arg) == PFM_SUCCESS, "%s",
			      string);
			CHECK(codes[0] == 0x513824 && name && strstr(name, ":PF_MISS:") &&
				      !strstr(name, "L2_PF_MISS"),
			      "%s: %llx %s", string, (unsigned long long)codes[0],
			      name ? name : "");
			free(name);
			name = NULL;
		}
		for (size_t u = 0; u < 3; u++) {
			snprintf(string, sizeof string, "%s::L2_RQSTS:%s", pmus[p], apart[u]);
			CHECK(encode(string, PFM_PLM3, PFM_OS_NONE, &arg) == PFM_ERR_FEATCOMB,
			      "%s", string);
		}
	}
}

static pfm_pmu_info_t pmu(pfm_pmu_t number)
{
	pfm_pmu_info_t info = {.size = sizeof info};

	CHECK(pmu_info(number, &info) == PFM_SUCCESS);
	return info;
}

/* The architectural PMU exists if CPUID reports one, with CPUID's number of counters. */
static void architectural_pmu_has_the_counters_of_cpuid(void)
{
	pfm_pmu_info_t info = pmu(PFM_PMU_INTEL_X86_ARCH);
	int general = 0, fixed = 0, version = 0;
#ifdef __x86_64__
	unsigned a, b, c, d;

	if (__get_cpuid(0, &a, &b, &c, &d) && b == signature_INTEL_ebx &&
	    __get_cpuid_count(10, 0, &a, &b, &c, &d) && a % 256)
		version = a % 256, general = a / 256 % 256, fixed = d % 32;
#endif
	CHECK(info.is_present == (version > 0) && info.num_cntrs == general &&
		      info.num_fixed_cntrs == fixed,
	      "%d %d %d", info.is_present, info.num_cntrs, info.num_fixed_cntrs);
	info = pmu(PFM_PMU_ARM_KUNPENG);
	CHECK(info.num_cntrs == 12 && info.num_fixed_cntrs == 1, "%d %d", info.num_cntrs,
	      info.num_fixed_cntrs);
}

int main(void)
{
	void *handle = dropin_open();

	if (!handle)
		return 1;
	*(void **)&find_event = dlsym(handle, "pfm_find_event");
	*(void **)&event_info = dlsym(handle, "pfm_get_event_info");
	*(void **)&attr_info = dlsym(handle, "pfm_get_event_attr_info");
	*(void **)&pmu_info = dlsym(handle, "pfm_get_pmu_info");
	*(void **)&encode = dlsym(handle, "pfm_get_os_event_encoding");
	CHECK(((pfm_err_t(*)(void))dlsym(handle, "pfm_initialize"))() == PFM_SUCCESS);
	CASE(speculative_events_are_flagged);
	CASE(cycles_can_be_sampled_precisely);
	CASE(event_lists_are_refused);
	CASE(alias_and_target);
	CASE(architectural_pmu_has_the_counters_of_cpuid);
	dlclose(handle);
	return check_done();
}
