/* SPDX-License-Identifier: MIT */
/* Types of PFMLIB_INTEL_ATOM_PMU. */
#ifndef PERFMON_PFMLIB_INTEL_ATOM_H
#define PERFMON_PFMLIB_INTEL_ATOM_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_INTEL_ATOM_NUM_COUNTERS 5

#define PFM_INTEL_ATOM_SEL_INV	  0x1
#define PFM_INTEL_ATOM_SEL_EDGE	  0x2
#define PFM_INTEL_ATOM_SEL_ANYTHR 0x4

typedef struct {
	unsigned long cnt_mask; /* count cycles with at least this many */
	unsigned int flags;	/* PFM_INTEL_ATOM_* */
} pfmlib_intel_atom_counter_t;

typedef struct {
	pfmlib_intel_atom_counter_t pfp_intel_atom_counters[PMU_INTEL_ATOM_NUM_COUNTERS];
	unsigned int pfp_intel_atom_pebs_used; /* 1: sample precisely */
	uint64_t reserved[4];
} pfmlib_intel_atom_input_param_t;

extern int pfm_intel_atom_has_pebs(pfmlib_event_t *e);

#ifdef __cplusplus
}
#endif
#endif
