/* SPDX-License-Identifier: MIT */
/* Rules for every table that encoders and dispatch rely on without checking. */
#include <string.h>
#include "core/tables/tables.h"
#include "tests/check.h"

enum { SLOTS = 8 }; /* fixed counter 3 */

static long seen[5];

/*
 * An encoding has one event select at most: umasks with different selects exclude each other.
 * No umask sets modifiers, and only aliases of events contain modifiers.
 */
static void selects(const char *where, const struct tach__event *event)
{
	int group = -1;

	CHECK(!event->hw || tach__attr(event->attrs, TACH__A_EQ, NULL, NULL), "%s", where);
	for (int u = 0; u < event->numasks; u++) {
		const struct tach__umask *um = tach__umask_at(event, u);

		CHECK(!um->mods, "%s %s", where, tach__str(um->name));
		if (!tach__attr(um->attrs, TACH__A_SEL, NULL, NULL))
			continue;
		CHECK(um->flags & TACH__UM_NC && (group < 0 || group == um->group), "%s %s",
		      where, tach__str(um->name));
		group = um->group;
		seen[0]++;
	}
}

/* perf's config of an event without umasks; bits of an event that needs no umask. */
static void attributes(const char *where, const struct tach__pmu *pmu,
		       const struct tach__event *event)
{
	if (pmu->encoding == TACH__INTEL &&
	    tach__attr(event->attrs, TACH__A_PERF, NULL, NULL)) {
		CHECK(!event->numasks, "%s", where);
		seen[1]++;
	}
	if (pmu->arch == TACH__X86 && tach__attr(event->attrs, TACH__A_UM, NULL, NULL)) {
		CHECK(event->flags & TACH__EV_BARE, "%s", where);
		seen[2]++;
	}
}

/*
 * No umask uses bit 3 of the second filter. States of occupancies have two bits. Umasks that
 * exclude higher groups are in the lowest group, which has one such default. A message has room
 * for three names. Umasks have thresholds, events do not.
 */
static void boxes(const char *where, const struct tach__pmu *pmu,
		  const struct tach__event *event)
{
	int occupancy = pmu->flags & TACH__PMU_OCC && event->code & 0x80;
	uint64_t bits = 0;
	int defaults = 0;

	CHECK(!event->hw, "%s", where);
	for (int u = 0; u < event->numasks; u++) {
		const struct tach__umask *um = tach__umask_at(event, u);

		tach__attr(um->attrs, TACH__A_F1, &bits, NULL);
		CHECK(!(pmu->flags & TACH__PMU_CHA) || !(bits & 8), "%s", where);
		CHECK(!occupancy || (um->code & 0x3f) == 0, "%s", where);
		CHECK(strlen(tach__str(um->name)) < 64, "%s", where);
		seen[3] += occupancy != 0;
		if (!(um->flags & TACH__UM_XGT))
			continue;
		defaults += (um->flags & TACH__UM_DFL) != 0;
		CHECK(um->group == 0 && defaults < 2, "%s %s", where, tach__str(um->name));
		seen[4]++;
	}
}

/* The counter of slots is the counter of PERF_METRICS too. */
static void without_slots(const char *where, const struct tach__event *event)
{
	uint64_t counters = tach__counter_set(event->counter_set);

	for (int u = 0; u < event->numasks; u++)
		counters |= tach__counter_set(tach__umask_at(event, u)->counter_set);
	CHECK(!(counters >> 32 & SLOTS), "%s", where);
}

static void every_event(void)
{
	for (int pmu = 0; pmu < tach__npmus() + tach__nboxes(); pmu++) {
		const struct tach__pmu *row = tach__pmu_at(pmu);

		for (int i = 0; i < (int)row->nevents; i++) {
			const struct tach__event *event = tach__event_at(pmu, i);
			char where[160];

			snprintf(where, sizeof where, "%s::%s", tach__str(row->name),
				 tach__str(event->name));
			if (row->encoding == TACH__INTEL)
				selects(where, event);
			attributes(where, row, event);
			if (row->flags & TACH__PMU_BOX)
				boxes(where, row, event);
			if (row->arch == TACH__X86 && !(row->fixed & SLOTS))
				without_slots(where, event);
		}
	}
	for (int i = 0; i < 5; i++)
		CHECK(seen[i] > 5, "%d: %ld", i, seen[i]);
}

int main(void)
{
	CASE(every_event);
	return check_done();
}
