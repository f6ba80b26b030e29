/* SPDX-License-Identifier: MIT */
/*
 * The library's presets, compiled by tools/mkpresets from arch/.../presets/NAME.derived. Names
 * are offsets into one pool, so the arrays hold no pointers; other strings are packed. PMUs
 * that share a record share one copy of it. Each PMU has the numbers of its records, sorted by
 * name.
 */
#ifndef TACH_CORE_DERIVED_PRESETS_H
#define TACH_CORE_DERIVED_PRESETS_H

#include <tach/derived.h>

/* The members of a definition that make it a metric; many definitions share them. */
struct tach__preset_metric {
	double scale;
	uint32_t threshold, groups; /* packed: core/derived/packed.h */
	uint16_t unit, parent;
	uint8_t level;
};

struct tach__preset {
	uint32_t formula, events, description, note; /* packed */
	/* metric: number of its tach__preset_metric; 0: it is not a metric. */
	uint16_t name, file, line, metric;
	uint8_t type, preset, nevents;
};

struct tach__preset_pmu {
	uint32_t name; /* sort key, in lower case */
	uint32_t first, count;
};

/* arch/cpunames.tsv: one row per PMU, sorted by name. */
struct tach__preset_cpu {
	uint32_t name, pmu;
};

extern const char tach__preset_pool[];
extern const struct tach__preset tach__preset_record[];
extern const struct tach__preset_metric tach__preset_metrics[];
extern const uint16_t tach__preset_index[];
extern const struct tach__preset_pmu tach__preset_pmus[];
extern const uint32_t tach__preset_npmus;
extern const struct tach__preset_cpu tach__preset_cpus[];
extern const uint32_t tach__preset_ncpus;

/* Returns the n-th PMU (by name) that a CPU name of arch/cpunames.tsv means, or NULL. */
const char *tach__preset_cpu(const char *name, size_t length, size_t n);
/* Returns the number of presets of that PMU. They are sorted by name. No allocation, no
 * lock. */
int tach__preset_count(int pmu);
/* Describes preset number i, 0 .. count-1. */
void tach__preset_at(int pmu, int i, struct tach_derived_info *info);
/* Returns the preset's number, or -1. */
int tach__preset_find(int pmu, const char *name, size_t length);

#endif
