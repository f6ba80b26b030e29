/* SPDX-License-Identifier: MIT */
/* PMUv3 counters as Linux schedules them (drivers/perf/arm_pmuv3.c, apple_m1_cpu_pmu.c). */
#include "core/port/port.h"

/* Assumed number of counters, because programs cannot read PMCR_EL0.N. Nearly all of Arm's own
 * cores have six. */
#define GENERAL_USUALLY 0x3full

#define CYCLE_COUNTER (1ull << TACH__COUNTER_FIXED)
#define CPU_CYCLES    0x11

void tach__machine_arm64(const struct tach__pmu *row, int host, struct tach__machine *m)
{
	(void)host;
	m->counters = row->general_mask ? row->general_mask : GENERAL_USUALLY;
	/* On Apple's PMU, the two fixed counters have the numbers 0 and 1 of general
	 * counters. */
	if (row->encoding == TACH__ARM)
		m->counters |= CYCLE_COUNTER;
}

void tach__want_arm64(const struct tach__machine *m, const struct tach_event *event,
		      struct tach__want *want)
{
	int cycles = event->type == PERF_TYPE_HARDWARE
			     ? event->config == PERF_COUNT_HW_CPU_CYCLES
			     : event->type != PERF_TYPE_HW_CACHE &&
				       (event->config & 0xffff) == CPU_CYCLES;

	want->counters = m->counters & ~CYCLE_COUNTER;
	if (event->counters & 0xffffffff)
		want->counters &= event->counters;
	if (cycles && m->counters & CYCLE_COUNTER)
		want->counters |= CYCLE_COUNTER;
}
