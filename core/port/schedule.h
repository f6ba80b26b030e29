/* SPDX-License-Identifier: MIT */
/*
 * Scheduling in the same way as the kernel: the needs of an event, the counters of a machine,
 * and the resulting groups. Architectures convert events to needs; this code is independent of
 * them.
 */
#ifndef TACH_CORE_PORT_SCHEDULE_H
#define TACH_CORE_PORT_SCHEDULE_H

#include <tach/schedule.h>
#include "core/tables/tables.h"

/* Counters are bits: 0-31 general, 32-47 fixed, 48-63 fields of PERF_METRICS. */
#define TACH__COUNTER_FIXED   32
#define TACH__COUNTER_METRICS 48

/* Registers that events of a group share if their values are equal, in addition to the
 * counters. */
enum tach__shared {
	TACH__SHARED_NONE,
	TACH__SHARED_OFFCORE,
	TACH__SHARED_LDLAT,
	TACH__SHARED_FRONTEND,
	TACH__NSHARED
};

struct tach__machine {
	uint64_t counters;
	uint64_t watchdog; /* counters that it may occupy; 0 = it is off */
	uint8_t nshared[TACH__NSHARED];
	uint8_t host; /* 1: of this machine; set before an architecture is called */
	uint8_t kind; /* kind of machine, numbered by the architecture */
	int pmu;
};

struct tach__want {
	uint64_t counters; /* 0 = needs none */
	uint64_t value;	   /* value of the shared register */
	enum tach__shared shared;
	int metrics; /* 1 = a field of PERF_METRICS, 2 = the slots event it needs */
};

/* ---- provided by arch/ ---- The counters of that PMU: by its table, or by the CPU's own data
 * if it is this machine's. Sets m->watchdog to the possible places of the NMI watchdog. */
#define TACH__SCHEDULED(name, NAME)                                                            \
	void tach__machine_##name(const struct tach__pmu *row, int host,                       \
				  struct tach__machine *m);                                    \
	void tach__want_##name(const struct tach__machine *m, const struct tach_event *event,  \
			       struct tach__want *want);
#include <archs.h>

#endif
