/* SPDX-License-Identifier: MIT */
/*
 * Encodes one event string. The path of the data:
 *
 *     port/grammar.c  splits the text
 *     encode.c        calls the steps below
 *     lookup.c        finds PMU and event (tables, vendor names, perf's own spellings)
 *     match.c         turns attributes and aliases into picks, in the order given
 *     arch/NAME/      turns picks into register words (core/port/port.h is the contract)
 *     perf.c          turns words and perf's own modifiers into fields of perf_event_attr
 *     fqstr.c         writes the full name
 *
 * All data is in one struct on the caller's stack: no allocation, no lock.
 */
#ifndef TACH_CORE_EVENT_H
#define TACH_CORE_EVENT_H

#include "core/pmu/pmu.h"

/* ---- match.c ---- */
/* Makes picks from the event's alias (resolved first) and then from the string's attributes. */
int tach__match(struct tach__work *w, struct tach__attrs attrs);
/* As tach__match, for a first pick whose row is already known (row -1: only the event). */
int tach__match_row(struct tach__work *w, int row, struct tach__attrs attrs);
/* The same for picks instead of attributes; umask rows are those of w->got.event. */
int tach__match_picks(struct tach__work *w, const struct tach__pick *picks, unsigned n);
/* Adds attributes to an event that was already matched. */
int tach__match_more(struct tach__work *w, struct tach__attrs attrs);
/* Finds the modifiers that the event offers for w->ask.os. */
void tach__offer(struct tach__work *w);

/* ---- perf.c ---- */
/* Returns the OS modifiers that this event accepts. */
uint32_t tach__perf_offer(const struct tach__work *w);
/* Returns 1 if sampling of this event can be precise. */
int tach__can_be_precise(const struct tach__work *w);
int tach__perf_encode(struct tach__work *w);

/* ---- perf_pmu.c ---- */
enum { TACH__HOSTS_MAX = 8 };
/* Lists the core PMUs of this machine, or the one in opt->host; returns their number. */
int tach__perf_hosts(const struct tach_encode_options *opt, int *pmus, int max);
/* The same, or the one in opt->pmu. */
int tach__perf_cores(const struct tach_encode_options *opt, int *pmus, int max);
/* The privilege levels by which perf can filter events that are in no PMU's table. */
uint32_t tach__perf_host_privilege(const struct tach_encode_options *opt);
int tach__perf_hybrid(const struct tach_encode_options *opt);
/* Returns the number of the PMU in sysfs, or -1 for PERF_TYPE_RAW. */
int tach__perf_type(const struct tach_encode_options *opt, int pmu);
/* Returns the type of w's box, or -1 if the kernel has no such box. */
int tach__box_type(const struct tach__work *w);

/* ---- lookup.c ---- */
/* Finds the PMU and event that the string names, and checks the attributes. */
int tach__find(struct tach__work *w, const char *string);
/* Sets them to a row of the tables; returns 0 if CPUID says that the processor lacks it. */
int tach__find_row(struct tach__work *w, int pmu, int event);
/* Lists the PMUs to search for an event without prefix, in order; returns their number, at most
 * TACH__SEARCH_MAX. */
int tach__candidates(const struct tach__work *w, int *pmus);
/* Returns 1 if this machine has the PMU, or the caller says so. */
int tach__pmu_present(const struct tach__work *w, int pmu);

/* ---- fqstr.c ---- */
/* Writes the full name, truncated to size - 1; returns its whole length. */
size_t tach__fqstr(const struct tach__work *w, char *out, size_t size);

/* Returns the counters that the event may use, as in tach_event.counters. */
uint64_t tach__counters(const struct tach__work *w);
/* Copies the result into the public struct. */
void tach__publish(const struct tach__work *w, struct tach_event *out);

/* ---- encode.c: the whole encoding, for the public call and for compat/ ---- */
/* Does everything except encoding: w->got.pmu_number, w->got.event_number; attributes are
 * checked. */
int tach__lookup(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt);
int tach__encode(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt, struct tach_error *err);
/*
 * Encodes a row of the tables with umask rows and hardware modifiers, without a string. An
 * error has no message, and the same event as a string may still encode. So after an error,
 * make the string and encode it.
 */
int tach__encode_picks(struct tach__work *w, int pmu, int event, const struct tach__pick *picks,
		       unsigned n, const struct tach_encode_options *opt);

/* ---- event.c: the public call, with further data from the caller ---- */
int tach__event_encode(const char *string, const struct tach_encode_options *opt,
		       const struct tach__caller *caller, struct tach_event *out,
		       struct tach_error *err);

#include "core/event/perf_events.h"
#include "core/event/suggest.h"

#endif
