/* SPDX-License-Identifier: MIT */
/* Queries about single PMUs and events. */
#include <string.h>
#include "compat/libpfm4/state.h"

/* Maximum number of words of one encoding. */
static int max_words(int pmu)
{
	const struct tach__pmu *row = tach__pmu_at(pmu);

	if (row->flags & TACH__PMU_BOX)
		return row->words;
	switch ((enum tach__encoding)row->encoding) {
	case TACH__NETBURST:
		return 3; /* ESCR, CCCR, and the replay tag for which callers reserve room */
	case TACH__INTEL:
		break;
	default:
		return 1;
	}
	for (uint32_t e = 0; e < row->nevents; e++) {
		const struct tach__event *event = tach__event_at(pmu, (int)e);

		if (event->flags & (TACH__EV_OFFCORE | TACH__EV_FRONTEND) ||
		    event->mods >> TACH__MOD_LDLAT & 1)
			return 2;
	}
	return 1;
}

static int nevents(const struct tach__pmu *row)
{
	return row->encoding == TACH__PERF_RAW ? 1 : (int)row->nevents;
}

static void fill_pmu(const struct p4_state *s, int pmu, pfm_pmu_info_t *info)
{
	const struct tach__pmu *row = tach__pmu_at(pmu);

	info->name =
		tach__str(row->flags & TACH__PMU_BOX && row->alias ? row->alias : row->name);
	info->desc = *tach__str(row->description) ? tach__str(row->description) : info->name;
	info->pmu = (pfm_pmu_t)p4_number(pmu);
	info->type = row->arch == TACH__LINUX	  ? PFM_PMU_TYPE_OS_GENERIC
		     : row->flags & TACH__PMU_BOX ? PFM_PMU_TYPE_UNCORE
						  : PFM_PMU_TYPE_CORE;
	info->nevents = nevents(row);
	info->first_event = info->nevents ? p4_idx(pmu, 0) : -1;
	info->max_encoding = max_words(pmu);
	info->num_cntrs = row->general_libpfm4 ? row->general_libpfm4 : row->general;
	info->num_fixed_cntrs = row->fixed_libpfm4;
	if (row->flags & TACH__PMU_ARCHDEFAULT && p4_is_active(s, pmu)) {
		info->num_cntrs = s->arch_general;
		info->num_fixed_cntrs = s->arch_fixed;
	}
	info->is_present = p4_is_active(s, pmu) ? 1 : 0;
	info->is_dfl = (row->flags & TACH__PMU_ARCHDEFAULT) != 0;
}

pfm_err_t pfm_get_pmu_info(pfm_pmu_t number, pfm_pmu_info_t *output)
{
	const struct p4_state *s = p4_enter();
	pfm_pmu_info_t info = {0};
	pfm_err_t rc = PFM_SUCCESS;
	int pmu;

	if (!s)
		return PFM_ERR_NOINIT;
	if (!output || (int)number < 0 || number >= PFM_PMU_MAX)
		rc = PFM_ERR_INVAL;
	else
		rc = p4_check_size(output, output->size, sizeof *output, PFM_PMU_INFO_ABI0);
	if (!rc) {
		pmu = p4_pmu((int)number);
		rc = pmu < 0 ? PFM_ERR_NOTSUPP : PFM_SUCCESS;
	}
	if (!rc) {
		fill_pmu(s, pmu, &info);
		info.size = output->size;
		*output = info;
	}
	p4_leave();
	return rc;
}

int pfm_get_event_next(int idx)
{
	int event, pmu = p4_from_idx(idx, &event);

	return pmu >= 0 && event + 1 < nevents(tach__pmu_at(pmu)) ? idx + 1 : -1;
}

static void fill_raw(pfm_event_info_t *info)
{
	info->name = "r0000";
	info->desc = "a code of the core PMU: r and hexadecimal digits";
}

static uint64_t code_of(const struct tach__pmu *row, const struct tach__event *event)
{
	uint64_t select = 0;

	if (row->encoding == TACH__NETBURST && event->attrs) {
		tach__attr(event->attrs, TACH__A_ESCRSEL, &select, NULL);
		return select << 8 | event->code;
	}
	if (row->flags & TACH__PMU_BOX && event->attrs &&
	    (tach__attr(event->attrs, TACH__A_PFM, &select, NULL) ||
	     tach__attr(event->attrs, TACH__A_BASE, &select, NULL)))
		return select;
	/* perf.tsv stores the type in the upper bits. */
	return row->encoding == TACH__PERF ? event->code & 0xffffff
					   : event->code | p4_wired(event->hw);
}

static void fill_event(const struct p4_attrs *attrs, pfm_event_info_t *info)
{
	const struct tach__pmu *row = attrs->w.got.pmu;
	const struct tach__event *event = attrs->w.got.event;
	const char *alias = NULL;

	if (event->attrs)
		tach__attr(event->attrs, TACH__A_EQ, NULL, &alias);
	info->name = tach__str(event->name);
	info->desc = p4_text(event->description, event->name);
	info->equiv = alias;
	info->code = code_of(row, event);
	info->is_precise = tach__can_be_precise(&attrs->w) ? 1 : 0;
	if (row->flags & TACH__PMU_SPEC)
		info->is_speculative = event->flags & TACH__EV_SPEC ? PFM_EVENT_INFO_SPEC_TRUE
								    : PFM_EVENT_INFO_SPEC_FALSE;
	info->support_hw_smpl =
		(row->flags & (TACH__PMU_EXTPEBS | TACH__PMU_CBO)) != 0 || info->is_precise;
}

pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
	const struct p4_state *s = p4_enter();
	pfm_event_info_t info = {0};
	struct p4_attrs attrs;
	int event, pmu;
	pfm_err_t rc;

	if (!s)
		return PFM_ERR_NOINIT;
	pmu = p4_from_idx(idx, &event);
	if (pmu < 0 || !output)
		rc = PFM_ERR_INVAL;
	else if (!p4_os_works(s, os))
		rc = PFM_ERR_NOTSUPP;
	else
		rc = p4_check_size(output, output->size, sizeof *output, PFM_EVENT_INFO_ABI0);
	if (!rc) {
		p4_attrs(&attrs, s, pmu, event, os);
		if (tach__pmu_at(pmu)->encoding == TACH__PERF_RAW)
			fill_raw(&info);
		else
			fill_event(&attrs, &info);
		info.size = output->size;
		info.pmu = (pfm_pmu_t)p4_number(pmu);
		info.dtype = PFM_DTYPE_UINT64;
		info.idx = idx;
		info.nattrs = attrs.numasks + attrs.nmods + attrs.nosmods;
		*output = info;
	}
	p4_leave();
	return rc;
}

/* Most faults of a table stop the build; this checks the rest that a caller could notice. */
pfm_err_t pfm_pmu_validate(pfm_pmu_t number, FILE *fp)
{
	const struct p4_state *s = p4_enter();
	int pmu = p4_pmu((int)number), faults = 0;

	if (!s)
		return PFM_ERR_NOINIT;
	p4_leave();
	if (!fp)
		return PFM_ERR_INVAL;
	if (pmu < 0)
		return PFM_ERR_NOTSUPP;
	for (int e = 0; e < (int)tach__pmu_at(pmu)->nevents; e++) {
		const struct tach__event *event = tach__event_at(pmu, e);
		const char *name = tach__str(event->name);

		if (!(event->flags & TACH__EV_SHADOW) &&
		    tach__event_find(pmu, name, strlen(name)) != e) {
			fprintf(fp, "pmu: %s event%d: %s hides behind an earlier event\n",
				tach__str(tach__pmu_at(pmu)->name), e, name);
			faults++;
		}
		for (int u = 0; u < event->numasks; u++) {
			const char *umask = tach__str(tach__umask_at(event, u)->name);

			if (tach__umask_find(event, umask, strlen(umask)) == u)
				continue;
			fprintf(fp, "pmu: %s event%d: %s umask%d: %s hides behind another\n",
				tach__str(tach__pmu_at(pmu)->name), e, name, u, umask);
			faults++;
		}
	}
	return faults ? PFM_ERR_INVAL : PFM_SUCCESS;
}
