/* SPDX-License-Identifier: MIT */
/* Why an event could not be opened or mapped, in a sentence with the cure. */
#ifndef TACH_CORE_OS_DIAGNOSE_H
#define TACH_CORE_OS_DIAGNOSE_H

#include "core/os/cause.h"
#include "core/set/set.h"

/*
 * perf_event_open gave `code` (a negated errno) for that member, when `fit` of its group were
 * open already and `alone` is 1 if it opens as a group of its own, 0 if not. Returns the
 * library's code for it.
 */
int tach__diagnose_open(int code, const struct tach_set *set, int member, int fit, int alone,
			struct tach_error *err);
/* Is that event refused (EINVAL) for the privilege levels that it leaves out, and for nothing
 * else? */
int tach__cannot_divide(const struct perf_event_attr *attr);
/* The pinned group got no counters. */
int tach__diagnose_dead(const struct tach_set *set, struct tach_error *err);
/* A page could not be mapped; or it was, and the kernel lets no program read the counter. */
void tach__diagnose_map(int code, char *text, size_t size);
void tach__diagnose_access(char *text, size_t size);
/* How this architecture reads counters in user space. */
enum tach__user_read tach__user_read(void);

#endif
