/* SPDX-License-Identifier: MIT */
/* What a derived event has been taken apart into: native events, and a formula over them. */
#ifndef TACH_CORE_DERIVED_EXPANSION_H
#define TACH_CORE_DERIVED_EXPANSION_H

#include <stdbool.h>
#include "core/derived/derived.h"

struct tach_expansion {
	struct tach_formula *formula;
	int count;
	char *event[TACH_FORMULA_OPERANDS_MAX]; /* as written */
	struct tach_event
		*encoded; /* of a box: its first one of the kind, where that is known */
	unsigned char box[TACH_FORMULA_OPERANDS_MAX]; /* 1: event i is a box's */
	double max_hz, tsc_hz;			      /* of the registry */
};

/*
 * The number of that native event of `pmu`, which is added if no other one counts the same.
 * pmu_name: the prefix that it is given, with its colons, or "". presets: one that the
 * process's own registry defines counts, too. A negative code with err.
 */
int tach__expansion_add(struct tach_expansion *x, int pmu, const char *pmu_name,
			const char *event, bool presets, struct tach_error *err);

/* Whether that is an event of the PMU, or one that would be taken for it. */
int tach__expansion_can(int pmu, const char *event);

#endif
