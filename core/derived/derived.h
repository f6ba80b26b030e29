/* SPDX-License-Identifier: MIT */
/* The registry of derived events, as core/ uses it. */
#ifndef TACH_CORE_DERIVED_H
#define TACH_CORE_DERIVED_H

#include <stdbool.h>
#include <tach/derived.h>

/*
 * For callers with a name of an event or a metric: expands it if the process's own registry
 * knows it for that PMU. Returns 1 and *out (to be freed), 0 if there is no such derived event,
 * or a negative code with err if it exists but cannot be counted here. Costs a look-up in the
 * presets; the first call also reads the user's files.
 */
int tach__derived_lookup(int pmu, const char *name, size_t length, struct tach_expansion **out,
			 struct tach_error *err);
/* Returns true if boxes of the uncore count event i, for the whole machine. */
int tach__expansion_is_box(const struct tach_expansion *x, int i);
/* Returns the one event for which this is another name, or NULL. */
const char *tach__expansion_plain(const struct tach_expansion *x);
/* Writes its formula, with operand number[i] for event i. */
int tach__expansion_over(const struct tach_expansion *x, const int *number,
			 struct tach_formula **out, struct tach_error *err);

/* Returns pmu, or if pmu is -1 this machine's first PMU; still -1 if that is unknown. */
int tach__derived_pmu(int pmu);
const struct tach_derived_options *tach__derived_options(const struct tach_derived *d);
/* Returns true if it is the process's own registry. */
bool tach__derived_is_default(const struct tach_derived *d);

#endif
