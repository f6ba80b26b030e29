/* SPDX-License-Identifier: MIT */
/* The expansion of a derived event: native events, and a formula over them. */
#ifndef TACH_CORE_DERIVED_EXPANSION_H
#define TACH_CORE_DERIVED_EXPANSION_H

#include <stdbool.h>
#include "core/derived/derived.h"

struct tach_expansion {
	struct tach_formula *formula;
	int count;
	char *event[TACH_FORMULA_OPERANDS_MAX]; /* as written */
	struct tach_event *encoded; /* for a box: the first box of its kind, if known */
	unsigned char box[TACH_FORMULA_OPERANDS_MAX]; /* 1: event i is a box's */
	double max_hz, tsc_hz;			      /* of the registry */
};

/*
 * Returns the number of that native event of `pmu`, and adds it if no other event counts the
 * same. pmu_name: the prefix for its name, with colons, or "". presets: also accept one event
 * that the process's own registry defines. On failure a negative code with err.
 */
int tach__expansion_add(struct tach_expansion *x, int pmu, const char *pmu_name,
			const char *event, bool presets, struct tach_error *err);

/* Returns true if that is an event of the PMU, or a string that encodes as an event. */
int tach__expansion_can(int pmu, const char *event);

#endif
