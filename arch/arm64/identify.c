/* SPDX-License-Identifier: MIT */
/*
 * Finds this machine's Arm cores: MIDR_EL1 of each CPU from sysfs, else /proc/cpuinfo. MIDR_EL1
 * (Arm ARM D19.2.122): implementer 31-24, part 15-4. Linux shows it per CPU since 4.8
 * (Documentation/arch/arm64/cpu-feature-registers.rst).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/arm64/arm64.h"
#include "core/os/kernel_files.h"
#include "core/os/sysfs.h"

#define CPUS "/sys/devices/system/cpu"

enum { CPUS_MOST = 4096, APPLE = 0x61 };

struct kinds {
	struct tach__cpu *out;
	int n, max;
	uint32_t implementer;
};

/* Adds a core type. Returns NULL if it is already known, or if there is no room. */
static struct tach__cpu *add_kind(struct kinds *kinds, uint32_t implementer, uint32_t part)
{
	struct tach__cpu *cpu;

	for (int i = 0; i < kinds->n; i++)
		if (kinds->out[i].family == implementer && kinds->out[i].model == part)
			return NULL;
	if (kinds->n == kinds->max)
		return NULL;
	cpu = &kinds->out[kinds->n++];
	memset(cpu, 0, sizeof *cpu);
	cpu->family = implementer;
	cpu->model = part;
	cpu->noarch = implementer == APPLE; /* an Apple core's PMU is not PMUv3 */
	return cpu;
}

static int midr_of(const char *cpus, long i, uint64_t *midr)
{
	char path[512];

	snprintf(path, sizeof path, "/cpu%ld/regs/identification/midr_el1", i);
	return tach__file_number(cpus, path, midr);
}

static void by_sysfs(const char *root, struct kinds *kinds)
{
	char path[128], possible[64], cpus[512];
	const char *last;
	uint64_t midr, capacity;
	long most = 0;

	if (tach__file_line(root, CPUS "/possible", possible, sizeof possible) > 0) {
		last = strrchr(possible, '-');
		most = strtol(last ? last + 1 : possible, NULL, 10);
	}
	snprintf(cpus, sizeof cpus, "%s" CPUS, root);
	for (long i = 0; i <= most && i < CPUS_MOST; i++) {
		struct tach__cpu *cpu;

		if (midr_of(cpus, i, &midr) != 0)
			continue; /* offline */
		cpu = add_kind(kinds, midr >> 24 & 0xff, midr >> 4 & 0xfff);
		snprintf(path, sizeof path, CPUS "/cpu%ld/cpu_capacity", i);
		if (cpu && tach__file_number(root, path, &capacity) == 0)
			cpu->capacity = (uint32_t)capacity;
	}
}

static int take_cpuinfo_line(void *context, const char *line)
{
	struct kinds *kinds = context;
	const char *value;

	if ((value = tach__cpuinfo_value(line, "CPU implementer")) != NULL)
		kinds->implementer = (uint32_t)strtoul(value, NULL, 0);
	else if ((value = tach__cpuinfo_value(line, "CPU part")) != NULL)
		add_kind(kinds, kinds->implementer, (uint32_t)strtoul(value, NULL, 0));
	return 0;
}

int tach__arm64_cpus(const char *root, int native, struct tach__cpu *out, int max)
{
	struct kinds kinds = {out, 0, max, 0};

	(void)native;
	by_sysfs(root, &kinds);
	if (kinds.n == 0)
		tach__file_lines(root, "/proc/cpuinfo", take_cpuinfo_line, &kinds);
	return kinds.n;
}

/* Finds the first online CPU in a list as the kernel prints it ("0-3,8"). */
static int first_of(const char *cpus, const char *list, uint64_t *midr)
{
	char *at = (char *)list;

	while (*at >= '0' && *at <= '9') {
		long first = strtol(at, &at, 10), last = first;

		if (*at == '-')
			last = strtol(at + 1, &at, 10);
		for (long i = first; i <= last && i < CPUS_MOST; i++)
			if (midr_of(cpus, i, midr) == 0)
				return 1;
		at += *at == ',';
	}
	return 0;
}

/*
 * With ACPI Linux names the PMU of each core type armv8_pmuv3_<number>, in the order in which
 * it finds the types (drivers/perf/arm_pmu_acpi.c); only the file `cpus` shows which type a PMU
 * belongs to.
 */
int tach__arm64_numbered(const char *sysfs, int i, char device[32], struct tach__cpu *cpu)
{
	int length = snprintf(device, 32, "armv8_pmuv3_%d", i);
	char list[1024], cpus[512];
	struct kinds kind = {cpu, 0, 1, 0};
	uint64_t midr;

	if (tach__sysfs_read(sysfs, device, (size_t)length, "cpus", list, sizeof list) < 0)
		return -1;
	snprintf(cpus, sizeof cpus, "%s/../../../devices/system/cpu", sysfs);
	if (!first_of(cpus, list, &midr))
		return 0;
	add_kind(&kind, midr >> 24 & 0xff, midr >> 4 & 0xfff);
	return 1;
}
