/* SPDX-License-Identifier: MIT */
/* The uncore boxes of a machine. */
#include <stdio.h>
#include <string.h>
#include "core/os/kernel_files.h"
#include "core/pmu/pmu.h"

#define DEVICES "/sys/bus/event_source/devices/"

static int is_in_range(const uint32_t range[2], uint32_t value)
{
	return range[0] <= value && value <= range[1];
}

static int matches_cpu(const struct tach__tab_boxes *b, const struct tach__cpu *cpu)
{
	const char *vendor = tach__str(b->vendor);

	return is_in_range(b->family, cpu->family) && is_in_range(b->model, cpu->model) &&
	       is_in_range(b->stepping, cpu->stepping) &&
	       (b->arch != TACH__X86 || strcmp(vendor, cpu->vendor) == 0);
}

/* Returns 1 if the kernel has the device, under one of the names that it may use. */
static int has_device(const char *root, int pmu)
{
	const char *name = tach__str(tach__pmu_at(pmu)->perf);
	char path[128] = DEVICES, *device = path + sizeof DEVICES - 1;

	while (*name) {
		size_t length = strcspn(name, " ");

		if (length < sizeof path - sizeof DEVICES) {
			memcpy(device, name, length);
			device[length] = '\0';
			if (tach__file_exists(root, path))
				return 1;
		}
		name += length + (name[length] == ' ');
	}
	return 0;
}

void tach__boxes_of(enum tach__arch arch, const struct tach__cpu *cpus, int ncpus,
		    const char *root, uint64_t *boxes)
{
	for (uint32_t i = 0; i < tach__tab_nbox_matches; i++) {
		const struct tach__tab_boxes *b = &tach__tab_boxes[i];
		int cpu = 0;

		if (b->arch != arch)
			continue;
		while (cpu < ncpus && !matches_cpu(b, &cpus[cpu]))
			cpu++;
		for (int k = 0; cpu < ncpus && k < b->count; k++) {
			int pmu = b->first + k;
			unsigned bit = (unsigned)(pmu - tach__npmus());

			if (bit < TACH__BOX_WORDS * 64 &&
			    (!(tach__pmu_at(pmu)->flags & TACH__PMU_SYSFS) ||
			     has_device(root, pmu)))
				boxes[bit / 64] |= UINT64_C(1) << bit % 64;
		}
	}
}

/* Returns 1 if the CPUs of a @match line have that PMU. The line's first model and stepping
 * represent all its CPUs. */
static int has_pmu(const struct tach__tab_boxes *b, int pmu)
{
	struct tach__cpu cpu = {
		.family = b->family[0], .model = b->model[0], .stepping = b->stepping[0]};
	int pmus[TACH__CPU_KINDS], n;

	snprintf(cpu.vendor, sizeof cpu.vendor, "%s", tach__str(b->vendor));
	n = tach__pmus_of((enum tach__arch)b->arch, &cpu, 1, "", pmus, TACH__CPU_KINDS, NULL);
	while (n > 0 && pmus[n - 1] != pmu)
		n--;
	return n > 0;
}

void tach__boxes_of_pmu(int pmu, uint64_t *boxes)
{
	for (uint32_t i = 0; i < tach__tab_nbox_matches; i++) {
		const struct tach__tab_boxes *b = &tach__tab_boxes[i];

		if (b->arch != tach__pmu_at(pmu)->arch || !has_pmu(b, pmu))
			continue;
		for (int k = b->first - tach__npmus(); k < b->first - tach__npmus() + b->count;
		     k++)
			boxes[k / 64] |= UINT64_C(1) << k % 64;
	}
}
