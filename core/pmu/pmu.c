/* SPDX-License-Identifier: MIT */
/* The public functions for the tables, and the PMUs of this machine. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tach/event.h>
#include <tach/pmu.h>
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/pmu/pmu.h"
#include "core/tables/tables.h"

/* ---- PMUs of this machine ---- */

/*
 * The PMUs of this machine. Signal handlers, START and STOP must not read them: the function
 * that fills them reads files. It takes no lock except those of malloc and stdio. If a fork
 * happens while it runs, the child runs it again (glibc counts forks in the word).
 */
static struct host {
	pthread_once_t once;
	int n, pmus[TACH__CPU_KINDS];
	struct tach_error err;
} host = {.once = PTHREAD_ONCE_INIT};

/* Returns the PMU of that name, or -1. '-' and '_' are equivalent. */
static int find_named(const char *name, size_t length)
{
	int pmu = tach__pmu_find(name, length);
	char own[TACH__TAB_NAME_MAX];

	if (pmu >= 0 || length >= sizeof own)
		return pmu;
	for (size_t i = 0; i < length; i++)
		own[i] = (char)(name[i] == '-' ? '_' : name[i]);
	return tach__pmu_find(own, length);
}

int tach__pmus_named(const char *names, int *pmus, int max, struct tach_error *err)
{
	int n = 0;

	for (const char *p = names; *p;) {
		size_t length = strcspn(p, ",");
		int pmu = find_named(p, length);
		int is_box = pmu >= 0 && tach__pmu_at(pmu)->flags & TACH__PMU_BOX;

		/* perf and perf_raw are not models of a PMU. */
		if (pmu < 0 || is_box || tach__pmu_at(pmu)->arch == TACH__LINUX) {
			tach__error(err, TACH_ERR_NOTFOUND, 0, (int)(p - names) + 1,
				    is_box ? "TACH_PMU: '%.*s' is a box of the uncore, not the "
					     "PMU of a core; names by tach list --all"
					   : "TACH_PMU: no PMU '%.*s'; names by tach list "
					     "--all",
				    length > 64 ? 64 : (int)length, p);
			return 0;
		}
		if (n < max)
			pmus[n++] = pmu;
		p += length + (p[length] == ',');
	}
	tach__error(err, TACH_OK, 0, 0, NULL);
	return n;
}

static void find_host(void)
{
	const char *names = secure_getenv("TACH_PMU");
	int arch = tach__native_arch();

	if (names && *names)
		host.n = tach__pmus_named(names, host.pmus, TACH__CPU_KINDS, &host.err);
	else if (arch < 0)
		tach__error(&host.err, TACH_ERR_NOTFOUND, 0, 0,
			    "no event tables for this architecture");
	else
		host.n = tach__identify((enum tach__arch)arch, "", 1, host.pmus,
					TACH__CPU_KINDS, &host.err);
}

int tach_pmu_host(int *pmus, int max, struct tach_error *err)
{
	int n;

	if (max < 0 || (max > 0 && !pmus))
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no room for the answer");
	pthread_once(&host.once, find_host);
	n = host.n < max ? host.n : max;
	for (int i = 0; i < n; i++)
		pmus[i] = host.pmus[i];
	tach__error(err, host.err.code, 0, host.err.column, "%s", host.err.text);
	return host.n;
}

static int is_host(int pmu)
{
	pthread_once(&host.once, find_host);
	for (int i = 0; i < host.n; i++)
		if (host.pmus[i] == pmu)
			return 1;
	return 0;
}

/* ---- all PMUs ---- */

int tach_pmu_count(void)
{
	return tach__npmus();
}

int tach_pmu_uncore_count(void)
{
	return tach__nboxes();
}

int tach_pmu_find(const char *name)
{
	int pmu;

	if (!name)
		return TACH_ERR_INVAL;
	pmu = find_named(name, strlen(name));
	return pmu >= 0 ? pmu : TACH_ERR_NOTFOUND;
}

int tach_pmu_describe(int pmu, struct tach_pmu_info *out)
{
	struct tach_pmu_info info = {0};
	const struct tach__pmu *row;

	if (!tach__sized(out, TACH__STRUCT(tach_pmu_info), NULL) || pmu < 0 ||
	    pmu >= tach__npmus() + tach__nboxes())
		return TACH_ERR_INVAL;
	row = tach__pmu_at(pmu);
	info.name = tach__str(row->name);
	info.arch = tach__parts[row->arch]->name;
	info.description = tach__str(row->description);
	info.libpfm4_id = row->libpfm4_id;
	info.nevents = (int)row->nevents;
	info.general = row->general;
	info.general_width = row->general_width;
	info.uncore = (row->flags & TACH__PMU_BOX) != 0;
	info.fixed = info.uncore ? 0 : row->fixed;
	info.fixed_width = info.uncore ? 0 : row->fixed_width;
	info.privilege = row->privilege;
	/* The kernel's own events exist everywhere. */
	info.present = row->arch == TACH__LINUX ||
		       (info.uncore ? tach__box_in(tach__boxes(), pmu) : is_host(pmu));
	info.alias = tach__str(row->alias);
	info.perf = tach__str(row->perf);
	tach__sized_done(out, &info, TACH__STRUCT(tach_pmu_info));
	return 0;
}

static const char *text_of(uint32_t attrs, enum tach__attr key)
{
	const char *text = NULL;

	tach__attr(attrs, key, NULL, &text);
	return text;
}

static const struct tach__event *event_row(int pmu, int event)
{
	if (pmu < 0 || pmu >= tach__npmus() + tach__nboxes() || event < 0 ||
	    (uint32_t)event >= tach__pmu_at(pmu)->nevents)
		return NULL;
	return tach__event_at(pmu, event);
}

int tach_pmu_event(int pmu, int event, struct tach_event_info *out)
{
	const struct tach__event *row = event_row(pmu, event);
	struct tach_event_info info = {0};

	if (!tach__sized(out, TACH__STRUCT(tach_event_info), NULL) || !row)
		return TACH_ERR_INVAL;
	info.name = tach__str(row->name);
	info.description = tach__str(row->description);
	info.alias_of = text_of(row->attrs, TACH__A_EQ);
	info.vendor_code = text_of(row->attrs, TACH__A_VC);
	info.libpfm4_code = text_of(row->attrs, TACH__A_PFM);
	info.deprecated = (row->flags & TACH__EV_DEPR) != 0;
	info.code = row->code;
	info.numasks = row->numasks;
	info.counters = tach__counter_set(row->counter_set);
	tach__sized_done(out, &info, TACH__STRUCT(tach_event_info));
	return 0;
}

int tach_pmu_umask(int pmu, int event, int umask, struct tach_umask_info *out)
{
	const struct tach__event *row = event_row(pmu, event);
	const struct tach__umask *u;
	struct tach_umask_info info = {0};

	if (!tach__sized(out, TACH__STRUCT(tach_umask_info), NULL) || !row || umask < 0 ||
	    umask >= row->numasks)
		return TACH_ERR_INVAL;
	u = tach__umask_at(row, umask);
	info.name = tach__str(u->name);
	info.description = tach__str(u->description);
	info.alias_of = text_of(u->attrs, TACH__A_EQ);
	info.vendor_code = text_of(u->attrs, TACH__A_VC);
	info.libpfm4_code = text_of(u->attrs, TACH__A_PFM);
	info.deprecated = (u->flags & TACH__UM_DEPR) != 0;
	info.code = u->code;
	info.counters = tach__counter_set(u->counter_set);
	if (!info.counters)
		info.counters = tach__counter_set(row->counter_set);
	info.group = u->group;
	info.is_default = (u->flags & TACH__UM_DFL) != 0;
	tach__sized_done(out, &info, TACH__STRUCT(tach_umask_info));
	return 0;
}
