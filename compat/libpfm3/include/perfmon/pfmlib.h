/* SPDX-License-Identifier: MIT */
/*
 * libpfm-3's interface, binary compatible with 3.10 on 64-bit machines: converts names of
 * events and unit masks to register values. See the man pages of libpfm-3
 * (pfm_dispatch_events(3)).
 */
#ifndef PERFMON_PFMLIB3_H
#define PERFMON_PFMLIB3_H

#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PFMLIB_VERSION		   (3u << 16 | 10u)
#define PFMLIB_MAJ_VERSION(v)	   ((v) >> 16)
#define PFMLIB_MIN_VERSION(v)	   ((v)&0xffff)
#define PFMLIB_MAX_PMCS		   512
#define PFMLIB_MAX_PMDS		   512
#define PFMLIB_MAX_MASKS_PER_EVENT 48

/* Privilege levels, most privileged first. */
#define PFM_PLM0 0x1
#define PFM_PLM1 0x2
#define PFM_PLM2 0x4
#define PFM_PLM3 0x8

/* Types of PMU. */
#define PFMLIB_NO_PMU	      (-1) /* none */
#define PFMLIB_UNKNOWN_PMU    0	   /* detect */
#define PFMLIB_GEN_IA64_PMU   1	   /* IA-64 architected */
#define PFMLIB_ITANIUM_PMU    2
#define PFMLIB_ITANIUM2_PMU   3
#define PFMLIB_MONTECITO_PMU  4	 /* Montecito, Montvale */
#define PFMLIB_AMD64_PMU      16 /* AMD K7, K8, families 10h and 15h */
#define PFMLIB_I386_P6_PMU    32 /* Pentium III */
#define PFMLIB_PENTIUM4_PMU   33 /* Pentium 4, Xeon, EM64T */
#define PFMLIB_COREDUO_PMU    34 /* Core Duo, Core Solo */
#define PFMLIB_I386_PM_PMU    35 /* Pentium M */
#define PFMLIB_CORE_PMU	      36
#define PFMLIB_INTEL_CORE_PMU 36
#define PFMLIB_INTEL_PPRO_PMU 37 /* Pentium Pro */
#define PFMLIB_INTEL_PII_PMU  38 /* Pentium II */
#define PFMLIB_INTEL_ATOM_PMU 39
#define PFMLIB_INTEL_NHM_PMU  40 /* Nehalem */
#define PFMLIB_INTEL_WSM_PMU  41 /* Westmere */
#define PFMLIB_GEN_IA32_PMU   63 /* Intel architectural */

/* Results of functions. */
#define PFMLIB_SUCCESS	      0
#define PFMLIB_ERR_NOTSUPP    (-1)  /* not supported */
#define PFMLIB_ERR_INVAL      (-2)  /* invalid parameters */
#define PFMLIB_ERR_NOINIT     (-3)  /* before pfm_initialize */
#define PFMLIB_ERR_NOTFOUND   (-4)  /* no such event */
#define PFMLIB_ERR_NOASSIGN   (-5)  /* events cannot be assigned to the counters */
#define PFMLIB_ERR_FULL	      (-6)  /* the buffer is too small */
#define PFMLIB_ERR_EVTMANY    (-7)  /* an event is used more than once */
#define PFMLIB_ERR_MAGIC      (-8)  /* never returned */
#define PFMLIB_ERR_FEATCOMB   (-9)  /* features exclude each other */
#define PFMLIB_ERR_EVTSET     (-10) /* events of different sets */
#define PFMLIB_ERR_EVTINCOMP  (-11) /* events exclude each other */
#define PFMLIB_ERR_TOOMANY    (-12) /* more events than counters */
#define PFMLIB_ERR_IRRTOOBIG  (-13) /* code range too big */
#define PFMLIB_ERR_IRREMPTY   (-14) /* empty code range */
#define PFMLIB_ERR_IRRINVAL   (-15) /* invalid code range */
#define PFMLIB_ERR_IRRTOOMANY (-16) /* too many code ranges */
#define PFMLIB_ERR_DRRINVAL   (-17) /* invalid data range */
#define PFMLIB_ERR_DRRTOOMANY (-18) /* too many data ranges */
#define PFMLIB_ERR_BADHOST    (-19) /* this revision of the CPU lacks the feature */
#define PFMLIB_ERR_IRRALIGN   (-20) /* code range is not on bundle boundaries */
#define PFMLIB_ERR_IRRFLAGS   (-21) /* the code range needs flags */
#define PFMLIB_ERR_UMASK      (-22) /* unit mask missing or unknown */
#define PFMLIB_ERR_NOMEM      (-23) /* out of memory */

#define PFMLIB_REG_MAX 512
#define PFMLIB_REG_BV  (PFMLIB_REG_MAX / (8 * sizeof(unsigned long)))

typedef unsigned long pfmlib_regmask_bits_t;
typedef int pfm_err_t;

/* A set of registers. */
typedef struct {
	pfmlib_regmask_bits_t bits[PFMLIB_REG_BV];
} pfmlib_regmask_t;

typedef struct {
	unsigned int event; /* index that pfm_find_event or a similar function returned */
	unsigned int plm;   /* 0: use pfp_dfl_plm of the input */
	unsigned long flags;
	unsigned int unit_masks[PFMLIB_MAX_MASKS_PER_EVENT];
	unsigned int num_masks;
	unsigned long reserved[2];
} pfmlib_event_t;

typedef struct {
	unsigned long long reg_value;
	unsigned long long reg_addr; /* MSR or index */
	unsigned int reg_num;	     /* perfmon2's number */
	unsigned int reg_reserved1;
	unsigned long reg_alt_addr;
} pfmlib_reg_t;

typedef struct {
	unsigned int pfp_event_count;
	unsigned int pfp_dfl_plm;
	unsigned int pfp_flags; /* PFMLIB_PFP_* */
	unsigned int reserved1;
	pfmlib_event_t pfp_events[PFMLIB_MAX_PMCS];
	pfmlib_regmask_t pfp_unavail_pmcs;
	unsigned long reserved[6];
} pfmlib_input_param_t;

#define PFMLIB_PFP_SYSTEMWIDE 0x1

/* The first elements of pfp_pmds are the counters of the events, in the order of the events. */
typedef struct {
	unsigned int pfp_pmc_count;
	unsigned int pfp_pmd_count;
	pfmlib_reg_t pfp_pmcs[PFMLIB_MAX_PMCS];
	pfmlib_reg_t pfp_pmds[PFMLIB_MAX_PMDS];
	unsigned long reserved[7];
} pfmlib_output_param_t;

typedef struct {
	unsigned int pfm_debug : 1;
	unsigned int pfm_verbose : 1; /* print to stderr why an event or a set is refused */
	unsigned int pfm_reserved : 30;
} pfmlib_options_t;

extern pfm_err_t pfm_set_options(pfmlib_options_t *opt);
extern pfm_err_t pfm_initialize(void);
extern pfm_err_t pfm_list_supported_pmus(int (*pf)(const char *fmt, ...));
extern pfm_err_t pfm_get_pmu_name(char *name, int maxlen);
extern pfm_err_t pfm_get_pmu_type(int *type);
extern pfm_err_t pfm_get_pmu_name_bytype(int type, char *name, size_t maxlen);
extern pfm_err_t pfm_is_pmu_supported(int type);
extern pfm_err_t pfm_force_pmu(int type);

extern pfm_err_t pfm_find_event(const char *str, unsigned int *idx);
extern pfm_err_t pfm_find_event_byname(const char *name, unsigned int *idx);
extern pfm_err_t pfm_find_event_bycode(int code, unsigned int *idx);
extern pfm_err_t pfm_find_event_bycode_next(int code, unsigned int start, unsigned int *next);
extern pfm_err_t pfm_find_event_mask(unsigned int event_idx, const char *str,
				     unsigned int *mask_idx);
extern pfm_err_t pfm_find_full_event(const char *str, pfmlib_event_t *e);

extern pfm_err_t pfm_get_max_event_name_len(size_t *len);
extern pfm_err_t pfm_get_num_events(unsigned int *count);
extern pfm_err_t pfm_get_num_event_masks(unsigned int event_idx, unsigned int *count);
extern pfm_err_t pfm_get_event_name(unsigned int idx, char *name, size_t maxlen);
extern pfm_err_t pfm_get_full_event_name(pfmlib_event_t *e, char *name, size_t maxlen);
extern pfm_err_t pfm_get_event_code(unsigned int idx, int *code);
extern pfm_err_t pfm_get_event_mask_code(unsigned int idx, unsigned int mask_idx,
					 unsigned int *code);
extern pfm_err_t pfm_get_event_counters(unsigned int idx, pfmlib_regmask_t *counters);
/* Free *str after use. */
extern pfm_err_t pfm_get_event_description(unsigned int idx, char **str);
extern pfm_err_t pfm_get_event_code_counter(unsigned int idx, unsigned int cnt, int *code);
extern pfm_err_t pfm_get_event_mask_name(unsigned int event_idx, unsigned int mask_idx,
					 char *name, size_t maxlen);
extern pfm_err_t pfm_get_event_mask_description(unsigned int event_idx, unsigned int mask_idx,
						char **desc);

extern pfm_err_t pfm_dispatch_events(pfmlib_input_param_t *p, void *model_in,
				     pfmlib_output_param_t *q, void *model_out);

extern pfm_err_t pfm_get_impl_pmcs(pfmlib_regmask_t *impl_pmcs);
extern pfm_err_t pfm_get_impl_pmds(pfmlib_regmask_t *impl_pmds);
extern pfm_err_t pfm_get_impl_counters(pfmlib_regmask_t *impl_counters);
extern pfm_err_t pfm_get_num_pmds(unsigned int *num);
extern pfm_err_t pfm_get_num_pmcs(unsigned int *num);
extern pfm_err_t pfm_get_num_counters(unsigned int *num);
extern pfm_err_t pfm_get_hw_counter_width(unsigned int *width);
extern pfm_err_t pfm_get_version(unsigned int *version);
extern char *pfm_strerror(int code);
extern pfm_err_t pfm_get_cycle_event(pfmlib_event_t *e);
extern pfm_err_t pfm_get_inst_retired_event(pfmlib_event_t *e);

/* ---- sets of registers ---- */
#define PFMLIB3_WORD(b) ((b) / (8 * sizeof(unsigned long)))
#define PFMLIB3_BIT(b)	(1ul << (b) % (8 * sizeof(unsigned long)))

static inline int pfm_regmask_isset(pfmlib_regmask_t *h, unsigned int b)
{
	return b < PFMLIB_REG_MAX && (h->bits[PFMLIB3_WORD(b)] & PFMLIB3_BIT(b)) != 0;
}
static inline int pfm_regmask_set(pfmlib_regmask_t *h, unsigned int b)
{
	if (b >= PFMLIB_REG_MAX)
		return PFMLIB_ERR_INVAL;
	h->bits[PFMLIB3_WORD(b)] |= PFMLIB3_BIT(b);
	return PFMLIB_SUCCESS;
}
static inline int pfm_regmask_clr(pfmlib_regmask_t *h, unsigned int b)
{
	if (!h || b >= PFMLIB_REG_MAX)
		return PFMLIB_ERR_INVAL;
	h->bits[PFMLIB3_WORD(b)] &= ~PFMLIB3_BIT(b);
	return PFMLIB_SUCCESS;
}
static inline int pfm_regmask_weight(pfmlib_regmask_t *h, unsigned int *w)
{
	unsigned int b;

	if (!h || !w)
		return PFMLIB_ERR_INVAL;
	for (*w = 0, b = 0; b < PFMLIB_REG_MAX; b++)
		*w += (unsigned int)pfm_regmask_isset(h, b);
	return PFMLIB_SUCCESS;
}
static inline int pfm_regmask_eq(pfmlib_regmask_t *h1, pfmlib_regmask_t *h2)
{
	return h1 && h2 && memcmp(h1->bits, h2->bits, sizeof h1->bits) == 0;
}
static inline int pfm_regmask_and(pfmlib_regmask_t *dst, pfmlib_regmask_t *h1,
				  pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] & h2->bits[i];
	return PFMLIB_SUCCESS;
}
static inline int pfm_regmask_andnot(pfmlib_regmask_t *dst, pfmlib_regmask_t *h1,
				     pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] & ~h2->bits[i];
	return PFMLIB_SUCCESS;
}
static inline int pfm_regmask_or(pfmlib_regmask_t *dst, pfmlib_regmask_t *h1,
				 pfmlib_regmask_t *h2)
{
	unsigned int i;

	if (!dst || !h1 || !h2)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = h1->bits[i] | h2->bits[i];
	return PFMLIB_SUCCESS;
}
static inline int pfm_regmask_copy(pfmlib_regmask_t *dst, pfmlib_regmask_t *src)
{
	if (!dst || !src)
		return PFMLIB_ERR_INVAL;
	*dst = *src;
	return PFMLIB_SUCCESS;
}
static inline int pfm_regmask_not(pfmlib_regmask_t *dst)
{
	unsigned int i;

	if (!dst)
		return PFMLIB_ERR_INVAL;
	for (i = 0; i < PFMLIB_REG_BV; i++)
		dst->bits[i] = ~dst->bits[i];
	return PFMLIB_SUCCESS;
}

#ifdef __cplusplus
}
#endif
#endif
