/* SPDX-License-Identifier: MIT */
/* Model-specific structures of ia64. The three models have similar but different ones. */
#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#include <perfmon/pfmlib_amd64.h>
#include <tach/dispatch.h>
#include "compat/libpfm3/state.h"
#include "core/pmu/pmu.h"

/* Copy the parts that have the same member names in all models. */
#define TAKE_EAR(to, from)                                                                     \
	do {                                                                                   \
		(to)->used = (from)->ear_used;                                                 \
		(to)->mode = (uint32_t)(from)->ear_mode;                                       \
		(to)->privilege = (from)->ear_plm;                                             \
		(to)->umask = (uint32_t)(from)->ear_umask;                                     \
	} while (0)
#define TAKE_RANGES(to, from)                                                                  \
	do {                                                                                   \
		(to)->used = (from)->rr_used;                                                  \
		(to)->flags = (from)->rr_flags;                                                \
		for (int r_ = 0; r_ < TACH_DISPATCH_RANGES_MAX; r_++) {                        \
			(to)->range[r_].start = (from)->rr_limits[r_].rr_start;                \
			(to)->range[r_].end = (from)->rr_limits[r_].rr_end;                    \
			(to)->range[r_].privilege = (from)->rr_limits[r_].rr_plm;              \
		}                                                                              \
	} while (0)
#define GIVE_RANGES(to, from)                                                                  \
	do {                                                                                   \
		(to)->rr_nbr_used = (from)->nregisters;                                        \
		for (int r_ = 0; r_ < TACH_DISPATCH_RANGES_MAX; r_++) {                        \
			(to)->rr_infos[r_].rr_soff = (from)->excess[r_].before;                \
			(to)->rr_infos[r_].rr_eoff = (from)->excess[r_].after;                 \
		}                                                                              \
		for (uint32_t r_ = 0; r_ < (from)->nregisters; r_++)                           \
			p3_register(&(from)->registers[r_], &(to)->rr_br[r_]);                 \
	} while (0)

static void take_itanium(const pfmlib_ita_input_param_t *m, uint32_t n,
			 struct tach_dispatch_event *e, struct tach_dispatch_ia64 *to)
{
	for (uint32_t i = 0; i < n && i < PMU_ITA_NUM_COUNTERS; i++) {
		const pfmlib_ita_counter_t *c = &m->pfp_ita_counters[i];

		e[i].threshold = c->thres;
		e[i].ism = (uint32_t)c->ism;
		if (c->flags & PFMLIB_ITA_FL_EVT_NO_QUALCHECK)
			e[i].flags |= TACH_DISPATCH_NOQUALIFY;
	}
	to->opcode[0].used = m->pfp_ita_pmc8.opcm_used;
	to->opcode[0].value = m->pfp_ita_pmc8.pmc_val;
	to->opcode[1].used = m->pfp_ita_pmc9.opcm_used;
	to->opcode[1].value = m->pfp_ita_pmc9.pmc_val;
	TAKE_EAR(&to->iear, &m->pfp_ita_iear);
	to->iear.ism = (uint32_t)m->pfp_ita_iear.ear_ism;
	TAKE_EAR(&to->dear, &m->pfp_ita_dear);
	to->dear.ism = (uint32_t)m->pfp_ita_dear.ear_ism;
	to->btb = (struct tach_dispatch_btb){
		.used = m->pfp_ita_btb.btb_used,
		.privilege = m->pfp_ita_btb.btb_plm,
		.tm = m->pfp_ita_btb.btb_tm,
		.ptm = m->pfp_ita_btb.btb_ptm,
		.ppm = m->pfp_ita_btb.btb_ppm,
		.tar = m->pfp_ita_btb.btb_tar,
		.tac = m->pfp_ita_btb.btb_tac,
		.bac = m->pfp_ita_btb.btb_bac,
	};
	TAKE_RANGES(&to->data, &m->pfp_ita_drange);
	TAKE_RANGES(&to->code, &m->pfp_ita_irange);
}

static void take_itanium2(const pfmlib_ita2_input_param_t *m, uint32_t n,
			  struct tach_dispatch_event *e, struct tach_dispatch_ia64 *to)
{
	for (uint32_t i = 0; i < n && i < PMU_ITA2_NUM_COUNTERS; i++) {
		const pfmlib_ita2_counter_t *c = &m->pfp_ita2_counters[i];

		e[i].threshold = c->thres;
		e[i].ism = (uint32_t)c->ism;
		if (c->flags & PFMLIB_ITA2_FL_EVT_NO_QUALCHECK)
			e[i].flags |= TACH_DISPATCH_NOQUALIFY;
	}
	to->fine_32 = tach__native_arch() == TACH__IA64;
	to->opcode[0].used = m->pfp_ita2_pmc8.opcm_used;
	to->opcode[0].value = m->pfp_ita2_pmc8.pmc_val;
	to->opcode[1].used = m->pfp_ita2_pmc9.opcm_used;
	to->opcode[1].value = m->pfp_ita2_pmc9.pmc_val;
	TAKE_EAR(&to->iear, &m->pfp_ita2_iear);
	to->iear.ism = (uint32_t)m->pfp_ita2_iear.ear_ism;
	TAKE_EAR(&to->dear, &m->pfp_ita2_dear);
	to->dear.ism = (uint32_t)m->pfp_ita2_dear.ear_ism;
	to->btb = (struct tach_dispatch_btb){
		.used = m->pfp_ita2_btb.btb_used,
		.privilege = m->pfp_ita2_btb.btb_plm,
		.tm = m->pfp_ita2_btb.btb_tm,
		.ptm = m->pfp_ita2_btb.btb_ptm,
		.ppm = m->pfp_ita2_btb.btb_ppm,
		.brt = m->pfp_ita2_btb.btb_brt,
		.ds = m->pfp_ita2_btb.btb_ds,
	};
	TAKE_RANGES(&to->data, &m->pfp_ita2_drange);
	TAKE_RANGES(&to->code, &m->pfp_ita2_irange);
}

static void take_opcode(const pfmlib_mont_opcm_t *from, struct tach_dispatch_opcode *to)
{
	to->used = from->opcm_used;
	to->mask = from->opcm_mask;
	to->match = from->opcm_match;
	to->m = from->opcm_m;
	to->i = from->opcm_i;
	to->f = from->opcm_f;
	to->b = from->opcm_b;
}

static void take_montecito(const pfmlib_mont_input_param_t *m, uint32_t n,
			   struct tach_dispatch_event *e, struct tach_dispatch_ia64 *to)
{
	for (uint32_t i = 0; i < n && i < PMU_MONT_NUM_COUNTERS; i++) {
		const pfmlib_mont_counter_t *c = &m->pfp_mont_counters[i];

		e[i].threshold = c->thres;
		if (c->flags & PFMLIB_MONT_FL_EVT_NO_QUALCHECK)
			e[i].flags |= TACH_DISPATCH_NOQUALIFY;
		if (c->flags & PFMLIB_MONT_FL_EVT_ALL_THRD)
			e[i].flags |= TACH_DISPATCH_ALLTHREADS;
	}
	take_opcode(&m->pfp_mont_opcm1, &to->opcode[0]);
	take_opcode(&m->pfp_mont_opcm2, &to->opcode[1]);
	TAKE_EAR(&to->iear, &m->pfp_mont_iear);
	TAKE_EAR(&to->dear, &m->pfp_mont_dear);
	to->btb = (struct tach_dispatch_btb){
		.used = m->pfp_mont_etb.etb_used,
		.privilege = m->pfp_mont_etb.etb_plm,
		.tm = m->pfp_mont_etb.etb_tm,
		.ptm = m->pfp_mont_etb.etb_ptm,
		.ppm = m->pfp_mont_etb.etb_ppm,
		.brt = m->pfp_mont_etb.etb_brt,
	};
	to->ipear.used = m->pfp_mont_ipear.ipear_used;
	to->ipear.privilege = m->pfp_mont_ipear.ipear_plm;
	to->ipear.delay = (uint8_t)m->pfp_mont_ipear.ipear_delay;
	TAKE_RANGES(&to->data, &m->pfp_mont_drange);
	TAKE_RANGES(&to->code, &m->pfp_mont_irange);
}

void p3_ia64_input(const struct p3_chosen *c, const void *model_in, struct tach_dispatch *in,
		   struct tach_dispatch_event *e, struct tach_dispatch_ia64 *ia64)
{
	in->ia64 = ia64;
	if (c->pmu->type == PFMLIB_ITANIUM_PMU)
		take_itanium(model_in, in->nevents, e, ia64);
	else if (c->pmu->type == PFMLIB_ITANIUM2_PMU)
		take_itanium2(model_in, in->nevents, e, ia64);
	else if (c->pmu->type == PFMLIB_MONTECITO_PMU)
		take_montecito(model_in, in->nevents, e, ia64);
	else /* the architected PMU has no such structure */
		in->ia64 = NULL;
}

static void ita_output(const struct tach_dispatch_out *from, pfmlib_ita_output_param_t *to)
{
	memset(to, 0, sizeof *to);
	GIVE_RANGES(&to->pfp_ita_drange, &from->data);
	GIVE_RANGES(&to->pfp_ita_irange, &from->code);
}

static void ita2_output(const struct tach_dispatch_out *from, pfmlib_ita2_output_param_t *to)
{
	memset(to, 0, sizeof *to);
	GIVE_RANGES(&to->pfp_ita2_drange, &from->data);
	GIVE_RANGES(&to->pfp_ita2_irange, &from->code);
}

static void mont_output(const struct tach_dispatch_out *from, pfmlib_mont_output_param_t *to)
{
	memset(to, 0, sizeof *to);
	GIVE_RANGES(&to->pfp_mont_drange, &from->data);
	GIVE_RANGES(&to->pfp_mont_irange, &from->code);
}

void p3_output(const struct p3_chosen *c, const struct tach_dispatch_out *from, void *model_out)
{
	pfmlib_amd64_output_param_t *amd = model_out;

	switch (c->pmu->type) {
	case PFMLIB_ITANIUM_PMU:
		ita_output(from, model_out);
		break;
	case PFMLIB_ITANIUM2_PMU:
		ita2_output(from, model_out);
		break;
	case PFMLIB_MONTECITO_PMU:
		mont_output(from, model_out);
		break;
	case PFMLIB_AMD64_PMU:
		memset(amd, 0, sizeof *amd);
		amd->ibsfetch_base = from->ibs_fetch_pmd;
		amd->ibsop_base = from->ibs_op_pmd;
		break;
	default: /* the others have no structure, or one of reserved words */
		break;
	}
}
