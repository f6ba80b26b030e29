/* SPDX-License-Identifier: MIT */
/* Queries about ia64's events. */
#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#include "compat/libpfm3/state.h"

#define IEARS (TACH__EV_IEAR_CACHE | TACH__EV_IEAR_TLB)
#define DEARS (TACH__EV_DEAR_CACHE | TACH__EV_DEAR_TLB | TACH__EV_DEAR_ALAT)

/* Returns true if one of the flags is set and the event belongs to this PMU type. */
static int has_flag(int type, unsigned idx, uint32_t flags)
{
	const struct tach__event *row;
	struct p3_chosen c;

	return !p3_event(&c, idx, &row) && c.pmu->type == type && (row->flags & flags) != 0;
}

static pfm_err_t get_attribute(int type, unsigned idx, enum tach__attr key, uint64_t missing,
			       uint64_t *out)
{
	const struct tach__event *row;
	struct p3_chosen c;

	if (p3_event(&c, idx, &row) || c.pmu->type != type)
		return PFMLIB_ERR_INVAL;
	if (!tach__attr(row->attrs, key, out, NULL))
		*out = missing;
	return PFMLIB_SUCCESS;
}

static pfm_err_t as_int(int type, unsigned idx, enum tach__attr key, uint64_t missing, int *out)
{
	uint64_t n;
	pfm_err_t rc = out ? get_attribute(type, idx, key, missing, &n) : PFMLIB_ERR_INVAL;

	if (!rc)
		*out = (int)n;
	return rc;
}

static pfm_err_t as_long(int type, unsigned idx, enum tach__attr key, unsigned long *out)
{
	uint64_t n;
	pfm_err_t rc = out ? get_attribute(type, idx, key, 0, &n) : PFMLIB_ERR_INVAL;

	if (!rc)
		*out = (unsigned long)n;
	return rc;
}

/* Returns 0 for cache, 1 for TLB, 2 for ALAT, in all models; -1: it has another kind. */
static int ear_mode(int type, unsigned idx)
{
	if (has_flag(type, idx, TACH__EV_IEAR_CACHE | TACH__EV_DEAR_CACHE))
		return 0;
	if (has_flag(type, idx, TACH__EV_IEAR_TLB | TACH__EV_DEAR_TLB))
		return 1;
	return has_flag(type, idx, TACH__EV_DEAR_ALAT) ? 2 : -1;
}

/* Each function tests if an event of one PMU has one of the flags. */
#define QUESTIONS(X)                                                                           \
	X(pfm_ita_is_ear, ITANIUM, IEARS | DEARS)                                              \
	X(pfm_ita_is_dear, ITANIUM, DEARS)                                                     \
	X(pfm_ita_is_dear_tlb, ITANIUM, TACH__EV_DEAR_TLB)                                     \
	X(pfm_ita_is_dear_cache, ITANIUM, TACH__EV_DEAR_CACHE)                                 \
	X(pfm_ita_is_iear, ITANIUM, IEARS)                                                     \
	X(pfm_ita_is_iear_tlb, ITANIUM, TACH__EV_IEAR_TLB)                                     \
	X(pfm_ita_is_iear_cache, ITANIUM, TACH__EV_IEAR_CACHE)                                 \
	X(pfm_ita_is_btb, ITANIUM, TACH__EV_BTB)                                               \
	X(pfm_ita_support_opcm, ITANIUM, TACH__EV_OPC)                                         \
	X(pfm_ita_support_iarr, ITANIUM, TACH__EV_IRANGE)                                      \
	X(pfm_ita_support_darr, ITANIUM, TACH__EV_DRANGE)                                      \
	X(pfm_ita2_is_ear, ITANIUM2, IEARS | DEARS)                                            \
	X(pfm_ita2_is_dear, ITANIUM2, DEARS)                                                   \
	X(pfm_ita2_is_dear_tlb, ITANIUM2, TACH__EV_DEAR_TLB)                                   \
	X(pfm_ita2_is_dear_cache, ITANIUM2, TACH__EV_DEAR_CACHE)                               \
	X(pfm_ita2_is_dear_alat, ITANIUM2, TACH__EV_DEAR_ALAT)                                 \
	X(pfm_ita2_is_iear, ITANIUM2, IEARS)                                                   \
	X(pfm_ita2_is_iear_tlb, ITANIUM2, TACH__EV_IEAR_TLB)                                   \
	X(pfm_ita2_is_iear_cache, ITANIUM2, TACH__EV_IEAR_CACHE)                               \
	X(pfm_ita2_is_btb, ITANIUM2, TACH__EV_BTB)                                             \
	X(pfm_ita2_support_opcm, ITANIUM2, TACH__EV_OPC)                                       \
	X(pfm_ita2_support_iarr, ITANIUM2, TACH__EV_IRANGE)                                    \
	X(pfm_ita2_support_darr, ITANIUM2, TACH__EV_DRANGE)                                    \
	X(pfm_mont_is_ear, MONTECITO, IEARS | DEARS)                                           \
	X(pfm_mont_is_dear, MONTECITO, DEARS)                                                  \
	X(pfm_mont_is_dear_tlb, MONTECITO, TACH__EV_DEAR_TLB)                                  \
	X(pfm_mont_is_dear_cache, MONTECITO, TACH__EV_DEAR_CACHE)                              \
	X(pfm_mont_is_dear_alat, MONTECITO, TACH__EV_DEAR_ALAT)                                \
	X(pfm_mont_is_iear, MONTECITO, IEARS)                                                  \
	X(pfm_mont_is_iear_tlb, MONTECITO, TACH__EV_IEAR_TLB)                                  \
	X(pfm_mont_is_iear_cache, MONTECITO, TACH__EV_IEAR_CACHE)                              \
	X(pfm_mont_is_etb, MONTECITO, TACH__EV_ETB)                                            \
	X(pfm_mont_support_opcm, MONTECITO, TACH__EV_OPC)                                      \
	X(pfm_mont_support_iarr, MONTECITO, TACH__EV_IRANGE)                                   \
	X(pfm_mont_support_darr, MONTECITO, TACH__EV_DRANGE)                                   \
	X(pfm_mont_support_all, MONTECITO, TACH__EV_ALLTHRD)
#define ANSWER(name, pmu, flags)                                                               \
	int name(unsigned int i)                                                               \
	{                                                                                      \
		return has_flag(PFMLIB_##pmu##_PMU, i, flags);                                 \
	}
QUESTIONS(ANSWER)

int pfm_ita_get_ear_mode(unsigned int i, pfmlib_ita_ear_mode_t *m)
{
	int mode = ear_mode(PFMLIB_ITANIUM_PMU, i);

	if (!m || mode < 0)
		return PFMLIB_ERR_INVAL;
	*m = (pfmlib_ita_ear_mode_t)mode;
	return PFMLIB_SUCCESS;
}

int pfm_ita_get_event_maxincr(unsigned int i, unsigned int *maxincr)
{
	return as_int(PFMLIB_ITANIUM_PMU, i, TACH__A_MAXINC, 1, (int *)maxincr);
}

int pfm_ita_get_event_umask(unsigned int i, unsigned long *umask)
{
	return as_long(PFMLIB_ITANIUM_PMU, i, TACH__A_UM, umask);
}

int pfm_ita2_get_ear_mode(unsigned int i, pfmlib_ita2_ear_mode_t *m)
{
	int mode = ear_mode(PFMLIB_ITANIUM2_PMU, i);

	if (!m || mode < 0)
		return PFMLIB_ERR_INVAL;
	*m = (pfmlib_ita2_ear_mode_t)mode;
	return PFMLIB_SUCCESS;
}

int pfm_ita2_get_event_maxincr(unsigned int i, unsigned int *maxincr)
{
	return as_int(PFMLIB_ITANIUM2_PMU, i, TACH__A_MAXINC, 1, (int *)maxincr);
}

int pfm_ita2_get_event_umask(unsigned int i, unsigned long *umask)
{
	return as_long(PFMLIB_ITANIUM2_PMU, i, TACH__A_UM, umask);
}

int pfm_ita2_get_event_group(unsigned int i, int *grp)
{
	return as_int(PFMLIB_ITANIUM2_PMU, i, TACH__A_GROUP, 0, grp);
}

int pfm_ita2_get_event_set(unsigned int i, int *set)
{
	return as_int(PFMLIB_ITANIUM2_PMU, i, TACH__A_SET, (uint64_t)-1, set);
}

int pfm_mont_get_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *m)
{
	int mode = ear_mode(PFMLIB_MONTECITO_PMU, i);

	if (!m || mode < 0)
		return PFMLIB_ERR_INVAL;
	*m = (pfmlib_mont_ear_mode_t)mode;
	return PFMLIB_SUCCESS;
}

int pfm_mont_get_event_maxincr(unsigned int i, unsigned int *maxincr)
{
	return as_int(PFMLIB_MONTECITO_PMU, i, TACH__A_MAXINC, 1, (int *)maxincr);
}

int pfm_mont_get_event_umask(unsigned int i, unsigned long *umask)
{
	return as_long(PFMLIB_MONTECITO_PMU, i, TACH__A_UM, umask);
}

int pfm_mont_get_event_group(unsigned int i, int *grp)
{
	return as_int(PFMLIB_MONTECITO_PMU, i, TACH__A_GROUP, 0, grp);
}

int pfm_mont_get_event_set(unsigned int i, int *set)
{
	return as_int(PFMLIB_MONTECITO_PMU, i, TACH__A_SET, (uint64_t)-1, set);
}

int pfm_mont_get_event_type(unsigned int i, int *type)
{
	return as_int(PFMLIB_MONTECITO_PMU, i, TACH__A_CAF, 0, type);
}

/* Fine mode is bit 13 of the register that selects the pairs with code ranges. */
static int is_fine_mode(const pfmlib_output_param_t *outp, unsigned pmc)
{
	for (unsigned i = 0; outp && i < outp->pfp_pmc_count && i < PFMLIB_MAX_PMCS; i++)
		if (outp->pfp_pmcs[i].reg_num == pmc)
			return (int)(outp->pfp_pmcs[i].reg_value >> 13 & 1);
	return 0;
}

int pfm_ita2_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_ita2_output_param_t *mod_out)
{
	return mod_out && mod_out->pfp_ita2_irange.rr_nbr_used && is_fine_mode(outp, 14);
}

int pfm_mont_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_mont_output_param_t *mod_out)
{
	return mod_out && mod_out->pfp_mont_irange.rr_nbr_used && is_fine_mode(outp, 38);
}
