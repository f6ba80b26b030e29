/* SPDX-License-Identifier: MIT */
/*
 * AMD: four counters (K7 to family 14h, MSRs C001_0000..7) or six (PerfCtrExtCore, family 15h
 * and 17h on, MSRs C001_0200..020B), instruction-based sampling from family 10h on (AMD64 APM
 * volume 2 chapter 13; IBS: BKDG of family 10h, 3.13), PerfCntrGlobalCtl from Zen 4 on.
 */
#include <string.h>
#include "arch/x86/dispatch.h"

#define LEGACY_CTL 0xc0010000u
#define LEGACY_CTR 0xc0010004u
#define EXT_CTL	   0xc0010200u
#define EXT_CTR	   0xc0010201u
#define GLOBAL_CTL 0xc0000301u

/* perfmon2's numbers. */
enum { PMC_IBS_FETCH = 6, PMC_IBS_OP = 7, PMC_GLOBAL = 8, PMD_IBS_FETCH = 6, PMD_IBS_OP = 9 };

#define IBS_FETCH_CTL 0xc0011030u
#define IBS_OP_CTL    0xc0011033u
#define FETCH_ENABLE  (1ull << 48)
#define FETCH_RANDOM  (1ull << 57)
#define OP_ENABLE     (1ull << 17)
#define OP_DISPATCHED (1ull << 19)

/* In libpfm-3's lists, revisions from this one on have IBS, guests and extended selects. */
#define FAMILY_10H 8
/* From this revision on, IBS may count dispatched ops. */
#define FAMILY_10H_C 9

static int lacks_family_10h(const struct tach__dispatch *d)
{
	return d->in->revision && d->in->revision < FAMILY_10H;
}

static int lacks_op_count(const struct tach__dispatch *d)
{
	return d->in->revision && d->in->revision < FAMILY_10H_C;
}

static int not_here(const struct tach__dispatch *d, const char *what)
{
	return tach__dispatch_error(d, TACH_ERR_MODEL, "this revision of the CPU lacks %s",
				    what);
}

static int check_event_revision(const struct tach__dispatch *d, const struct tach__item *item)
{
	return tach__is_in_revision(item->row->attrs, d->in->revision)
		       ? 0
		       : not_here(d, tach__str(item->row->name));
}

static int check_mask_revisions(const struct tach__dispatch *d, const struct tach__item *item)
{
	for (uint32_t u = 0; u < item->in->numasks; u++) {
		const struct tach__umask *mask = tach__umask_at(item->row, item->in->umasks[u]);

		if (!tach__is_in_revision(mask->attrs, d->in->revision))
			return not_here(d, tach__str(mask->name));
	}
	if (item->row->flags & TACH__EV_IBSOP && item->umask & 2 && lacks_op_count(d))
		return not_here(d, "sampling by dispatched ops");
	return 0;
}

static int is_ibs(const struct tach__item *item)
{
	return (item->row->flags & (TACH__EV_IBSFETCH | TACH__EV_IBSOP)) != 0;
}

static int check_options(const struct tach__dispatch *d, const struct tach__item *item)
{
	uint32_t known = TACH_DISPATCH_INVERT | TACH_DISPATCH_EDGE | TACH_DISPATCH_GUEST |
			 TACH_DISPATCH_HOST;
	/* Lists of libpfm-3 have only K7's two bits. */
	unsigned most = tach__is_pfm3(d) ? 3 : 0xff;

	if (item->flags & ~known)
		return tach__dispatch_error(d, TACH_ERR_INVAL,
					    "a flag that AMD's counters lack");
	if (item->threshold > most)
		return tach__dispatch_error(d, TACH_ERR_INVAL,
					    "the counter mask must be 0 .. %u", most);
	return 0;
}

/*
 * Checks event by event, so that the error names the first event that cannot be counted.
 */
static int check_events(struct tach__dispatch *d)
{
	int rc = tach__x86_privilege(d, d->in->privilege), left;

	left = __builtin_popcountll(tach__available_of(d, d->pmu->general_mask));
	for (int i = 0; !rc && i < d->n; i++) {
		const struct tach__item *item = &d->item[i];

		rc = tach__x86_privilege(d, item->privilege);
		if (!rc && tach__is_pfm3(d)) /* for other rows, the encoder decided this */
			rc = tach__x86_masks(d, item, TACH_ERR_FEATCOMB);
		if (!rc)
			rc = check_event_revision(d, item);
		if (!rc)
			rc = check_options(d, item);
		if (!rc && !is_ibs(item) && left-- == 0)
			rc = tach__dispatch_error(d, TACH_ERR_NOASSIGN,
						  "no counters are left for these events");
	}
	return rc;
}

static uint64_t select_of(const struct tach__item *item)
{
	uint64_t guest = item->flags & TACH_DISPATCH_GUEST ? SEL_GUEST : 0;
	uint64_t host = item->flags & TACH_DISPATCH_HOST ? SEL_HOST : 0;

	if (item->in->ncodes && !item->in->privilege)
		return item->codes[0];
	/* For the encoder, "h" is a level like "u" and "k", and excludes them. So set these
	 * levels here. */
	if (item->ncodes)
		return (item->codes[0] & ~(SEL_USR | SEL_OS)) | tach__sel_privilege(item);
	return (item->code & 0xff) | (uint64_t)(item->umask & 0xff) << 8 |
	       (uint64_t)(item->code >> 8 & 0xf) << 32 | SEL_INT | SEL_EN | guest | host |
	       tach__sel_privilege(item) | tach__sel_options(item);
}

/* Handles IBSFETCH_EVENT and IBSOP_EVENT, whose unit masks are options of the control
 * register. */
static int ibs_event(struct tach__dispatch *d, const struct tach__item *item)
{
	int fetch = (item->row->flags & TACH__EV_IBSFETCH) != 0;
	const struct tach_dispatch_x86 *x = d->in->x86;
	uint64_t count = 0, value;

	if (x)
		count = (fetch ? x->ibs_fetch_period : x->ibs_op_period) >> 4 & 0xffff;
	value = fetch ? FETCH_ENABLE | (item->umask & 1 ? FETCH_RANDOM : 0)
		      : OP_ENABLE | (item->umask & 2 ? OP_DISPATCHED : 0);
	return tach__pmc(d, fetch ? PMC_IBS_FETCH : PMC_IBS_OP, value | count,
			 fetch ? IBS_FETCH_CTL : IBS_OP_CTL, 0);
}

static int uses(const struct tach__dispatch *d, uint32_t flag)
{
	int n = 0;

	for (int i = 0; i < d->n; i++)
		n += (d->item[i].row->flags & flag) != 0;
	return n;
}

static int check_ibs(struct tach__dispatch *d)
{
	const struct tach_dispatch_x86 *x = d->in->x86;
	int fetch = uses(d, TACH__EV_IBSFETCH) + (x && x->ibs_fetch);
	int op = uses(d, TACH__EV_IBSOP) + (x && x->ibs_op);

	if (!fetch && !op)
		return 0;
	if (x && (x->ibs_fetch || x->ibs_op) && d->in->flags & TACH_DISPATCH_NOMODEL)
		return tach__dispatch_error(
			d, TACH_ERR_INVAL,
			"what comes back has nowhere to go: TACH_DISPATCH_NOMODEL is set");
	if (lacks_family_10h(d))
		return not_here(d, "instruction-based sampling");
	if (x && x->ibs_op && x->ibs_op_dispatched && lacks_op_count(d))
		return not_here(d, "sampling by dispatched ops");
	if (fetch > 1 || op > 1)
		return tach__dispatch_error(d, TACH_ERR_NOASSIGN,
					    "there is one register for each kind of "
					    "instruction-based sampling");
	return 0;
}

static int ibs_asked_for(struct tach__dispatch *d)
{
	const struct tach_dispatch_x86 *x = d->in->x86;
	int rc = 0;

	if (x && x->ibs_fetch) {
		rc = tach__pmc(d, PMC_IBS_FETCH,
			       FETCH_ENABLE | (x->ibs_fetch_random ? FETCH_RANDOM : 0) |
				       (x->ibs_fetch_period >> 4 & 0xffff),
			       IBS_FETCH_CTL, 0);
		d->out->ibs_fetch_pmd = d->out->npmds;
		if (!rc)
			tach__pmd(d, PMD_IBS_FETCH, IBS_FETCH_CTL, 0);
	}
	if (!rc && x && x->ibs_op) {
		rc = tach__pmc(d, PMC_IBS_OP,
			       OP_ENABLE | (x->ibs_op_dispatched ? OP_DISPATCHED : 0) |
				       (x->ibs_op_period >> 4 & 0xffff),
			       IBS_OP_CTL, 0);
		d->out->ibs_op_pmd = d->out->npmds;
		if (!rc)
			tach__pmd(d, PMD_IBS_OP, IBS_OP_CTL, 0);
	}
	return rc;
}

/* Assigns counters as older libraries did: an IBS event leaves a counter's position free, if
 * there is room. */
static uint64_t customary(const struct tach__dispatch *d, int *next)
{
	while (*next < d->pmu->general && !tach__available(d, (unsigned)*next))
		++*next;
	return *next < d->pmu->general ? 1ull << (*next)++ : 0;
}

static int assign_counters(struct tach__dispatch *d, int8_t *counter)
{
	struct tach__problem p = {0};
	int8_t solved[TACH__SOLVER_MAX];
	int rc, place = 0, next = 0;

	for (int i = 0; i < d->n; i++) {
		uint64_t usual = customary(d, &place);

		if (is_ibs(&d->item[i]))
			continue;
		p.prefer[p.nevents] = usual;
		p.allowed[p.nevents++] =
			tach__available_of(d, d->item[i].counters & d->pmu->general_mask);
	}
	rc = tach__solve(&p, solved);
	if (rc)
		return tach__dispatch_error(d, rc, "no counters are left for these events");
	for (int i = 0; i < d->n; i++)
		if (!is_ibs(&d->item[i]))
			counter[i] = solved[next++];
	return 0;
}

static void counter_registers(const struct tach__dispatch *d, unsigned n, uint32_t *ctl,
			      uint32_t *ctr)
{
	int extended = d->pmu->general > 4;

	*ctl = extended ? EXT_CTL + 2 * n : LEGACY_CTL + n;
	*ctr = extended ? EXT_CTR + 2 * n : LEGACY_CTR + n;
}

static int emit_event(struct tach__dispatch *d, int i, int8_t counter)
{
	const struct tach__item *item = &d->item[i];
	unsigned n = (unsigned)counter;
	uint32_t ctl, ctr;
	uint64_t value;
	int rc;

	if (is_ibs(item)) {
		int fetch = (item->row->flags & TACH__EV_IBSFETCH) != 0;

		rc = ibs_event(d, item);
		tach__pmd(d, fetch ? PMD_IBS_FETCH : PMD_IBS_OP,
			  fetch ? IBS_FETCH_CTL : IBS_OP_CTL, 0);
		return rc;
	}
	value = select_of(item);
	if (lacks_family_10h(d) && value & (SEL_GUEST | SEL_HOST | 0xfull << 32))
		return not_here(d, "guest and host bits and event selects above 0xff");
	counter_registers(d, n, &ctl, &ctr);
	rc = tach__pmc(d, n, value, ctl, ctl);
	tach__pmd(d, n, ctr, n);
	return rc;
}

/* Enables the counters of PerfMonV2 (CPUID 8000_0022 EAX bit 0), which also need this register
 * to run. */
static int global_control(struct tach__dispatch *d)
{
	uint64_t enabled = 0;

	if (!(d->pmu->flags & TACH__PMU_PERFMONV2))
		return 0;
	for (uint32_t i = 0; i < d->out->npmds; i++)
		if (d->out->pmds[i].number < d->pmu->general)
			enabled |= 1ull << d->out->pmds[i].number;
	return enabled ? tach__pmc(d, PMC_GLOBAL, enabled, GLOBAL_CTL, 0) : 0;
}

int tach__dispatch_amd(struct tach__dispatch *d)
{
	int8_t counter[TACH_DISPATCH_EVENTS_MAX] = {0};
	const struct tach_dispatch_x86 *x = d->in->x86;
	int rc = check_events(d);

	if (!rc && d->n == 0 && !(x && (x->ibs_fetch || x->ibs_op)))
		return tach__dispatch_error(d, TACH_ERR_INVAL, "nothing to measure");
	for (int i = 0; !rc && i < d->n; i++)
		rc = check_mask_revisions(d, &d->item[i]);
	if (!rc)
		rc = assign_counters(d, counter);
	for (int i = 0; !rc && i < d->n; i++)
		rc = emit_event(d, i, counter[i]);
	if (!rc)
		rc = check_ibs(d);
	if (!rc)
		rc = ibs_asked_for(d);
	return rc ? rc : global_control(d);
}
