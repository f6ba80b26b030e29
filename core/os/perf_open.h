/* SPDX-License-Identifier: MIT */
/* perf_event_open(2): the only place from which the library calls it. */
#ifndef TACH_CORE_OS_PERF_OPEN_H
#define TACH_CORE_OS_PERF_OPEN_H

#include <linux/perf_event.h>

/*
 * Opens an event of the calling thread, on all CPUs, in the group of `leader`, or for -1 as a
 * group of its own. Returns the descriptor, closed on exec, or a negated errno. While virtual
 * machines have the PMU themselves (mediated vPMU), the kernel refuses events that would count
 * in guests too (kernel/events/core.c, mediated_pmu_account_event: EOPNOTSUPP). A thread that
 * counts itself executes no code in guests, so such events are opened without them.
 */
long tach__perf_open(const struct perf_event_attr *attr, int leader);
/*
 * Opens an event of that processor, whatever runs on it, in the group of `leader` or, -1, as a
 * group of its own. The descriptor, closed on exec, or a negated errno.
 */
long tach__perf_open_cpu(const struct perf_event_attr *attr, int cpu, int leader);
/* Is it opened for that reason without what guests count? */
int tach__perf_refuses_guests(const struct perf_event_attr *attr);
/* Opens it disabled, as a group of its own, and closes it: 0 or the negated errno. */
int tach__perf_try(const struct perf_event_attr *attr);

#endif
