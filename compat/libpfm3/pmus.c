/* SPDX-License-Identifier: MIT */
/* The PMUs that libpfm-3 supports on x86 and ia64, and their selection. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <tach/dispatch.h>
#include "compat/libpfm3/state.h"
#include "core/dispatch/dispatch.h"
#include "core/pmu/pmu.h"

#define CORE_EVENTS "UNHALTED_CORE_CYCLES", "INSTRUCTIONS_RETIRED"
#define P6_EVENTS   "CPU_CLK_UNHALTED", "INST_RETIRED"
#define AMD_EVENTS  "CPU_CLK_UNHALTED", "RETIRED_INSTRUCTIONS"
#define NHM_EVENTS  "UNHALTED_CORE_CYCLES", "INSTRUCTION_RETIRED"
#define NHM_PMDS    "0-3,16-18,20-28,31-63"
#define NHM_CTRS    "0-3,16-18,20-28"

static const struct p3_pmu pmus[] = {
	{PFMLIB_ITANIUM_PMU, "itanium", "itanium", "0-13", "0-17", "4-7", 32, "CPU_CYCLES",
	 "IA64_INST_RETIRED", 0},
	{PFMLIB_ITANIUM2_PMU, "itanium2", "itanium2", "0-15", "0-17", "4-7", 47, "CPU_CYCLES",
	 "IA64_INST_RETIRED", 0},
	{PFMLIB_MONTECITO_PMU, "montecito", "dual-core Itanium 2", "0-15,32-42",
	 "4-15,32-39,48-63", "4-15", 47, "CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", 0},
	{PFMLIB_GEN_IA64_PMU, "gen_ia64", "IA-64", "0-7", "4-7", "4-7", 47, "CPU_CYCLES",
	 "IA64_INST_RETIRED", 0},
	{PFMLIB_I386_P6_PMU, "p6", "Intel P6 Processor Family", "0-1", "0-1", "0-1", 32,
	 P6_EVENTS, 0},
	{PFMLIB_PENTIUM4_PMU, "pentium4", "Pentium4/Xeon/EM64T", "0-62", "0-17", "0-17", 40,
	 "GLOBAL_POWER_EVENTS:RUNNING", "INSTR_RETIRED:NBOGUSNTAG:NBOGUSTAG", 0},
	{PFMLIB_COREDUO_PMU, "coreduo", "Intel Core Duo/Solo", "0-1", "0-1", "0-1", 32,
	 CORE_EVENTS, 0},
	{PFMLIB_I386_PM_PMU, "pm", "Intel Pentium M", "0-1", "0-1", "0-1", 32, P6_EVENTS, 0},
	{PFMLIB_INTEL_CORE_PMU, "core", "Intel Core", "0-1,16-17", "0-7,16-19", "0-1,16-18", 32,
	 CORE_EVENTS, 0},
	{PFMLIB_INTEL_PPRO_PMU, "ppro", "Intel Pentium Pro", "0-1", "0-1", "0-1", 32, P6_EVENTS,
	 0},
	{PFMLIB_INTEL_PII_PMU, "pii", "Intel Pentium II", "0-1", "0-1", "0-1", 32, P6_EVENTS,
	 0},
	{PFMLIB_INTEL_ATOM_PMU, "atom", "Intel Atom", "0-1,16-17", "0-19", "0-1,16-18", 32,
	 CORE_EVENTS, 0},
	{PFMLIB_INTEL_NHM_PMU, "nhm", "Intel Nehalem", "0-3,16-30", NHM_PMDS, NHM_CTRS, 32,
	 NHM_EVENTS, 0},
	{PFMLIB_INTEL_WSM_PMU, "wsm", "Intel Westmere", "0-3,16-31", NHM_PMDS, NHM_CTRS, 32,
	 NHM_EVENTS, 0},
	{PFMLIB_GEN_IA32_PMU, "gen_ia32", "Intel architectural PMU", "0-1,16", "0-1,16-18",
	 "0-1,16-18", 32, CORE_EVENTS, 0},
	/* LIBPFM_FORCE_PMU=16 and pfm_force_pmu choose the first entry of a type. */
	{PFMLIB_AMD64_PMU, "amd64_fam10h", "AMD64 (Family 10h RevB, Barcelona)", "0-7", "0-15",
	 "0-3", 48, AMD_EVENTS, 8},
	{PFMLIB_AMD64_PMU, "amd64_fam10h", "AMD64 (Family 10h RevC, Shanghai)", "0-7", "0-15",
	 "0-3", 48, AMD_EVENTS, 9},
	{PFMLIB_AMD64_PMU, "amd64_fam10h", "AMD64 (Family 10h RevD, Istanbul)", "0-7", "0-15",
	 "0-3", 48, AMD_EVENTS, 10},
	{PFMLIB_AMD64_PMU, "amd64_fam10h", "AMD64 (Family 10h RevE)", "0-7", "0-15", "0-3", 48,
	 AMD_EVENTS, 11},
	{PFMLIB_AMD64_PMU, "amd64_k7", "AMD64 (K7)", "0-3", "0-3", "0-3", 48, AMD_EVENTS, 1},
	{PFMLIB_AMD64_PMU, "amd64_k8", "AMD64 (K8 RevB)", "0-3", "0-3", "0-3", 48, AMD_EVENTS,
	 2},
	{PFMLIB_AMD64_PMU, "amd64_k8", "AMD64 (K8 RevC)", "0-3", "0-3", "0-3", 48, AMD_EVENTS,
	 3},
	{PFMLIB_AMD64_PMU, "amd64_k8", "AMD64 (K8 RevD)", "0-3", "0-3", "0-3", 48, AMD_EVENTS,
	 4},
	{PFMLIB_AMD64_PMU, "amd64_k8", "AMD64 (K8 RevE)", "0-3", "0-3", "0-3", 48, AMD_EVENTS,
	 5},
	{PFMLIB_AMD64_PMU, "amd64_k8", "AMD64 (K8 RevF)", "0-3", "0-3", "0-3", 48, AMD_EVENTS,
	 6},
	{PFMLIB_AMD64_PMU, "amd64_k8", "AMD64 (K8 RevG)", "0-3", "0-3", "0-3", 48, AMD_EVENTS,
	 7},
	{PFMLIB_AMD64_PMU, "amd64_fam15h", "AMD64 (Family 15h RevB)", "0-7", "0-15", "0-5", 48,
	 AMD_EVENTS, 12},
};
enum { NPMUS = sizeof pmus / sizeof *pmus };

enum { OF_K8 = 255 };

/* CPU models by family; for AMD also the revision. The first match wins. */
static const struct {
	const char *vendor;
	uint32_t family, first, last; /* models */
	int type;
	uint32_t revision;
} cpus[] = {
	{"GenuineIntel", 6, 1, 1, PFMLIB_INTEL_PPRO_PMU, 0},
	{"GenuineIntel", 6, 3, 6, PFMLIB_INTEL_PII_PMU, 0},
	{"GenuineIntel", 6, 9, 9, PFMLIB_I386_PM_PMU, 0},
	{"GenuineIntel", 6, 13, 13, PFMLIB_I386_PM_PMU, 0},
	{"GenuineIntel", 6, 7, 11, PFMLIB_I386_P6_PMU, 0},
	{"GenuineIntel", 6, 14, 14, PFMLIB_COREDUO_PMU, 0},
	{"GenuineIntel", 6, 15, 15, PFMLIB_INTEL_CORE_PMU, 0},
	{"GenuineIntel", 6, 22, 23, PFMLIB_INTEL_CORE_PMU, 0},
	{"GenuineIntel", 6, 29, 29, PFMLIB_INTEL_CORE_PMU, 0},
	{"GenuineIntel", 6, 28, 28, PFMLIB_INTEL_ATOM_PMU, 0},
	{"GenuineIntel", 6, 26, 26, PFMLIB_INTEL_NHM_PMU, 0},
	{"GenuineIntel", 6, 30, 31, PFMLIB_INTEL_NHM_PMU, 0},
	{"GenuineIntel", 6, 46, 46, PFMLIB_INTEL_NHM_PMU, 0},
	{"GenuineIntel", 6, 37, 37, PFMLIB_INTEL_WSM_PMU, 0},
	{"GenuineIntel", 6, 44, 44, PFMLIB_INTEL_WSM_PMU, 0},
	{"GenuineIntel", 6, 47, 47, PFMLIB_INTEL_WSM_PMU, 0},
	{"GenuineIntel", 15, 0, 255, PFMLIB_PENTIUM4_PMU, 0},
	{"GenuineIntel", 6, 15, 255, PFMLIB_GEN_IA32_PMU, 0},
	{"AuthenticAMD", 6, 0, 255, PFMLIB_AMD64_PMU, 1},
	{"AuthenticAMD", 15, 0, 255, PFMLIB_AMD64_PMU, OF_K8},
	{"AuthenticAMD", 16, 4, 6, PFMLIB_AMD64_PMU, 9},
	{"AuthenticAMD", 16, 8, 9, PFMLIB_AMD64_PMU, 10},
	{"AuthenticAMD", 16, 10, 10, PFMLIB_AMD64_PMU, 11},
	{"AuthenticAMD", 16, 0, 255, PFMLIB_AMD64_PMU, 8},
	{"AuthenticAMD", 21, 0, 255, PFMLIB_AMD64_PMU, 12},
};

/* Index in `pmus` plus 1; the upper bits have the CPU's model if it matters. 0: none chosen
 * yet. */
static _Atomic uint32_t chosen;
static atomic_int verbose;
static atomic_int forced_verbose;

int p3_verbose(void)
{
	return verbose || forced_verbose;
}

static pfm_err_t choose_pmu(int type, uint32_t revision, uint32_t model)
{
	for (uint32_t i = 0; i < NPMUS; i++)
		if (pmus[i].type == type && (!revision || pmus[i].revision == revision)) {
			chosen = (i + 1) | model << 8;
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_NOTSUPP;
}

/* Returns AMD's revision, from 2 for B to 7 for G. Like 3.10, it accepts models that never
 * existed. */
static uint32_t k8_revision(uint32_t model, uint32_t stepping)
{
	static const uint8_t by_model[16] = {3, 4, 5, 5, 6, 6, 7, 7, 7, 2, 2, 2, 6, 2, 2, 2};

	if ((model == 5 && stepping < 2) || (model == 4 && stepping == 0))
		return 2;
	return by_model[model >> 4 & 15];
}

static pfm_err_t choose_cpu(const struct tach__cpu *cpu)
{
	for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
		if (strcmp(cpus[i].vendor, cpu->vendor) == 0 && cpus[i].family == cpu->family &&
		    cpus[i].first <= cpu->model && cpu->model <= cpus[i].last &&
		    !(cpus[i].type == PFMLIB_GEN_IA32_PMU && cpu->noarch))
			return choose_pmu(cpus[i].type,
					  cpus[i].revision == OF_K8
						  ? k8_revision(cpu->model, cpu->stepping)
						  : cpus[i].revision,
					  cpus[i].type == PFMLIB_PENTIUM4_PMU ? cpu->model : 0);
	return PFMLIB_ERR_NOTSUPP;
}

static pfm_err_t choose_host(void)
{
	struct tach__cpu cpu = {0};

	if (tach__native_arch() == TACH__X86 && tach__x86_cpus("", 1, &cpu, 1))
		return choose_cpu(&cpu);
	if (tach__native_arch() == TACH__IA64 && tach__ia64_cpus("", 1, &cpu, 1))
		return choose_pmu(cpu.family == 7    ? PFMLIB_ITANIUM_PMU
				  : cpu.family == 31 ? PFMLIB_ITANIUM2_PMU
				  : cpu.family == 32 ? PFMLIB_MONTECITO_PMU
						     : PFMLIB_GEN_IA64_PMU,
				  0, 0);
	return PFMLIB_ERR_NOTSUPP;
}

/* "TYPE" or "16,FAMILY,MODEL,STEPPING". */
static pfm_err_t choose_forced(const char *text)
{
	struct tach__cpu cpu = {.vendor = "AuthenticAMD"};
	unsigned family, model, stepping;
	int type;

	if (sscanf(text, "%d,%u,%u,%u", &type, &family, &model, &stepping) == 4 &&
	    type == PFMLIB_AMD64_PMU) {
		cpu.family = family;
		cpu.model = model;
		cpu.stepping = stepping;
		return choose_cpu(&cpu);
	}
	return sscanf(text, "%d", &type) == 1 ? choose_pmu(type, 0, 0) : PFMLIB_ERR_INVAL;
}

pfm_err_t pfm_initialize(void)
{
	const char *force = getenv("LIBPFM_FORCE_PMU"), *talk = getenv("LIBPFM_VERBOSE");

	forced_verbose = talk && *talk && *talk != '0';
	return force && *force ? choose_forced(force) : choose_host();
}

pfm_err_t pfm_force_pmu(int type)
{
	return type == PFMLIB_UNKNOWN_PMU ? choose_host() : choose_pmu(type, 0, 0);
}

pfm_err_t pfm_set_options(pfmlib_options_t *opt)
{
	if (!opt)
		return PFMLIB_ERR_INVAL;
	verbose = opt->pfm_verbose;
	return PFMLIB_SUCCESS;
}

pfm_err_t p3_chosen(struct p3_chosen *out)
{
	uint32_t now = chosen;

	if (!now)
		return PFMLIB_ERR_NOINIT;
	out->pmu = &pmus[(now & 0xff) - 1];
	out->number = tach_dispatch_list(out->pmu->list);
	out->table = tach__dispatch_pmu(out->number);
	out->revision = now >> 8 ? now >> 8 : out->pmu->revision;
	return PFMLIB_SUCCESS;
}

static pfm_err_t give_name(const char *from, char *name, size_t max)
{
	if (!name || max < 1)
		return PFMLIB_ERR_INVAL;
	snprintf(name, max, "%s", from);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_pmu_name(char *name, int maxlen)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	return rc ? rc : give_name(c.pmu->name, name, maxlen < 0 ? 0 : (size_t)maxlen);
}

pfm_err_t pfm_get_pmu_type(int *type)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (!rc && !type)
		rc = PFMLIB_ERR_INVAL;
	if (!rc)
		*type = c.pmu->type;
	return rc;
}

pfm_err_t pfm_get_pmu_name_bytype(int type, char *name, size_t maxlen)
{
	struct p3_chosen c;

	if (p3_chosen(&c) == PFMLIB_SUCCESS && c.pmu->type == type)
		return give_name(c.pmu->name, name, maxlen);
	for (int i = 0; i < NPMUS; i++)
		if (pmus[i].type == type)
			return give_name(pmus[i].name, name, maxlen);
	return PFMLIB_ERR_INVAL;
}

pfm_err_t pfm_is_pmu_supported(int type)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	for (int i = 0; !rc && i < NPMUS; i++)
		if (pmus[i].type == type)
			return PFMLIB_SUCCESS;
	return rc ? rc : PFMLIB_ERR_NOTSUPP;
}

pfm_err_t pfm_list_supported_pmus(int (*pf)(const char *fmt, ...))
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (!pf)
		return PFMLIB_ERR_INVAL;
	pf("supported PMU models: ");
	for (int i = 0; i < NPMUS; i++)
		if (i == 0 || pmus[i].type != pmus[i - 1].type)
			pf("[%s] ", pmus[i].name);
	pf("\ndetected host PMU: %s\n", rc ? "not detected yet" : c.pmu->name);
	return PFMLIB_SUCCESS;
}

void p3_regmask(const char *list, pfmlib_regmask_t *out)
{
	memset(out, 0, sizeof *out);
	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last; first++)
			pfm_regmask_set(out, (unsigned)first);
		list = *end == ',' ? end + 1 : end;
	}
}

static pfm_err_t get_registers(size_t which, pfmlib_regmask_t *mask, unsigned *count)
{
	struct p3_chosen c;
	pfmlib_regmask_t all;
	pfm_err_t rc = p3_chosen(&c);

	if (rc || (!mask && !count))
		return rc ? rc : PFMLIB_ERR_INVAL;
	p3_regmask(which == 0 ? c.pmu->pmcs : which == 1 ? c.pmu->pmds : c.pmu->counters, &all);
	if (mask)
		*mask = all;
	else
		pfm_regmask_weight(&all, count);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_impl_pmcs(pfmlib_regmask_t *impl_pmcs)
{
	return get_registers(0, impl_pmcs, NULL);
}

pfm_err_t pfm_get_impl_pmds(pfmlib_regmask_t *impl_pmds)
{
	return get_registers(1, impl_pmds, NULL);
}

pfm_err_t pfm_get_impl_counters(pfmlib_regmask_t *impl_counters)
{
	return get_registers(2, impl_counters, NULL);
}

pfm_err_t pfm_get_num_pmcs(unsigned int *num)
{
	return get_registers(0, NULL, num);
}

pfm_err_t pfm_get_num_pmds(unsigned int *num)
{
	return get_registers(1, NULL, num);
}

pfm_err_t pfm_get_num_counters(unsigned int *num)
{
	return get_registers(2, NULL, num);
}

pfm_err_t pfm_get_hw_counter_width(unsigned int *width)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (!rc && !width)
		rc = PFMLIB_ERR_INVAL;
	if (!rc)
		*width = c.pmu->width;
	return rc;
}

pfm_err_t pfm_get_cycle_event(pfmlib_event_t *e)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	return rc ? rc : pfm_find_full_event(c.pmu->cycles, e);
}

pfm_err_t pfm_get_inst_retired_event(pfmlib_event_t *e)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	return rc ? rc : pfm_find_full_event(c.pmu->instructions, e);
}
