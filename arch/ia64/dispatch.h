/* SPDX-License-Identifier: MIT */
/*
 * ia64 dispatch: declarations that its files share. Sources: Intel Itanium Processor Reference
 * Manual for Software Development (Itanium), Intel Itanium 2 Processor Reference Manual chapter
 * 10, Dual-Core Update to it chapter 3 (Montecito).
 */
#ifndef ARCH_IA64_DISPATCH_H
#define ARCH_IA64_DISPATCH_H

#include "core/port/port.h"

enum tach__ia64_model { TACH__IA64_GENERIC, TACH__ITANIUM, TACH__ITANIUM2, TACH__MONTECITO };

/*
 * Registers by model; apart from these, Itanium 2 and Montecito have nearly the same layouts.
 */
struct tach__ia64_regs {
	uint8_t iear, dear, btb, code_range, data_range;
	uint8_t opcode[2];
};

struct tach__ia64 {
	struct tach__dispatch *d;
	const struct tach_dispatch_ia64 *in; /* NULL: none given */
	enum tach__ia64_model model;
	struct tach__ia64_regs regs;
	uint64_t counter[TACH_DISPATCH_EVENTS_MAX];
};

#define TACH__EV_IEAR (TACH__EV_IEAR_CACHE | TACH__EV_IEAR_TLB)
#define TACH__EV_DEAR (TACH__EV_DEAR_CACHE | TACH__EV_DEAR_TLB | TACH__EV_DEAR_ALAT)

static inline uint64_t tach__systemwide(const struct tach__ia64 *w)
{
	return w->d->in->flags & TACH_DISPATCH_SYSTEMWIDE ? 1 : 0;
}

static inline uint64_t tach__level(const struct tach__ia64 *w, uint32_t privilege)
{
	return (privilege ? privilege : w->d->in->privilege) & 0xf;
}

uint64_t tach__ia64_attr(const struct tach__item *item, enum tach__attr key, uint64_t none);
/*
 * Adds a PMC with its own number as address: no other address exists, but libpfm-3 returns the
 * number there.
 */
int tach__ia64_pmc(struct tach__ia64 *w, unsigned number, uint64_t value);
/*
 * Returns the counted IA64_INST_RETIRED channels, one bit each; *count = the number of such
 * events.
 */
unsigned tach__ia64_retired(const struct tach__ia64 *w, int *count);
int tach__ia64_uses_opcode(const struct tach__ia64 *w);

/* The stages. */
int tach__ia64_counters(struct tach__ia64 *w);
int tach__ia64_iear(struct tach__ia64 *w);
int tach__ia64_dear(struct tach__ia64 *w);
int tach__ia64_btb(struct tach__ia64 *w);
int tach__ia64_ipear(struct tach__ia64 *w);
int tach__ia64_opcode(struct tach__ia64 *w);
int tach__ia64_code_range(struct tach__ia64 *w);
int tach__ia64_data_range(struct tach__ia64 *w);

/* ---- ranges_cover.c ---- */
/*
 * Checks a list and returns how many of its entries are in use; code ranges are aligned to
 * bundles.
 */
int tach__ranges_count(const struct tach_dispatch_ranges *list, int code, int *n);
/* Covers the ranges with all four pairs; if they do not fit: TACH_ERR_TOOMANY. */
int tach__ranges_cover(const struct tach_dispatch_ranges *list, int n, uint32_t privilege,
		       struct tach_ranges_used *out);
/*
 * Covers one range with the smallest aligned power of two that contains it, in pair number
 * `pair`.
 */
int tach__ranges_enclose(const struct tach_dispatch_range *range, uint32_t privilege, int pair,
			 struct tach_ranges_used *out);
void tach__range_register(struct tach_ranges_used *out, int number, uint64_t value);
/* Returns the value of an odd debug register: address bits to compare, privilege levels. */
uint64_t tach__range_mask(uint64_t mask, uint32_t privilege);

#endif
