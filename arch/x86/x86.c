/* SPDX-License-Identifier: MIT */
#include "core/port/port.h"

static int encode(struct tach__work *w)
{
	return w->pmu->encoding == TACH__INTEL ? tach__intel_encode(w)
	       : w->pmu->encoding == TACH__AMD ? tach__amd_encode(w)
					       : tach__netburst_encode(w);
}

static void perf(struct tach__work *w)
{
	if (w->pmu->encoding == TACH__INTEL)
		tach__intel_perf(w);
	else if (w->pmu->encoding == TACH__AMD)
		tach__amd_perf(w);
	else
		tach__netburst_perf(w);
}

const struct tach__part tach__part_x86 = {
	.name = "x86",
	.native = "x86-64",
	.cpus = tach__x86_cpus,
	.encode = encode,
	.perf = perf,
};
