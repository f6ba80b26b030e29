/* SPDX-License-Identifier: MIT */
/* Messages of identification for unknown and partly known CPUs. */
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include <unistd.h>
#include "core/pmu/pmu.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-said-XXXXXX";

#define NAME_ONE "TACH_PMU=NAME, names by tach list --all"
#define COMMON	 ": the architecture's common events ("

static void messages_have_their_text(void)
{
	static const struct tach__cpu none[2];
	static const struct {
		enum tach__arch arch;
		struct tach__cpu cpus[2];
		int n, max;
		const char *pmus[2];
		int code;
		const char *text;
	} all[] = {
		{TACH__X86,
		 {{.family = 0}},
		 0,
		 4,
		 {NULL},
		 TACH_ERR_NOTFOUND,
		 "this CPU cannot be identified (no /proc/cpuinfo?); name its "
		 "model: " NAME_ONE},
		{TACH__X86,
		 {{.vendor = "HygonGenuine", .family = 0x18, .model = 1, .stepping = 2}},
		 1,
		 4,
		 {NULL},
		 TACH_ERR_NOTFOUND,
		 "unknown CPU: HygonGenuine family 0x18 model 0x1 stepping 0x2; if it "
		 "resembles a "
		 "known one, name that: " NAME_ONE},
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0xfe, .stepping = 3}},
		 1,
		 4,
		 {"ix86arch"},
		 0,
		 "unknown CPU (GenuineIntel family 0x6 model 0xfe stepping 0x3)" COMMON
		 "ix86arch) are used; TACH_PMU=NAME overrides"},
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0x5e}},
		 1,
		 4,
		 {"skl"},
		 0,
		 ""},
		/*
		 * With two core types: both unknown, the same one twice, one of them known, and
		 * not more than requested
		 */
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0x5e},
		  {.vendor = "GenuineIntel", .family = 6, .model = 0x3c}},
		 2,
		 4,
		 {"skl", "hsw"},
		 0,
		 ""},
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0x5e},
		  {.vendor = "GenuineIntel", .family = 6, .model = 0x4e}},
		 2,
		 4,
		 {"skl"},
		 0,
		 ""},
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0x5e},
		  {.vendor = "GenuineIntel", .family = 6, .model = 0x3c}},
		 2,
		 1,
		 {"skl"},
		 0,
		 ""},
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0x5e},
		  {.vendor = "HygonGenuine", .family = 0x18, .model = 1, .stepping = 2}},
		 2,
		 4,
		 {"skl"},
		 0,
		 "some cores of this machine are unknown: HygonGenuine family 0x18 model 0x1 "
		 "stepping 0x2"},
		/* The message about the partly known core comes first. */
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0xfe, .stepping = 3},
		  {.vendor = "HygonGenuine", .family = 0x18}},
		 2,
		 4,
		 {"ix86arch"},
		 0,
		 "unknown CPU (GenuineIntel family 0x6 model 0xfe stepping 0x3)" COMMON
		 "ix86arch) are used; TACH_PMU=NAME overrides"},
		/*
		 * A hybrid without sysfs and CPUID; and a core type of an unknown generation.
		 */
		{TACH__X86,
		 {{.vendor = "GenuineIntel", .family = 6, .model = 0x9a}},
		 1,
		 4,
		 {"adl_glc"},
		 0,
		 "a hybrid CPU whose core types neither sysfs nor CPUID tells: assuming "
		 "adl_glc; "
		 "TACH_PMU=NAME overrides"},
		{TACH__X86,
		 {{.vendor = "GenuineIntel",
		   .family = 6,
		   .model = 0x9a,
		   .core = 0x20,
		   .native = 77}},
		 1,
		 4,
		 {"adl_grt"},
		 0,
		 "a hybrid CPU whose core types neither sysfs nor CPUID tells: assuming "
		 "adl_grt; "
		 "TACH_PMU=NAME overrides"},
		{TACH__X86,
		 {{.vendor = "GenuineIntel",
		   .family = 6,
		   .model = 0x9a,
		   .core = 0x40,
		   .native = 1}},
		 1,
		 4,
		 {"adl_glc"},
		 0,
		 ""},
		/* A core of another implementer. */
		{TACH__ARM64,
		 {{.family = 0x51, .model = 0x803}},
		 1,
		 4,
		 {"arm_ac55"},
		 0,
		 "Kryo 3xx silver has no table of its own: the architecture's common events "
		 "(arm_ac55) are used"},
		{TACH__ARM64,
		 {{.family = 0x41, .model = 0xfff}},
		 1,
		 4,
		 {"arm_armv8"},
		 0,
		 "unknown CPU (implementer 0x41 part 0xfff)" COMMON
		 "arm_armv8) are used; TACH_PMU=NAME overrides"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = {.size = sizeof err, .code = 7, .line = 7, .column = 7};
		int pmus[4] = {-1, -1, -1, -1}, n, want = 0;

		n = tach__pmus_of(all[i].arch, all[i].n ? all[i].cpus : none, all[i].n, root,
				  pmus, all[i].max, &err);
		while (want < 2 && all[i].pmus[want]) {
			CHECK(pmus[want] == tach_pmu_find(all[i].pmus[want]), "%zu: %d", i,
			      pmus[want]);
			want++;
		}
		CHECK(n == want && pmus[want] == -1, "%zu: %d", i, n);
		CHECK(err.code == all[i].code && !err.line && !err.column &&
			      strcmp(err.text, all[i].text) == 0,
		      "%zu: %d %d:%d %s", i, err.code, err.line, err.column, err.text);
		CHECK(tach__pmus_of(all[i].arch, all[i].n ? all[i].cpus : none, all[i].n, root,
				    pmus, all[i].max, NULL) == n);
	}
}

/* From the kernel's devices: the CPU's own core types, the most capable one first. */
static void devices_name_the_core_types(void)
{
	static const struct {
		const char *device, *pmus;
	} steps[] = {
		{"cpu", ""},
		{"cpu_atom", "arl_skt"},
		{"cpu_core", "arl_lnc arl_skt"},
		{"cpu_lowpower", "arl_lnc arl_skt arl_cmt"},
	};
	struct tach__cpu cpu = {.vendor = "GenuineIntel", .family = 6, .model = 0xc5};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		char path[64], names[128] = "";
		int pmus[4], n;

		snprintf(path, sizeof path, "sys/bus/event_source/devices/%s/type",
			 steps[i].device);
		root_put(root, path, "4\n");
		n = tach__pmus_of(TACH__X86, &cpu, 1, root, pmus, 4, NULL);
		for (int k = 0; k < n; k++) {
			strcat(names, k ? " " : "");
			strcat(names, tach__str(tach__pmu_at(pmus[k])->name));
		}
		CHECK(i == 0 || strcmp(names, steps[i].pmus) == 0, "%s", names);
	}
	root_wipe(root);
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(messages_have_their_text);
	CASE(devices_name_the_core_types);
	rmdir(root);
	return check_done();
}
