/* SPDX-License-Identifier: MIT */
/* x86 counters as Linux schedules them (arch/x86/events/core.c, intel/core.c, amd/core.c). */
#include <tach/arch.h>
#include "arch/x86/dispatch.h"
#include "core/os/kernel_files.h"
#include "core/port/port.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define FIXED(n)   (1ull << (TACH__COUNTER_FIXED + (n)))
#define METRICS(n) (1ull << (TACH__COUNTER_METRICS + (n)))
#define GENERAL	   0xffffffffull

/* PERFEVTSEL bits with which a fixed counter cannot count the event. */
#define EDGE   (1ull << 18)
#define INV    (1ull << 23)
#define CMASK  (0xffull << 24)
#define INTX   (3ull << 32)
#define EQ     (1ull << 36)
#define UMASK2 (0xffull << 40)

/*
 * The kernel's pseudo codes, which no general counter can count: event select 0, umask =
 * number.
 */
#define REF_CYCLES 0x0300
#define SLOTS	   0x0400
#define METRIC_0   0x8000

static int has_event(int pmu, const char *name)
{
	size_t n = 0;

	while (name[n])
		n++;
	return tach__event_find(pmu, name, n) >= 0;
}

#ifdef __x86_64__
static uint64_t low_bits(unsigned n)
{
	return n >= 32 ? GENERAL : (1ull << n) - 1;
}

/*
 * Asks the processor: Intel by CPUID 0AH (EAX 15-8 general counters, EDX 4-0 fixed ones, from
 * version 5 on ECX a mask of these), AMD by 8000_0022H EBX 3-0 or 8000_0001H ECX bit 23. The
 * processor's answer accounts for hyper-threading and hypervisors. If the kernel has no PMU
 * there are no counters, although AMD's answer would mean four.
 */
static void ask_processor(const struct tach__pmu *row, struct tach__machine *m)
{
	unsigned a, b, c, d, general;

	if (!tach__file_exists("", "/sys/bus/event_source/devices/cpu"))
		return;
	if (row->encoding == TACH__INTEL && __get_cpuid_count(0xa, 0, &a, &b, &c, &d) &&
	    (a & 0xff)) {
		uint64_t fixed = low_bits(d & 0x1f) | ((a & 0xff) >= 5 ? c : 0);

		m->counters = low_bits(a >> 8 & 0xff) | (fixed & 0xffff) << TACH__COUNTER_FIXED;
	} else if (row->encoding == TACH__AMD && __get_cpuid(0x80000001, &a, &b, &c, &d)) {
		general = c >> 23 & 1 ? 6 : 4;
		if (__get_cpuid(0x80000022, &a, &b, &c, &d) && a & 1)
			general = b & 0xf;
		m->counters = low_bits(general);
	}
}
#else
static void ask_processor(const struct tach__pmu *row, struct tach__machine *m)
{
	(void)row;
	(void)m;
}
#endif

int tach__intel_offcore_registers(int pmu)
{
	return 1 + (has_event(pmu, "OFFCORE_RESPONSE_1") ||
		    has_event(pmu, "OFFCORE_RESPONSE") || has_event(pmu, "OCR"));
}

void tach__machine_x86(const struct tach__pmu *row, int host, struct tach__machine *m)
{
	m->counters = row->general_mask | (uint64_t)row->fixed << TACH__COUNTER_FIXED;
	if (host)
		ask_processor(row, m);
	if (row->encoding == TACH__INTEL) {
		m->nshared[TACH__SHARED_OFFCORE] =
			(uint8_t)tach__intel_offcore_registers(m->pmu);
		m->nshared[TACH__SHARED_LDLAT] = 1;
		m->nshared[TACH__SHARED_FRONTEND] = 1;
		if (m->counters & FIXED(3))
			m->counters |= 0xffull << TACH__COUNTER_METRICS;
	}
	/* It counts cycles. */
	m->watchdog = m->counters & (GENERAL | FIXED(1));
}

/* The events of PERF_TYPE_HARDWARE numbers on Intel CPUs; 0 = any general counter. */
static uint64_t generic_code(uint64_t id)
{
	switch (id) {
	case PERF_COUNT_HW_CPU_CYCLES:
		return 0x3c;
	case PERF_COUNT_HW_INSTRUCTIONS:
		return 0xc0;
	case PERF_COUNT_HW_REF_CPU_CYCLES:
		return REF_CYCLES;
	}
	return 0;
}

static void intel_shared(const struct tach__pmu *row, const struct tach_event *event,
			 struct tach__want *want)
{
	const struct tach__event *e;

	if (event->event < 0 || event->event >= (int)row->nevents || event->ncodes < 2)
		return;
	e = tach__event_at(event->pmu, event->event);
	want->value = event->codes[1];
	if (e->flags & TACH__EV_OFFCORE)
		want->shared = TACH__SHARED_OFFCORE;
	else if (e->flags & TACH__EV_FRONTEND)
		want->shared = TACH__SHARED_FRONTEND;
	else
		want->shared = TACH__SHARED_LDLAT;
}

/* Returns the counters in both masks; if none is common, the first mask. 0: any counter. */
static uint64_t narrowed(uint64_t a, uint64_t b)
{
	return a & b ? a & b : a ? a : b;
}

/*
 * Returns the counters of the table's events with the event select and umask of a raw code, or
 * otherwise of those with its event select. The kernel's constraints use these values too,
 * whatever the event's name is.
 */
static uint64_t raw_counters(int pmu, uint64_t config)
{
	uint64_t of_select = 0, of_umask = 0;
	int found = 0;

	for (int i = 0; i < (int)tach__pmu_at(pmu)->nevents; i++) {
		const struct tach__event *e = tach__event_at(pmu, i);
		uint64_t own = tach__counter_set(e->counter_set) & GENERAL;

		if ((e->code & 0xff) != (config & 0xff))
			continue;
		of_select = narrowed(of_select, own);
		for (int k = 0; k < e->numasks; k++) {
			const struct tach__umask *u = tach__umask_at(e, k);
			uint64_t its = tach__counter_set(u->counter_set) & GENERAL;

			if ((u->code & 0xff) != (config >> 8 & 0xff))
				continue;
			of_umask = narrowed(of_umask, its ? its : own);
			found = 1;
		}
	}
	return found ? of_umask : of_select;
}

static void intel(const struct tach__machine *m, const struct tach_event *event,
		  struct tach__want *want)
{
	uint64_t general = m->counters & GENERAL, config = event->config & 0xffffffffff;
	const struct tach__pmu *row = tach__pmu_at(m->pmu);
	int table = event->pmu == m->pmu;
	uint64_t own = table ? event->counters & GENERAL : 0;
	/*
	 * Zhaoxin's L1I_READS has the code of Intel's reference cycles, which only the third
	 * fixed counter counts.
	 */
	int is_zhaoxins = table && (!event->counters || own);

	if (event->type == PERF_TYPE_HARDWARE)
		config = generic_code(event->config & 0xffffffff);
	else if (event->type == PERF_TYPE_HW_CACHE)
		config = 0;
	else if (!table && event->type == PERF_TYPE_RAW)
		own = raw_counters(m->pmu, config);
	want->counters = general;
	/*
	 * If the table names all counters, this means any counter, however many this machine
	 * has.
	 */
	if (own && own != row->general_mask)
		want->counters &= own;
	if (config & (EDGE | INV | CMASK | INTX | EQ) || event->config & UMASK2)
		;
	else if ((config & 0xffff) == 0xc0)
		want->counters |= m->counters & FIXED(0);
	else if ((config & 0xffff) == 0x3c)
		want->counters |= m->counters & FIXED(1);
	else if ((config & 0xffff) == REF_CYCLES && !is_zhaoxins)
		want->counters = FIXED(2);
	else if ((config & 0xffff) == SLOTS)
		want->counters = FIXED(3), want->metrics = 2;
	else if ((config & 0xffff) >= METRIC_0 && !(config & 0xff))
		want->counters = METRICS((config - METRIC_0) >> 8 & 7), want->metrics = 1;
	else if (table && event->counters && !(event->counters & GENERAL))
		want->counters = config & 0xff ? general | (m->counters & event->counters)
					       : event->counters;
	if (table)
		intel_shared(tach__pmu_at(m->pmu), event, want);
}

void tach__want_x86(const struct tach__machine *m, const struct tach_event *event,
		    struct tach__want *want)
{
	if (tach__pmu_at(m->pmu)->encoding == TACH__INTEL) {
		intel(m, event, want);
		return;
	}
	want->counters = m->counters & GENERAL;
	if (event->pmu == m->pmu && event->counters & want->counters)
		want->counters &= event->counters;
}
