/* SPDX-License-Identifier: MIT */
/* Explains why an event could not be opened or mapped, in a sentence with the cure. */
#ifndef TACH_CORE_OS_DIAGNOSE_H
#define TACH_CORE_OS_DIAGNOSE_H

#include "core/os/cause.h"
#include "core/set/set.h"

/*
 * Explains why perf_event_open returned `code`, a negated errno, for a member. `fit` members of
 * its group are open. `alone` is 1 if the member can be opened as a group of its own, otherwise
 * 0. Returns the library's code for this.
 */
int tach__diagnose_open(int code, const struct tach_set *set, int member, int fit, int alone,
			struct tach_error *err);
/* Returns 1 if the kernel refuses the event (EINVAL) only because it excludes some levels. */
int tach__cannot_divide(const struct perf_event_attr *attr);
/* Explains that the pinned group got no counters. */
int tach__diagnose_dead(const struct tach_set *set, struct tach_error *err);
/* The first explains why mmap of a page returned `code`. The second explains why a mapped page
 * gives no access to the counter. */
void tach__diagnose_map(int code, char *text, size_t size);
void tach__diagnose_access(char *text, size_t size);
/* Returns how this architecture reads counters in user space. */
enum tach__user_read tach__user_read(void);

#endif
