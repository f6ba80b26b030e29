/* SPDX-License-Identifier: MIT */
/* All open readers of the process: what must be done once, in turn, or after a fork. */
#ifndef TACH_CORE_READER_OPEN_H
#define TACH_CORE_READER_OPEN_H

#include <signal.h>
#include "core/reader/reader.h"
#include "core/set/set.h"

/* Around the system calls of opening and closing; see core/reader/readers.c. */
void tach__open_enter(struct tach__reader *r);
void tach__open_leave(struct tach__reader *r, int opened);
void tach__close_enter(void);
void tach__close_leave(struct tach__reader *r);

/*
 * perf_event_open for this thread of an attr of the set's, in the group of that leader or, -1,
 * as a leader; `wide` asks for 64 bits where that is a choice. The descriptor, or a negated
 * errno.
 */
long tach__open_event(const struct tach_set *set, const struct perf_event_attr *given,
		      enum tach_member_kind kind, int leader, int wide);
/* The error of a member that is refused by a group of `fit`: it may be too large a group. */
int tach__refused(int code, const struct tach_set *set, const struct perf_event_attr *attr,
		  int member, int fit, struct tach_error *err);
/* missing.c: notes the first reason why not all is read in user space. */
void tach__slow_because(struct tach__reader *r, enum tach__slow cause, int code);

/*
 * fault.c, where correct reads fault: installs the handler, and again when modules came, or
 * the program put another one there.
 */
int tach__fault_ready(struct tach_error *err);

/* pages.c: maps what pages the members of `hard` can have; before any read(2). */
void tach__pages_map(struct tach__reader *r);
/* What they say of each counter, once the group is enabled. */
void tach__pages_judge(struct tach__reader *r);
/* Page `page` of the reader reads as zeros from now on. Async-signal-safe. */
void tach__page_zero(struct tach__reader *r, int page);
/* All pages of the reader, in one go. */
void tach__pages_zero(struct tach__reader *r);

#endif
