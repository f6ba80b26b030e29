/* SPDX-License-Identifier: MIT */
/*
 * Top-down shares: a simulated core uses its slots randomly, its counters count as their events
 * define, and the presets of every PMU must compute the shares.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "tests/check.h"
#include "tests/random.h"

/* The use of a slot. */
enum {
	LATENCY = 1 << 0, /* empty: fetch delivered nothing */
	BANDWIDTH = 1 << 1,
	MISPREDICT = 1 << 2, /* used by work that was discarded */
	MISPREDICT_RECOVERY = 1 << 3,
	CLEAR = 1 << 4,
	CLEAR_RECOVERY = 1 << 5,
	LOADS = 1 << 6, /* waiting for them */
	STORES = 1 << 7,
	NO_UNIT = 1 << 8,  /* waits for another reason while no unit works */
	ONE_UNIT = 1 << 9, /* while one does */
	HEAVY = 1 << 10,   /* retired */
	LIGHT = 1 << 11,
	SIBLING = 1 << 12, /* the other thread's */
	FATES = 13,

	FRONTEND = LATENCY | BANDWIDTH,
	MISPREDICTS = MISPREDICT | MISPREDICT_RECOVERY,
	CLEARS = CLEAR | CLEAR_RECOVERY,
	BAD = MISPREDICTS | CLEARS,
	MEMORY = LOADS | STORES,
	CORE = NO_UNIT | ONE_UNIT,
	BACKEND = MEMORY | CORE,
	RETIRING = HEAVY | LIGHT,
	ALL = (1 << FATES) - 1,
};

/* Each event counts slots with some uses, or the cycles filled by them. */
static const struct {
	const char *event;
	int fates, cycles;
} events[] = {
	{"CPU_CLK_UNHALTED:THREAD_P", ALL, 1},
	{"CPU_CLK_UNHALTED:CORE_P", ALL, 1},
	{"UNHALTED_CORE_CYCLES", ALL, 1},
	{"CPU_CYCLES", ALL, 1},
	{"CYCLES_NOT_IN_HALT", ALL, 1},
	{"TOPDOWN:SLOTS", ALL, 0},
	{"TOPDOWN:SLOTS_P", ALL, 0},
	{"TOPDOWN:RETIRING_SLOTS", RETIRING, 0},
	{"TOPDOWN:BAD_SPEC_SLOTS", BAD, 0},
	{"TOPDOWN:BACKEND_BOUND_SLOTS", BACKEND, 0},
	{"TOPDOWN:BR_MISPREDICT_SLOTS", MISPREDICTS, 0},
	{"TOPDOWN:MEMORY_BOUND_SLOTS", MEMORY, 0},
	/* Intel's large cores */
	{"IDQ_UOPS_NOT_DELIVERED:CORE", FRONTEND, 0},
	{"IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE", LATENCY, 1},
	{"IDQ_BUBBLES:CORE", FRONTEND, 0},
	{"IDQ_BUBBLES:CYCLES_0_UOPS_DELIV_CORE", LATENCY, 1},
	{"IDQ_BUBBLES:STARVATION_CYCLES", LATENCY, 1},
	{"IDQ:MS_UOPS", HEAVY, 0},
	{"UOPS_ISSUED:ANY", RETIRING | MISPREDICT | CLEAR, 0},
	{"UOPS_RETIRED:RETIRE_SLOTS", RETIRING, 0},
	{"UOPS_RETIRED:SLOTS", RETIRING, 0},
	{"UOPS_RETIRED:HEAVY", HEAVY, 0},
	{"INT_MISC:RECOVERY_CYCLES", MISPREDICT_RECOVERY | CLEAR_RECOVERY, 1},
	{"BR_MISP_RETIRED:ALL_BRANCHES", MISPREDICTS, 1},
	{"MACHINE_CLEARS:COUNT", CLEARS, 1},
	{"CYCLE_ACTIVITY:STALLS_MEM_ANY", LOADS, 1},
	{"CYCLE_ACTIVITY:STALLS_LDM_PENDING", LOADS, 1},
	{"CYCLE_ACTIVITY:STALLS_L1D_PENDING", LOADS, 1},
	{"CYCLE_ACTIVITY:STALLS_TOTAL", LOADS | NO_UNIT, 1},
	{"CYCLE_ACTIVITY:CYCLES_NO_EXECUTE", LOADS | NO_UNIT, 1},
	{"CYCLE_ACTIVITY:CYCLES_NO_DISPATCH", LOADS | NO_UNIT, 1},
	{"EXE_ACTIVITY:BOUND_ON_STORES", STORES, 1},
	{"RESOURCE_STALLS:SB", STORES, 1},
	{"EXE_ACTIVITY:1_PORTS_UTIL", ONE_UNIT, 1},
	{"UOPS_EXECUTED:CYCLES_GE_1_UOP_EXEC", ONE_UNIT | RETIRING, 1},
	{"UOPS_EXECUTED:CYCLES_GE_2_UOPS_EXEC", RETIRING, 1},
	/* Intel's small cores */
	{"TOPDOWN_FE_BOUND:ALL", FRONTEND, 0},
	{"TOPDOWN_FE_BOUND:ALL_P", FRONTEND, 0},
	{"TOPDOWN_FE_BOUND:FRONTEND_LATENCY", LATENCY, 0},
	{"TOPDOWN_FE_BOUND:FRONTEND_BANDWIDTH", BANDWIDTH, 0},
	{"TOPDOWN_FE_BOUND:ICACHE", LATENCY, 0},
	{"TOPDOWN_FE_BOUND:ITLB", 0, 0},
	{"TOPDOWN_FE_BOUND:BRANCH_DETECT", 0, 0},
	{"TOPDOWN_FE_BOUND:BRANCH_RESTEER", 0, 0},
	{"TOPDOWN_FE_BOUND:CISC", BANDWIDTH, 0},
	{"TOPDOWN_FE_BOUND:DECODE", 0, 0},
	{"TOPDOWN_FE_BOUND:PREDECODE", 0, 0},
	{"TOPDOWN_FE_BOUND:OTHER", 0, 0},
	{"TOPDOWN_BAD_SPECULATION:ALL", BAD, 0},
	{"TOPDOWN_BAD_SPECULATION:ALL_P", BAD, 0},
	{"TOPDOWN_BAD_SPECULATION:MISPREDICT", MISPREDICTS, 0},
	{"TOPDOWN_BAD_SPECULATION:MACHINE_CLEARS", CLEARS, 0},
	{"TOPDOWN_BE_BOUND:ALL", BACKEND, 0},
	{"TOPDOWN_BE_BOUND:ALL_P", BACKEND, 0},
	{"TOPDOWN_BE_BOUND:ALLOC_RESTRICTIONS", CORE, 0},
	{"TOPDOWN_RETIRING:ALL", RETIRING, 0},
	{"TOPDOWN_RETIRING:ALL_P", RETIRING, 0},
	{"UOPS_RETIRED:MS", HEAVY, 0},
	{"UOPS_RETIRED:ANY", RETIRING, 0},
	{"UOPS_NOT_DELIVERED:ANY", FRONTEND, 0},
	{"ISSUE_SLOTS_NOT_CONSUMED:RESOURCE_FULL", BACKEND, 0},
	{"ISSUE_SLOTS_NOT_CONSUMED:RECOVERY", MISPREDICT_RECOVERY | CLEAR_RECOVERY, 0},
	{"MACHINE_CLEARS:ALL", CLEARS, 1},
	{"NO_ALLOC_CYCLES:NOT_DELIVERED", FRONTEND, 1},
	{"NO_ALLOC_CYCLES:MISPREDICTS", BAD, 1},
	/* AMD */
	{"OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER:OPCACHE", RETIRING | BAD, 0},
	{"DISPATCH_STALLS_1:FE_NO_OPS", FRONTEND, 0},
	{"DISPATCH_STALLS_1:FE_NO_OPS:c=6", LATENCY, 1},
	{"DISPATCH_STALLS_1:FE_NO_OPS:c=8", LATENCY, 1},
	{"DISPATCH_STALLS_1:BE_STALLS", BACKEND, 0},
	{"DISPATCH_STALLS_1:SMT_CONTENTION", SIBLING, 0},
	{"RETIRED_OPS", RETIRING, 0},
	{"RETIRED_UCODE_OPS", HEAVY, 0},
	{"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", MISPREDICTS, 1},
	{"RESYNCS", CLEARS, 1},
	{"BP_REDIRECTS:RESYNC", CLEARS, 1},
	{"CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD", MEMORY, 1},
	{"EX_NO_RETIRE:LOAD_NOT_COMPLETE", MEMORY, 1},
	{"CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU", BACKEND, 1},
	/* Arm */
	{"STALL_SLOT", FRONTEND | BACKEND, 0},
	{"STALL_SLOT_FRONTEND", FRONTEND, 0},
	{"STALL_SLOT_BACKEND", BACKEND, 0},
	{"OP_SPEC", RETIRING | BAD, 0},
	{"OP_RETIRED", RETIRING, 0},
	{"STALL_FRONTEND", FRONTEND, 1},
	{"STALL_FRONTEND_MEMBOUND", LATENCY, 1},
	{"STALL_BACKEND", BACKEND, 1},
	{"STALL_BACKEND_MEM", MEMORY, 1},
	{"STALL_BACKEND_MEMBOUND", MEMORY, 1},
	/* Events that vendors subtract, or use as weights: always 0 on this core. */
	{"BR_MIS_PRED", 0, 0},
	{"STALL_FRONTEND_FLUSH", 0, 1},
	{"INT_MISC:UOP_DROPPING", 0, 0},
	{"EXE_ACTIVITY:2_PORTS_UTIL", 0, 1},
};

/*
 * Slots per cycle, if a formula needs them. Sources: vendors' manuals, perf's tables of
 * metrics.
 */
static const struct {
	const char *pmus;
	int width;
} widths[] = {
	{" slm ", 2},
	{" glm ", 3},
	{" glp tmt ehl ", 4},
	{" snb snb_ep ivb ivb_ep hsw hsw_ep bdw bdw_de bdw_ep skl skx clx ", 4},
	{" icl tgl rkl icx adl_grt arm_n2 arm_n3 ", 5},
	{" adl_glc spr emr mtl_rwc gnr grr srf mtl_cmt arl_cmt amd64_fam19h_zen4 ", 6},
	{" arl_lnc lnl_lnc ptl_cgc nvl_cyc arl_skt lnl_skt cwf ptl_dkt ", 8},
	{" amd64_fam1ah_zen5 arm_v1 arm_v2 ", 8},
	{" arm_v3 ", 10},
};

static const struct share {
	const char *name;
	int fates;
	const char *of; /* the share that contains this share */
} shares[] = {
	{"frontend", FRONTEND, NULL},
	{"bad_speculation", BAD, NULL},
	{"backend", BACKEND, NULL},
	{"retiring", RETIRING, NULL},
	{"smt_contention", SIBLING, NULL},
	{"fetch_latency", LATENCY, "frontend"},
	{"fetch_bandwidth", BANDWIDTH, "frontend"},
	{"branch_mispredicts", MISPREDICTS, "bad_speculation"},
	{"machine_clears", CLEARS, "bad_speculation"},
	{"memory_bound", MEMORY, "backend"},
	{"resource_bound", MEMORY, "backend"},
	{"core_bound", CORE, "backend"},
	{"heavy_operations", HEAVY, "retiring"},
	{"light_operations", LIGHT, "retiring"},
};
enum { SHARES = sizeof shares / sizeof *shares };

static struct tach_derived *presets;

/* Slots by use; each use fills whole cycles. */
struct run {
	uint64_t slots[FATES];
	int width;
};

static uint64_t sum(const struct run *r, int fates)
{
	uint64_t total = 0;

	for (int i = 0; i < FATES; i++)
		total += fates >> i & 1 ? r->slots[i] : 0;
	return total;
}

static struct run spend(int width, int sibling)
{
	struct run r = {.width = width};

	for (int i = 0; i < FATES; i++)
		r.slots[i] = (uint64_t)width * random_below(random_below(4) ? 1000000 : 10);
	r.slots[FATES - 2] += (uint64_t)width; /* something retires */
	if (!sibling)
		r.slots[FATES - 1] = 0;
	return r;
}

static int count(const struct run *r, const char *event, uint64_t *n)
{
	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		if (!strcmp(events[i].event, event)) {
			*n = sum(r, events[i].fates);
			if (events[i].cycles)
				*n /= (uint64_t)r->width;
			return 1;
		}
	return 0;
}

/*
 * Returns NaN if the PMU has no such share. *rough: not all operations of the microcode
 * sequencer retired, so this share is only proportional.
 */
static double share(int pmu, const char *pmu_name, const struct share *s, const struct run *r,
		    int *rough)
{
	uint64_t n[TACH_FORMULA_OPERANDS_MAX];
	struct tach_expansion *x;
	char name[64];
	double value;
	int known = 1;

	*rough = 0;
	snprintf(name, sizeof name, "topdown_%s", s->name);
	if (tach_derived_expand(presets, pmu, name, &x, NULL))
		return NAN;
	for (int i = 0; i < tach_expansion_count(x); i++) {
		const char *event = tach_expansion_event(x, i);

		*rough |= !strcmp(event, "IDQ:MS_UOPS");
		known &= count(r, event, &n[i]);
		CHECK(known, "%s %s: %s means nothing to the model", pmu_name, name, event);
	}
	value = known ? tach_formula_eval(tach_expansion_formula(x), n, 0, NULL) : NAN;
	tach_expansion_free(x);
	return value;
}

static int close_to(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void check_one(int pmu, const char *name, int width)
{
	int amd = !strncmp(name, "amd", 3);
	struct run r = spend(width, amd);
	double value[SHARES], all = (double)sum(&r, ALL), whole = 0;

	for (int i = 0; i < SHARES; i++) {
		int rough;

		value[i] = share(pmu, name, &shares[i], &r, &rough);
		if (isnan(value[i]))
			continue;
		CHECK(value[i] >= -1e-12 && value[i] <= 1 + 1e-12, "%s %s: %g", name,
		      shares[i].name, value[i]);
		if (!rough)
			CHECK(close_to(value[i], (double)sum(&r, shares[i].fates) / all),
			      "%s %s: %g, not %g", name, shares[i].name, value[i],
			      (double)sum(&r, shares[i].fates) / all);
		whole += shares[i].of ? 0 : value[i];
	}
	CHECK(close_to(whole, 1), "%s: the shares add up to %g", name, whole);
	for (int i = 0; i < SHARES; i++) {
		double parts = 0;

		for (int k = 0; k < SHARES; k++)
			if (shares[k].of && !strcmp(shares[k].of, shares[i].name) &&
			    !isnan(value[k]))
				parts += value[k];
		CHECK(parts == 0 || close_to(parts, value[i]), "%s %s: its parts are %g of %g",
		      name, shares[i].name, parts, value[i]);
	}
}

static int width_of(const char *pmu)
{
	char word[64];

	snprintf(word, sizeof word, " %s ", pmu);
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		if (strstr(widths[i].pmus, word))
			return widths[i].width;
	return 7; /* may be unused */
}

static void shares_come_back(void)
{
	struct tach_derived_info info = {.size = sizeof info};
	int pmus = 0, second = 0;

	for (int pmu = 0; pmu < tach_pmu_count(); pmu++) {
		struct tach_pmu_info row = {.size = sizeof row};
		int found = 0;

		tach_pmu_describe(pmu, &row);
		for (int i = 0; i < 4; i++) {
			char name[64];

			snprintf(name, sizeof name, "topdown_%s", shares[i].name);
			found += !tach_derived_find(presets, pmu, name, &info);
		}
		CHECK(found == 0 || found == 4, "%s has %d of the first level", row.name,
		      found);
		if (!found)
			continue;
		pmus++;
		second += !tach_derived_find(presets, pmu, "topdown_core_bound", &info);
		for (int i = 0; i < 100; i++)
			check_one(pmu, row.name, width_of(row.name));
	}
	printf("# %d PMUs, %d of them with parts of the back end\n", pmus, second);
	CHECK(pmus >= 60 && second >= 50, "%d PMUs, %d", pmus, second);
}

/* ---- the vendors' formulas ---- */

/* Each event has one number, the same in every formula; cycles are the model's cycles. */
static uint64_t number_of(const char *event)
{
	uint64_t h = 1469598103934665603u;

	if (!strcmp(event, "CPU_CYCLES") || strstr(event, "CPU_CLK_") ||
	    strstr(event, "UNHALTED"))
		return strstr(event, "THREAD_ANY") ? 2000003 * 2 : 2000003;
	/* Counts both threads of a core. */
	if (!strcmp(event, "INT_MISC.RECOVERY_CYCLES_ANY") ||
	    !strcmp(event, "INT_MISC:RECOVERY_CYCLES_ANY"))
		return 2 * number_of("INT_MISC:RECOVERY_CYCLES");
	for (; *event; event++)
		h = (h ^ (unsigned char)*event) * 1099511628211u;
	return 100000 + (h >> 33) % 400000;
}

/* In percent, like the displayed value. */
static double shown(int pmu, const char *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	uint64_t n[TACH_FORMULA_OPERANDS_MAX];
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_expansion *x = NULL;
	double value;

	if (tach_derived_find(presets, pmu, name, &info) ||
	    tach_derived_expand(presets, pmu, name, &x, &err)) {
		CHECK(0, "%s: %s", name, err.text);
		return NAN;
	}
	for (int i = 0; i < tach_expansion_count(x); i++)
		n[i] = number_of(tach_expansion_event(x, i));
	value = tach_formula_eval(tach_expansion_formula(x), n, 0, NULL);
	tach_expansion_free(x);
	return value * (info.scale > 0 ? info.scale : 1);
}

/* Presets with the vendor's names have the vendor's values. */
static void as_vendors_say(void)
{
	static const struct {
		const char *pmu, *suffix, *names[8][2];
	} same[] = {
		{"arm_v1",
		 "",
		 {{"frontend", "frontend_bound"},
		  {"backend", "backend_bound"},
		  {"retiring", "retiring"},
		  {"bad_speculation", "bad_speculation"}}},
		{"arm_v2",
		 "",
		 {{"frontend", "frontend_bound"},
		  {"backend", "backend_bound"},
		  {"retiring", "retiring"},
		  {"bad_speculation", "bad_speculation"}}},
		{"arm_n2",
		 "_r0p3",
		 {{"frontend", "frontend_bound"},
		  {"backend", "backend_bound"},
		  {"retiring", "retiring"},
		  {"bad_speculation", "bad_speculation"}}},
		{"arm_n3",
		 "",
		 {{"frontend", "frontend_bound"},
		  {"backend", "backend_bound"},
		  {"retiring", "retiring"},
		  {"bad_speculation", "bad_speculation"}}},
		{"arm_v3",
		 "",
		 {{"frontend", "frontend_bound"},
		  {"backend", "backend_bound"},
		  {"retiring", "retiring"},
		  {"bad_speculation", "bad_speculation"}}},
		{"skl", "", {{"memory_bound", "Memory_Bound"}, {"retiring", "Retiring"}}},
		{"clx", "", {{"memory_bound", "Memory_Bound"}, {"retiring", "Retiring"}}},
	};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		int pmu = tach_pmu_find(same[i].pmu);

		for (int k = 0; same[i].names[k][0]; k++) {
			struct tach_derived_info info = {.size = sizeof info};
			char ours[64], theirs[64];
			double a, b;

			snprintf(ours, sizeof ours, "topdown_%s", same[i].names[k][0]);
			snprintf(theirs, sizeof theirs, "%s%s", same[i].names[k][1],
				 same[i].suffix);
			/* Names common to all revisions have no suffix. */
			if (tach_derived_find(presets, pmu, theirs, &info))
				snprintf(theirs, sizeof theirs, "%s", same[i].names[k][1]);
			a = shown(pmu, ours);
			b = shown(pmu, theirs);
			CHECK(fabs(a - b) <= 1e-9 * fabs(b), "%s %s: %g, %s is %g", same[i].pmu,
			      ours, a, theirs, b);
		}
	}
}

int main(void)
{
	struct tach_derived_options opt = {.size = sizeof opt, .flags = TACH_DERIVED_PRESETS};

	if (tach_derived_create(&opt, &presets, NULL))
		return 1;
	CASE(shares_come_back);
	CASE(as_vendors_say);
	tach_derived_free(presets);
	return check_done();
}
