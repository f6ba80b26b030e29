/* SPDX-License-Identifier: MIT */
/* Identifies the x86 CPU: by CPUID if the code runs on it, else by /proc/cpuinfo. */
#include <stdlib.h>
#include <string.h>
#include <tach/arch.h>
#include "core/port/port.h"
#include "core/os/kernel_files.h"

#ifdef __x86_64__
#include <cpuid.h>

/*
 * Intel SDM volume 2, CPUID: leaf 0 vendor; leaf 1 version; leaf 0AH EAX 7-0 version of
 * architectural performance monitoring; leaf 1AH EAX 31-24 core type, 23-0 native model.
 */
static int by_instruction(struct tach__cpu *cpu)
{
	unsigned most, a, b, c, d;

	/*
	 * In a virtual machine each CPUID is a trap, so only the necessary ones are executed.
	 */
	__cpuid(0, most, b, c, d);
	if (most < 1)
		return 0;
	memset(cpu, 0, sizeof *cpu);
	memcpy(cpu->vendor, &b, 4);
	memcpy(cpu->vendor + 4, &d, 4);
	memcpy(cpu->vendor + 8, &c, 4);
	__cpuid(1, a, b, c, d);
	cpu->stepping = a & 0xf;
	cpu->family = a >> 8 & 0xf;
	cpu->model = a >> 4 & 0xf;
	if (cpu->family == 0xf)
		cpu->family += a >> 20 & 0xff;
	if (cpu->family >= 6)
		cpu->model |= a >> 12 & 0xf0;
	if (strcmp(cpu->vendor, "GenuineIntel") != 0)
		return 1;
	cpu->noarch = 1;
	if (most >= 0xa) {
		__cpuid(0xa, a, b, c, d);
		cpu->noarch = (a & 0xff) == 0;
	}
	if (most >= 0x1a) {
		__cpuid_count(0x1a, 0, a, b, c, d);
		cpu->core = a >> 24;
		cpu->native = a & 0xffffff;
	}
	return 1;
}
#else
static int by_instruction(struct tach__cpu *cpu)
{
	(void)cpu;
	return 0;
}
#endif

struct found {
	struct tach__cpu *cpu;
	int lines; /* number of non-empty lines of the first processor */
};

/* Blanks belong to the vendor's name: "  Shanghai  ". */
static const char *whole(const char *line, const char *value)
{
	const char *colon = strchr(line, ':');

	return colon[1] == ' ' ? colon + 2 : value;
}

/* Lines of the first processor; an empty one ends it. */
static int cpuinfo(void *context, const char *line)
{
	struct found *found = context;
	struct tach__cpu *cpu = found->cpu;
	const char *value;

	if (*line == 0)
		return found->lines > 0;
	found->lines++;
	if ((value = tach__cpuinfo_value(line, "vendor_id")) != NULL)
		strncpy(cpu->vendor, whole(line, value), sizeof cpu->vendor - 1);
	else if ((value = tach__cpuinfo_value(line, "cpu family")) != NULL)
		cpu->family = (uint32_t)strtoul(value, NULL, 10);
	else if ((value = tach__cpuinfo_value(line, "model")) != NULL)
		cpu->model = (uint32_t)strtoul(value, NULL, 10);
	else if ((value = tach__cpuinfo_value(line, "stepping")) != NULL)
		cpu->stepping = (uint32_t)strtoul(value, NULL, 10);
	return 0;
}

int tach__x86_cpus(const char *root, int native, struct tach__cpu *out, int max)
{
	struct found found = {out, 0};

	if (max < 1)
		return 0;
	if (native && by_instruction(out))
		return 1;
	memset(out, 0, sizeof *out);
	tach__file_lines(root, "/proc/cpuinfo", cpuinfo, &found);
	return out->vendor[0] != 0;
}
