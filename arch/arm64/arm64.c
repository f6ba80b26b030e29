/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "core/port/port.h"

static void describe(const struct tach__cpu *cpu, char *out, size_t size)
{
	snprintf(out, size, "implementer 0x%02x part 0x%03x", cpu->family, cpu->model);
}

/* linux: drivers/perf/arm_pmuv3.c */
static const struct tach__format formats[] = {
	{"event", "config:0-15", -1},
	{"long", "config1:0", -1},
	{"rdpmc", "config1:1", -1},
	{"", "", 0},
};

const struct tach__part tach__part_arm64 = {
	.name = "arm64",
	.native = "arm64",
	.cpus = tach__arm64_cpus,
	.describe = describe,
	.formats = formats,
	.encode = tach__arm_encode,
	.perf = tach__arm_perf,
};
