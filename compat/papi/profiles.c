/* SPDX-License-Identifier: MIT */
/* Histograms of addresses where an event overflows, as profil(3) counts. */
#include <string.h>
#include "compat/papi/sampling.h"

enum {
	EVERYTHING = 2, /* a scale for which all addresses outside other histograms go to the
			   first bucket */
	FLAGS = PAPI_PROFIL_RANDOM | PAPI_PROFIL_WEIGHTED | PAPI_PROFIL_COMPRESS |
		PAPI_PROFIL_BUCKETS | PAPI_PROFIL_FORCE_SW | PAPI_PROFIL_INST_EAR |
		PAPI_PROFIL_DATA_EAR,
};

static unsigned bucket_size(int flags)
{
	return flags & PAPI_PROFIL_BUCKET_64 ? 8 : flags & PAPI_PROFIL_BUCKET_32 ? 4 : 2;
}

/* Buckets stop at their largest value. */
static int count_in_bucket(const PAPI_sprofil_t *p, unsigned long index, unsigned size)
{
	char *at;

	if (index >= p->pr_size / size)
		return 0;
	at = (char *)p->pr_base + index * size;
	if (size == 8 && *(uint64_t *)at != UINT64_MAX)
		++*(uint64_t *)at;
	else if (size == 4 && *(uint32_t *)at != UINT32_MAX)
		++*(uint32_t *)at;
	else if (size == 2 && *(uint16_t *)at != UINT16_MAX)
		++*(uint16_t *)at;
	return 1;
}

void pp_profile_add(const struct pp_watch *w, const void *address)
{
	unsigned size = bucket_size(w->profile_flags);
	const PAPI_sprofil_t *all = w->profiles ? w->profiles : &w->own, *rest = NULL;

	for (int i = 0; i < w->nprofiles; i++) {
		const PAPI_sprofil_t *p = &all[i];
		unsigned long offset = (unsigned long)address - (unsigned long)p->pr_off;

		if (p->pr_scale == EVERYTHING) {
			rest = p;
			continue;
		}
		if ((unsigned long)address >= (unsigned long)p->pr_off &&
		    count_in_bucket(
			    p, (unsigned long)((unsigned __int128)offset * p->pr_scale >> 17),
			    size))
			return;
	}
	if (rest)
		count_in_bucket(rest, 0, size);
}

/* ---- PAPI's ---- */

static int scales_fit(const PAPI_sprofil_t *prof, int n)
{
	for (int i = 0; i < n; i++)
		if (prof[i].pr_scale != 131072 &&
		    (prof[i].pr_scale > 65536 || prof[i].pr_scale < 2))
			return 0;
	return 1;
}

static int flags_fit(int flags)
{
	int buckets = flags & PAPI_PROFIL_BUCKETS;

	return !(flags & ~FLAGS) && !(buckets & (buckets - 1));
}

static int count_watched(const struct pp_set *set)
{
	int n = 0;

	for (int i = 0; i < set->nevents; i++) {
		const struct pp_watch *w = pp_watch_of(set, set->event[i].code);

		n += w && w->profiling;
	}
	return n;
}

static int remove_profile(struct pp_set *set, int event)
{
	struct pp_watch *w = pp_watch_of(set, event);
	int code;

	if (!w || !w->profiling)
		return PAPI_EINVAL;
	code = pp_watch_remove(set, event);
	if (count_watched(set) == 0)
		set->state &= ~PAPI_PROFILING;
	return code;
}

static int check_profile(const struct pp_set *set, int event, int flags)
{
	int index;

	if (!(set->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (set->state & (PAPI_ATTACHED | PAPI_CPU_ATTACHED))
		return PAPI_EINVAL;
	if (set->component < 0)
		return PAPI_ENOCMP;
	index = pp_event_index(set, event);
	if (index < 0)
		return PAPI_ENOEVNT;
	if (set->event[index].kind != PP_PLAIN && !(flags & PAPI_PROFIL_FORCE_SW))
		return PAPI_EINVAL;
	return index;
}

int PAPI_sprofil(PAPI_sprofil_t *prof, int profcnt, int EventSet, int EventCode, int threshold,
		 int flags)
{
	struct pp_set *set = pp_set_of(EventSet);
	struct pp_watch *w;
	int index, code;

	if (!set)
		return pp_return(PAPI_ENOEVST);
	index = check_profile(set, EventCode, flags);
	if (index < 0)
		return pp_return(index);
	if (!scales_fit(prof, prof ? profcnt : 0) || threshold < 0 ||
	    (!(set->state & PAPI_PROFILING) && threshold == 0))
		return pp_return(PAPI_EINVAL);
	if (threshold > 0 && count_watched(set) >= pp_component(set->component)->num_cntrs)
		return pp_return(PAPI_ECNFLCT);
	if (threshold == 0)
		return pp_return(remove_profile(set, EventCode));
	if (!prof || !flags_fit(flags))
		return pp_return(PAPI_EINVAL);
	if (flags & (PAPI_PROFIL_RANDOM | PAPI_PROFIL_DATA_EAR | PAPI_PROFIL_INST_EAR))
		return pp_return(PAPI_ENOSUPP);
	code = pp_watch_put(set, index, threshold, 0);
	if (code != PAPI_OK)
		return pp_return(code);
	w = pp_watch_of(set, EventCode);
	w->profiling = 1;
	w->profiles = prof;
	w->nprofiles = profcnt;
	w->profile_flags = flags;
	set->state |= PAPI_PROFILING;
	return PAPI_OK;
}

int PAPI_profil(void *buf, unsigned bufsiz, vptr_t offset, unsigned scale, int EventSet,
		int EventCode, int threshold, int flags)
{
	struct pp_set *set = pp_set_of(EventSet);
	PAPI_sprofil_t one = {buf, bufsiz, offset, scale};
	struct pp_watch *w;
	int code;

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (threshold <= 0) {
		w = pp_watch_of(set, EventCode);
		return pp_return(w && w->profiling
					 ? PAPI_sprofil(NULL, 0, EventSet, EventCode, 0, flags)
					 : PAPI_EINVAL);
	}
	code = PAPI_sprofil(&one, 1, EventSet, EventCode, threshold, flags);
	if (code != PAPI_OK)
		return code;
	w = pp_watch_of(set, EventCode);
	w->own = one;
	w->profiles = NULL;
	return PAPI_OK;
}
