/* SPDX-License-Identifier: MIT */
/* Nehalem and Westmere. */
#ifndef PERFMON_PFMLIB_NHM_H
#define PERFMON_PFMLIB_NHM_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_NHM_NUM_COUNTERS 16

#define PFM_NHM_SEL_INV	   0x1
#define PFM_NHM_SEL_EDGE   0x2
#define PFM_NHM_SEL_ANYTHR 0x4
#define PFM_NHM_OCC_RST	   0x8

typedef struct {
	unsigned long cnt_mask; /* count cycles with at least this many */
	unsigned int flags;	/* PFM_NHM_* */
} pfmlib_nhm_counter_t;

/* Last branch records. lbr_filter: PFM_NHM_LBR_* of branches that are not recorded. */
typedef struct {
	unsigned int lbr_used;
	unsigned int lbr_plm; /* 0: use pfp_dfl_plm of the input */
	unsigned int lbr_filter;
} pfmlib_nhm_lbr_t;

#define PFM_NHM_LBR_JCC		  0x4
#define PFM_NHM_LBR_NEAR_REL_CALL 0x8
#define PFM_NHM_LBR_NEAR_IND_CALL 0x10
#define PFM_NHM_LBR_NEAR_RET	  0x20
#define PFM_NHM_LBR_NEAR_IND_JMP  0x40
#define PFM_NHM_LBR_NEAR_REL_JMP  0x80
#define PFM_NHM_LBR_FAR_BRANCH	  0x100
#define PFM_NHM_LBR_ALL		  0x1fc

typedef struct {
	unsigned int pebs_used;
	unsigned int ld_lat_thres; /* cycles */
} pfmlib_nhm_pebs_t;

typedef struct {
	pfmlib_nhm_counter_t pfp_nhm_counters[PMU_NHM_NUM_COUNTERS];
	pfmlib_nhm_pebs_t pfp_nhm_pebs;
	pfmlib_nhm_lbr_t pfp_nhm_lbr;
	uint64_t reserved[4];
} pfmlib_nhm_input_param_t;

extern int pfm_nhm_is_pebs(pfmlib_event_t *e);
extern int pfm_nhm_is_uncore(pfmlib_event_t *e);
/* Describes the low bits of a load latency sample's data source. Free *desc after use. */
extern int pfm_nhm_data_src_desc(unsigned int val, char **desc);

#ifdef __cplusplus
}
#endif
#endif
