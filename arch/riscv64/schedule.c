/* SPDX-License-Identifier: MIT */
/*
 * RISC-V counters as Linux's driver gets them from the firmware (drivers/perf/riscv_pmu_sbi.c,
 * pmu_sbi_ctr_get_idx, asks for a counter that matches; OpenSBI's lib/sbi/sbi_pmu.c,
 * pmu_ctr_find_hw, chooses): cycles and instructions have their own counters, which count
 * nothing else, and may use an hpmcounter only with extension Sscofpmf or Andes' own; any other
 * event uses an hpmcounter that the devicetree gives it. Firmware events use none of these
 * counters. Only the firmware knows the number of hpmcounters. If neither devicetree nor table
 * has it, all are assumed to exist, and opening an event shows if this is true.
 *
 * The driver for firmware without the SBI PMU extension (riscv_pmu_legacy.c) lets any number of
 * events read the two counters that always run, and has no other counters.
 *
 * The firmware assigns counters one by one and moves none. So if a group uses every counter,
 * and cycles and instructions can have an hpmcounter, the group may have to name these two
 * last.
 */
#include <stdio.h>
#include <string.h>
#include "arch/riscv64/tree.h"
#include "core/os/kernel_files.h"
#include "core/port/port.h"

/* General counters and fixed ones are numbered like the CSRs, from 0xc00 on. */
#define CYCLE	(1ull << TACH__COUNTER_FIXED)
#define INSTRET (1ull << (TACH__COUNTER_FIXED + 2))
/* The bit of CSR 0xc01, which is the clock: no event gets it. */
#define NOWHERE (1ull << (TACH__COUNTER_FIXED + 1))

enum { SBI_CYCLES = 1, SBI_INSTRUCTIONS, SBI_FIRMWARE = 0xf };

/* tach__machine.kind: the counters that cycles and instructions may use. */
enum { OWN_COUNTER, ANY_COUNTER, NO_COUNTER };

static int can_overflow(void *kind, const char *line)
{
	const char *isa = tach__cpuinfo_value(line, "isa");

	if (isa && (strstr(isa, "sscofpmf") || strstr(isa, "xandespmu")))
		*(uint8_t *)kind = ANY_COUNTER;
	return isa != NULL;
}

void tach__machine_riscv64(const struct tach__pmu *row, int host, struct tach__machine *m)
{
	uint32_t hpm = row->general_mask ? row->general_mask : TACH__RISCV_HPM;
	int64_t placed = host ? tach__riscv64_placed("", TACH__RISCV_SBI, UINT64_MAX) : -1;

	if (placed >= 0)
		hpm = (uint32_t)placed;
	m->kind = OWN_COUNTER;
	if (host)
		tach__file_lines("", "/proc/cpuinfo", can_overflow, &m->kind);
	/* Raw events belong to the other driver (riscv_pmu_sbi.c). */
	if (host && !tach__file_exists("", "/sys/bus/event_source/devices/cpu/format/event")) {
		m->kind = NO_COUNTER;
		hpm = 0;
	}
	m->counters = CYCLE | INSTRET | hpm;
}

/*
 * Translates the event into the devicetree's code. Returns 0 for an event of the firmware, or
 * of no CPU.
 */
static int identify(const struct tach_event *event, enum tach__riscv_code *kind, uint64_t *code)
{
	const struct tach__pmu *table = event->pmu >= 0 ? tach__pmu_at(event->pmu) : NULL;

	*kind = TACH__RISCV_SBI;
	if (table && table->encoding == TACH__SBI && event->ncodes) {
		*code = event->codes[0];
		return *code >> 16 != SBI_FIRMWARE;
	}
	if (table && table->encoding == TACH__RISCV && event->ncodes) {
		*kind = TACH__RISCV_RAW;
		*code = event->codes[0];
		return 1;
	}
	switch (event->type) {
	case PERF_TYPE_HARDWARE:
		*code = (event->config & 0xffffffff) + 1;
		return 1;
	case PERF_TYPE_HW_CACHE: /* cache << 3 | operation << 1 | result */
		*code = 0x10000 | (event->config & 0xff) << 3 |
			(event->config >> 8 & 0xff) << 1 | (event->config >> 16 & 0xff);
		return 1;
	}
	*kind = TACH__RISCV_RAW;
	*code = event->config;
	return event->type == PERF_TYPE_RAW && !(event->config >> 63);
}

void tach__want_riscv64(const struct tach__machine *m, const struct tach_event *event,
			struct tach__want *want)
{
	enum tach__riscv_code kind;
	uint64_t code, fixed = 0;
	int64_t placed;

	if (!identify(event, &kind, &code))
		return;
	if (kind == TACH__RISCV_SBI && code == SBI_CYCLES)
		fixed = CYCLE;
	if (kind == TACH__RISCV_SBI && code == SBI_INSTRUCTIONS)
		fixed = INSTRET;
	want->counters = m->kind == NO_COUNTER ? 0 : fixed;
	if (fixed && m->kind != ANY_COUNTER)
		return;
	placed = m->host ? tach__riscv64_placed("", kind, code) : -1;
	want->counters |= placed < 0 ? m->counters & TACH__RISCV_HPM : (uint64_t)placed;
	if (event->counters & TACH__RISCV_HPM)
		want->counters &= event->counters | fixed;
	if (!want->counters)
		want->counters = NOWHERE;
}
