/* SPDX-License-Identifier: MIT */
/* Calls perf_event_open(2). The library calls it nowhere else. */
#ifndef TACH_CORE_OS_PERF_OPEN_H
#define TACH_CORE_OS_PERF_OPEN_H

#include <linux/perf_event.h>

/*
 * Opens an event for the calling thread, on all CPUs, in the group of `leader`; -1: as a group
 * of its own. Returns the descriptor, closed on exec, or a negated errno. While virtual
 * machines own the PMU (mediated vPMU), the kernel refuses events that would also count in
 * guests (kernel/events/core.c, mediated_pmu_account_event: EOPNOTSUPP). A thread that counts
 * itself executes no code in guests. So a refused event is opened again without guests.
 */
long tach__perf_open(const struct perf_event_attr *attr, int leader);
/*
 * Opens an event for all code on processor `cpu`, in the group of `leader`; -1: as a group of
 * its own. Returns the descriptor, closed on exec, or a negated errno.
 */
long tach__perf_open_cpu(const struct perf_event_attr *attr, int cpu, int leader);
/* Returns 1 if the kernel refuses the event only because it would also count in guests. */
int tach__perf_refuses_guests(const struct perf_event_attr *attr);
/* Opens the event, disabled and as a group of its own, and closes it. Returns 0 or the negated
 * errno. */
int tach__perf_try(const struct perf_event_attr *attr);

#endif
