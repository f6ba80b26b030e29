/* SPDX-License-Identifier: MIT */
/*
 * Look-ups by number, and by names that a row does not contain: boxes, libpfm-3's lists,
 * vendors' names.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "core/tables/data.h"
#include "core/tables/tables.h"
#include "tests/check.h"

static int find(const char *name)
{
	return tach__pmu_find(name, strlen(name));
}

static void numbers_beyond_the_last_are_refused(void)
{
	int n = (int)(tach__tab_npmus + tach__tab_nboxes + tach__tab_npfm3);

	CHECK(tach__tab_nboxes > 0 && tach__tab_npfm3 > 0);
	CHECK(tach__pmu_exists(0) == 1 && tach__pmu_exists(n - 1) == 1);
	CHECK(!tach__pmu_exists(n) && !tach__pmu_exists(n + 1) && !tach__pmu_exists(INT_MAX));
	CHECK(!tach__pmu_exists(-1) && !tach__pmu_exists(INT_MIN));
}

/*
 * Each list is found by its name; libpfm-3's lists have their own function, and omit their
 * common prefix.
 */
static void each_by_its_name(void)
{
	int first = (int)(tach__tab_npmus + tach__tab_nboxes);

	for (int i = 0; tach__pmu_exists(i); i++) {
		const char *name = tach__str(tach__pmu_at(i)->name);

		if (i < first) {
			CHECK(find(name) == i, "%s: %d, not %d", name, find(name), i);
		} else {
			CHECK(strncmp(name, "pfm3_", 5) == 0, "%s", name);
			CHECK(tach__pfm3_find(name + 5) == i, "%s: %d, not %d", name,
			      tach__pfm3_find(name + 5), i);
			CHECK(find(name) == -1, "%s", name);
		}
	}
	CHECK(tach__pfm3_find("p6") >= first && tach__pfm3_find("p") == -1);
	CHECK(tach__pfm3_find("") == -1 && tach__pfm3_find("skl") == -1);
	/* PMUs before these do not belong to the list. */
	CHECK(tach__pfm3_find(tach__str(tach__pmu_at(first - 1)->name) + 5) == -1);
}

static void as_vendors_spell_them(void)
{
	static const struct {
		const char *vendor, *event, *umask; /* NULL: none */
	} of[] = {
		{"IDQ.MS_CYCLES", "IDQ", "MS_UOPS_CYCLES"},
		{"idq.ms_cycles", "IDQ", "MS_UOPS_CYCLES"},
		/* An event and a umask have this name: the event is found first. */
		{"CPU_CLK_UNHALTED.REF_TSC", "UNHALTED_REFERENCE_CYCLES", NULL},
		{"L2_RQSTS", "L2_RQSTS", NULL},
		{"L2_RQSTS.MISS", "L2_RQSTS", "MISS"},
		{"l2_rqsts.demand.data.rd_miss", "L2_RQSTS", "DEMAND_DATA_RD_MISS"},
		{"L2_RQSTS.", NULL, NULL},
		{"L2_RQSTS.MIS", NULL, NULL},
		{"L2_RQSTS.MISS.", NULL, NULL},
		{"L2_RQSTS..MISS", NULL, NULL},
		{".MISS", NULL, NULL},
		{"L2_RQST.MISS", NULL, NULL},
		{"L2_RQSTS_MISS", NULL, NULL},
		{"INST_RETIRED", "INST_RETIRED", NULL},
		{"NONE.MISS", NULL, NULL},
	};
	int pmu = find("skl");
	char longer[400];
	int umask;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		size_t n = strlen(of[i].vendor);
		int event;

		umask = 4711;
		event = tach__vendor_find(pmu, of[i].vendor, n, &umask);
		if (!of[i].event) {
			CHECK(event == -1 && umask == -1, "%s: %d, %d", of[i].vendor, event,
			      umask);
			continue;
		}
		CHECK(event >= 0 && strcmp(tach__str(tach__event_at(pmu, event)->name),
					   of[i].event) == 0,
		      "%s: %d", of[i].vendor, event);
		if (event < 0)
			continue;
		CHECK((umask >= 0) == (of[i].umask != NULL) && umask >= -1, "%s: %d",
		      of[i].vendor, umask);
		if (umask >= 0 && of[i].umask)
			CHECK(strcmp(tach__str(tach__umask_at(tach__event_at(pmu, event), umask)
						       ->name),
				     of[i].umask) == 0,
			      "%s", of[i].vendor);
	}
	/* The length decides where the name ends; any length is permitted. */
	CHECK(tach__vendor_find(pmu, "L2_RQSTS.MISS", 8, &umask) ==
	      tach__event_find(pmu, "L2_RQSTS", 8));
	CHECK(umask == -1);
	CHECK(tach__vendor_find(pmu, "L2_RQSTS.MISSED", 13, &umask) >= 0 && umask >= 0);
	memset(longer, 'x', sizeof longer);
	memcpy(longer, "L2_RQSTS.", 9);
	for (size_t n = 200; n < sizeof longer; n++)
		CHECK(tach__vendor_find(pmu, longer, n, &umask) == -1 && umask == -1, "%zu", n);
}

/* ---- the slowest search, over adjacent tables ---- */

static int slow_event(int pmu, const char *name, size_t length)
{
	for (uint32_t e = 0; e < tach__pmu_at(pmu)->nevents; e++) {
		const char *its = tach__str(tach__event_at(pmu, (int)e)->name);

		if (strlen(its) == length && strncasecmp(its, name, length) == 0)
			return (int)e;
	}
	return -1;
}

static int slow_umask(const struct tach__event *event, const char *name)
{
	for (uint32_t u = 0; u < event->numasks; u++)
		if (strcasecmp(tach__str(tach__umask_at(event, (int)u)->name), name) == 0)
			return (int)u;
	return -1;
}

static int slow_vendor(int pmu, const char *name, int *umask)
{
	const struct tach__tab_pmu *run = &tach__tab_runs[pmu];
	size_t length = strcspn(name, ".");
	char rest[200];
	int event;

	for (uint32_t i = run->vendor; i < (uint32_t)run->vendor + run->nvendor; i++)
		if (strcasecmp(tach__str(tach__tab_names[i].name), name) == 0) {
			*umask = tach__tab_names[i].second == TACH__TAB_NONE
					 ? -1
					 : tach__tab_names[i].second;
			return tach__tab_names[i].first;
		}
	*umask = -1;
	event = slow_event(pmu, name, length);
	if (event < 0 || !name[length])
		return event;
	snprintf(rest, sizeof rest, "%s", name + length + 1);
	for (char *dot = rest; (dot = strchr(dot, '.'));)
		*dot = '_';
	*umask = slow_umask(tach__event_at(pmu, event), rest);
	return *umask < 0 ? -1 : event;
}

/* Searches cores and boxes, with aliases. */
static int slow_pmu(const char *name)
{
	const uint32_t start[] = {tach__tab_pmu_names, tach__tab_box_names};
	const uint32_t n[] = {tach__tab_npmu_names, tach__tab_nboxes};

	for (int list = 0; list < 2; list++)
		for (uint32_t i = start[list]; i < start[list] + n[list]; i++)
			if (strcasecmp(tach__str(tach__tab_names[i].name), name) == 0)
				return tach__tab_names[i].first;
	return -1;
}

/*
 * Finds an event that is the first of a table's run for its hash; NULL: no run of a table
 * begins there.
 */
static const char *event_at(uint32_t run)
{
	for (int p = 0; tach__pmu_exists(p); p++)
		if (tach__tab_runs[p].events == run && tach__pmu_at(p)->nevents)
			return tach__str(tach__event_at(p, tach__tab_event_order[run])->name);
	return NULL;
}

/* Names after a table's own names are not found. */
static void not_the_next_tables(void)
{
	int events = 0, umasks = 0, names = 0, last = 0, u, slow_u;
	const struct tach__event *row, *next = NULL;

	for (int p = 0; tach__pmu_exists(p); p++) {
		const struct tach__tab_pmu *run = &tach__tab_runs[p];
		const char *name = event_at(run->events + tach__pmu_at(p)->nevents);

		if (name) {
			events++;
			CHECK(tach__event_find(p, name, strlen(name)) ==
				      slow_event(p, name, strlen(name)),
			      "%d: %s", p, name);
		}
		if (run->vendor + run->nvendor > last)
			last = run->vendor + run->nvendor;
		for (uint32_t e = 0; e < tach__pmu_at(p)->nevents; e++, next = row) {
			row = tach__event_at(p, (int)e);
			if (!next || !row->numasks ||
			    next->umasks + next->numasks != row->umasks)
				continue;
			umasks++;
			name = tach__str(
				tach__umask_at(row, tach__tab_umask_order[row->umasks])->name);
			CHECK(tach__umask_find(next, name, strlen(name)) ==
				      slow_umask(next, name),
			      "%d: %s", p, name);
		}
	}
	for (int p = 0; tach__pmu_exists(p); p++) {
		const struct tach__tab_pmu *run = &tach__tab_runs[p];
		const char *name = tach__str(tach__tab_names[run->vendor + run->nvendor].name);
		int event;

		if (run->vendor + run->nvendor >= last)
			continue;
		names++;
		event = tach__vendor_find(p, name, strlen(name), &u);
		CHECK(event == slow_vendor(p, name, &slow_u) && u == slow_u, "%d: %s", p, name);
	}
	for (int list = 0; list < 2; list++) {
		uint32_t end = list ? tach__tab_box_names + tach__tab_nboxes
				    : tach__tab_pmu_names + tach__tab_npmu_names;
		const char *name;

		if (end >= (uint32_t)last)
			continue;
		name = tach__str(tach__tab_names[end].name);
		CHECK(find(name) == slow_pmu(name), "%s", name);
	}
	CHECK(events > 100 && umasks > 1000 && names > 100, "%d, %d, %d", events, umasks,
	      names);
}

/* EVENT.UMASK, also for the first events. */
static void by_event_and_umask(void)
{
	int tried = 0, umask, slow;

	for (int p = 0; tach__pmu_exists(p); p++)
		for (uint32_t e = 0; e < 3 && e < tach__pmu_at(p)->nevents; e++) {
			const struct tach__event *row = tach__event_at(p, (int)e);
			char name[200];

			for (uint32_t u = 0; u < 2 && u < row->numasks; u++, tried++) {
				snprintf(name, sizeof name, "%s.%s", tach__str(row->name),
					 tach__str(tach__umask_at(row, (int)u)->name));
				CHECK(tach__vendor_find(p, name, strlen(name), &umask) ==
						      slow_vendor(p, name, &slow) &&
					      umask == slow,
				      "%d: %s", p, name);
			}
		}
	CHECK(tried > 500, "%d", tried);
}

/* ---- lists that belong to a row ---- */

/*
 * Modifiers that are part of an event: tests the whole store, including words between two
 * lists.
 */
static void wired_in(void)
{
	int lists = 0, several = 0;

	for (int p = 0; p < tach__npmus(); p++)
		for (uint32_t e = 0; e < tach__pmu_at(p)->nevents; e++) {
			const struct tach__event *row = tach__event_at(p, (int)e);
			uint32_t value = 4711, n = 0;

			for (int mod = 0; mod < TACH__NMODS; mod++)
				n += (uint32_t)tach__hw(row->hw, (enum tach__mod)mod, &value);
			CHECK(row->hw ? n > 0 : n == 0 && value == 4711, "%s",
			      tach__str(row->name));
			lists += row->hw != 0;
			several += n > 1;
		}
	CHECK(lists > 0, "%d lists, %d of several", lists, several);
}

int main(void)
{
	CASE(numbers_beyond_the_last_are_refused);
	CASE(each_by_its_name);
	CASE(as_vendors_spell_them);
	CASE(not_the_next_tables);
	CASE(by_event_and_umask);
	CASE(wired_in);
	return check_done();
}
