/* SPDX-License-Identifier: MIT */
/* Pentium Pro, II, III and M. */
#ifndef PERFMON_PFMLIB_I386_P6_H
#define PERFMON_PFMLIB_I386_P6_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_I386_P6_NUM_COUNTERS 2

#define PFM_I386_P6_SEL_INV  0x1
#define PFM_I386_P6_SEL_EDGE 0x2

typedef enum {
	PFM_I386_P6_CNT_MASK_0,
	PFM_I386_P6_CNT_MASK_1,
	PFM_I386_P6_CNT_MASK_2,
	PFM_I386_P6_CNT_MASK_3
} pfm_i386_p6_cnt_mask_t;

typedef struct {
	pfm_i386_p6_cnt_mask_t cnt_mask; /* count cycles with at least this many */
	unsigned int flags;		 /* PFM_I386_P6_* */
} pfmlib_i386_p6_counter_t;

typedef struct {
	pfmlib_i386_p6_counter_t pfp_i386_p6_counters[PMU_I386_P6_NUM_COUNTERS];
	uint64_t reserved[4];
} pfmlib_i386_p6_input_param_t;

typedef struct {
	uint64_t reserved[8];
} pfmlib_i386_p6_output_param_t;

#ifdef __cplusplus
}
#endif
#endif
