/* SPDX-License-Identifier: MIT */
/*
 * The arrays that tools/mkevents writes into build/gen/tables.c. core/tables/tables.c and the
 * inline functions below read them; other code must not.
 *
 *     tab_pmus[p], tab_runs[p] -> tab_event_ids[events + e] -> tab_events[id]
 *     tab_events[].umasks -> tab_umask_ids[umasks + u] -> tab_umasks[id]
 *
 * Equal rows, runs of rows and strings exist once, even if several PMUs have them. The arrays
 * called hash contain the hashes of a run's names, sorted; those called order contain the
 * positions in the run in that order. With equal hashes the first position comes first, so that
 * a search finds the first of equal names. tab_names and tab_name_hash are related in the same
 * way.
 *
 * The arrays contain no pointers and are hidden. So the compiler addresses them relative to the
 * code, and the linker need not relocate them.
 */
#ifndef TACH_CORE_TABLES_DATA_H
#define TACH_CORE_TABLES_DATA_H

#include "core/tables/tables.h"

/* A wired-in modifier: mod in bits 0-6, bit 7 = another modifier follows, value from bit 8. */
#define TACH__TAB_HW(mod, more, value) ((uint32_t)(mod) | (more) << 7 | (uint32_t)(value) << 8)
#define TACH__TAB_HW_MAX	       0xffffffu

/*
 * One value of one attribute. tab_attr_lists[attrs] and the next element are the low and high
 * half of a bit mask of keys. The ids of the values follow, in the order of the keys.
 */
struct tach__tab_attr {
	uint64_t number;
	uint32_t text;
	uint32_t key; /* enum tach__attr */
};

/* A sorted name other than a row's own: vendor spellings, PMU names. */
struct tach__tab_name {
	uint32_t name;
	uint16_t first;	 /* event, or PMU */
	uint16_t second; /* number of the umask; TACH__TAB_NONE: the event itself */
};
#define TACH__TAB_NONE	   0xffffu
#define TACH__TAB_NAME_MAX 256 /* maximum length of event and umask names */

struct tach__tab_pmu {
	uint32_t events;	  /* run in tab_event_ids and tab_event_order */
	uint16_t vendor, nvendor; /* run in tab_names */
};

/* One @match line. x86: vendor string; arm64: implementer as family, part as model. */
struct tach__tab_match {
	uint32_t vendor; /* string; "" = any */
	/* string: pattern for struct tach__cpu's id; "" = any (core/tables/pattern.h) */
	uint32_t pattern;
	uint32_t fallback; /* string: the CPU without a table of its own; "" = exact */
	uint16_t pmu;
	uint8_t arch;
	uint8_t core, native; /* CPUID 1AH EAX bits 31-24 and 23-0; 0 = not hybrid */
	uint32_t family[2], model[2], stepping[2]; /* first and last */
};

/* One @match line of boxes: the boxes that may exist with this CPU. */
struct tach__tab_boxes {
	uint32_t vendor; /* string */
	uint16_t first, count;
	uint8_t arch;
	uint32_t family[2], model[2], stepping[2];
};

#pragma GCC visibility push(hidden)
extern const char tach__tab_strings[];
extern const struct tach__pmu tach__tab_pmus[];
extern const struct tach__tab_pmu tach__tab_runs[];
extern const struct tach__event tach__tab_events[];
extern const struct tach__umask tach__tab_umasks[];
extern const uint16_t tach__tab_event_ids[], tach__tab_event_order[], tach__tab_event_hash[];
extern const uint16_t tach__tab_umask_ids[], tach__tab_umask_order[], tach__tab_umask_hash[];
extern const struct tach__tab_name tach__tab_names[];
extern const uint16_t tach__tab_name_hash[];
extern const struct tach__tab_attr tach__tab_attrs[];
extern const uint16_t tach__tab_attr_lists[];
extern const uint32_t tach__tab_hw[];
extern const uint64_t tach__tab_counters[];
extern const struct tach__tab_match tach__tab_matches[];
extern const uint32_t tach__tab_npmus, tach__tab_npfm3, tach__tab_nmatches;
extern const uint32_t tach__tab_pmu_names, tach__tab_npmu_names; /* run in tab_names */
extern const struct tach__tab_boxes tach__tab_boxes[];
extern const uint32_t tach__tab_nboxes, tach__tab_nbox_matches;
extern const uint32_t tach__tab_box_names; /* run in tab_names, one for each box */
#pragma GCC visibility pop

/* ---- rows: inline, because an encoding reads dozens ---- */

static inline int tach__npmus(void)
{
	return (int)tach__tab_npmus;
}

static inline int tach__nboxes(void)
{
	return (int)tach__tab_nboxes;
}

static inline const char *tach__str(uint32_t offset)
{
	return tach__tab_strings + offset;
}

static inline const struct tach__pmu *tach__pmu_at(int pmu)
{
	return &tach__tab_pmus[pmu];
}

static inline const struct tach__event *tach__event_at(int pmu, int event)
{
	return &tach__tab_events[tach__tab_event_ids[tach__tab_runs[pmu].events +
						     (uint32_t)event]];
}

static inline const struct tach__umask *tach__umask_at(const struct tach__event *event,
						       int umask)
{
	return &tach__tab_umasks[tach__tab_umask_ids[event->umasks + (uint32_t)umask]];
}

static inline uint64_t tach__counter_set(uint32_t counter_set)
{
	return tach__tab_counters[counter_set];
}

/* ---- attributes ---- */

static inline uint32_t tach__attr_keys(uint32_t attrs)
{
	const uint16_t *list = &tach__tab_attr_lists[attrs];

	return list[0] | (uint32_t)list[1] << 16;
}

static inline int tach__attr(uint32_t attrs, enum tach__attr key, uint64_t *number,
			     const char **text)
{
	uint32_t keys = tach__attr_keys(attrs);
	const struct tach__tab_attr *value;

	if (!(keys >> key & 1))
		return 0;
	value = &tach__tab_attrs[tach__tab_attr_lists[attrs + 2 +
						      (unsigned)__builtin_popcount(
							      keys & ((1u << key) - 1))]];
	if (number)
		*number = value->number;
	if (text)
		*text = tach__str(value->text);
	return 1;
}

#endif
