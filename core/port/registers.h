/* SPDX-License-Identifier: MIT */
/*
 * Dispatch inside: core checks what every PMU has in common and resolves the events' rows, one
 * back end per register layout (arch/) does the rest with the helpers below.
 */
#ifndef TACH_CORE_PORT_REGISTERS_H
#define TACH_CORE_PORT_REGISTERS_H

#include <tach/dispatch.h>
#include "core/tables/tables.h"

struct tach__item {
	const struct tach_dispatch_event *in;
	const struct tach__event *row;
	uint32_t privilege; /* never 0 */
	uint32_t flags;	    /* TACH_DISPATCH_* */
	uint32_t threshold;
	uint32_t code;	/* event select and umask as they stand in the register */
	uint32_t umask; /* or of the umasks' codes */
	uint32_t kinds; /* or of the umasks' flags, TACH__UM_* */
	uint32_t ism;
	uint64_t counters; /* where it may count; never 0 */
	/* What the encoder makes of it; 0 words with libpfm-3's lists, which have none. */
	uint32_t ncodes;
	uint64_t codes[TACH_EVENT_CODES_MAX];
};

struct tach__dispatch {
	const struct tach_dispatch *in;
	struct tach_dispatch_out *out;
	struct tach_error *err;
	const struct tach__pmu *pmu;
	int table; /* its number */
	int n;
	struct tach__item item[TACH_DISPATCH_EVENTS_MAX];
};

/* Where an event may count of which nothing is said. */
uint64_t tach__any_general(const struct tach__pmu *pmu);
/* Does this revision of the CPU have the row with these attributes? */
int tach__in_revision(uint32_t attrs, uint32_t revision);

/* ---- for back ends ---- */
static inline int tach__available(const struct tach__dispatch *d, unsigned pmc)
{
	return !(d->in->unavailable[pmc / 64] >> (pmc % 64) & 1);
}
/* Of counters that have the numbers of their PMCs: those that are available. */
static inline uint64_t tach__available_of(const struct tach__dispatch *d, uint64_t counters)
{
	return counters & ~d->in->unavailable[0];
}
/* Appends a PMC; TACH_ERR_NOASSIGN if it is unavailable. */
int tach__pmc(struct tach__dispatch *d, unsigned number, uint64_t value, uint64_t address,
	      uint64_t alternative);
void tach__pmd(struct tach__dispatch *d, unsigned number, uint64_t address,
	       uint64_t alternative);
/* Fills d->err and returns code. */
int tach__dispatch_error(const struct tach__dispatch *d, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- back ends: d->item[0 .. n-1] are resolved, d->out is zeroed ---- */
#define TACH__DISPATCHED(name, NAME) int tach__dispatch_##name(struct tach__dispatch *d);
#include <archs.h>
/*
 * How many events can be counted at once at most; and how the umasks of an event join, where it
 * is not by the rules of the encoder (the PMUs of libpfm-3).
 */
int tach__dispatch_counters(const struct tach__pmu *pmu);
/*
 * The counters that an event of a NetBurst list can reach through its selectors; bit n = PMDn.
 */
uint64_t tach__netburst_counters(const struct tach__event *row);

#endif
