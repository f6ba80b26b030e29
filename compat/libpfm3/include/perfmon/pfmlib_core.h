/* SPDX-License-Identifier: MIT */
/* Types and queries of PFMLIB_CORE_PMU: Intel Core. */
#ifndef PERFMON_PFMLIB_CORE_H
#define PERFMON_PFMLIB_CORE_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_CORE_NUM_COUNTERS 5

#define PFM_CORE_SEL_INV  0x1
#define PFM_CORE_SEL_EDGE 0x2

typedef struct {
	unsigned long cnt_mask; /* count cycles with at least this many */
	unsigned int flags;	/* PFM_CORE_* */
} pfmlib_core_counter_t;

typedef struct {
	unsigned int pebs_used; /* 1: sample precisely */
} pfmlib_core_pebs_t;

typedef struct {
	pfmlib_core_counter_t pfp_core_counters[PMU_CORE_NUM_COUNTERS];
	pfmlib_core_pebs_t pfp_core_pebs;
	uint64_t reserved[4];
} pfmlib_core_input_param_t;

typedef struct {
	uint64_t reserved[8];
} pfmlib_core_output_param_t;

/* Returns 1 if the event with its masks can be sampled precisely. */
extern int pfm_core_is_pebs(pfmlib_event_t *e);

#ifdef __cplusplus
}
#endif
#endif
