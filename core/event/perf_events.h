/* SPDX-License-Identifier: MIT */
/*
 * Events of Linux that belong to no PMU model: perf's generic hardware, software and cache
 * events (arch/linux/events/perf.tsv), tracepoints, raw codes (rXXXX), and events in a PMU's
 * sysfs format (cpu/event=0xc0,umask=1/u).
 */
#ifndef TACH_CORE_EVENT_PERF_EVENTS_H
#define TACH_CORE_EVENT_PERF_EVENTS_H

#include "core/event/event.h"

/* Values of w->got.generic. 0: an event with a PMU's table. */
enum tach__generic {
	TACH__GENERIC_TABLE = 1, /* a row of perf.tsv */
	TACH__GENERIC_TRACEPOINT,
	TACH__GENERIC_RAW,
	TACH__GENERIC_TERMS,
};

/* Returns the kind of event for a PMU's own rows. */
static inline int tach__generic(const struct tach__pmu *pmu)
{
	return pmu->encoding == TACH__PERF	 ? TACH__GENERIC_TABLE
	       : pmu->encoding == TACH__PERF_RAW ? TACH__GENERIC_RAW
						 : 0;
}

/* The privilege levels that perf distinguishes. */
#define TACH__PRIVILEGE_ALL                                                                    \
	(TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_USER | TACH_PRIVILEGE_HYPERVISOR)

/* ---- perf_events.c ---- */
int tach__perf_offers_h(const struct tach__work *w);
int tach__perf_offers_precise(const struct tach__work *w);
/* Computes w->out.codes from w->got.picks, for TACH_OS_NONE. */
int tach__perf_words(struct tach__work *w);
/* Computes type and config for perf. */
int tach__perf_config(struct tach__work *w);
/* rXXXX of perf_raw: returns 1 and sets w->out.config, or returns 0. */
int tach__perf_raw(struct tach__work *w, const struct tach__text *name);

/* ---- letters.c ---- */
/* Returns 1 for one of perf's letters, with its modifier; -1: it does not affect counting. */
int tach__letter(char c, int *modifier);
/*
 * Returns 1 if each letter of the word is one of perf's, for an offered modifier: *asked is the
 * set of these modifiers, and *precise the precision, for TACH__OS_PRECISE or _HW_SMPL in the
 * set.
 */
int tach__letters(const struct tach__text *word, uint32_t offered, uint32_t *asked,
		  uint64_t *precise);

/*
 * Returns an error for a letter of perf's that is not allowed here, or 0 if it is not such a
 * letter.
 */
int tach__letter_refused(struct tach__work *w, const struct tach__text *word);

/* ---- tracepoints.c ---- */
/* Returns 1 and sets up w if the kernel has a tracepoint system of that name, else 0. */
int tach__tracepoint_system(struct tach__work *w, const struct tach__text *name);
/*
 * Finds the tracepoint with that name in w's system: returns 1 and its id in w->out.config, 0
 * if it does not exist, or an error.
 */
int tach__tracepoint(struct tach__work *w, const struct tach__text *name);

/* ---- terms.c ---- */
/*
 * Returns 1 if a device with that name counts for threads: a core's device of any machine, or a
 * device of this machine.
 */
int tach__event_thread_device(const char *name, size_t length);
int tach__terms_encode(struct tach__work *w, const struct tach__string *s);
/*
 * Finds the event with that name in a core's device, as in perf: cpu_core/INST_RETIRED.ANY/,
 * cpu/r1a8/, cpu_atom/cycles/. Returns 1 and sets w's words, 0 if it does not exist, or an
 * error.
 */
int tach__device_event(struct tach__work *w, const struct tach__text *device,
		       const struct tach__text *name);
/* Refuses other terms next to a generic event, because its type is not the device's. */
int tach__device_event_alone(struct tach__work *w);
/*
 * Rewrites EVENT/name=x,period=5/u as EVENT:period=5:u; returns 0 if it has another form, or is
 * too long.
 */
int tach__terms_respell(const char *string, char *to, size_t size);

#endif
