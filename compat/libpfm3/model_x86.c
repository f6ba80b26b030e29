/* SPDX-License-Identifier: MIT */
/* Model-specific structures of x86, and queries about its events. */
#include <stdlib.h>
#include <perfmon/pfmlib_amd64.h>
#include <perfmon/pfmlib_core.h>
#include <perfmon/pfmlib_coreduo.h>
#include <perfmon/pfmlib_gen_ia32.h>
#include <perfmon/pfmlib_i386_p6.h>
#include <perfmon/pfmlib_intel_atom.h>
#include <perfmon/pfmlib_intel_nhm.h>
#include <tach/dispatch.h>
#include "compat/libpfm3/state.h"

/* A flag that no PMU has: dispatch refuses flags that the PMU does not know. */
#define UNKNOWN 0x80000000u

static void take_options(struct tach_dispatch_event *event, uint64_t threshold, uint32_t flags,
			 uint32_t third, uint32_t fourth)
{
	event->threshold = threshold > 0xffffffff ? 0xffffffff : (uint32_t)threshold;
	event->flags |= flags & 1 ? TACH_DISPATCH_INVERT : 0;
	event->flags |= flags & 2 ? TACH_DISPATCH_EDGE : 0;
	event->flags |= flags & 4 ? third : 0;
	event->flags |= flags & 8 ? fourth : 0;
	event->flags |= flags & ~0xfu ? UNKNOWN : 0;
}

static void amd_input(const pfmlib_amd64_input_param_t *m, const struct tach_dispatch *in,
		      struct tach_dispatch_event *e, struct tach_dispatch_x86 *x86)
{
	for (uint32_t i = 0; i < in->nevents && i < PMU_AMD64_MAX_COUNTERS; i++)
		take_options(&e[i], m->pfp_amd64_counters[i].cnt_mask,
			     m->pfp_amd64_counters[i].flags, TACH_DISPATCH_GUEST,
			     TACH_DISPATCH_HOST);
	x86->ibs_fetch = (m->flags & PFMLIB_AMD64_USE_IBSFETCH) != 0;
	x86->ibs_op = (m->flags & PFMLIB_AMD64_USE_IBSOP) != 0;
	x86->ibs_fetch_period = m->ibsfetch.maxcnt;
	x86->ibs_fetch_random = (m->ibsfetch.options & IBS_OPTIONS_RANDEN) != 0;
	x86->ibs_op_period = m->ibsop.maxcnt;
	x86->ibs_op_dispatched = (m->ibsop.options & IBS_OPTIONS_UOPS) != 0;
}

static void nhm_input(const pfmlib_nhm_input_param_t *m, const struct tach_dispatch *in,
		      struct tach_dispatch_event *e, struct tach_dispatch_x86 *x86)
{
	for (uint32_t i = 0; i < in->nevents && i < PMU_NHM_NUM_COUNTERS; i++)
		take_options(&e[i], m->pfp_nhm_counters[i].cnt_mask,
			     m->pfp_nhm_counters[i].flags, TACH_DISPATCH_ANYTHREAD,
			     TACH_DISPATCH_OCCUPANCY);
	x86->pebs = m->pfp_nhm_pebs.pebs_used != 0;
	x86->ldlat = m->pfp_nhm_pebs.ld_lat_thres;
	x86->lbr = m->pfp_nhm_lbr.lbr_used != 0;
	x86->lbr_privilege = m->pfp_nhm_lbr.lbr_plm;
	x86->lbr_filter = m->pfp_nhm_lbr.lbr_filter;
}

void p3_x86_input(const struct p3_chosen *c, const void *model_in, struct tach_dispatch *in,
		  struct tach_dispatch_event *e, struct tach_dispatch_x86 *x86)
{
	const pfmlib_i386_p6_input_param_t *p6 = model_in;
	const pfmlib_coreduo_input_param_t *coreduo = model_in;
	const pfmlib_core_input_param_t *core = model_in;
	const pfmlib_intel_atom_input_param_t *atom = model_in;
	const pfmlib_gen_ia32_input_param_t *gen = model_in;

	in->x86 = x86;
	switch (c->pmu->type) {
	case PFMLIB_I386_P6_PMU:
	case PFMLIB_I386_PM_PMU:
	case PFMLIB_INTEL_PPRO_PMU:
	case PFMLIB_INTEL_PII_PMU:
		for (uint32_t i = 0; i < in->nevents && i < PMU_I386_P6_NUM_COUNTERS; i++)
			take_options(&e[i], (uint64_t)p6->pfp_i386_p6_counters[i].cnt_mask,
				     p6->pfp_i386_p6_counters[i].flags, UNKNOWN, UNKNOWN);
		break;
	case PFMLIB_COREDUO_PMU:
		for (uint32_t i = 0; i < in->nevents && i < PMU_COREDUO_NUM_COUNTERS; i++)
			take_options(&e[i], coreduo->pfp_coreduo_counters[i].cnt_mask,
				     coreduo->pfp_coreduo_counters[i].flags, UNKNOWN, UNKNOWN);
		break;
	case PFMLIB_INTEL_CORE_PMU:
		for (uint32_t i = 0; i < in->nevents && i < PMU_CORE_NUM_COUNTERS; i++)
			take_options(&e[i], core->pfp_core_counters[i].cnt_mask,
				     core->pfp_core_counters[i].flags, UNKNOWN, UNKNOWN);
		x86->pebs = core->pfp_core_pebs.pebs_used != 0;
		break;
	case PFMLIB_INTEL_ATOM_PMU:
		for (uint32_t i = 0; i < in->nevents && i < PMU_INTEL_ATOM_NUM_COUNTERS; i++)
			take_options(&e[i], atom->pfp_intel_atom_counters[i].cnt_mask,
				     atom->pfp_intel_atom_counters[i].flags,
				     TACH_DISPATCH_ANYTHREAD, UNKNOWN);
		x86->pebs = atom->pfp_intel_atom_pebs_used != 0;
		break;
	case PFMLIB_GEN_IA32_PMU:
		for (uint32_t i = 0; i < in->nevents; i++)
			take_options(&e[i], gen->pfp_gen_ia32_counters[i].cnt_mask,
				     gen->pfp_gen_ia32_counters[i].flags,
				     TACH_DISPATCH_ANYTHREAD, UNKNOWN);
		break;
	case PFMLIB_INTEL_NHM_PMU:
	case PFMLIB_INTEL_WSM_PMU:
		nhm_input(model_in, in, e, x86);
		break;
	case PFMLIB_AMD64_PMU:
		amd_input(model_in, in, e, x86);
		break;
	default: /* Pentium 4 has no such input */
		in->x86 = NULL;
		break;
	}
}

/* True for a precise event, or one whose masks are all precise. */
static int is_pebs(const pfmlib_event_t *e)
{
	const struct tach__event *event;
	const struct tach__umask *mask;
	struct p3_chosen c;
	unsigned n = 0;

	if (!e || e->num_masks > PFMLIB_MAX_MASKS_PER_EVENT || p3_event(&c, e->event, &event))
		return 0;
	if (event->flags & TACH__EV_PEBS)
		return 1;
	while (n < e->num_masks && !p3_umask(&c, e->event, e->unit_masks[n], &mask) &&
	       mask->flags & TACH__UM_PEBS)
		n++;
	return n > 0 && n == e->num_masks;
}

int pfm_core_is_pebs(pfmlib_event_t *e)
{
	return is_pebs(e);
}

int pfm_intel_atom_has_pebs(pfmlib_event_t *e)
{
	return is_pebs(e);
}

int pfm_nhm_is_pebs(pfmlib_event_t *e)
{
	return is_pebs(e);
}

int pfm_nhm_is_uncore(pfmlib_event_t *e)
{
	const struct tach__event *event;
	struct p3_chosen c;

	return e && !p3_event(&c, e->event, &event) && (event->flags & TACH__EV_UNCORE) != 0;
}

int pfm_nhm_data_src_desc(unsigned int val, char **desc)
{
	static const char texts[16][72] = {
		"unknown L3 cache miss",
		"L1 data cache hit",
		"pending: a line fill buffer was already waiting for the line",
		"L2 hit",
		"L3 hit, no other core had to be asked",
		"L3 hit, another core was asked and had no copy",
		"L3 hit, another core had it unmodified",
		"L3 hit, another core had it modified",
		"reserved",
		"reserved",
		"L3 miss, local memory, line shared",
		"L3 miss, remote memory, line shared",
		"L3 miss, local memory, line exclusive",
		"L3 miss, remote memory, line exclusive",
		"input or output",
		"uncacheable memory",
	};

	if (!desc || val > 15)
		return PFMLIB_ERR_INVAL;
	*desc = strdup(texts[val]);
	return *desc ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
}
