/* SPDX-License-Identifier: MIT */
/* Montecito and Montvale. */
#ifndef PERFMON_PFMLIB_MONTECITO_H
#define PERFMON_PFMLIB_MONTECITO_H

#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMU_MONT_NUM_COUNTERS 12

#define PFMLIB_MONT_FL_EVT_NO_QUALCHECK 0x1
#define PFMLIB_MONT_FL_EVT_ALL_THRD	0x2
#define PFMLIB_MONT_FL_EVT_ACTIVE_ONLY	0x4
#define PFMLIB_MONT_FL_EVT_ALWAYS	0x8

typedef struct {
	unsigned int flags; /* PFMLIB_MONT_FL_EVT_* */
	unsigned int thres;
} pfmlib_mont_counter_t;

/* Opcode matcher. */
typedef struct {
	unsigned char opcm_used;
	unsigned char opcm_m;
	unsigned char opcm_i;
	unsigned char opcm_f;
	unsigned char opcm_b;
	unsigned long opcm_match;
	unsigned long opcm_mask;
} pfmlib_mont_opcm_t;

/* Branch or execution trace buffer. It also records if the input does not contain its event. */
typedef struct {
	unsigned char etb_used;
	unsigned int etb_plm;
	unsigned char etb_tm;
	unsigned char etb_ptm;
	unsigned char etb_ppm;
	unsigned char etb_brt;
} pfmlib_mont_etb_t;

typedef enum {
	PFMLIB_MONT_EAR_CACHE_MODE,
	PFMLIB_MONT_EAR_TLB_MODE,
	PFMLIB_MONT_EAR_ALAT_MODE
} pfmlib_mont_ear_mode_t;

/* Event address registers. They also record if the input does not contain their event. */
typedef struct {
	unsigned char ear_used;
	pfmlib_mont_ear_mode_t ear_mode;
	unsigned int ear_plm;
	unsigned long ear_umask;
} pfmlib_mont_ear_t;

typedef struct {
	unsigned char ipear_used;
	unsigned int ipear_plm;
	unsigned short ipear_delay;
} pfmlib_mont_ipear_t;

/* A range [start, end). An element with both 0 ends the list. */
typedef struct {
	unsigned int rr_plm;
	unsigned long rr_start;
	unsigned long rr_end;
} pfmlib_mont_input_rr_desc_t;

/* Bytes before the start and after the end of the range that the registers also cover. */
typedef struct {
	unsigned long rr_soff;
	unsigned long rr_eoff;
} pfmlib_mont_output_rr_desc_t;

#define PFMLIB_MONT_RR_INV	       0x1 /* everything but the range */
#define PFMLIB_MONT_RR_NO_FINE_MODE    0x2
#define PFMLIB_MONT_IRR_DEMAND_FETCH   0x4
#define PFMLIB_MONT_IRR_PREFETCH_MATCH 0x8

typedef struct {
	unsigned int rr_flags;
	pfmlib_mont_input_rr_desc_t rr_limits[4];
	unsigned char rr_used;
} pfmlib_mont_input_rr_t;

typedef struct {
	unsigned int rr_nbr_used;
	pfmlib_mont_output_rr_desc_t rr_infos[4];
	pfmlib_reg_t rr_br[8]; /* even: address, odd: mask */
} pfmlib_mont_output_rr_t;

typedef struct {
	pfmlib_mont_counter_t pfp_mont_counters[PMU_MONT_NUM_COUNTERS];
	unsigned long pfp_mont_flags;
	pfmlib_mont_opcm_t pfp_mont_opcm1;
	pfmlib_mont_opcm_t pfp_mont_opcm2;
	pfmlib_mont_ear_t pfp_mont_iear;
	pfmlib_mont_ear_t pfp_mont_dear;
	pfmlib_mont_etb_t pfp_mont_etb;
	pfmlib_mont_ipear_t pfp_mont_ipear;
	pfmlib_mont_input_rr_t pfp_mont_drange;
	pfmlib_mont_input_rr_t pfp_mont_irange;
	unsigned long reserved[1];
} pfmlib_mont_input_param_t;

typedef struct {
	pfmlib_mont_output_rr_t pfp_mont_drange;
	pfmlib_mont_output_rr_t pfp_mont_irange;
	unsigned long reserved[6];
} pfmlib_mont_output_param_t;

/* Each function returns 1 or 0. */
extern int pfm_mont_is_ear(unsigned int i);
extern int pfm_mont_is_dear(unsigned int i);
extern int pfm_mont_is_dear_tlb(unsigned int i);
extern int pfm_mont_is_dear_cache(unsigned int i);
extern int pfm_mont_is_dear_alat(unsigned int i);
extern int pfm_mont_is_iear(unsigned int i);
extern int pfm_mont_is_iear_tlb(unsigned int i);
extern int pfm_mont_is_iear_cache(unsigned int i);
extern int pfm_mont_is_etb(unsigned int i);
extern int pfm_mont_support_opcm(unsigned int i);
extern int pfm_mont_support_iarr(unsigned int i);
extern int pfm_mont_support_darr(unsigned int i);
extern int pfm_mont_support_all(unsigned int i);

extern int pfm_mont_get_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *m);
/* Did dispatch use fine mode for the code ranges? */
extern int pfm_mont_irange_is_fine(pfmlib_output_param_t *outp,
				   pfmlib_mont_output_param_t *mod_out);
extern int pfm_mont_get_event_maxincr(unsigned int i, unsigned int *maxincr);
extern int pfm_mont_get_event_umask(unsigned int i, unsigned long *umask);
extern int pfm_mont_get_event_group(unsigned int i, int *grp);
extern int pfm_mont_get_event_set(unsigned int i, int *set);
#define PFMLIB_MONT_EVT_NO_GRP	      0
#define PFMLIB_MONT_EVT_L1D_CACHE_GRP 1
#define PFMLIB_MONT_EVT_L2D_CACHE_GRP 2
#define PFMLIB_MONT_EVT_NO_SET	      (-1)
extern int pfm_mont_get_event_type(unsigned int i, int *type);
#define PFMLIB_MONT_EVT_ACTIVE	      0
#define PFMLIB_MONT_EVT_FLOATING      1
#define PFMLIB_MONT_EVT_CAUSAL	      2
#define PFMLIB_MONT_EVT_SELF_FLOATING 3

#ifdef __cplusplus
}
#endif
#endif
