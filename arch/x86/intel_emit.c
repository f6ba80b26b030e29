/* SPDX-License-Identifier: MIT */
/*
 * Writes Intel's registers after every event has its counter (Intel SDM volume 3B chapter 20,
 * volume 4 for MSR numbers).
 */
#include "arch/x86/dispatch_intel.h"

#define MSR_PERFEVTSEL0 0x186u
#define MSR_PMC0	0x0c1u
/* Linux arch/x86/include/asm/msr-index.h, as its driver uses them (events/intel/knc.c). */
#define MSR_KNC_EVNTSEL0  0x028u
#define MSR_KNC_PERFCTR0  0x020u
#define MSR_FIXED_CTRL	  0x38du
#define MSR_FIXED_CTR0	  0x309u
#define MSR_PEBS_ENABLE	  0x3f1u
#define MSR_LD_LAT	  0x3f6u
#define MSR_LBR_SELECT	  0x1c8u
#define MSR_LBR_TOS	  0x1c9u
#define MSR_LBR_FROM	  0x680u
#define MSR_LBR_TO	  0x6c0u
#define MSR_UNC_FIXED_CTL 0x395u
#define MSR_UNC_FIXED_CTR 0x394u
#define MSR_UNC_SEL0	  0x3c0u
#define MSR_UNC_PMC0	  0x3b0u
/* RDPMC's index of a fixed counter. */
#define RDPMC_FIXED 0x40000000u

static int is_general(const struct tach__intel *w, int i)
{
	return w->counter[i] < 16;
}

static int is_uncore(const struct tach__intel *w, int i)
{
	return (w->d->item[i].row->flags & TACH__EV_UNCORE) != 0;
}

static int is_fixed(const struct tach__intel *w, int i)
{
	return !is_uncore(w, i) && w->counter[i] >= PMD_FIXED_0 &&
	       w->counter[i] < PMD_METRICS_0;
}

/* Each fixed counter has four bits: OS, USR, any thread, interrupt. */
static int fixed_control(struct tach__intel *w)
{
	uint64_t value = 0;

	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		uint64_t nibble = 8;

		if (!is_fixed(w, i))
			continue;
		nibble |= item->privilege & TACH_PRIVILEGE_KERNEL ? 1 : 0;
		nibble |= item->privilege & TACH_PRIVILEGE_USER ? 2 : 0;
		nibble |= item->flags & TACH_DISPATCH_ANYTHREAD ? 4 : 0;
		value |= nibble << 4 * (w->counter[i] - PMD_FIXED_0);
	}
	return value ? tach__pmc(w->d, PMC_FIXED_CTRL, value, MSR_FIXED_CTRL, MSR_FIXED_CTRL)
		     : 0;
}

/* Event, umask and options. Options that are part of the code replace requested ones. */
static uint64_t select_of(const struct tach__intel *w, const struct tach__item *item)
{
	uint64_t code = item->code, options = tach__sel_options(item);
	uint64_t umask = item->row->flags & TACH__EV_OFFCORE ? 0 : item->umask;

	if (w->model->core_specific && item->row->flags & TACH__EV_CSPEC &&
	    !((code >> 8 | umask) & 0xc0))
		umask |= 0x40; /* this core; 0 is reserved */
	if (item->row->flags & TACH__EV_MESI && !((code >> 8 | umask) & 0xf) &&
	    w->model->core_specific)
		umask |= 0xf; /* all states */
	code |= umask << 8;
	if (code & SEL_CMASK(0xff))
		options &= ~SEL_CMASK(0xff);
	return code | options;
}

static uint32_t select_register(const struct tach__intel *w, unsigned n)
{
	return (w->model->knc ? MSR_KNC_EVNTSEL0 : MSR_PERFEVTSEL0) + n;
}

static int emit_general(struct tach__intel *w)
{
	int rc = 0;

	for (int i = 0; !rc && i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		unsigned n = (unsigned)w->counter[i];
		uint64_t value;

		if (!is_general(w, i))
			continue;
		value = w->model->encoded
				? tach__intel_word(item)
				: select_of(w, item) | tach__sel_privilege(item) | SEL_INT;
		if (w->model->enable_each || n == 0)
			value |= SEL_EN;
		else
			value &= ~SEL_EN;
		rc = tach__pmc(w->d, n, value, select_register(w, n), select_register(w, n));
	}
	return rc;
}

/* P6: the enable bit of the first select register starts all counters. */
static int shared_enable(struct tach__intel *w)
{
	if (w->model->enable_each)
		return 0;
	for (int i = 0; i < w->d->n; i++)
		if (w->counter[i] == 0)
			return 0;
	return tach__available(w->d, 0)
		       ? tach__pmc(w->d, 0, SEL_EN, MSR_PERFEVTSEL0, MSR_PERFEVTSEL0)
		       : 0;
}

static int emit_uncore(struct tach__intel *w)
{
	int rc = 0;

	for (int i = 0; !rc && i < w->d->n; i++)
		if (is_uncore(w, i) && w->counter[i] == PMD_UNCORE_FIXED)
			/* Enabled, with interrupt. */
			rc = tach__pmc(w->d, PMC_UNCORE_FIXED, 5, MSR_UNC_FIXED_CTL,
				       MSR_UNC_FIXED_CTL);
	for (int i = 0; !rc && i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		unsigned n = (unsigned)w->counter[i] - PMD_UNCORE_0;
		uint64_t value = select_of(w, item) | SEL_INT | SEL_EN;

		if (!is_uncore(w, i) || w->counter[i] == PMD_UNCORE_FIXED)
			continue;
		if (item->flags & TACH_DISPATCH_OCCUPANCY)
			value |= SEL_OCCUPANCY;
		rc = tach__pmc(w->d, (unsigned)w->counter[i], value, MSR_UNC_SEL0 + n,
			       MSR_UNC_SEL0 + n);
	}
	return rc;
}

static void data_registers(struct tach__intel *w)
{
	for (int i = 0; i < w->d->n; i++) {
		unsigned n = (unsigned)w->counter[i], at;

		if (is_general(w, i)) {
			at = (w->model->knc ? MSR_KNC_PERFCTR0 : MSR_PMC0) + n;
			tach__pmd(w->d, n, at, n);
		} else if (n >= PMD_METRICS_0) {
			tach__intel_metric_register(w, n);
		} else if (is_fixed(w, i)) {
			at = n - PMD_FIXED_0;
			tach__pmd(w->d, n, MSR_FIXED_CTR0 + at, RDPMC_FIXED + at);
		} else {
			at = n == PMD_UNCORE_FIXED ? MSR_UNC_FIXED_CTR
						   : MSR_UNC_PMC0 + n - PMD_UNCORE_0;
			tach__pmd(w->d, n, at, at);
		}
	}
}

/* MEM_INST_RETIRED with the latency threshold. */
static int is_load_latency(const struct tach__item *item)
{
	return (item->code & 0xff) == 0x0b && item->umask & 0x10;
}

static int emit_pebs(struct tach__intel *w)
{
	const struct tach_dispatch_x86 *x = w->d->in->x86;
	uint64_t counters = 0, loads = 0;
	int rc;

	if (!x || !x->pebs)
		return 0;
	if (w->model->pebs_first)
		return w->pebs_placed ? tach__pmc(w->d, PMC_PEBS_ENABLE, 1, MSR_PEBS_ENABLE,
						  MSR_PEBS_ENABLE)
				      : 0;
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];

		if (!is_general(w, i))
			continue;
		if (item->kinds & TACH__UM_PEBS || item->row->flags & TACH__EV_PEBS)
			counters |= 1ull << w->counter[i];
		if (x->ldlat && is_load_latency(item))
			loads |= 1ull << w->counter[i];
	}
	if (!counters)
		return 0;
	rc = tach__pmc(w->d, PMC_PEBS_ENABLE, counters | loads << 32, MSR_PEBS_ENABLE,
		       MSR_PEBS_ENABLE);
	if (rc || !loads)
		return rc;
	if (x->ldlat < 3 || x->ldlat > 0xffff)
		return tach__dispatch_error(w->d, TACH_ERR_INVAL,
					    "the load latency threshold must be 3 .. 65535");
	return tach__pmc(w->d, PMC_LD_LAT, x->ldlat, MSR_LD_LAT, MSR_LD_LAT);
}

static int emit_offcore(struct tach__intel *w)
{
	int rc = 0;

	if (w->offcore[0] || w->offcore_used[0])
		rc = tach__pmc(w->d, PMC_OFFCORE_0, w->offcore[0], MSR_OFFCORE_0,
			       MSR_OFFCORE_0);
	if (!rc && (w->offcore[1] || w->offcore_used[1]))
		rc = tach__pmc(w->d, PMC_OFFCORE_1, w->offcore[1], MSR_OFFCORE_1,
			       MSR_OFFCORE_1);
	return rc;
}

/* LBR_SELECT: bit 0 leaves out ring 0, bit 1 the others, bits 2-8 kinds of branches. */
static int emit_lbr(struct tach__intel *w)
{
	const struct tach_dispatch_x86 *x = w->d->in->x86;
	uint32_t privilege;
	int rc;

	if (!x || !x->lbr)
		return 0;
	privilege = x->lbr_privilege ? x->lbr_privilege : w->d->in->privilege;
	rc = tach__pmc(w->d, PMC_LBR_SELECT,
		       (privilege & TACH_PRIVILEGE_KERNEL ? 0 : 1) |
			       (privilege & TACH_PRIVILEGE_USER ? 0 : 2) |
			       (x->lbr_filter & 0x1fc),
		       MSR_LBR_SELECT, MSR_LBR_SELECT);
	if (rc)
		return rc;
	tach__pmd(w->d, PMD_LBR_TOS, MSR_LBR_TOS, MSR_LBR_TOS);
	for (unsigned i = 0; i < 2u * (unsigned)w->model->lbr; i++) {
		uint64_t at = (i & 1 ? MSR_LBR_TO : MSR_LBR_FROM) + i / 2;

		tach__pmd(w->d, PMD_LBR_0 + i, at, at);
	}
	return 0;
}

int tach__intel_emit(struct tach__intel *w)
{
	int rc = fixed_control(w);

	if (!rc)
		rc = emit_general(w);
	if (!rc)
		rc = shared_enable(w);
	if (!rc)
		rc = emit_uncore(w);
	data_registers(w);
	if (!rc && !w->model->encoded)
		rc = emit_pebs(w);
	if (!rc)
		rc = emit_offcore(w);
	if (!rc && w->model->lbr)
		rc = emit_lbr(w);
	if (!rc && w->model->encoded)
		rc = tach__intel_emit_encoded(w);
	return rc;
}
