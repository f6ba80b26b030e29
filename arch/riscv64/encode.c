/* SPDX-License-Identifier: MIT */
/*
 * RISC-V: one word. If a vendor's codes are known, the word is the value for mhpmevent, which
 * is also perf's config with type RAW (drivers/perf/riscv_pmu_sbi.c, riscv_get_event_info):
 * bits 47-0, from SBI 3.0 on 55-0. Bits 63-56 of mhpmevent belong to the kernel (Sscofpmf), so
 * no privilege level is part of the word. For events of the SBI PMU extension the word is
 * event_idx: type in bits 19-16, code in 15-0 (RISC-V SBI specification, "Event: Hardware
 * general events" and the following), for which perf has other numbers.
 */
#include <stdio.h>
#include "core/port/port.h"

#define FIRMWARE (UINT64_C(1) << 63)

enum { SBI_HARDWARE, SBI_CACHE, SBI_FIRMWARE = 0xf };

static int encode(struct tach__work *w)
{
	w->out.codes[0] = w->got.event->code;
	w->out.ncodes = 1;
	return 0;
}

static void perf(struct tach__work *w)
{
	uint32_t code = (uint32_t)w->out.codes[0] & 0xffff;

	w->out.config = w->out.codes[0];
	if (w->got.pmu->encoding != TACH__SBI)
		return;
	switch (w->out.codes[0] >> 16) {
	case SBI_HARDWARE: /* numbered from 1 */
		w->out.type = PERF_TYPE_HARDWARE;
		w->out.config = code - 1;
		break;
	case SBI_CACHE: /* cache << 3 | operation << 1 | result */
		w->out.type = PERF_TYPE_HW_CACHE;
		w->out.config = code >> 3 | (code >> 1 & 3) << 8 | (code & 1) << 16;
		break;
	case SBI_FIRMWARE:
		w->out.config = FIRMWARE | code;
		break;
	}
}

/* Returns the firmware's PMU: it may count events that the vendor's PMU lacks. */
static const char *common(const struct tach__pmu *pmu)
{
	return pmu->encoding == TACH__RISCV ? "rv_sbi" : NULL;
}

static void describe(const struct tach__cpu *cpu, char *out, size_t size)
{
	snprintf(out, size, "mvendorid marchid mimpid %s", cpu->id);
}

/* linux: drivers/perf/riscv_pmu_sbi.c */
static const struct tach__format formats[] = {
	{"event", "config:0-55", -1},
	{"firmware", "config:62-63", -1},
	{"", "", 0},
};

static const char *const devices[] = {"cpu", NULL};

const struct tach__part tach__part_riscv64 = {
	.name = "riscv64",
	.native = "riscv64",
	.cpus = tach__riscv64_cpus,
	.describe = describe,
	.common = common,
	.formats = formats,
	.devices = devices,
	.encode = encode,
	.perf = perf,
};
