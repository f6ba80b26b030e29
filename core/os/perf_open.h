/* SPDX-License-Identifier: MIT */
/* perf_event_open(2): the only place from which the library calls it. */
#ifndef TACH_CORE_OS_PERF_OPEN_H
#define TACH_CORE_OS_PERF_OPEN_H

#include <linux/perf_event.h>

/*
 * Opens an event of the calling thread, on whichever CPU it runs, in the group of `leader` or,
 * -1, as a group of its own. The descriptor, closed on exec, or a negated errno.
 */
long tach__perf_open(const struct perf_event_attr *attr, int leader);
/* Opens it disabled, as a group of its own, and closes it: 0 or the negated errno. */
int tach__perf_try(const struct perf_event_attr *attr);

#endif
