/* SPDX-License-Identifier: MIT */
/* AMD K7, K8, families 10h and 15h. */
#ifndef PERFMON_PFMLIB_AMD64_H
#define PERFMON_PFMLIB_AMD64_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_AMD64_MAX_COUNTERS 6

#define PFM_AMD64_SEL_INV   0x1
#define PFM_AMD64_SEL_EDGE  0x2
#define PFM_AMD64_SEL_GUEST 0x4
#define PFM_AMD64_SEL_HOST  0x8

typedef struct {
	uint32_t cnt_mask;
	uint32_t flags; /* PFM_AMD64_SEL_* */
} pfmlib_amd64_counter_t;

/* Instruction-based sampling. The low four bits of maxcnt must be 0. */
typedef struct {
	unsigned int maxcnt;
	unsigned int options; /* IBS_OPTIONS_* */
} ibs_param_t;

#define IBS_OPTIONS_RANDEN 1 /* for ibsfetch: randomise the period */
#define IBS_OPTIONS_UOPS   1 /* for ibsop: count dispatched ops, not cycles */

typedef struct {
	pfmlib_amd64_counter_t pfp_amd64_counters[PMU_AMD64_MAX_COUNTERS];
	uint32_t flags; /* PFMLIB_AMD64_USE_* */
	uint32_t reserved1;
	ibs_param_t ibsfetch;
	ibs_param_t ibsop;
	uint64_t reserved2;
} pfmlib_amd64_input_param_t;

#define PFMLIB_AMD64_USE_IBSFETCH 1
#define PFMLIB_AMD64_USE_IBSOP	  2

/* Indexes in pfp_pmds of the first register of fetch sampling and of op sampling. */
typedef struct {
	uint32_t ibsfetch_base;
	uint32_t ibsop_base;
	uint64_t reserved[7];
} pfmlib_amd64_output_param_t;

/* Offsets of registers from ibsfetch_base and from ibsop_base. */
#define PMD_IBSFETCHCTL	   0
#define PMD_IBSFETCHLINAD  1
#define PMD_IBSFETCHPHYSAD 2
#define PMD_IBSOPCTL	   0
#define PMD_IBSOPRIP	   1
#define PMD_IBSOPDATA	   2
#define PMD_IBSOPDATA2	   3
#define PMD_IBSOPDATA3	   4
#define PMD_IBSDCLINAD	   5
#define PMD_IBSDCPHYSAD	   6

#ifdef __cplusplus
}
#endif
#endif
