/* SPDX-License-Identifier: MIT */
/*
 * Look-ups in the event tables; the rows themselves are inline in core/tables/data.h.
 *
 * Order of PMUs: enum tach__arch; within one by libpfm-4's number, which is its search order if
 * two PMUs have an event of the same name; then PMUs unknown to libpfm-4, by name; the
 * architectural default (ix86arch, arm_armv8) last of its architecture. The uncore boxes
 * follow, by architecture and in libpfm-4's search order.
 */
#include <string.h>
#include "core/tables/search.h"
#include "core/tables/data.h"

int tach__pmu_exists(int pmu)
{
	return pmu >= 0 && (uint32_t)pmu < tach__tab_npmus + tach__tab_nboxes + tach__tab_npfm3;
}

int tach__pfm3_find(const char *name)
{
	uint32_t first = tach__tab_npmus + tach__tab_nboxes;

	for (uint32_t i = first; i < first + tach__tab_npfm3; i++)
		if (strcmp(tach__str(tach__tab_pmus[i].name) + strlen("pfm3_"), name) == 0)
			return (int)i;
	return -1;
}

/* ---- look-up: hashes first, then the names of the few with that hash ---- */

static const struct tach__tab_name *list_find(uint32_t start, size_t n, const char *name,
					      size_t length)
{
	const struct tach__tab_name *list = &tach__tab_names[start];
	const uint16_t *hashes = &tach__tab_name_hash[start];
	uint16_t hash = tach__name_hash(name, length);

	for (size_t i = tach__hash_bound(hashes, n, hash); i < n && hashes[i] == hash; i++)
		if (tach__name_equal(name, length, tach__str(list[i].name)))
			return &list[i];
	return NULL;
}

int tach__pmu_find(const char *name, size_t length)
{
	const struct tach__tab_name *found =
		list_find(tach__tab_pmu_names, tach__tab_npmu_names, name, length);

	/* Boxes are searched only if no core PMU has the name, because there are many. */
	if (!found)
		found = list_find(tach__tab_box_names, tach__tab_nboxes, name, length);
	return found ? found->first : -1;
}

int tach__event_find(int pmu, const char *name, size_t length)
{
	size_t start = tach__tab_runs[pmu].events, n = tach__tab_pmus[pmu].nevents;
	const uint16_t *hashes = &tach__tab_event_hash[start];
	const uint16_t *order = &tach__tab_event_order[start];
	const uint16_t *ids = &tach__tab_event_ids[start];
	uint16_t hash = tach__name_hash(name, length);

	for (size_t i = tach__hash_bound(hashes, n, hash); i < n && hashes[i] == hash; i++)
		if (tach__name_equal(name, length,
				     tach__str(tach__tab_events[ids[order[i]]].name)))
			return order[i];
	return -1;
}

int tach__umask_find(const struct tach__event *event, const char *name, size_t length)
{
	size_t start = event->umasks, n = event->numasks;
	const uint16_t *hashes = &tach__tab_umask_hash[start];
	const uint16_t *order = &tach__tab_umask_order[start];
	const uint16_t *ids = &tach__tab_umask_ids[start];
	uint16_t hash = tach__name_hash(name, length);

	for (size_t i = tach__hash_bound(hashes, n, hash); i < n && hashes[i] == hash; i++)
		if (tach__name_equal(name, length,
				     tach__str(tach__tab_umasks[ids[order[i]]].name)))
			return order[i];
	return -1;
}

int tach__vendor_find(int pmu, const char *name, size_t length, int *umask)
{
	const struct tach__tab_pmu *run = &tach__tab_runs[pmu];
	const struct tach__tab_name *found = list_find(run->vendor, run->nvendor, name, length);
	const char *dot = memchr(name, '.', length);
	char rest[TACH__TAB_NAME_MAX];
	size_t n = 0;
	int event;

	if (found) {
		*umask = found->second == TACH__TAB_NONE ? -1 : found->second;
		return found->first;
	}
	*umask = -1;
	event = tach__event_find(pmu, name, dot ? (size_t)(dot - name) : length);
	if (event < 0 && dot) {
		found = list_find(run->vendor, run->nvendor, name, (size_t)(dot - name));
		event = found && found->second == TACH__TAB_NONE ? found->first : -1;
	}
	if (event < 0 || !dot)
		return event;
	while (++dot < name + length && n < sizeof rest)
		rest[n++] = *dot == '.' ? '_' : *dot;
	*umask = tach__umask_find(tach__event_at(pmu, event), rest, n);
	return *umask < 0 ? -1 : event;
}

/* ---- lists of a row: a few entries each ---- */

int tach__hw(uint32_t hw, enum tach__mod mod, uint32_t *value)
{
	const uint32_t *word = &tach__tab_hw[hw];

	if (hw == 0)
		return 0;
	for (;; word++) {
		if ((*word & 0x7f) == mod) {
			*value = *word >> 8;
			return 1;
		}
		if (!(*word & 0x80))
			return 0;
	}
}
