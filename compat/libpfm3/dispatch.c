/* SPDX-License-Identifier: MIT */
/* pfm_dispatch_events: converts its structures to those of tach_dispatch_compute and back. */
#include <stdio.h>
#include <tach/dispatch.h>
#include "compat/libpfm3/state.h"

_Static_assert(sizeof(pfmlib_regmask_t) == sizeof((struct tach_dispatch){0}.unavailable),
	       "sets of registers are alike");

void p3_register(const struct tach_register *from, pfmlib_reg_t *to)
{
	to->reg_value = from->value;
	to->reg_addr = from->address;
	to->reg_num = from->number;
	to->reg_reserved1 = 0;
	to->reg_alt_addr = (unsigned long)from->alternative;
}

static pfm_err_t take_event(const pfmlib_event_t *from, struct tach_dispatch_event *to)
{
	memset(to, 0, sizeof *to);
	if (from->event > 0x7fffffff)
		return PFMLIB_ERR_INVAL;
	if (from->num_masks > PFMLIB_MAX_MASKS_PER_EVENT)
		return PFMLIB_ERR_UMASK;
	to->event = (int32_t)from->event;
	to->privilege = from->plm;
	to->numasks = from->num_masks;
	for (unsigned i = 0; i < from->num_masks; i++)
		to->umasks[i] =
			from->unit_masks[i] > 0xffff ? 0xffff : (uint16_t)from->unit_masks[i];
	return PFMLIB_SUCCESS;
}

static void give_output(const struct tach_dispatch_out *from, pfmlib_output_param_t *to)
{
	memset(to, 0, sizeof *to);
	to->pfp_pmc_count = from->npmcs;
	to->pfp_pmd_count = from->npmds;
	for (uint32_t i = 0; i < from->npmcs; i++)
		p3_register(&from->pmcs[i], &to->pfp_pmcs[i]);
	for (uint32_t i = 0; i < from->npmds; i++)
		p3_register(&from->pmds[i], &to->pfp_pmds[i]);
}

static pfm_err_t run(const struct p3_chosen *c, const pfmlib_input_param_t *p,
		     const void *model_in, int has_model_out, struct tach_dispatch_out *out)
{
	struct tach_dispatch in = {.size = sizeof in, .pmu = c->number};
	struct tach_dispatch_event events[TACH_DISPATCH_EVENTS_MAX];
	struct tach_dispatch_x86 x86 = {.size = sizeof x86};
	struct tach_dispatch_ia64 ia64 = {.size = sizeof ia64};
	struct tach_error err = TACH_ERROR_INIT;
	int is_ia64 = tach__pmu_at(c->table)->arch == TACH__IA64;
	pfm_err_t rc = PFMLIB_SUCCESS;

	in.privilege = p->pfp_dfl_plm;
	in.revision = c->revision;
	in.flags = (p->pfp_flags & PFMLIB_PFP_SYSTEMWIDE ? TACH_DISPATCH_SYSTEMWIDE : 0) |
		   (has_model_out ? 0 : TACH_DISPATCH_NOMODEL);
	in.events = events;
	in.nevents = p->pfp_event_count;
	if (in.nevents > TACH_DISPATCH_EVENTS_MAX)
		return PFMLIB_ERR_TOOMANY;
	memcpy(in.unavailable, p->pfp_unavail_pmcs.bits, sizeof in.unavailable);
	for (uint32_t i = 0; !rc && i < in.nevents; i++)
		rc = take_event(&p->pfp_events[i], &events[i]);
	if (rc)
		return rc;
	if (model_in && is_ia64)
		p3_ia64_input(c, model_in, &in, events, &ia64);
	else if (model_in)
		p3_x86_input(c, model_in, &in, events, &x86);
	rc = p3_error(tach_dispatch_compute(&in, out, &err));
	if (rc && p3_verbose())
		fprintf(stderr, "libpfm: %s\n", err.text);
	return rc;
}

pfm_err_t pfm_dispatch_events(pfmlib_input_param_t *p, void *model_in, pfmlib_output_param_t *q,
			      void *model_out)
{
	struct tach_dispatch_out out = {.size = sizeof out};
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (rc)
		return rc;
	if (!p || !q || !p->pfp_dfl_plm || p->pfp_event_count >= PFMLIB_MAX_PMCS)
		return PFMLIB_ERR_INVAL;
	/* On ia64 the extra output describes requests of the extra input. */
	if (model_out && !model_in && tach__pmu_at(c.table)->arch == TACH__IA64 &&
	    c.pmu->type != PFMLIB_GEN_IA64_PMU)
		return PFMLIB_ERR_INVAL;
	rc = run(&c, p, model_in, model_out != NULL, &out);
	if (rc)
		memset(&out, 0, sizeof out);
	give_output(&out, q);
	if (model_out)
		p3_output(&c, &out, model_out);
	return rc;
}
