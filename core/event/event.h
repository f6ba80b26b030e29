/* SPDX-License-Identifier: MIT */
/*
 * Encoding one event string. The way of the data:
 *
 *   port/grammar.c  splits the text
 *   encode.c        finds PMU and event (tables, vendor names, perf's own spellings)
 *   match.c         turns attributes and aliases into picks, in the order given
 *   arch/NAME/      turns picks into register words (core/port/port.h is the contract)
 *   perf.c          turns words and perf's own modifiers into fields of perf_event_attr
 *   fqstr.c         spells the result out
 *
 * All of it works in one struct on the caller's stack: no allocation, no lock.
 */
#ifndef TACH_CORE_EVENT_H
#define TACH_CORE_EVENT_H

#include "core/pmu/pmu.h"

/* ---- match.c ---- */
/* Picks from the event's alias (resolved first) and then from the string's attributes. */
int tach__match(struct tach__work *w, struct tach__attrs attrs);
/* The same when the first pick is a row already known (row -1: the event alone). */
int tach__match_row(struct tach__work *w, int row, struct tach__attrs attrs);
/* The same for picks instead of attributes; umask rows are those of w->event. */
int tach__match_picks(struct tach__work *w, const struct tach__pick *picks, unsigned n);
/* Further attributes of an event already matched. */
int tach__match_more(struct tach__work *w, struct tach__attrs attrs);
/* Which modifiers the event offers for w->os. */
void tach__offer(struct tach__work *w);

/* ---- perf.c ---- */
/* OS modifiers that this event takes. */
uint32_t tach__perf_offer(const struct tach__work *w);
/* Whether sampling of this event can be precise. */
int tach__precise(const struct tach__work *w);
int tach__perf_encode(struct tach__work *w);

/* ---- fqstr.c ---- */
/* Writes the spelled-out name, cut off at size - 1; returns its whole length. */
size_t tach__fqstr(const struct tach__work *w, char *out, size_t size);

/* Where the encoded event may count, as tach_event.counters. */
uint64_t tach__counters(const struct tach__work *w);
/* Copies the answer into the public struct. */
void tach__publish(const struct tach__work *w, struct tach_event *out);

/* ---- encode.c: everything, for the public call and for compat/ ---- */
/* All but the encoding: w->pmu_number, w->event_number; attributes are checked. */
int tach__lookup(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt);
int tach__encode(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt, struct tach_error *err);
/*
 * A row of the tables with umask rows and hardware modifiers, without a text in between. An
 * error has no message, and the same event written as a string may still encode: on an error,
 * spell it out and encode the string.
 */
int tach__encode_picks(struct tach__work *w, int pmu, int event, const struct tach__pick *picks,
		       unsigned n, const struct tach_encode_options *opt);

/* Number of the PMU in sysfs, or -1 where PERF_TYPE_RAW is meant. */
int tach__perf_type(const struct tach_encode_options *opt, int pmu);
/* That of w's box, or -1 where the kernel has none. */
int tach__box_type(const struct tach__work *w);

/* ---- event.c: the public call for a caller who knows more ---- */
int tach__event_encode(const char *string, const struct tach_encode_options *opt,
		       const struct tach__caller *caller, struct tach_event *out,
		       struct tach_error *err);

#include "core/event/perf_events.h"
#include "core/event/suggest.h"

#endif
