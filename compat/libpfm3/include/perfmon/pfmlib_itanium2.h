/* SPDX-License-Identifier: MIT */
/* Types and queries of PFMLIB_ITANIUM2_PMU. */
#ifndef PERFMON_PFMLIB_ITANIUM2_H
#define PERFMON_PFMLIB_ITANIUM2_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_ITA2_NUM_COUNTERS 4

/* Instruction sets. */
typedef enum {
	PFMLIB_ITA2_ISM_BOTH,
	PFMLIB_ITA2_ISM_IA32,
	PFMLIB_ITA2_ISM_IA64
} pfmlib_ita2_ism_t;

#define PFMLIB_ITA2_FL_EVT_NO_QUALCHECK 0x1

typedef struct {
	unsigned int flags; /* PFMLIB_ITA2_FL_EVT_* */
	unsigned int thres;
	pfmlib_ita2_ism_t ism;
} pfmlib_ita2_counter_t;

/* Opcode matcher. */
typedef struct {
	unsigned char opcm_used;
	unsigned long pmc_val;
} pfmlib_ita2_opcm_t;

/* Branch or execution trace buffer. It also records if the input does not contain its event. */
typedef struct {
	unsigned char btb_used;
	unsigned char btb_ds;
	unsigned char btb_tm;
	unsigned char btb_ptm;
	unsigned char btb_ppm;
	unsigned char btb_brt;
	unsigned int btb_plm;
} pfmlib_ita2_btb_t;

typedef enum {
	PFMLIB_ITA2_EAR_CACHE_MODE,
	PFMLIB_ITA2_EAR_TLB_MODE,
	PFMLIB_ITA2_EAR_ALAT_MODE
} pfmlib_ita2_ear_mode_t;

/* Event address registers. They also record if the input does not contain their event. */
typedef struct {
	unsigned char ear_used;
	pfmlib_ita2_ear_mode_t ear_mode;
	pfmlib_ita2_ism_t ear_ism;
	unsigned int ear_plm;
	unsigned long ear_umask;
} pfmlib_ita2_ear_t;

/* A range [start, end). An element with both 0 ends the list. */
typedef struct {
	unsigned int rr_plm;
	unsigned long rr_start;
	unsigned long rr_end;
} pfmlib_ita2_input_rr_desc_t;

/* Bytes before the start and after the end of the range that the registers also cover. */
typedef struct {
	unsigned long rr_soff;
	unsigned long rr_eoff;
} pfmlib_ita2_output_rr_desc_t;

#define PFMLIB_ITA2_RR_INV	    0x1 /* everything but the range */
#define PFMLIB_ITA2_RR_NO_FINE_MODE 0x2

typedef struct {
	unsigned int rr_flags;
	pfmlib_ita2_input_rr_desc_t rr_limits[4];
	unsigned char rr_used;
} pfmlib_ita2_input_rr_t;

typedef struct {
	unsigned int rr_nbr_used;
	pfmlib_ita2_output_rr_desc_t rr_infos[4];
	pfmlib_reg_t rr_br[8]; /* even: address, odd: mask */
} pfmlib_ita2_output_rr_t;

typedef struct {
	pfmlib_ita2_counter_t pfp_ita2_counters[PMU_ITA2_NUM_COUNTERS];
	unsigned long pfp_ita2_flags;
	pfmlib_ita2_opcm_t pfp_ita2_pmc8;
	pfmlib_ita2_opcm_t pfp_ita2_pmc9;
	pfmlib_ita2_ear_t pfp_ita2_iear;
	pfmlib_ita2_ear_t pfp_ita2_dear;
	pfmlib_ita2_btb_t pfp_ita2_btb;
	pfmlib_ita2_input_rr_t pfp_ita2_drange;
	pfmlib_ita2_input_rr_t pfp_ita2_irange;
	unsigned long reserved[1];
} pfmlib_ita2_input_param_t;

typedef struct {
	pfmlib_ita2_output_rr_t pfp_ita2_drange;
	pfmlib_ita2_output_rr_t pfp_ita2_irange;
	unsigned long reserved[6];
} pfmlib_ita2_output_param_t;

/* Each function returns 1 or 0. */
extern int pfm_ita2_is_ear(unsigned int i);
extern int pfm_ita2_is_dear(unsigned int i);
extern int pfm_ita2_is_dear_tlb(unsigned int i);
extern int pfm_ita2_is_dear_cache(unsigned int i);
extern int pfm_ita2_is_dear_alat(unsigned int i);
extern int pfm_ita2_is_iear(unsigned int i);
extern int pfm_ita2_is_iear_tlb(unsigned int i);
extern int pfm_ita2_is_iear_cache(unsigned int i);
extern int pfm_ita2_is_btb(unsigned int i);
extern int pfm_ita2_support_opcm(unsigned int i);
extern int pfm_ita2_support_iarr(unsigned int i);
extern int pfm_ita2_support_darr(unsigned int i);

extern int pfm_ita2_get_ear_mode(unsigned int i, pfmlib_ita2_ear_mode_t *m);
/* Did dispatch use fine mode for the code ranges? */
extern int pfm_ita2_irange_is_fine(pfmlib_output_param_t *outp,
				   pfmlib_ita2_output_param_t *mod_out);
extern int pfm_ita2_get_event_maxincr(unsigned int i, unsigned int *maxincr);
extern int pfm_ita2_get_event_umask(unsigned int i, unsigned long *umask);
extern int pfm_ita2_get_event_group(unsigned int i, int *grp);
extern int pfm_ita2_get_event_set(unsigned int i, int *set);
#define PFMLIB_ITA2_EVT_NO_GRP	     0
#define PFMLIB_ITA2_EVT_L1_CACHE_GRP 1
#define PFMLIB_ITA2_EVT_L2_CACHE_GRP 2
#define PFMLIB_ITA2_EVT_NO_SET	     (-1)

#ifdef __cplusplus
}
#endif
#endif
