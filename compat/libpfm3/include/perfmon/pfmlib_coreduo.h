/* SPDX-License-Identifier: MIT */
/* Core Duo and Core Solo. */
#ifndef PERFMON_PFMLIB_COREDUO_H
#define PERFMON_PFMLIB_COREDUO_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_COREDUO_NUM_COUNTERS 2

#define PFM_COREDUO_SEL_INV  0x1
#define PFM_COREDUO_SEL_EDGE 0x2

typedef struct {
	unsigned long cnt_mask; /* count cycles with at least this many */
	unsigned int flags;	/* PFM_COREDUO_* */
} pfm_coreduo_counter_t;

typedef struct {
	pfm_coreduo_counter_t pfp_coreduo_counters[PMU_COREDUO_NUM_COUNTERS];
	uint64_t reserved[4];
} pfmlib_coreduo_input_param_t;

#ifdef __cplusplus
}
#endif
#endif
