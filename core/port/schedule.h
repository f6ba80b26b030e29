/* SPDX-License-Identifier: MIT */
/*
 * Scheduling as the kernel does it: what an event wants, what a machine has, and which groups
 * result. The architectures turn events into wants; nothing here knows one.
 */
#ifndef TACH_CORE_PORT_SCHEDULE_H
#define TACH_CORE_PORT_SCHEDULE_H

#include <tach/schedule.h>
#include "core/tables/tables.h"

/* Counters are bits: 0-31 general, 32-47 fixed, 48-63 fields of PERF_METRICS. */
#define TACH__COUNTER_FIXED   32
#define TACH__COUNTER_METRICS 48

/* Registers beside the counters that events of a group share when their values are equal. */
enum tach__shared {
	TACH__SHARED_NONE,
	TACH__SHARED_OFFCORE,
	TACH__SHARED_LDLAT,
	TACH__SHARED_FRONTEND,
	TACH__NSHARED
};

struct tach__machine {
	uint64_t counters;
	uint64_t watchdog; /* counters that it may sit on; 0 = it is off */
	uint8_t nshared[TACH__NSHARED];
	uint8_t host; /* it is this machine's own; set before an architecture is asked */
	uint8_t kind; /* of machine, by the architecture's own counting */
	int pmu;
};

struct tach__want {
	uint64_t counters; /* 0 = needs none */
	uint64_t value;	   /* of the shared register */
	enum tach__shared shared;
	int metrics; /* 1 = a field of PERF_METRICS, 2 = the slots event it needs */
};

/*
 * ---- given by arch/ ----
 * The counters of that PMU by its table, or if it is this machine's, by what the CPU says; and
 * in m->watchdog where the NMI watchdog would sit.
 */
#define TACH__SCHEDULED(name, NAME)                                                            \
	void tach__machine_##name(const struct tach__pmu *row, int host,                       \
				  struct tach__machine *m);                                    \
	void tach__want_##name(const struct tach__machine *m, const struct tach_event *event,  \
			       struct tach__want *want);
#include <archs.h>

#endif
