/* SPDX-License-Identifier: MIT */
/*
 * Every event of every core's table, and of libpfm-3's lists, has a description.
 */
#include <string.h>
#include "core/tables/tables.h"
#include "tests/check.h"

static void every_event_is_described(void)
{
	int events = 0;

	for (int p = 0; tach__pmu_exists(p); p++) {
		const struct tach__pmu *pmu = tach__pmu_at(p);

		if (pmu->flags & TACH__PMU_BOX)
			continue;
		for (uint32_t e = 0; e < pmu->nevents; e++) {
			const struct tach__event *row = tach__event_at(p, (int)e);

			events++;
			CHECK(*tach__str(row->description), "%s::%s", tach__str(pmu->name),
			      tach__str(row->name));
		}
	}
	CHECK(events > 10000, "%d events looked at", events);
}

static const char *of(const char *pmu, const char *event, const char *umask)
{
	int p = tach__pmu_find(pmu, strlen(pmu));
	const struct tach__event *e =
		tach__event_at(p, tach__event_find(p, event, strlen(event)));

	if (!umask)
		return tach__str(e->description);
	return tach__str(
		tach__umask_at(e, tach__umask_find(e, umask, strlen(umask)))->description);
}

static void one_store_for_all(void)
{
	CHECK(strcmp(of("skl", "INST_RETIRED", NULL), "Instructions retired") == 0);
	CHECK(of("skl", "INST_RETIRED", NULL) == of("spr", "INST_RETIRED", NULL),
	      "the text is copied");
	CHECK(strcmp(of("skl", "DTLB_LOAD_MISSES", "WALK_COMPLETED"),
		     of("bdw", "ITLB_MISSES", "WALK_COMPLETED")) == 0);
}

/* EVENT.UMASK describes only that event, *.UMASK all other events. */
static void an_events_own_text_wins(void)
{
	const char *own = of("amd64_fam17h_zen2", "REQUESTS_TO_L2_GROUP1", "LS_RD_BLK_C_S");
	const char *any = of("amd64_fam17h_zen2", "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS",
			     "LS_RD_BLK_C_S");

	CHECK(*own && *any && strcmp(own, any) != 0, "'%s', '%s'", own, any);
}

int main(void)
{
	CASE(every_event_is_described);
	CASE(one_store_for_all);
	CASE(an_events_own_text_wins);
	return check_done();
}
