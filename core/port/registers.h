/* SPDX-License-Identifier: MIT */
/*
 * Internals of dispatch. core does the checks that all PMUs need, and finds the rows of events.
 * Then a back end does the rest with the helpers below. There is one back end for each register
 * layout (arch/).
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
	uint32_t code;	/* event select and umask, in the form of the register */
	uint32_t umask; /* the codes of the umasks, combined with or */
	uint32_t kinds; /* the flags of the umasks, TACH__UM_*, combined with or */
	uint32_t ism;
	uint64_t counters; /* counters that the event may use; never 0 */
	/* The encoder's result; ncodes is 0 for libpfm-3's lists. */
	uint32_t ncodes;
	uint64_t codes[TACH_EVENT_CODES_MAX];
};

struct tach__dispatch {
	const struct tach_dispatch *in;
	struct tach_dispatch_out *out;
	struct tach_error *err;
	const struct tach__pmu *pmu;
	int table; /* number of the PMU's table */
	int n;
	struct tach__item item[TACH_DISPATCH_EVENTS_MAX];
};

/* Returns the counters for events that list no counters: all general ones. */
uint64_t tach__any_general(const struct tach__pmu *pmu);
/* Returns 1 if this revision of the CPU has the row with these attributes. */
int tach__is_in_revision(uint32_t attrs, uint32_t revision);

/* ---- for back ends ---- */
static inline int tach__available(const struct tach__dispatch *d, unsigned pmc)
{
	return !(d->in->unavailable[pmc / 64] >> (pmc % 64) & 1);
}
/* Returns the available counters of a PMU whose counters have the same numbers as their
 * PMCs. */
static inline uint64_t tach__available_of(const struct tach__dispatch *d, uint64_t counters)
{
	return counters & ~d->in->unavailable[0];
}
/* Appends a PMC. Returns TACH_ERR_NOASSIGN if it is unavailable. */
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
/* Returns the maximum number of events that can be counted at once. */
int tach__dispatch_counters(const struct tach__pmu *pmu);
/*
 * Returns the counters that an event of a NetBurst list can use through its selectors. Bit n =
 * PMDn.
 */
uint64_t tach__netburst_counters(const struct tach__event *row);

#endif
