/* SPDX-License-Identifier: MIT */
/* x86 dispatch: declarations that its files share. */
#ifndef ARCH_X86_DISPATCH_H
#define ARCH_X86_DISPATCH_H

#include "core/port/port.h"

/* Fields of PERFEVTSELx, Intel's and AMD's (Intel SDM 3B 20.2; AMD APM 2, 13.2.1). */
#define SEL_USR	      (1ull << 16)
#define SEL_OS	      (1ull << 17)
#define SEL_OCCUPANCY (1ull << 17) /* Nehalem's uncore, which has no privilege bits */
#define SEL_EDGE      (1ull << 18)
#define SEL_INT	      (1ull << 20)
#define SEL_ANY	      (1ull << 21)
#define SEL_EN	      (1ull << 22)
#define SEL_INV	      (1ull << 23)
#define SEL_CMASK(n)  ((uint64_t)((n)&0xff) << 24)
#define SEL_GUEST     (1ull << 40)
#define SEL_HOST      (1ull << 41)

/*
 * The list to which the events' rows belong decides how umasks are combined and which errors
 * exist.
 */
static inline int tach__is_pfm3(const struct tach__dispatch *d)
{
	return (d->pmu->flags & TACH__PMU_PFM3) != 0;
}

static inline uint64_t tach__sel_privilege(const struct tach__item *item)
{
	return (item->privilege & TACH_PRIVILEGE_USER ? SEL_USR : 0) |
	       (item->privilege & TACH_PRIVILEGE_KERNEL ? SEL_OS : 0);
}

/* Returns threshold, invert, edge and any-thread as requested. */
uint64_t tach__sel_options(const struct tach__item *item);
/* Refuses privilege levels that x86 lacks; refuses, with `code`, unit masks that exclude each
 * other. */
int tach__x86_privilege(const struct tach__dispatch *d, uint32_t privilege);
int tach__x86_masks(const struct tach__dispatch *d, const struct tach__item *item, int code);

/* Returns 1 for Nehalem's and Westmere's lists, which also have events of the uncore. */
int tach__intel_has_uncore(const struct tach__pmu *pmu);
/* Returns 1 or 2, the number of registers for offcore responses. */
int tach__intel_offcore_registers(int pmu);
int tach__dispatch_intel(struct tach__dispatch *d);
int tach__dispatch_amd(struct tach__dispatch *d);
int tach__dispatch_netburst(struct tach__dispatch *d);

#endif
