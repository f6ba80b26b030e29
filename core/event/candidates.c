/* SPDX-License-Identifier: MIT */
/* The PMUs that may have an event: PMUs of this machine, or PMUs that the caller names. */
#include <string.h>
#include "core/event/event.h"
#include "core/event/perf_events.h"
#include "core/tables/tables.h"

enum { HOSTS_MAX = 8 };

/* Returns the PMU whose events CPUs with that PMU have too, or -1. */
static int common_pmu(int pmu)
{
	const struct tach__pmu *row = tach__pmu_at(pmu);
	const struct tach__part *part = tach__parts[row->arch];
	const char *name = part->common ? part->common(row) : NULL;

	return name ? tach__pmu_find(name, strlen(name)) : -1;
}

int tach__candidates(const struct tach__work *w, int *pmus)
{
	int n = 1, arch;

	if (w->caller.search) {
		memcpy(pmus, w->caller.search, (size_t)w->caller.nsearch * sizeof *pmus);
		return w->caller.nsearch;
	}
	if (w->opt->pmu >= 0)
		pmus[0] = w->opt->pmu;
	else
		n = tach__perf_hosts(w->opt, pmus, HOSTS_MAX);
	arch = n > 0 ? common_pmu(pmus[0]) : -1;
	if (arch >= 0 && arch != pmus[0])
		pmus[n++] = arch;
	for (int pmu = tach__npmus() - 1; pmu >= 0; pmu--)
		if (tach__pmu_at(pmu)->arch != TACH__LINUX) {
			while (++pmu < tach__npmus())
				pmus[n++] = pmu;
			break;
		}
	return n;
}

int tach__pmu_present(const struct tach__work *w, int pmu)
{
	int hosts[HOSTS_MAX], n;

	if (w->caller.search) {
		for (int i = 0; i < w->caller.nsearch; i++)
			if (w->caller.search[i] == pmu)
				return 1;
		return tach__pmu_at(pmu)->flags & TACH__PMU_BOX && w->caller.boxes &&
		       tach__box_in(w->caller.boxes, pmu);
	}
	if (tach__pmu_at(pmu)->arch == TACH__LINUX || pmu == w->opt->pmu)
		return 1;
	if (tach__pmu_at(pmu)->flags & TACH__PMU_BOX)
		return tach__box_in(tach__boxes(), pmu);
	n = tach__perf_hosts(w->opt, hosts, HOSTS_MAX);
	for (int i = 0; i < n && i < HOSTS_MAX; i++)
		if (hosts[i] == pmu || common_pmu(hosts[i]) == pmu)
			return 1;
	return 0;
}

/* Returns false if the PMU was searched only because all CPUs of its architecture have it. */
static int is_named(const struct tach__work *w)
{
	int pmus[TACH__SEARCH_MAX];

	return !*w->string || strstr(w->string, "::") ||
	       (tach__candidates(w, pmus) > 0 && pmus[0] == w->pmu_number);
}

int tach__arch_event_exists(const struct tach__work *w)
{
	return w->pmu->encoding != TACH__INTEL ||
	       tach__archperfmon_event(w->opt, w->event, is_named(w));
}
