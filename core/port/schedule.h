/* SPDX-License-Identifier: MIT */
/*
 * Schedules events in the same way as the kernel: from the needs of each event and the counters
 * of a machine to groups. Architectures convert events to needs. This code does not depend on
 * architectures.
 */
#ifndef TACH_CORE_PORT_SCHEDULE_H
#define TACH_CORE_PORT_SCHEDULE_H

#include <tach/schedule.h>
#include "core/tables/tables.h"

/* Counters are bits: 0-31 general, 32-47 fixed, 48-63 fields of PERF_METRICS. */
#define TACH__COUNTER_FIXED   32
#define TACH__COUNTER_METRICS 48

/* Registers other than counters. Events of a group share such a register if they need the same
 * value. */
enum tach__shared {
	TACH__SHARED_NONE,
	TACH__SHARED_OFFCORE,
	TACH__SHARED_LDLAT,
	TACH__SHARED_FRONTEND,
	TACH__NSHARED
};

struct tach__machine {
	uint64_t counters;
	uint64_t watchdog; /* counters that the NMI watchdog may occupy; 0 = it is off */
	uint8_t nshared[TACH__NSHARED];
	uint8_t host; /* 1: this machine; set before an architecture is called */
	uint8_t kind; /* kind of machine, numbered by the architecture */
	int pmu;
};

struct tach__want {
	uint64_t counters; /* counters that the event may use; 0 = it needs no counter */
	uint64_t value;	   /* value of the shared register */
	enum tach__shared shared;
	int metrics; /* 1 = a field of PERF_METRICS, 2 = the slots event it needs */
};

/* ---- provided by arch/ ---- Sets the counters of a PMU: from its table, or from the CPU
 * itself if `host`. Sets m->watchdog to the counters that the NMI watchdog may occupy. */
#define TACH__SCHEDULED(name, NAME)                                                            \
	void tach__machine_##name(const struct tach__pmu *row, int host,                       \
				  struct tach__machine *m);                                    \
	void tach__want_##name(const struct tach__machine *m, const struct tach_event *event,  \
			       struct tach__want *want);
#include <archs.h>

#endif
