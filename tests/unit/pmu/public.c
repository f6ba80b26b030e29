/* SPDX-License-Identifier: MIT */
/* The public calls about PMUs, events and umasks, compared with the text of the tables. */
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include <unistd.h>
#include "core/pmu/pmu.h"
#include "tests/child.h"

static int same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void pmus(void)
{
	static const struct tach_pmu_info all[] = {
		{.name = "skl",
		 .arch = "x86",
		 .description = "Intel Skylake, Kaby Lake, Coffee Lake, Comet Lake",
		 .libpfm4_id = 200,
		 .general = 4,
		 .general_width = 48,
		 .fixed = 7,
		 .fixed_width = 48,
		 .privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL,
		 .present = 1,
		 .alias = "",
		 .perf = "cpu"},
		{.name = "arm_n1",
		 .arch = "arm64",
		 .description = "Arm Neoverse N1",
		 .libpfm4_id = 449,
		 .general = 6,
		 .general_width = 32,
		 .privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL |
			      TACH_PRIVILEGE_HYPERVISOR,
		 .alias = "",
		 .perf = "armv8_neoverse_n1 armv8_pmuv3_0 armv8_pmuv3"},
		{.name = "tgl",
		 .arch = "x86",
		 .description = "Intel Tiger Lake",
		 .libpfm4_id = -1,
		 .general = 8,
		 .general_width = 48,
		 .fixed = 15,
		 .fixed_width = 48,
		 .privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL,
		 .alias = "icl",
		 .perf = "cpu"},
		{.name = "skx_unc_imc1",
		 .arch = "x86",
		 .description = "Skylake-SP, Cascade Lake-SP memory controller",
		 .libpfm4_id = 355,
		 .alias = "",
		 .perf = "uncore_imc_1",
		 .uncore = 1},
		{.name = "rapl_skl",
		 .arch = "x86",
		 .description = "Intel RAPL energy, client since Skylake",
		 .libpfm4_id = -1,
		 .alias = "rapl",
		 .perf = "power",
		 .uncore = 1},
		/* The kernel's own PMUs exist on every machine. */
		{.name = "perf",
		 .arch = "linux",
		 .description = "Linux perf: generic hardware, software and cache events",
		 .libpfm4_id = 51,
		 .present = 1,
		 .alias = "",
		 .perf = "",
		 .privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL |
			      TACH_PRIVILEGE_HYPERVISOR},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct tach_pmu_info *want = &all[i];
		struct tach_pmu_info got = {.size = sizeof got};

		CHECK(tach_pmu_describe(tach_pmu_find(want->name), &got) == 0, "%s",
		      want->name);
		CHECK(same(got.name, want->name) && same(got.arch, want->arch) &&
			      same(got.description, want->description) &&
			      same(got.alias, want->alias) && same(got.perf, want->perf),
		      "%s: %s, %s, %s, %s", want->name, got.arch, got.description, got.alias,
		      got.perf);
		CHECK(got.libpfm4_id == want->libpfm4_id && got.general == want->general &&
			      got.general_width == want->general_width &&
			      got.fixed == want->fixed && got.fixed_width == want->fixed_width,
		      "%s: %d %d %d %x %d", want->name, got.libpfm4_id, got.general,
		      got.general_width, got.fixed, got.fixed_width);
		CHECK(got.privilege == want->privilege && got.uncore == want->uncore &&
			      got.present == want->present && got.nevents > 0,
		      "%s: %x %d %d", want->name, got.privilege, got.uncore, got.present);
	}
}

static void events(void)
{
	static const struct {
		const char *pmu;
		struct tach_event_info want;
	} all[] = {
		{"skl",
		 {.name = "UNHALTED_REFERENCE_CYCLES",
		  .description =
			  "Reference clock cycles (constant rate) while the thread is not "
			  "halted (architectural event)",
		  .code = 0x300,
		  .counters = 0x400000000}},
		{"skl",
		 {.name = "INSTRUCTIONS_RETIRED",
		  .description = "Instructions retired (architectural event)",
		  .alias_of = "INSTRUCTION_RETIRED",
		  .code = 0xc0,
		  .counters = 0x10000000f}},
		{"skl", {.name = "UOPS_RETIRED", .code = 0xc2, .numasks = 8, .counters = 0xff}},
		{"atom",
		 {.name = "CYCLES_DIV_BUSY",
		  .code = 0x14,
		  .counters = 3,
		  .vendor_code = "14/1/c0,i0,e0,t0"}},
		{"adl_grt",
		 {.name = "LBR_INSERTS",
		  .code = 0xe4,
		  .numasks = 1,
		  .counters = 0x3f,
		  .deprecated = 1}},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct tach_event_info *want = &all[i].want;
		struct tach_event_info got = {.size = sizeof got};
		int pmu = tach_pmu_find(all[i].pmu);

		CHECK(tach_pmu_event(pmu, tach__event_find(pmu, want->name, strlen(want->name)),
				     &got) == 0);
		CHECK(same(got.name, want->name) && same(got.alias_of, want->alias_of) &&
			      same(got.vendor_code, want->vendor_code) &&
			      same(got.libpfm4_code, want->libpfm4_code) &&
			      (!want->description || same(got.description, want->description)),
		      "%s: %s", want->name, got.description);
		CHECK(got.code == want->code && got.numasks >= want->numasks &&
			      !got.numasks == !want->numasks &&
			      got.counters == want->counters &&
			      got.deprecated == want->deprecated,
		      "%s: %llx %d %llx", want->name, (unsigned long long)got.code, got.numasks,
		      (unsigned long long)got.counters);
	}
}

static void umasks(void)
{
	static const struct {
		const char *pmu, *event;
		struct tach_umask_info want;
	} all[] = {
		{"skl",
		 "INST_RETIRED",
		 {.name = "ANY_P",
		  .description = "All, on a general counter",
		  .counters = 0xf,
		  .is_default = 1}},
		{"skl",
		 "INST_RETIRED",
		 {.name = "PREC_DIST",
		  .description = "With precise distribution of samples (fixed counter 0 only)",
		  .code = 1,
		  .counters = 2}},
		/* A umask without counters of its own has its event's counters. */
		{"skl",
		 "UOPS_RETIRED",
		 {.name = "STALL_CYCLES",
		  .alias_of = "ALL:c=1:i",
		  .code = 1,
		  .counters = 0xff,
		  .vendor_code = "c2/2/c1,i1,e0,t0"}},
		{"skl",
		 "OFFCORE_RESPONSE_0",
		 {.name = "SNP_NON_DRAM",
		  .description = "Served from elsewhere than memory, such as memory-mapped I/O",
		  .code = 0x2000000000,
		  .counters = 0xf,
		  .group = 2}},
		{"adl_glc",
		 "CPU_CLK_UNHALTED",
		 {.name = "C01", .code = 0x10, .counters = 0xff, .libpfm4_code = "0x53103c"}},
		{"adl_glc",
		 "ARITH",
		 {.name = "DIVIDER_ACTIVE", .code = 9, .counters = 0xff, .deprecated = 1}},
		{"skx_unc_imc0",
		 "UNC_M_CAS_COUNT",
		 {.name = "WR", .code = 0xc, .counters = 0xf}},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct tach_umask_info *want = &all[i].want;
		struct tach_umask_info got = {.size = sizeof got};
		int pmu = tach_pmu_find(all[i].pmu);
		int event = tach__event_find(pmu, all[i].event, strlen(all[i].event));
		int umask = tach__umask_find(tach__event_at(pmu, event), want->name,
					     strlen(want->name));

		CHECK(tach_pmu_umask(pmu, event, umask, &got) == 0);
		CHECK(same(got.name, want->name) && same(got.alias_of, want->alias_of) &&
			      same(got.vendor_code, want->vendor_code) &&
			      same(got.libpfm4_code, want->libpfm4_code) &&
			      (!want->description || same(got.description, want->description)),
		      "%s: %s", want->name, got.description);
		CHECK(got.code == want->code && got.counters == want->counters &&
			      got.group == want->group && got.is_default == want->is_default &&
			      got.deprecated == want->deprecated,
		      "%s: %llx %llx %d %d %d", want->name, (unsigned long long)got.code,
		      (unsigned long long)got.counters, got.group, got.is_default,
		      got.deprecated);
	}
}

/* Unknown items, and structs with invalid sizes. */
static void refused(void)
{
	struct tach_event_info event = {.size = sizeof event};
	struct tach_umask_info umask = {.size = sizeof umask};
	int pmu = tach_pmu_find("skl"), last = tach_pmu_count() + tach_pmu_uncore_count();
	int row = tach__event_find(pmu, "UOPS_RETIRED", 12);

	CHECK(tach_pmu_event(-1, 0, &event) == TACH_ERR_INVAL);
	CHECK(tach_pmu_event(0, 0, &event) == 0 && tach_pmu_event(last - 1, 0, &event) == 0);
	CHECK(tach_pmu_event(last, 0, &event) == TACH_ERR_INVAL);
	CHECK(tach_pmu_umask(pmu, row, -1, &umask) == TACH_ERR_INVAL);
	CHECK(tach_pmu_umask(pmu, row, 0, &umask) == 0);
	CHECK(tach_pmu_umask(pmu, -1, 0, &umask) == TACH_ERR_INVAL);
	CHECK(tach_pmu_umask(pmu, row, 0, NULL) == TACH_ERR_INVAL);
	CHECK(tach_pmu_event(pmu, row, NULL) == TACH_ERR_INVAL);
	event.size = umask.size = 7;
	CHECK(tach_pmu_event(pmu, row, &event) == TACH_ERR_INVAL);
	CHECK(tach_pmu_umask(pmu, row, 0, &umask) == TACH_ERR_INVAL);
}

static void names(void)
{
	static const struct {
		const char *list;
		int n, column;
		const char *text;
	} all[] = {
		{"skl", 1, 0, ""},
		{"skl,hsw,arm_n1", 3, 0, ""},
		{"skl,", 1, 0, ""},
		{"skl,hsw,arm_n1,bdw,icl", 4, 0, ""}, /* at most as many as the array holds */
		{"", 0, 0, ""},
		{"perf", 0, 1, "TACH_PMU: no PMU 'perf'; names by tach list --all"},
		{"skl,x", 0, 5, "TACH_PMU: no PMU 'x'; names by tach list --all"},
		{",skl", 0, 1, "TACH_PMU: no PMU ''; names by tach list --all"},
	};
	char word[66] = "", text[256];
	int found[5];
	struct tach_error err = TACH_ERROR_INIT;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		memset(found, -1, sizeof found);
		CHECK(tach__pmus_named(all[i].list, found, 4, &err) == all[i].n &&
			      found[4] == -1,
		      "%s", all[i].list);
		CHECK(err.code == (all[i].column ? TACH_ERR_NOTFOUND : 0) && err.line == 0 &&
			      err.column == all[i].column && strcmp(err.text, all[i].text) == 0,
		      "%s: %d:%d %s", all[i].list, err.line, err.column, err.text);
	}
	CHECK(tach__pmus_named("hsw,skl", found, 2, NULL) == 2 &&
	      found[0] == tach_pmu_find("hsw") && found[1] == tach_pmu_find("skl"));
	/* A message shows 64 letters of a word. */
	for (int more = 0; more < 2; more++) {
		memset(word, 'x', (size_t)(64 + more));
		snprintf(text, sizeof text,
			 "TACH_PMU: no PMU '%.64s'; names by tach list --all", word);
		CHECK(tach__pmus_named(word, found, 4, &err) == 0 && !strcmp(err.text, text),
		      "%s", err.text);
	}
}

/* The host of PMUs, if TACH_PMU names it: all, some or none of the PMUs belong to it. */
static void host(void)
{
	int found[3] = {-1, -1, -1}, n;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_pmu_info info = {.size = sizeof info};

	err.column = 9;
	n = tach_pmu_host(found, 3, &err);
	CHECK(n == 2 && found[0] == tach_pmu_find("skl") && found[1] == tach_pmu_find("hsw") &&
	      found[2] == -1);
	CHECK(err.code == 0 && err.line == 0 && err.column == 0 && !*err.text, "%s", err.text);
	found[1] = -1;
	CHECK(tach_pmu_host(found, 1, NULL) == 2 && found[1] == -1);
	CHECK(tach_pmu_host(NULL, 0, NULL) == 2);
	CHECK(tach_pmu_host(NULL, 1, &err) == TACH_ERR_INVAL &&
		      strcmp(err.text, "no room for the answer") == 0 && !err.line &&
		      !err.column,
	      "%s", err.text);
	CHECK(tach_pmu_host(found, -1, &err) == TACH_ERR_INVAL);
	CHECK(tach_pmu_describe(found[0], &info) == 0 && info.present);
	CHECK(tach_pmu_describe(tach_pmu_find("hsw"), &info) == 0 && info.present);
	CHECK(tach_pmu_describe(tach_pmu_find("bdw"), &info) == 0 && !info.present);
}

static void wrong_name(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	setenv("TACH_PMU", "skl,nosuch", 1);
	CHECK(tach_pmu_host(NULL, 0, &err) == 0 && err.code == TACH_ERR_NOTFOUND &&
	      err.line == 0 && err.column == 5);
	CHECK(strcmp(err.text, "TACH_PMU: no PMU 'nosuch'; names by tach list --all") == 0,
	      "%s", err.text);
}

static void no_host(void)
{
	in_child(wrong_name);
}

int main(void)
{
	CASE(no_host);
	setenv("TACH_PMU", "skl,hsw", 1);
	CASE(pmus);
	CASE(events);
	CASE(umasks);
	CASE(refused);
	CASE(names);
	CASE(host);
	return check_done();
}
