/* SPDX-License-Identifier: MIT */
/* The kernel's number of a PMU. */
#ifndef TACH_CORE_PERF_TYPE_H
#define TACH_CORE_PERF_TYPE_H

#include <tach/event.h>

/* Number of the PMU in sysfs, or -1 where PERF_TYPE_RAW is meant. */
int tach__perf_type(const struct tach_encode_options *opt, int pmu);

#endif
