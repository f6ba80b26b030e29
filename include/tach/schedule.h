/* SPDX-License-Identifier: MIT */
/* Checks if events fit one group of counters, and otherwise splits them into groups. */
#ifndef TACH_SCHEDULE_H
#define TACH_SCHEDULE_H

#include <tach/event.h>

/* Maximum number of events for one call, including anchors. */
#define TACH_SCHEDULE_MAX 192

/* Assumptions about the machine. 0 = detect; if that is impossible, use the table's. */
struct tach_schedule_options {
	uint32_t size;	  /* sizeof this struct: see tach/base.h */
	int pmu;	  /* core PMU that has the counters; -1 = the host's */
	uint32_t general; /* mask of general counters that may be used */
	/* mask of fixed counters (arm64: bit 0 = the cycle counter; riscv64: bit 0 = cycle,
	 * bit 2 = instret; hpmcounters 3-31 are general) */
	uint32_t fixed;
	uint32_t flags; /* TACH_SCHEDULE_* */
};
#define TACH_SCHEDULE_OPTIONS_INIT                                                             \
	{                                                                                      \
		sizeof(struct tach_schedule_options), -1, 0, 0, 0                              \
	}

/*
 * The NMI watchdog (x86) counts cycles on each CPU all the time, so it holds a counter. By
 * default, /proc/sys/kernel/nmi_watchdog decides for the host's own PMU; other PMUs have no
 * watchdog.
 */
#define TACH_SCHEDULE_WATCHDOG	  0x1u
#define TACH_SCHEDULE_NO_WATCHDOG 0x2u

struct tach_schedule {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	int ngroups;   /* smallest number of groups for all events; 1 = they fit one group */
	int nfit;      /* maximum number of the events in one group, including anchors */
	/*
	 * For each event: its group, 0 .. ngroups-1, and a counter in that group: 0-31 general,
	 * 32-47 fixed, 48-63 a field of PERF_METRICS, -1 not needed (software events). Anchors
	 * are in all groups; for an anchor, group is 0, and the counter is the one in group 0.
	 * The kernel may choose other counters.
	 */
	uint8_t group[TACH_SCHEDULE_MAX];
	int8_t counter[TACH_SCHEDULE_MAX];
};

TACH_BEGIN_DECLS

/*
 * Splits n events into the smallest number of groups that can each be scheduled at once. The
 * first nanchors events are in each group. The rules are Linux's. A fixed counter's event may
 * also use a general counter, if the hardware has such an event. Events with equal values share
 * offcore, load latency and front-end registers. PERF_METRICS fields are in one group with
 * their slots event. The order of the events decides between equal results. One rule is
 * missing: AMD's PMCx003 (floating-point operations) takes two neighbouring counters from
 * family 17h on, so a full group with it may be one too large. On RISC-V the firmware assigns
 * the counters. If neither the devicetree nor the table has their number, the function assumes
 * all counters of the architecture. Opening a group that is too large then fails
 * (TACH_ERR_NOCOUNTER).
 *
 * Returns 0. TACH_ERR_TOOMANY: n > TACH_SCHEDULE_MAX. TACH_ERR_NOASSIGN: an event fits no
 * counter of this PMU, or the anchors do not fit one group. TACH_ERR_FEATCOMB: PERF_METRICS
 * fields without their slots event. opt NULL = TACH_SCHEDULE_OPTIONS_INIT. No allocation; any
 * thread; reads /proc, CPUID and the devicetree when the PMU is the host's. Sources for the
 * rules: Linux arch/x86/events/{core,intel/core,amd/core}.c,
 * drivers/perf/{arm_pmuv3,riscv_pmu_sbi}.c.
 */
/* MT-Safe env | AS-Unsafe lock | AC-Unsafe lock fd | no allocation */
TACH_API int tach_schedule_split(const struct tach_event *events, int n, int nanchors,
				 const struct tach_schedule_options *opt,
				 struct tach_schedule *out,
				 struct tach_error *err) TACH_MUST_USE;

TACH_END_DECLS
#endif
