/* SPDX-License-Identifier: MIT */
/*
 * arm64 with ACPI and two kinds of core: PMUs are called armv8_pmuv3_<number>; only their
 * `cpus` shows which core type they belong to. The test makes the machine as a folder.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-acpi-XXXXXX";

#define put(...) root_put(root, __VA_ARGS__)

#define DEVICE "bus/event_source/devices/"

static void pmu(const char *name, int type, const char *cpus)
{
	char path[256];

	snprintf(path, sizeof path, DEVICE "%s/type", name);
	put(path, "%d\n", type);
	snprintf(path, sizeof path, DEVICE "%s/cpus", name);
	if (cpus)
		put(path, "%s\n", cpus);
}

static void core(int cpu, unsigned part)
{
	char path[256];

	snprintf(path, sizeof path, "devices/system/cpu/cpu%d/regs/identification/midr_el1",
		 cpu);
	put(path, "0x%016x\n", 0x41u << 24 | 0xf0000u | part << 4);
}

#define TYPE_IS(string, want) type_is(string, want, __LINE__)
static void type_is(const char *string, unsigned want, int line)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event e = {.size = sizeof e};
	struct tach_error err = TACH_ERROR_INIT;
	char sysfs[64];
	int rc;

	snprintf(sysfs, sizeof sysfs, "%s/" DEVICE, root);
	sysfs[strlen(sysfs) - 1] = 0;
	opt.os = TACH_OS_PERF_EXT;
	opt.sysfs = sysfs;
	rc = tach_event_encode(string, &opt, &e, &err);
	CHECK(rc == 0 && e.type == want, "line %d: %s: type %u, want %u; %s", line, string,
	      e.type, want, err.text);
}

enum { RAW = 4 };

static void numbered_pmus_match_core_types(void)
{
	/*
	 * PMUs are numbered by the first CPU of a core type; CPU 0, a little core here, is
	 * offline.
	 */
	pmu("armv8_pmuv3_0", 8, "0-1,6");
	pmu("armv8_pmuv3_1", 9, "2-5,7");
	for (int i = 1; i < 8; i++)
		core(i, i == 1 || i == 6 ? 0xd46 : 0xd4d);
	TYPE_IS("arm_ac510::CPU_CYCLES", 8);
	TYPE_IS("arm_ac715::CPU_CYCLES", 9);
	/* The same with exchanged core types. */
	root_wipe(root);
	pmu("armv8_pmuv3_0", 8, "0-3");
	pmu("armv8_pmuv3_1", 9, "4");
	for (int i = 0; i < 5; i++)
		core(i, i < 4 ? 0xd4d : 0xd46);
	TYPE_IS("arm_ac510::CPU_CYCLES", 9);
	TYPE_IS("arm_ac715::CPU_CYCLES", 8);
	/*
	 * If the kernel has no PMU for one core type, the PMU of the other type is not used for
	 * it.
	 */
	root_wipe(root);
	pmu("armv8_pmuv3_0", 8, "0-3");
	for (int i = 0; i < 5; i++)
		core(i, i < 4 ? 0xd4d : 0xd46);
	TYPE_IS("arm_ac715::CPU_CYCLES", 8);
	TYPE_IS("arm_ac510::CPU_CYCLES", RAW);
}

/*
 * A devicetree's PMU names identify the core type; a numbered PMU without this information is
 * matched by its name.
 */
static void pmu_names_identify_core_types(void)
{
	root_wipe(root);
	pmu("armv9_cortex_a510", 8, "0");
	pmu("armv9_cortex_a715", 9, "1");
	TYPE_IS("arm_ac510::CPU_CYCLES", 8);
	TYPE_IS("arm_ac715::CPU_CYCLES", 9);
	root_wipe(root);
	pmu("armv8_pmuv3_0", 8, NULL);
	TYPE_IS("arm_ac510::CPU_CYCLES", 8);
}

static void malformed_cpu_lists_are_ignored(void)
{
	static const char *const lists[] = {
		"", "-", "x", "0-", "99999999999999999999", "3-1", "0-4294967295,", ",,,0"};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		root_wipe(root);
		pmu("armv8_pmuv3_0", 8, lists[i]);
		/* by name, because there is no other information */
		TYPE_IS("arm_ac510::CPU_CYCLES", 8);
	}
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	setenv("TACH_PMU", "arm_ac715,arm_ac510", 1);
	CASE(numbered_pmus_match_core_types);
	CASE(pmu_names_identify_core_types);
	CASE(malformed_cpu_lists_are_ignored);
	root_wipe(root);
	rmdir(root);
	return check_done();
}
