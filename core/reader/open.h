/* SPDX-License-Identifier: MIT */
/* The list of all open readers of the process, and the steps of opening one. */
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
 * Calls perf_event_open for this thread and an attr of the set. The event joins the group of
 * `leader`; if that is -1, it becomes a leader. `wide` requests 64 bits if there is a choice.
 * Returns the descriptor or a negated errno.
 */
long tach__open_event(const struct tach_set *set, const struct perf_event_attr *given,
		      enum tach_member_kind kind, int leader, int wide);
/* Returns the error for a member that could not join a group of `fit` members. The cause may be
 * that the group is full. */
int tach__refused(int code, const struct tach_set *set, const struct perf_event_attr *attr,
		  int member, int fit, struct tach_error *err);
/* missing.c: notes the first reason why a reader is not completely read in user space. */
void tach__note_slow_cause(struct tach__reader *r, enum tach__slow cause, int code);

/* fault.c: call it before opening if correct reads may fault. Installs the handler, and
 * installs it again if modules were loaded or the program replaced it. */
int tach__fault_ready(struct tach_error *err);

/* pages.c: maps the pages of `hard`; call it before any read(2). */
void tach__pages_map(struct tach__reader *r);
/* Decides by the pages which counters can be read in user space. Call it after enabling the
 * group. */
void tach__pages_judge(struct tach__reader *r);
/* Replaces page `page` of the reader by zeros. Async-signal-safe. */
void tach__page_zero(struct tach__reader *r, int page);
/* Replaces all pages of the reader by zeros, in one call. */
void tach__pages_zero(struct tach__reader *r);

#endif
