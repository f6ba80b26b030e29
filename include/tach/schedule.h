/* SPDX-License-Identifier: MIT */
/* Finds out whether a set of events fits one group of counters, and if not, how to split it. */
#ifndef TACH_SCHEDULE_H
#define TACH_SCHEDULE_H

#include <tach/event.h>

/* Maximum number of events for one call, including anchors. */
#define TACH_SCHEDULE_MAX 192

/* Assumptions about the machine; 0 = detect, or use the table's if that is impossible. */
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
 * The NMI watchdog (x86) counts cycles on each CPU all the time and so holds a counter. By
 * default /proc/sys/kernel/nmi_watchdog decides for the host's own PMU, and it is off for other
 * PMUs.
 */
#define TACH_SCHEDULE_WATCHDOG	  0x1u
#define TACH_SCHEDULE_NO_WATCHDOG 0x2u

struct tach_schedule {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	int ngroups;   /* the fewest that hold all events; 1 = they fit one group */
	int nfit;      /* maximum number of the events in one group, including anchors */
	/*
	 * For each event: its group, 0 .. ngroups-1 (anchors: 0, they are in all groups), and a
	 * counter for it there: 0-31 general, 32-47 fixed, 48-63 a field of PERF_METRICS, -1
	 * not needed (software events). For an anchor: its counter in group 0. The kernel may
	 * choose others.
	 */
	uint8_t group[TACH_SCHEDULE_MAX];
	int8_t counter[TACH_SCHEDULE_MAX];
};

TACH_BEGIN_DECLS

/*
 * Splits n events into the fewest groups that can each be scheduled at once. The first nanchors
 * are in each group. It follows Linux: a fixed counter's event may also take a general counter
 * if the hardware has such an event; equal values share offcore, load latency and front-end
 * registers; PERF_METRICS fields are in one group with their slots event. The order of the
 * events decides between equal results. One rule is missing: AMD's PMCx003 (floating-point
 * operations) takes two neighbouring counters from family 17h on, so a full group with it may
 * be one too large. On RISC-V the firmware assigns the counters: if neither the devicetree nor
 * the table has their number, all of the architecture's are assumed, and opening a group that
 * is too large fails (TACH_ERR_NOCOUNTER).
 *
 * 0; TACH_ERR_TOOMANY if n > TACH_SCHEDULE_MAX; TACH_ERR_NOASSIGN if an event fits nowhere on
 * this PMU or the anchors alone do not fit a group; TACH_ERR_FEATCOMB when PERF_METRICS fields
 * come without their slots event. opt NULL = TACH_SCHEDULE_OPTIONS_INIT. No allocation; any
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
