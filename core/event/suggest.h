/* SPDX-License-Identifier: MIT */
/* "did you mean": runs only if the caller wants an error message. */
#ifndef TACH_CORE_EVENT_SUGGEST_H
#define TACH_CORE_EVENT_SUGGEST_H

#include "core/event/event.h"

int tach__suggest_attr(struct tach__work *w, const struct tach__text *name);
int tach__suggest_pmu(struct tach__work *w, const struct tach__text *name);
/* pmus: the PMUs that were searched. */
int tach__suggest_event(struct tach__work *w, const struct tach__text *name, const int *pmus,
			int npmus);

/*
 * Returns the nearest name of the PMU's events, or of the row's umasks; NULL: no name is near.
 */
const char *tach__suggest_near(int pmu, const struct tach__event *row,
			       const struct tach__text *name);

/* Returns the nearest word in a list that ends with NULL; NULL: no word is near. */
const char *tach__suggest_word(const char *const *words, const char *name, size_t length);

#endif
