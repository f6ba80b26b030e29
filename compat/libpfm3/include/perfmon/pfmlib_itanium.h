/* SPDX-License-Identifier: MIT */
/* Types and queries of PFMLIB_ITANIUM_PMU: the first Itanium. */
#ifndef PERFMON_PFMLIB_ITANIUM_H
#define PERFMON_PFMLIB_ITANIUM_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_ITA_NUM_COUNTERS 4

/* Instruction sets. */
typedef enum { PFMLIB_ITA_ISM_BOTH, PFMLIB_ITA_ISM_IA32, PFMLIB_ITA_ISM_IA64 } pfmlib_ita_ism_t;

#define PFMLIB_ITA_FL_EVT_NO_QUALCHECK 0x1

typedef struct {
	unsigned int flags; /* PFMLIB_ITA_FL_EVT_* */
	unsigned int thres;
	pfmlib_ita_ism_t ism;
} pfmlib_ita_counter_t;

/* Opcode matcher. */
typedef struct {
	unsigned char opcm_used;
	unsigned long pmc_val;
} pfmlib_ita_opcm_t;

/* Branch or execution trace buffer. The buffer records even if the input lacks its event. */
typedef struct {
	unsigned char btb_used;
	unsigned char btb_tar;
	unsigned char btb_tac;
	unsigned char btb_bac;
	unsigned char btb_tm;
	unsigned char btb_ptm;
	unsigned char btb_ppm;
	unsigned int btb_plm;
} pfmlib_ita_btb_t;

typedef enum { PFMLIB_ITA_EAR_CACHE_MODE, PFMLIB_ITA_EAR_TLB_MODE } pfmlib_ita_ear_mode_t;

/* Event address registers. They also record if the input does not contain their event. */
typedef struct {
	unsigned char ear_used;
	pfmlib_ita_ear_mode_t ear_mode;
	pfmlib_ita_ism_t ear_ism;
	unsigned int ear_plm;
	unsigned long ear_umask;
} pfmlib_ita_ear_t;

/* A range [start, end). An element with both 0 ends the list. */
typedef struct {
	unsigned int rr_flags;
	unsigned int rr_plm;
	unsigned long rr_start;
	unsigned long rr_end;
} pfmlib_ita_input_rr_desc_t;

/* Bytes before the start and after the end of the range that the registers also cover. */
typedef struct {
	unsigned long rr_soff;
	unsigned long rr_eoff;
} pfmlib_ita_output_rr_desc_t;

typedef struct {
	unsigned char rr_used;
	unsigned int rr_flags;
	unsigned int rr_nbr_used;
	pfmlib_ita_input_rr_desc_t rr_limits[4];
} pfmlib_ita_input_rr_t;

typedef struct {
	unsigned int rr_nbr_used;
	pfmlib_ita_output_rr_desc_t rr_infos[4];
	pfmlib_reg_t rr_br[8]; /* even: address, odd: mask */
} pfmlib_ita_output_rr_t;

typedef struct {
	pfmlib_ita_counter_t pfp_ita_counters[PMU_ITA_NUM_COUNTERS];
	unsigned long pfp_ita_flags;
	pfmlib_ita_opcm_t pfp_ita_pmc8;
	pfmlib_ita_opcm_t pfp_ita_pmc9;
	pfmlib_ita_ear_t pfp_ita_iear;
	pfmlib_ita_ear_t pfp_ita_dear;
	pfmlib_ita_btb_t pfp_ita_btb;
	pfmlib_ita_input_rr_t pfp_ita_drange;
	pfmlib_ita_input_rr_t pfp_ita_irange;
	unsigned long reserved[1];
} pfmlib_ita_input_param_t;

typedef struct {
	pfmlib_ita_output_rr_t pfp_ita_drange;
	pfmlib_ita_output_rr_t pfp_ita_irange;
	unsigned long reserved[6];
} pfmlib_ita_output_param_t;

/* Each function returns 1 or 0. */
extern int pfm_ita_is_ear(unsigned int i);
extern int pfm_ita_is_dear(unsigned int i);
extern int pfm_ita_is_dear_tlb(unsigned int i);
extern int pfm_ita_is_dear_cache(unsigned int i);
extern int pfm_ita_is_iear(unsigned int i);
extern int pfm_ita_is_iear_tlb(unsigned int i);
extern int pfm_ita_is_iear_cache(unsigned int i);
extern int pfm_ita_is_btb(unsigned int i);
extern int pfm_ita_support_opcm(unsigned int i);
extern int pfm_ita_support_iarr(unsigned int i);
extern int pfm_ita_support_darr(unsigned int i);

extern int pfm_ita_get_ear_mode(unsigned int i, pfmlib_ita_ear_mode_t *m);
extern int pfm_ita_get_event_maxincr(unsigned int i, unsigned int *maxincr);
extern int pfm_ita_get_event_umask(unsigned int i, unsigned long *umask);

#ifdef __cplusplus
}
#endif
#endif
