/* SPDX-License-Identifier: MIT */
/* Pentium 4: no model-specific input. */
#ifndef PERFMON_PFMLIB_PENTIUM4_H
#define PERFMON_PFMLIB_PENTIUM4_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_PENTIUM4_NUM_COUNTERS 18

#ifdef __cplusplus
}
#endif
#endif
