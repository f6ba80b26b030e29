/* SPDX-License-Identifier: MIT */
/*
 * Our own presets: each can be counted on its PMU, has a description, and fits one group or a
 * known number of groups; every PMU has the presets that every CPU can count.
 */
#include <stdbool.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include "tests/check.h"

static struct tach_derived *presets;

static const char *pmu_name(int pmu)
{
	struct tach_pmu_info info = {.size = sizeof info};

	tach_pmu_describe(pmu, &info);
	return info.name;
}

static int core_pmus(void)
{
	return tach_pmu_count() - 2; /* the last two are the kernel's */
}

/* tests/unit/derived/metrics.c tests metrics. */
static bool is_metric(const struct tach_derived_info *info)
{
	return strstr(info->file, "_metrics.derived") != NULL;
}

static int operands_used(const struct tach_expansion *x)
{
	int n = 0;

	for (int i = 0; i < TACH_FORMULA_OPERANDS_MAX; i++)
		n += tach_formula_uses(tach_expansion_formula(x), i);
	return n;
}

/* The ZX-C has one event with a kernel name: cycles. */
static int counts_cycles_alone(int pmu)
{
	return strcmp(pmu_name(pmu), "zxc") == 0;
}

static void all_can_be_counted(void)
{
	int definitions = 0;

	for (int pmu = 0; pmu < core_pmus(); pmu++) {
		int n = tach_derived_count(presets, pmu);

		CHECK(n >= (counts_cycles_alone(pmu) ? 1 : 10), "%s has %d presets",
		      pmu_name(pmu), n);
		for (int i = 0; i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info};
			struct tach_expansion *x = NULL;
			struct tach_error err = TACH_ERROR_INIT;

			tach_derived_at(presets, pmu, i, &info);
			if (is_metric(&info))
				continue;
			definitions++;
			CHECK(tach_derived_expand(presets, pmu, info.name, &x, &err) == 0,
			      "%s %s: %s", pmu_name(pmu), info.name, err.text);
			CHECK(info.short_description[0], "%s: no description", info.name);
			CHECK(info.preset == !strncmp(info.name, "PAPI_", 5), "%s: kind",
			      info.name);
			/*
			 * For DERIVED_CMPD the first operand is the value; the other operands
			 * name what it counts.
			 */
			CHECK(!x || info.type == TACH_DERIVED_TYPE_CMPD ||
				      operands_used(x) == tach_expansion_count(x),
			      "%s %s: every event is used", pmu_name(pmu), info.name);
			tach_expansion_free(x);
		}
	}
	printf("# %d definitions for %d PMUs\n", definitions, core_pmus());
	CHECK(definitions > 7000, "%d definitions", definitions);
}

/*
 * Two spellings in one definition must not encode to the same event: the definition or the
 * table would be wrong.
 */
static void events_differ(void)
{
	for (int pmu = 0; pmu < core_pmus(); pmu++)
		for (int i = 0, n = tach_derived_count(presets, pmu); i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info}, base = info;
			struct tach_expansion *x = NULL;
			const char *event;
			int nested = 0;

			tach_derived_at(presets, pmu, i, &info);
			if (is_metric(&info))
				continue;
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

static void common_presets_exist_on_every_pmu(void)
{
	static const char *const names[] = {"PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_BR_INS",
					    "PAPI_BR_MSP",  "ipc",	    "branch_mpki"};
	struct tach_derived_info info = {.size = sizeof info};

	for (int pmu = 0; pmu < core_pmus(); pmu++)
		for (size_t i = 0;
		     i < (counts_cycles_alone(pmu) ? 1 : sizeof names / sizeof *names); i++)
			CHECK(tach_derived_find(presets, pmu, names[i], &info) == 0,
			      "%s has no %s", pmu_name(pmu), names[i]);
}

/*
 * PAPI's preset names: the 108 of its header, two more that its preset files mention, and those
 * for half precision of newer versions.
 */
static const char papi_names[] =
	"L1_DCM L1_ICM L2_DCM L2_ICM L3_DCM L3_ICM L1_TCM L2_TCM L3_TCM CA_SNP CA_SHR "
	"CA_CLN CA_INV CA_ITV L3_LDM L3_STM BRU_IDL FXU_IDL FPU_IDL LSU_IDL TLB_DM "
	"TLB_IM TLB_TL L1_LDM L1_STM L2_LDM L2_STM BTAC_M PRF_DM L3_DCH TLB_SD CSR_FAL "
	"CSR_SUC CSR_TOT MEM_SCY MEM_RCY MEM_WCY STL_ICY FUL_ICY STL_CCY FUL_CCY HW_INT "
	"BR_UCN BR_CN BR_TKN BR_NTK BR_MSP BR_PRC FMA_INS TOT_IIS TOT_INS INT_INS FP_INS "
	"LD_INS SR_INS BR_INS VEC_INS RES_STL FP_STAL TOT_CYC LST_INS SYC_INS L1_DCH "
	"L2_DCH L1_DCA L2_DCA L3_DCA L1_DCR L2_DCR L3_DCR L1_DCW L2_DCW L3_DCW L1_ICH "
	"L2_ICH L3_ICH L1_ICA L2_ICA L3_ICA L1_ICR L2_ICR L3_ICR L1_ICW L2_ICW L3_ICW "
	"L1_TCH L2_TCH L3_TCH L1_TCA L2_TCA L3_TCA L1_TCR L2_TCR L3_TCR L1_TCW L2_TCW "
	"L3_TCW FML_INS FAD_INS FDV_INS FSQ_INS FNV_INS FP_OPS SP_OPS DP_OPS VEC_SP "
	"VEC_DP REF_CYC L2_LDH L3_LDH HP_INS HP_OPS VEC_HP";

/* Presets that no PMU can count. */
static const struct {
	const char *name, *why;
} nowhere[] = {
	{"PAPI_L1_ICW", "instruction caches are filled, which is PAPI_L1_ICM, not written"},
	{"PAPI_L2_ICW", "no program writes instructions to level 2: its writes are of data"},
	{"PAPI_L3_ICW", "no program writes instructions to level 3: its writes are of data"},
};

static bool counted_somewhere(const char *name)
{
	struct tach_derived_info info = {.size = sizeof info};

	for (int pmu = 0; pmu < core_pmus(); pmu++)
		if (!tach_derived_find(presets, pmu, name, &info))
			return true;
	return false;
}

static void all_of_papis_names(void)
{
	char copy[sizeof papi_names], *at = copy, *word;
	int names = 0, listed = 0;

	memcpy(copy, papi_names, sizeof copy);
	while ((word = strsep(&at, " "))) {
		char name[32];
		const char *why = NULL;

		snprintf(name, sizeof name, "PAPI_%s", word);
		for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
			if (!strcmp(nowhere[i].name, name))
				why = nowhere[i].why;
		CHECK(counted_somewhere(name) == !why, "%s: %s", name,
		      why ? why : "no PMU has it");
		names++;
		listed += why != NULL;
	}
	printf("# %d names, %d of them nowhere\n", names, listed);
	CHECK(names == 113 && listed == 3, "%d names, %d nowhere", names, listed);
}

/* Encodes on this PMU only, on any machine. */
static void presets_encode_on_their_pmu(void)
{
	int one = 0, more = 0, most = 0;

	for (int pmu = 0; pmu < core_pmus(); pmu++) {
		struct tach_pmu_info row = {.size = sizeof row};

		tach_pmu_describe(pmu, &row);
		/* Linux never scheduled its counters; on RISC-V the firmware chooses. */
		if (!strcmp(row.arch, "ia64") || !strcmp(row.arch, "riscv64"))
			continue;
		for (int i = 0, n = tach_derived_count(presets, pmu); i < n; i++) {
			struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
			struct tach_derived_info info = {.size = sizeof info};
			struct tach_error err = TACH_ERROR_INIT;
			struct tach_expansion *x = NULL;
			struct tach_schedule s = {.size = sizeof s};
			int rc;

			opt.pmu = pmu;
			opt.flags = TACH_SCHEDULE_NO_WATCHDOG;
			tach_derived_at(presets, pmu, i, &info);
			if (is_metric(&info))
				continue;
			if (tach_derived_expand(presets, pmu, info.name, &x, &err))
				continue; /* complained about elsewhere */
			rc = tach_schedule_split(tach_expansion_encoded(x),
						 tach_expansion_count(x), 0, &opt, &s, &err);
			/*
			 * Linux's fields of PERF_METRICS, which need slots in the same group.
			 */
			CHECK(rc == 0 || (rc == TACH_ERR_FEATCOMB &&
					  !strncmp(info.name, "topdown-", 8)),
			      "%s %s: %s", pmu_name(pmu), info.name, err.text);
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

	if (tach_derived_create(&opt, &presets, NULL))
		return 1;
	CASE(all_can_be_counted);
	CASE(events_differ);
	CASE(common_presets_exist_on_every_pmu);
	CASE(all_of_papis_names);
	CASE(presets_encode_on_their_pmu);
	tach_derived_free(presets);
	return check_done();
}
