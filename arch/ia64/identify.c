/* SPDX-License-Identifier: MIT */
/* Identifies the Itanium: CPUID register 3's family, from /proc/cpuinfo. */
#include <stdlib.h>
#include <string.h>
#include "core/port/port.h"
#include "core/os/kernel_files.h"

static int take_cpuinfo_line(void *context, const char *line)
{
	struct tach__cpu *cpu = context;
	const char *value;

	if ((value = tach__cpuinfo_value(line, "vendor")) != NULL)
		strncpy(cpu->vendor, value, sizeof cpu->vendor - 1);
	else if ((value = tach__cpuinfo_value(line, "family")) != NULL)
		cpu->family = (uint32_t)strtoul(value, NULL, 10);
	else if ((value = tach__cpuinfo_value(line, "model")) != NULL)
		cpu->model = (uint32_t)strtoul(value, NULL, 10);
	return *line == 0 && cpu->family; /* the model follows the family in the line */
}

int tach__ia64_cpus(const char *root, int native, struct tach__cpu *out, int max)
{
	(void)native;
	if (max < 1)
		return 0;
	memset(out, 0, sizeof *out);
	tach__file_lines(root, "/proc/cpuinfo", take_cpuinfo_line, out);
	return out->family != 0;
}
