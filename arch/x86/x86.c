/* SPDX-License-Identifier: MIT */
#include "core/port/port.h"

static int encode(struct tach__work *w)
{
	return w->got.pmu->encoding == TACH__INTEL	? tach__intel_encode(w)
	       : w->got.pmu->encoding == TACH__AMD	? tach__amd_encode(w)
	       : w->got.pmu->encoding == TACH__NETBURST ? tach__netburst_encode(w)
							: tach__box_encode(w);
}

static void perf(struct tach__work *w)
{
	if (w->got.pmu->encoding == TACH__INTEL)
		tach__intel_perf(w);
	else if (w->got.pmu->encoding == TACH__AMD)
		tach__amd_perf(w);
	else if (w->got.pmu->encoding == TACH__NETBURST)
		tach__netburst_perf(w);
	else
		tach__box_perf(w);
}

static const char *common(const struct tach__pmu *pmu)
{
	return pmu->encoding == TACH__INTEL ? "ix86arch" : NULL;
}

/* linux: arch/x86/events/{intel,amd}/core.c */
static const struct tach__format formats[] = {
	{"event", "config:0-7,32-35", TACH__AMD},
	{"event", "config:0-7", TACH__INTEL},
	{"umask", "config:8-15,40-47", TACH__INTEL},
	{"umask", "config:8-15", TACH__AMD},
	{"edge", "config:18", -1},
	{"pc", "config:19", TACH__INTEL},
	{"any", "config:21", TACH__INTEL},
	{"inv", "config:23", -1},
	{"cmask", "config:24-31", -1},
	{"in_tx", "config:32", TACH__INTEL},
	{"in_tx_cp", "config:33", TACH__INTEL},
	{"eq", "config:36", TACH__INTEL},
	{"ldlat", "config1:0-15", TACH__INTEL},
	{"offcore_rsp", "config1:0-63", TACH__INTEL},
	{"frontend", "config1:0-23", TACH__INTEL},
	{"", "", 0},
};

static const char *const devices[] = {"cpu", "cpu_core", "cpu_atom", "cpu_lowpower", NULL};

const struct tach__part tach__part_x86 = {
	.name = "x86",
	.native = "x86-64",
	.cpus = tach__x86_cpus,
	.common = common,
	.formats = formats,
	.devices = devices,
	.encode = encode,
	.perf = perf,
};
