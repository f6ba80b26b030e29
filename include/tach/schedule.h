/* SPDX-License-Identifier: MIT */
/* Does a set of events fit one group of counters, and if not, into which groups it splits. */
#ifndef TACH_SCHEDULE_H
#define TACH_SCHEDULE_H

#include <tach/event.h>

/* The most events that one call looks at, anchors included. */
#define TACH_SCHEDULE_MAX 192

/* What is assumed about the machine; 0 = look, or where that is impossible take the table's. */
struct tach_schedule_options {
	uint32_t size;	  /* sizeof this struct: see tach/base.h */
	int pmu;	  /* core PMU whose counters are meant; -1 = the host's */
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
 * The NMI watchdog (x86) counts cycles on every CPU all the time and so holds a counter. By
 * default it is taken as on or off as /proc/sys/kernel/nmi_watchdog says when the PMU is the
 * host's own, and as off for other PMUs.
 */
#define TACH_SCHEDULE_WATCHDOG	  0x1u
#define TACH_SCHEDULE_NO_WATCHDOG 0x2u

struct tach_schedule {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	int ngroups;   /* the fewest that hold all events; 1 = they fit one group */
	int nfit;      /* how many of the events one group can hold at most, anchors included */
	/*
	 * Of each event: its group, 0 .. ngroups-1 (anchors: 0, they are in all of them), and a
	 * counter that it can have there: 0-31 general, 32-47 fixed, 48-63 a field of
	 * PERF_METRICS, -1 none needed (software events). Of an anchor: its counter in group 0.
	 * The kernel may choose others.
	 */
	uint8_t group[TACH_SCHEDULE_MAX];
	int8_t counter[TACH_SCHEDULE_MAX];
};

TACH_BEGIN_DECLS

/*
 * Splits n events, of which the first nanchors are to be in every group, into the fewest groups
 * that can each be scheduled at once, as Linux sees the events (a fixed counter's event may
 * also take a general one where the hardware has such an event; offcore, load latency and
 * front-end registers are shared by equal values; PERF_METRICS fields go with their slots
 * event, in one group). The order of the events decides between equal answers. Not known
 * here: AMD's PMCx003 (floating-point operations) takes two neighbouring counters from family
 * 17h on, so that a full group with it may be one too many. On RISC-V firmware gives out the
 * counters: where neither the devicetree nor the table says how many there are, all of the
 * architecture's are taken to be there, and opening a group that is too large fails
 * (TACH_ERR_NOCOUNTER).
 *
 * 0; TACH_ERR_TOOMANY if n > TACH_SCHEDULE_MAX; TACH_ERR_NOASSIGN when an event fits nowhere on
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
