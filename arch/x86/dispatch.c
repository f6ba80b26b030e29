/* SPDX-License-Identifier: MIT */
/* x86 dispatch: chooses the register layout, and does the checks that all layouts need. */
#include "arch/x86/dispatch.h"

uint64_t tach__sel_options(const struct tach__item *item)
{
	return SEL_CMASK(item->threshold) | (item->flags & TACH_DISPATCH_EDGE ? SEL_EDGE : 0) |
	       (item->flags & TACH_DISPATCH_INVERT ? SEL_INV : 0) |
	       (item->flags & TACH_DISPATCH_ANYTHREAD ? SEL_ANY : 0);
}

int tach__x86_privilege(const struct tach__dispatch *d, uint32_t privilege)
{
	if (!(privilege & (TACH_PRIVILEGE_1 | TACH_PRIVILEGE_2)))
		return 0;
	return tach__dispatch_error(d, TACH_ERR_INVAL, "x86 tells user from kernel only");
}

int tach__x86_masks(const struct tach__dispatch *d, const struct tach__item *item, int code)
{
	if (!(item->kinds & TACH__UM_NC) || item->in->numasks < 2)
		return 0;
	return tach__dispatch_error(d, code, "%s takes one unit mask at a time",
				    tach__str(item->row->name));
}

/* Refuses features that only the other vendor has. */
static int check_features(const struct tach__dispatch *d)
{
	const struct tach_dispatch_x86 *x = d->in->x86;
	int amd = d->pmu->encoding == TACH__AMD;

	if (x && amd && (x->pebs || x->ldlat || x->lbr))
		return tach__dispatch_error(d, TACH_ERR_NOTSUPP,
					    "precise sampling, load latency and branch records "
					    "are Intel's; AMD has instruction-based sampling");
	if (x && !amd && (x->ibs_fetch || x->ibs_op))
		return tach__dispatch_error(d, TACH_ERR_NOTSUPP,
					    "instruction-based sampling is AMD's");
	return 0;
}

int tach__dispatch_x86(struct tach__dispatch *d)
{
	int rc = check_features(d);

	if (rc)
		return rc;
	switch (d->pmu->encoding) {
	case TACH__AMD:
		return tach__dispatch_amd(d);
	case TACH__NETBURST:
		return tach__dispatch_netburst(d);
	default:
		return tach__dispatch_intel(d);
	}
}

int tach__dispatch_counters(const struct tach__pmu *pmu)
{
	int general = pmu->general, fixed = __builtin_popcount(pmu->fixed);
	int metrics = pmu->fixed & 8 ? 8 : 0, uncore = 0;

	switch (pmu->arch) {
	case TACH__IA64:
		return general;
	case TACH__ARM64:
		/* If the table does not have the number of counters, assume the maximum of
		 * PMCR_EL0.N, 31. */
		return (general ? general : 31) + 1;
	}
	if (pmu->flags & TACH__PMU_PFM3 && pmu->encoding == TACH__INTEL &&
	    tach__intel_has_uncore(pmu))
		uncore = 9;
	return general + fixed + metrics + uncore;
}
