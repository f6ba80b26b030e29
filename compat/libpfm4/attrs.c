/* SPDX-License-Identifier: MIT */
/* An event's attributes as a list: umasks, then modifiers of the PMU, then modifiers of the
 * operating system. */
#include <string.h>
#include "compat/libpfm4/state.h"
#include "core/event/event.h"

/* For NetBurst, the listed order differs from the spelled order. */
static const uint8_t netburst_order[] = {TACH__MOD_U, TACH__MOD_K, TACH__MOD_CMPL, TACH__MOD_E,
					 TACH__MOD_THR};

void p4_attrs(struct p4_attrs *out, const struct p4_state *s, int pmu, int event, pfm_os_t os)
{
	static const struct tach__event none;
	struct tach__work *w = &out->w;

	memset(out, 0, sizeof *out);
	out->opt = p4_options(s, os, 0);
	w->ask.opt = &out->opt;
	w->ask.quirks = tach__quirks_of(w->ask.opt);
	w->ask.os = out->opt.os;
	w->got.pmu = tach__pmu_at(pmu);
	w->got.event =
		w->got.pmu->encoding == TACH__PERF_RAW ? &none : tach__event_at(pmu, event);
	w->got.generic = tach__generic(w->got.pmu);
	tach__offer(w);
	out->numasks = w->got.event->numasks;
	for (int i = 0; i < TACH__NBOX_MODS; i++)
		if (w->got.mods >> i & 1 && w->got.pmu->encoding != TACH__NETBURST)
			out->mods[out->nmods++] = i;
	for (size_t i = 0; i < sizeof netburst_order; i++)
		if (w->got.mods >> netburst_order[i] & 1 &&
		    w->got.pmu->encoding == TACH__NETBURST)
			out->mods[out->nmods++] = netburst_order[i];
	for (int i = 0; i < TACH__NOSMODS; i++)
		if (w->got.osmods >> i & 1)
			out->osmods[out->nosmods++] = i;
}

static uint64_t box_mod_code(const struct tach__pmu *pmu, int mod)
{
	switch (mod) {
	case TACH__BOX_MOD_K:
		return 0;
	case TACH__BOX_MOD_U:
		return 1;
	case TACH__BOX_MOD_HV:
		return 2;
	case TACH__BOX_MOD_O:
		return 3;
	case TACH__BOX_MOD_C8:
		return pmu->encoding == TACH__CLIENT ? 4 : 2;
	}
	/* Client boxes use the same numbers as cores. */
	return (uint64_t)mod + (pmu->encoding == TACH__CLIENT ? 2 : 0);
}

/* A modifier's number in its family, as libpfm-4 shows it. */
static uint64_t mod_code(const struct tach__pmu *pmu, int mod)
{
	if (pmu->flags & TACH__PMU_BOX)
		return box_mod_code(pmu, mod);
	if (pmu->encoding == TACH__NETBURST) {
		for (size_t i = 0; i < sizeof netburst_order; i++)
			if (netburst_order[i] == mod)
				return i;
	}
	switch (mod) {
	case TACH__MOD_H:
		return 5;
	case TACH__MOD_G:
		return 6;
	case TACH__MOD_HV:
		return 2;
	case TACH__MOD_THR:
		return 2;
	}
	return (uint64_t)mod;
}

static const char *mod_text(int mod)
{
	switch (mod) {
	case TACH__MOD_K:
		return "count in the kernel";
	case TACH__MOD_U:
		return "count in user space";
	case TACH__MOD_E:
		return "count rising edges: how often it began, not how long it lasted";
	case TACH__MOD_I:
		return "invert the comparison with the counter mask";
	case TACH__MOD_C:
		return "counter mask: count cycles with at least so many events";
	case TACH__MOD_T:
		return "count for any thread of the core";
	case TACH__MOD_LDLAT:
		return "smallest load latency to count, cycles";
	case TACH__MOD_INTX:
		return "count inside transactions only";
	case TACH__MOD_INTXCP:
		return "do not count what an aborted transaction did";
	case TACH__MOD_FE_THRES:
		return "smallest number of front end bubbles to count";
	case TACH__MOD_H:
		return "count as host";
	case TACH__MOD_G:
		return "count as guest";
	case TACH__MOD_HV:
		return "count in the hypervisor";
	case TACH__MOD_CMPL:
		return "complement: count cycles at or below the threshold";
	case TACH__MOD_THR:
		return "threshold: count cycles with more events than that";
	case TACH__MOD_EQ:
		return "count cycles with as many events as the counter mask says, no more";
	}
	return "";
}

static const char *box_mod_text(int mod)
{
	switch (mod) {
	case TACH__BOX_MOD_E:
		return "count rising edges: how often it began, not how long it lasted";
	case TACH__BOX_MOD_I:
		return "invert the comparison with the threshold";
	case TACH__BOX_MOD_TF:
		return "count what this thread number does";
	case TACH__BOX_MOD_CF:
	case TACH__BOX_MOD_CF1:
		return "count what this core number does";
	case TACH__BOX_MOD_NF:
	case TACH__BOX_MOD_NF1:
		return "nodes to count for, a bit each";
	case TACH__BOX_MOD_FF:
		return "frequency from which on to count, in steps of 100 MHz";
	case TACH__BOX_MOD_ISOC:
		return "isochronous requests only";
	case TACH__BOX_MOD_NC:
		return "non-coherent requests only";
	case TACH__BOX_MOD_LOC:
		return "targets of this node";
	case TACH__BOX_MOD_REM:
		return "targets of other nodes";
	case TACH__BOX_MOD_LMEM:
		return "near memory";
	case TACH__BOX_MOD_RMEM:
		return "not near memory";
	case TACH__BOX_MOD_DNID:
		return "destination node";
	case TACH__BOX_MOD_RCSNID:
		return "requesting node";
	case TACH__BOX_MOD_OCC_I:
		return "invert the comparison of the occupancy";
	case TACH__BOX_MOD_OCC_E:
		return "count rising edges of the occupancy";
	case TACH__BOX_MOD_O:
		return "occupancy of the queue";
	case TACH__BOX_MOD_K:
	case TACH__BOX_MOD_U:
	case TACH__BOX_MOD_HV:
		return "a box counts at all levels: without effect";
	}
	return "threshold: count cycles with at least so many events";
}

static const char *osmod_text(int mod)
{
	switch (mod) {
	case TACH__OS_U:
		return "count in user space";
	case TACH__OS_K:
		return "count in the kernel";
	case TACH__OS_H:
		return "count in the hypervisor";
	case TACH__OS_PERIOD:
		return "sample every so many events";
	case TACH__OS_FREQ:
		return "samples a second";
	case TACH__OS_PRECISE:
		return "how precise a sample's address has to be, 0 to 3";
	case TACH__OS_EXCL:
		return "the only group on the PMU";
	case TACH__OS_MG:
		return "count guests";
	case TACH__OS_MH:
		return "count the host";
	case TACH__OS_CPU:
		return "processor to count on";
	case TACH__OS_PINNED:
		return "always on the PMU, or in error";
	case TACH__OS_HW_SMPL:
		return "samples are buffered by the hardware";
	}
	return "";
}

/* Modifiers that are fixed in a row, as bits of the event select register. */
uint64_t p4_wired(uint32_t hw)
{
	static const struct {
		uint8_t mod, shift;
	} bits[] = {{TACH__MOD_U, 16}, {TACH__MOD_K, 17}, {TACH__MOD_E, 18},
		    {TACH__MOD_T, 21}, {TACH__MOD_I, 23}, {TACH__MOD_C, 24}};
	uint64_t wired = 0;
	uint32_t value;

	for (size_t i = 0; hw && i < sizeof bits / sizeof *bits; i++)
		if (tach__hw(hw, (enum tach__mod)bits[i].mod, &value))
			wired |= (uint64_t)value << bits[i].shift;
	return wired;
}

static void umask_info(const struct p4_attrs *a, int i, pfm_event_attr_info_t *out)
{
	const struct tach__umask *um = tach__umask_at(a->w.got.event, i);
	const char *alias = NULL;
	uint64_t select;

	if (um->attrs)
		tach__attr(um->attrs, TACH__A_EQ, NULL, &alias);
	out->name = tach__str(um->name);
	out->desc = p4_text(um->description, um->name);
	out->equiv = alias;
	out->code = um->code | p4_wired(um->hw) >> 8;
	/* If the umask replaces the event select, the new select is in the lowest byte. */
	if (um->attrs && tach__attr(um->attrs, TACH__A_SEL, &select, NULL))
		out->code = out->code << 8 | (select & 0xff);
	/* NetBurst's code is one bit. libpfm-4 shows the number of this bit. */
	if (a->w.got.pmu->encoding == TACH__NETBURST && um->code)
		out->code = (uint64_t)__builtin_ctzll(um->code);
	/* Sandy Bridge-EP's C-boxes: shows the filter if there is no other code. */
	if (a->w.got.pmu->flags & TACH__PMU_BOX && !(a->w.got.pmu->flags & TACH__PMU_CBO) &&
	    a->w.got.pmu->mods >> TACH__BOX_MOD_CF & 1 && !out->code && um->attrs)
		tach__attr(um->attrs, TACH__A_F0, &out->code, NULL);
	/* For boxes, shows libpfm-4's code even if the vendor's code is encoded. */
	if (a->w.got.pmu->flags & TACH__PMU_BOX && um->attrs)
		tach__attr(um->attrs, TACH__A_PFM, &out->code, NULL);
	out->type = PFM_ATTR_UMASK;
	out->ctrl = PFM_ATTR_CTRL_PMU;
	/* Umasks of perf's events are defaults too, but libpfm-4 does not mark them. */
	out->is_dfl = um->flags & TACH__UM_DFL && !a->w.got.generic ? 1 : 0;
	out->is_precise = (um->flags & TACH__UM_PEBS) != 0;
	out->support_no_mods = (um->flags & TACH__UM_NOMODS) != 0;
	if (a->w.got.pmu->flags & TACH__PMU_SPEC)
		out->is_speculative =
			um->flags & TACH__UM_SPEC || a->w.got.event->flags & TACH__EV_SPEC
				? PFM_EVENT_INFO_SPEC_TRUE
				: PFM_EVENT_INFO_SPEC_FALSE;
	out->support_hw_smpl = ((a->w.got.pmu->flags & (TACH__PMU_EXTPEBS | TACH__PMU_CBO)) ||
				out->is_precise) &&
			       !out->support_no_mods;
}

static void mod_info(const struct tach__modifier *mod, pfm_event_attr_info_t *out)
{
	out->name = mod->name;
	out->type = mod->integer ? PFM_ATTR_MOD_INTEGER : PFM_ATTR_MOD_BOOL;
}

static pfm_err_t fill(const struct p4_attrs *a, int attr, pfm_event_attr_info_t *out)
{
	out->idx = attr;
	if (attr < a->numasks) {
		umask_info(a, attr, out);
		return PFM_SUCCESS;
	}
	attr -= a->numasks;
	if (attr < a->nmods) {
		int box = (a->w.got.pmu->flags & TACH__PMU_BOX) != 0;

		mod_info(&(box ? tach__box_mods : tach__mods)[a->mods[attr]], out);
		out->desc = (box ? box_mod_text : mod_text)(a->mods[attr]);
		out->code = mod_code(a->w.got.pmu, a->mods[attr]);
		out->ctrl = PFM_ATTR_CTRL_PMU;
		return PFM_SUCCESS;
	}
	attr -= a->nmods;
	if (attr >= a->nosmods)
		return PFM_ERR_INVAL;
	mod_info(&tach__osmods[a->osmods[attr]], out);
	out->desc = osmod_text(a->osmods[attr]);
	out->code = (uint64_t)a->osmods[attr];
	out->ctrl = PFM_ATTR_CTRL_PERF_EVENT;
	return PFM_SUCCESS;
}

pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os,
				  pfm_event_attr_info_t *output)
{
	const struct p4_state *s = p4_enter();
	pfm_event_attr_info_t info = {0};
	struct p4_attrs attrs;
	int event, pmu;
	pfm_err_t rc;

	if (!s)
		return PFM_ERR_NOINIT;
	pmu = p4_from_idx(eidx, &event);
	if (pmu < 0 || aidx < 0 || !output) {
		rc = PFM_ERR_INVAL;
	} else if (!p4_os_works(s, os)) {
		rc = PFM_ERR_NOTSUPP;
	} else {
		rc = p4_check_size(output, output->size, sizeof *output, PFM_ATTR_INFO_ABI0);
		p4_attrs(&attrs, s, pmu, event, os);
		if (!rc)
			rc = fill(&attrs, aidx, &info);
	}
	if (!rc) {
		info.size = output->size;
		*output = info;
	}
	p4_leave();
	return rc;
}
