/* SPDX-License-Identifier: MIT */
/* The expansion of a derived event, while it is made. */
#ifndef TACH_CORE_DERIVED_EXPAND_H
#define TACH_CORE_DERIVED_EXPAND_H

#include <stddef.h>
#include "core/derived/derived.h"

#define TACH__EXPAND_DEPTH_MAX	   64
#define TACH__EXPAND_MODIFIERS_MAX 128

struct tach__expand {
	struct tach_derived *d;
	struct tach_error *err;
	struct tach_expansion *x;
	int pmu, depth, parts;
	struct tach_derived_info chain[TACH__EXPAND_DEPTH_MAX];
	const char *pmu_name;			    /* the part "PMU::" of PMU::NAME; or "" */
	char modifiers[TACH__EXPAND_MODIFIERS_MAX]; /* the part ":u:k" of NAME:u:k */
	char *text;
	size_t length;
};

/* Appends one word to the postfix text. */
int tach__expand_word(struct tach__expand *e, const char *word);
/* Appends words, each with a '|' after it; they may be in e->text. */
int tach__expand_text(struct tach__expand *e, const char *words, size_t length);
/* Reports an error of the formula's compiler with the definition; returns the code. */
int tach__expand_uncomputed(struct tach__expand *e, const struct tach_derived_info *info,
			    int code, const struct tach_error *why);
/* Appends the text of base event i of a definition. */
int tach__expand_operand(struct tach__expand *e, const struct tach_derived_info *info, int i);
/* Appends the text of a name of a derived or a native event. */
int tach__expand_called(struct tach__expand *e, const char *event);
/* Finds the definition that NAME:u:c=2 means; returns where its modifiers begin, or 0. */
size_t tach__expand_modified(struct tach_derived *d, int pmu, const char *name, size_t length,
			     struct tach_derived_info *info);

/* ---- substitute.c ---- */
/* Returns the definition's formula in postfix. Each N<i> is replaced by the expansion of base
 * event i. */
int tach__expand_substituted(struct tach__expand *e, const struct tach_derived_info *info);

#endif
