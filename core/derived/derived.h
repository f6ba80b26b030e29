/* SPDX-License-Identifier: MIT */
/* The registry of derived events as core/ sees it. */
#ifndef TACH_CORE_DERIVED_H
#define TACH_CORE_DERIVED_H

#include <stdbool.h>
#include <tach/derived.h>

/*
 * For callers that meet a name where an event or a metric may stand: takes it apart when the
 * process's own registry knows it for that PMU. Returns 1 and *out (to be freed), 0 when there
 * is no such derived event, or a negative code with err when there is but it cannot be counted
 * here. Costs a look-up in the presets, and the user's files the first time.
 */
int tach__derived_lookup(int pmu, const char *name, size_t length, struct tach_expansion **out,
			 struct tach_error *err);
/* Is event i counted by boxes of the uncore, for the whole machine? */
int tach__expansion_is_box(const struct tach_expansion *x, int i);
/* The one event that this is another name of, or NULL. */
const char *tach__expansion_plain(const struct tach_expansion *x);
/* Its formula with operand number[i] for event i. */
int tach__expansion_over(const struct tach_expansion *x, const int *number,
			 struct tach_formula **out, struct tach_error *err);

/* pmu, or for -1 this machine's first; still -1 when that is not known. */
int tach__derived_pmu(int pmu);
const struct tach_derived_options *tach__derived_options(const struct tach_derived *d);
/* Is it the process's own registry? */
bool tach__derived_is_default(const struct tach_derived *d);

#endif
