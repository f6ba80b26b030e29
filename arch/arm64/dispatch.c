/* SPDX-License-Identifier: MIT */
/*
 * arm64 dispatch: PMUv3 (Arm ARM, D13 "The Performance Monitors Extension") and Apple's PMU
 * (Linux arch/arm64/include/asm/apple_m1_pmu.h, drivers/perf/apple_m1_cpu_pmu.c).
 */
#include "core/port/port.h"

/* Our own register numbers; see include/tach/dispatch.h. */
enum {
	CYCLES = 31,
	PMC_ENABLE = 32,
	APPLE_PMCR0 = 32,
	APPLE_PMCR1,
	APPLE_PMESR0,
	APPLE_PMESR1
};

#define SYSREG(op0, op1, crn, crm, op2)                                                        \
	((uint64_t)((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2)))
#define PMEVTYPER(n) SYSREG(3u, 3u, 14u, 12u + (n) / 8, (n)&7)
#define PMEVCNTR(n)  SYSREG(3u, 3u, 14u, 8u + (n) / 8, (n)&7)
#define PMCCFILTR    SYSREG(3u, 3u, 14u, 15u, 7u)
#define PMCCNTR	     SYSREG(3u, 3u, 9u, 13u, 0u)
#define PMCNTENSET   SYSREG(3u, 3u, 9u, 12u, 1u)

/* PMEVTYPERn_EL0 and PMCCFILTR_EL0. */
#define NOT_EL1 (1ull << 31) /* P */
#define NOT_EL0 (1ull << 30) /* U */
#define IN_EL2	(1ull << 27) /* NSH */

#define CPU_CYCLES 0x11
#define CHAIN	   0x1e

/* Used if the table does not have the number of counters. All of Arm's own cores except the
 * smallest have six. */
#define GENERAL_USUALLY 0x3full

/* libpfm-4's words have the bits for excluded levels at other positions than the register. */
static uint32_t privilege_of(const struct tach__item *item)
{
	uint64_t word = item->codes[0];

	if (!item->ncodes || item->in->privilege)
		return item->privilege;
	return (word >> 30 & 1 ? 0 : TACH_PRIVILEGE_KERNEL) |
	       (word >> 31 & 1 ? 0 : TACH_PRIVILEGE_USER) |
	       (word >> 27 & 1 ? 0 : TACH_PRIVILEGE_HYPERVISOR);
}

static uint64_t filter_bits(const struct tach__item *item)
{
	uint32_t privilege = privilege_of(item);

	return (privilege & TACH_PRIVILEGE_KERNEL ? 0 : NOT_EL1) |
	       (privilege & TACH_PRIVILEGE_USER ? 0 : NOT_EL0) |
	       (privilege & TACH_PRIVILEGE_HYPERVISOR ? IN_EL2 : 0);
}

static uint32_t event_of(const struct tach__item *item)
{
	return item->ncodes ? item->codes[0] & 0xffff : item->code & 0xffff;
}

static int check_flags(const struct tach__dispatch *d)
{
	uint32_t known = d->pmu->encoding == TACH__ARM ? TACH_DISPATCH_CHAIN : 0;

	for (int i = 0; i < d->n; i++) {
		if (d->item[i].flags & ~known)
			return tach__dispatch_error(d, TACH_ERR_INVAL,
						    "a flag that these counters lack");
		if (d->item[i].threshold)
			return tach__dispatch_error(d, TACH_ERR_INVAL,
						    "these counters have no threshold");
		if ((d->item[i].privilege | d->in->privilege) &
		    (TACH_PRIVILEGE_1 | TACH_PRIVILEGE_2))
			return tach__dispatch_error(d, TACH_ERR_INVAL,
						    "levels are user, kernel and hypervisor");
	}
	return 0;
}

static int is_chained(const struct tach__item *item)
{
	return item->flags & TACH_DISPATCH_CHAIN && event_of(item) != CPU_CYCLES;
}

static int no_counters(const struct tach__dispatch *d)
{
	return tach__dispatch_error(d, TACH_ERR_NOASSIGN,
				    "no counters are left for these events");
}

/*
 * A chained event takes an even counter and the odd one above it. General counters are alike,
 * so the chains get the lowest whole pairs, and the other events get the rest: no counter stays
 * unused.
 */
static int place_chains(struct tach__dispatch *d, uint64_t *free_counters, int8_t *counter)
{
	uint64_t pairs = *free_counters & *free_counters >> 1 & 0x5555555555555555ull;

	for (int i = 0; i < d->n; i++) {
		if (!is_chained(&d->item[i]))
			continue;
		if (!pairs)
			return tach__dispatch_error(d, TACH_ERR_NOASSIGN,
						    "no two neighbouring counters are left");
		counter[i] = (int8_t)__builtin_ctzll(pairs);
		pairs &= pairs - 1;
		*free_counters &= ~(3ull << counter[i]);
	}
	return 0;
}

static int assign_counters(struct tach__dispatch *d, int8_t *counter)
{
	uint64_t mask = d->pmu->general_mask ? d->pmu->general_mask : GENERAL_USUALLY;
	uint64_t cycles = d->pmu->encoding == TACH__ARM ? 1ull << CYCLES : 0;
	uint64_t general = tach__available_of(d, mask & ~cycles);
	struct tach__problem p = {.nevents = 0};
	int8_t solved[TACH__SOLVER_MAX];
	int rc = place_chains(d, &general, counter), next = 0;

	if (rc)
		return rc;
	for (int i = 0; i < d->n; i++) {
		const struct tach__item *item = &d->item[i];
		uint64_t own = item->counters & 0xffffffff;

		if (is_chained(item))
			continue;
		p.allowed[p.nevents] = own ? general & own : general;
		if (event_of(item) == CPU_CYCLES)
			p.allowed[p.nevents] |= tach__available_of(d, cycles);
		p.prefer[p.nevents++] = cycles;
	}
	if (tach__solve(&p, solved))
		return no_counters(d);
	for (int i = 0; i < d->n; i++)
		if (!is_chained(&d->item[i]))
			counter[i] = solved[next++];
	return 0;
}

static int pmuv3_event(struct tach__dispatch *d, const struct tach__item *item, unsigned n,
		       uint64_t *enable)
{
	int rc;

	*enable |= 1ull << n;
	if (n == CYCLES) {
		tach__pmd(d, CYCLES, PMCCNTR, 0);
		return tach__pmc(d, CYCLES, filter_bits(item), PMCCFILTR, 0);
	}
	tach__pmd(d, n, PMEVCNTR(n), 0);
	rc = tach__pmc(d, n, filter_bits(item) | event_of(item), PMEVTYPER(n), 0);
	if (rc || !is_chained(item))
		return rc;
	*enable |= 2ull << n;
	return tach__pmc(d, n + 1, filter_bits(item) | CHAIN, PMEVTYPER(n + 1), 0);
}

static int dispatch_pmuv3(struct tach__dispatch *d, const int8_t *counter)
{
	uint64_t enable = 0;
	int rc = 0;

	for (int i = 0; !rc && i < d->n; i++)
		rc = pmuv3_event(d, &d->item[i], (unsigned)counter[i], &enable);
	for (int i = 0; !rc && i < d->n; i++) {
		unsigned odd = (unsigned)counter[i] + 1;

		if (is_chained(&d->item[i]))
			tach__pmd(d, odd, PMEVCNTR(odd), 0);
	}
	return rc || !enable ? rc : tach__pmc(d, PMC_ENABLE, enable, PMCNTENSET, 0);
}

/* Counters 0-7 have their bits at another position than 8-9. */
static uint64_t apple_bit(unsigned n, unsigned low, unsigned high)
{
	return 1ull << (n < 8 ? low + n : high + n - 8);
}

static int dispatch_apple(struct tach__dispatch *d, const int8_t *counter)
{
	uint64_t enable = 0, levels = 0, select[2] = {0, 0};
	int rc;

	for (int i = 0; i < d->n; i++) {
		unsigned n = (unsigned)counter[i];

		enable |= apple_bit(n, 0, 32);
		if (privilege_of(&d->item[i]) & TACH_PRIVILEGE_USER)
			levels |= apple_bit(n, 8, 40);
		if (privilege_of(&d->item[i]) & TACH_PRIVILEGE_KERNEL)
			levels |= apple_bit(n, 16, 48);
		/* Counters 0 and 1 are fixed. Each of 2-5 has a byte of the first word, 6-9 of
		 * the second. */
		if (n >= 2)
			select[n >= 6] |= (uint64_t)(event_of(&d->item[i]) & 0xff)
					  << 8 * ((n - 2) & 3);
		tach__pmd(d, n, SYSREG(3u, 2u, 15u, n < 8 ? n : n + 1, 0u), 0);
	}
	if (!d->n)
		return 0;
	rc = tach__pmc(d, APPLE_PMESR0, select[0], SYSREG(3u, 1u, 15u, 5u, 0u), 0);
	if (!rc)
		rc = tach__pmc(d, APPLE_PMESR1, select[1], SYSREG(3u, 1u, 15u, 6u, 0u), 0);
	if (!rc)
		rc = tach__pmc(d, APPLE_PMCR1, levels, SYSREG(3u, 1u, 15u, 1u, 0u), 0);
	return rc ? rc : tach__pmc(d, APPLE_PMCR0, enable, SYSREG(3u, 1u, 15u, 0u, 0u), 0);
}

int tach__dispatch_arm64(struct tach__dispatch *d)
{
	int8_t counter[TACH_DISPATCH_EVENTS_MAX] = {0};
	int rc = check_flags(d);

	if (!rc)
		rc = assign_counters(d, counter);
	if (rc)
		return rc;
	return d->pmu->encoding == TACH__APPLE ? dispatch_apple(d, counter)
					       : dispatch_pmuv3(d, counter);
}
