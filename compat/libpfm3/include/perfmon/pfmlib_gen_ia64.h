/* SPDX-License-Identifier: MIT */
/* IA-64's architected PMU: no model-specific input. */
#ifndef PERFMON_PFMLIB_GEN_IA64_H
#define PERFMON_PFMLIB_GEN_IA64_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_GEN_IA64_NUM_COUNTERS 4

#ifdef __cplusplus
}
#endif
#endif
