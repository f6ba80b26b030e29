/* SPDX-License-Identifier: MIT */
/* All open readers of the process: actions that must happen once, one at a time, or after a
 * fork. */
#ifndef TACH_CORE_READER_OPEN_H
#define TACH_CORE_READER_OPEN_H

#include <signal.h>
#include "core/reader/reader.h"
#include "core/set/set.h"

/* Call these around the system calls of opening and closing; see core/reader/readers.c. */
void tach__open_enter(struct tach__reader *r);
void tach__open_leave(struct tach__reader *r, int opened);
void tach__close_enter(void);
void tach__close_leave(struct tach__reader *r);

/*
 * Calls perf_event_open for this thread and an attr of the set, in the group of that leader, or
 * as a leader if it is -1. `wide` requests 64 bits if there is a choice. Returns the descriptor
 * or a negated errno.
 */
long tach__open_event(const struct tach_set *set, const struct perf_event_attr *given,
		      enum tach_member_kind kind, int leader, int wide);
/* The error for a member that a group of `fit` members refuses: the group may be too large. */
int tach__refused(int code, const struct tach_set *set, const struct perf_event_attr *attr,
		  int member, int fit, struct tach_error *err);
/* missing.c: notes the first reason why a reader is not completely read in user space. */
void tach__note_slow_cause(struct tach__reader *r, enum tach__slow cause, int code);

/* fault.c, if correct reads may fault: installs the handler, and again if modules were loaded
 * or the program replaced it. */
int tach__fault_ready(struct tach_error *err);

/* pages.c: maps the pages of `hard`; call it before any read(2). */
void tach__pages_map(struct tach__reader *r);
/* Evaluates the counters that pages show, after the group is enabled. */
void tach__pages_judge(struct tach__reader *r);
/* Replaces page `page` of the reader by zeros. Async-signal-safe. */
void tach__page_zero(struct tach__reader *r, int page);
/* The same for all pages of the reader at once. */
void tach__pages_zero(struct tach__reader *r);

#endif
