/* SPDX-License-Identifier: MIT */
/*
 * LIKWID's performance groups, if counts of a thread can provide them: LIKWID's metric names
 * over presets, which each PMU defines itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/likwid/state.h"

struct lw_preset {
	const char *name;
	struct {
		const char *name, *formula;
	} metric[LW_METRICS];
};

#define UNHALTED                                                                               \
	{                                                                                      \
		"Runtime unhalted [s]", "PAPI_TOT_CYC / tsc_hz"                                \
	}
#define CLOCK                                                                                  \
	{                                                                                      \
		"Clock [MHz]", "PAPI_TOT_CYC / PAPI_REF_CYC * tsc_hz / 1000000"                \
	}
#define CPI                                                                                    \
	{                                                                                      \
		"CPI", "PAPI_TOT_CYC / PAPI_TOT_INS"                                           \
	}
#define BASIC UNHALTED, CLOCK, CPI

static const struct lw_preset presets[] = {
	{"BRANCH",
	 {BASIC,
	  {"Branch rate", "PAPI_BR_INS / PAPI_TOT_INS"},
	  {"Branch misprediction rate", "PAPI_BR_MSP / PAPI_TOT_INS"},
	  {"Branch misprediction ratio", "PAPI_BR_MSP / PAPI_BR_INS"},
	  {"Instructions per branch", "PAPI_TOT_INS / PAPI_BR_INS"}}},
	{"CLOCK", {BASIC}},
	{"DATA", {BASIC, {"Load to store ratio", "PAPI_LD_INS / PAPI_SR_INS"}}},
	{"FLOPS_DP", {BASIC, {"DP [MFLOP/s]", "PAPI_DP_OPS * 1000 / elapsed_ns"}}},
	{"FLOPS_SP", {BASIC, {"SP [MFLOP/s]", "PAPI_SP_OPS * 1000 / elapsed_ns"}}},
	{"ICACHE",
	 {BASIC,
	  {"L1I miss rate", "PAPI_L1_ICM / PAPI_TOT_INS"},
	  {"L1I miss ratio", "PAPI_L1_ICM / PAPI_L1_ICA"}}},
	{"L2",
	 {BASIC,
	  {"L2D load bandwidth [MBytes/s]", "PAPI_L1_DCM * 64000 / elapsed_ns"},
	  {"L2D load data volume [GBytes]", "PAPI_L1_DCM * 64 / 1000000000"}}},
	{"L2CACHE",
	 {BASIC,
	  {"L2 request rate", "PAPI_L2_TCA / PAPI_TOT_INS"},
	  {"L2 miss rate", "PAPI_L2_TCM / PAPI_TOT_INS"},
	  {"L2 miss ratio", "PAPI_L2_TCM / PAPI_L2_TCA"}}},
	{"L3CACHE",
	 {BASIC,
	  {"L3 request rate", "PAPI_L3_TCA / PAPI_TOT_INS"},
	  {"L3 miss rate", "PAPI_L3_TCM / PAPI_TOT_INS"},
	  {"L3 miss ratio", "PAPI_L3_TCM / PAPI_L3_TCA"}}},
	{"TLB_DATA",
	 {BASIC,
	  {"L1 DTLB misses", "PAPI_TLB_DM"},
	  {"L1 DTLB miss rate", "PAPI_TLB_DM / PAPI_TOT_INS"}}},
	{"TLB_INSTR",
	 {BASIC,
	  {"L1 ITLB misses", "PAPI_TLB_IM"},
	  {"L1 ITLB miss rate", "PAPI_TLB_IM / PAPI_TOT_INS"}}},
	{"TMA",
	 {{"IPC", "PAPI_TOT_INS / PAPI_TOT_CYC"},
	  {"Frontend Bound [%]", "100 * Frontend_Bound"},
	  {"Speculation [%]", "100 * Bad_Speculation"},
	  {"Retiring [%]", "100 * Retiring"},
	  {"Backend Bound [%]", "100 * Backend_Bound"}}},
};

const struct lw_preset *lw_preset_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		if (strlen(presets[i].name) == length &&
		    strncmp(presets[i].name, name, length) == 0)
			return &presets[i];
	return NULL;
}

static int known(struct lw_group *group, const char *name, const char *formula)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_expansion *x;
	int pmu;

	if (tach_pmu_host(&pmu, 1, &err) > 0 &&
	    tach_derived_expand_formula(tach_derived_default(), pmu, formula, &x, &err) == 0) {
		tach_expansion_free(x);
		return 1;
	}
	lw_group_misses(group, name, err.text);
	return 0;
}

/* Creates the metrics whose bit is in `wanted`, if the machine has the events. */
static int create(struct lw_group *group, const struct lw_preset *preset, uint32_t wanted,
		  struct tach_error *err)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	char metrics[2048];
	size_t n = 0;

	for (int i = 0; i < LW_METRICS && preset->metric[i].name; i++)
		if (wanted >> i & 1)
			n += (size_t)snprintf(metrics + n, sizeof metrics - n, "m%d = %s; ", i,
					      preset->metric[i].formula);
	opt.metrics = metrics;
	opt.flags = TACH_SET_OPTIONAL;
	return n ? tach_set_create(&opt, &group->set, err) : 0;
}

void lw_preset_make(struct lw_group *group, const struct lw_preset *preset)
{
	struct tach_error err = TACH_ERROR_INIT;
	uint32_t wanted = 0;
	int code;

	group->name = preset->name;
	for (int i = 0; i < LW_METRICS && preset->metric[i].name; i++)
		if (known(group, preset->metric[i].name, preset->metric[i].formula))
			wanted |= 1u << i;
	/* If the metrics do not fit the counters together, the last ones are left out. */
	while ((code = create(group, preset, wanted, &err)) != 0 && wanted) {
		int last = 31 - __builtin_clz(wanted);

		lw_group_misses(group, preset->metric[last].name, err.text);
		wanted &= ~(1u << last);
	}
	lw_group_show(group);
	for (int i = 0; i < group->nmetrics; i++)
		if (group->metric[i].index >= 0)
			group->metric[i].name =
				preset->metric[atoi(group->metric[i].name + 1)].name;
}
