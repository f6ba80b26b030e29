/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "arch/arm64/arm64.h"

static void describe(const struct tach__cpu *cpu, char *out, size_t size)
{
	snprintf(out, size, "implementer 0x%02x part 0x%03x", cpu->family, cpu->model);
}

static int encode(struct tach__work *w)
{
	return w->got.pmu->flags & TACH__PMU_BOX ? tach__box_encode(w) : tach__arm_encode(w);
}

static void perf(struct tach__work *w)
{
	if (w->got.pmu->flags & TACH__PMU_BOX)
		tach__box_perf(w);
	else
		tach__arm_perf(w);
}

/* linux: drivers/perf/arm_pmuv3.c */
static const struct tach__format formats[] = {
	{"event", "config:0-15", -1},
	{"long", "config1:0", -1},
	{"rdpmc", "config1:1", -1},
	{"", "", 0},
};

static const char *const devices[] = {"armv8*", "armv9*", "apple_*", "cpu", NULL};

const struct tach__part tach__part_arm64 = {
	.name = "arm64",
	.native = "arm64",
	.cpus = tach__arm64_cpus,
	.describe = describe,
	.numbered = tach__arm64_numbered,
	.formats = formats,
	.devices = devices,
	.encode = encode,
	.perf = perf,
};
