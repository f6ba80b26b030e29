/* SPDX-License-Identifier: MIT */
/*
 * Intel PMUs that have event tables. The encoder makes the register words; the other registers
 * follow from them: offcore responses, load latency, front end, PERF_METRICS, global control
 * (Intel SDM volume 3B chapter 20, volume 4 for MSR numbers).
 */
#include "arch/x86/dispatch_intel.h"

#define MSR_LD_LAT	 0x3f6u
#define MSR_FRONTEND	 0x3f7u
#define MSR_GLOBAL_CTRL	 0x38fu
#define MSR_KNC_GLOBAL	 0x02fu /* Linux arch/x86/events/intel/knc.c */
#define MSR_PERF_METRICS 0x329u
#define RDPMC_METRICS	 0x20000000u
#define METRICS_ENABLE	 (1ull << 48)

/*
 * Offcore events exist as pairs of codes, one for each register, and are otherwise equal. The
 * same code has one partner on big cores and another on small ones (Linux:
 * intel_snb_extra_regs, intel_slm_extra_regs, intel_glc_extra_regs).
 */
static const struct offcore_pair {
	uint16_t code[2];
} big = {{0x1b7, 0x1bb}}, small = {{0x1b7, 0x2b7}}, later = {{0x12a, 0x12b}};

static const struct offcore_pair *pair_of(int table, uint32_t code)
{
	static const char second[] = "OFFCORE_RESPONSE_1";
	int event;

	if (code == later.code[0] || code == later.code[1])
		return &later;
	event = tach__event_find(table, second, sizeof second - 1);
	return event >= 0 && tach__event_at(table, event)->code == big.code[1] ? &big : &small;
}

/* Puts the fields of the word where the code for all Intel PMUs expects them. */
static void unpack(struct tach__item *item)
{
	uint64_t word = item->codes[0];

	item->code = word & 0xffff;
	item->umask = 0;
	if (!item->in->privilege)
		item->privilege = (word & SEL_USR ? TACH_PRIVILEGE_USER : 0) |
				  (word & SEL_OS ? TACH_PRIVILEGE_KERNEL : 0);
	item->flags = (word & SEL_EDGE ? TACH_DISPATCH_EDGE : 0) |
		      (word & SEL_INV ? TACH_DISPATCH_INVERT : 0) |
		      (word & SEL_ANY ? TACH_DISPATCH_ANYTHREAD : 0);
	item->threshold = word >> 24 & 0xff;
}

/* A field of PERF_METRICS: event select 0, umask 0x80 and up. */
static int metric_of(const struct tach__item *item)
{
	return (item->code & 0xff) == 0 && item->code >= 0x8000 ? (int)(item->code >> 8 & 7)
								: -1;
}

int tach__intel_is_metric(const struct tach__item *item)
{
	return metric_of(item) >= 0;
}

static int check_metrics(const struct tach__intel *w)
{
	int fields = 0, slots = 0;

	for (int i = 0; i < w->d->n; i++) {
		fields |= metric_of(&w->d->item[i]) >= 0;
		slots |= w->d->item[i].counters == 8ull << 32;
	}
	return !fields || slots
		       ? 0
		       : tach__dispatch_error(w->d, TACH_ERR_FEATCOMB,
					      "topdown metric events need their slots event "
					      "beside them");
}

/*
 * Returns the MSR of the only register that takes this value according to the table; 0: any
 * register, as on big cores.
 */
static uint64_t only_register(const struct tach__item *item, const struct offcore_pair *pair,
			      uint64_t value)
{
	uint64_t only = 0;

	for (int u = 0; u < item->row->numasks && pair == &small && !only; u++) {
		const struct tach__umask *mask = tach__umask_at(item->row, u);

		if (mask->code && (value & mask->code) == mask->code)
			tach__attr(mask->attrs, TACH__A_ONLY, &only, NULL);
	}
	return only;
}

/* Gives the value a register: its own one, if that is free or has the same value. */
static int place_offcore(struct tach__intel *w, int i, uint64_t value)
{
	struct tach__item *item = &w->d->item[i];
	const struct offcore_pair *pair = pair_of(w->d->table, item->code);
	uint64_t only = only_register(item, pair, value);
	int own = item->code == pair->code[1];

	if (!own && item->code != pair->code[0])
		return tach__dispatch_error(w->d, TACH_ERR_NOTSUPP,
					    "offcore event of an unknown register");
	if (!w->offcore_registers)
		w->offcore_registers = tach__intel_offcore_registers(w->d->table);
	for (int k = 0; k < w->offcore_registers; k++) {
		int r = own ^ k;
		unsigned pmc = r ? PMC_OFFCORE_1 : PMC_OFFCORE_0;

		if (only && only != (r ? MSR_OFFCORE_1 : MSR_OFFCORE_0))
			continue;
		if (w->offcore_used[r] ? w->offcore[r] != value : !tach__available(w->d, pmc))
			continue;
		w->offcore[r] = value;
		w->offcore_used[r] = 1;
		item->codes[0] &= ~0xffffull;
		item->codes[0] |= pair->code[r];
		return 0;
	}
	return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN,
				    "offcore events with more different values than registers");
}

/* A register can have one value. */
static int place_shared(struct tach__intel *w, uint64_t *at, uint64_t value, const char *what)
{
	if (*at && *at != value)
		return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN, "events with different %s",
					    what);
	*at = value;
	return 0;
}

static int place_extra(struct tach__intel *w, int i)
{
	const struct tach__item *item = &w->d->item[i];

	if (item->ncodes < 2)
		return 0;
	if (item->row->flags & TACH__EV_OFFCORE)
		return place_offcore(w, i, item->codes[1]);
	if (item->row->flags & TACH__EV_FRONTEND)
		return place_shared(w, &w->frontend, item->codes[1], "front end settings");
	w->latency |= 1u << i;
	return place_shared(w, &w->ldlat, item->codes[1], "load latencies");
}

/*
 * Returns true if the table lets this event sample precisely. Encoded events no longer name
 * their rows.
 */
static int can_sample(const struct tach__item *item)
{
	if (item->row->flags & TACH__EV_PEBS || item->kinds & TACH__UM_PEBS)
		return 1;
	for (int u = 0; u < item->row->numasks && !item->in->numasks; u++) {
		const struct tach__umask *mask = tach__umask_at(item->row, u);

		if (mask->flags & TACH__UM_PEBS && mask->code == (item->code >> 8 & 0xff))
			return 1;
	}
	return 0;
}

/*
 * PEBS worked on general counters 0-3 until Ice Lake and, on the Atom side, Goldmont Plus;
 * since then it works on all counters, including fixed ones (Linux: PMU_FL_PEBS_ALL).
 */
static int pebs_everywhere(const struct tach__pmu *pmu)
{
	return (pmu->flags & (TACH__PMU_EXTPEBS | TACH__PMU_PEBSALL)) != 0;
}

static void restrict_pebs(struct tach__intel *w, struct tach__item *item)
{
	if (!w->d->in->x86 || !w->d->in->x86->pebs || !can_sample(item))
		return;
	if (!pebs_everywhere(w->d->pmu))
		item->counters &= 0xf;
}

int tach__intel_encoded(struct tach__intel *w)
{
	/* The options that the encoder accepted. */
	uint32_t known = TACH_DISPATCH_INVERT | TACH_DISPATCH_EDGE | TACH_DISPATCH_ANYTHREAD;
	uint32_t privilege = w->d->in->privilege;
	int rc = 0;

	if (w->d->in->x86 && w->d->in->x86->lbr)
		return tach__dispatch_error(w->d, TACH_ERR_NOTSUPP,
					    "branch records are dispatched for libpfm-3's "
					    "Nehalem and Westmere lists only");
	for (int i = 0; !rc && i < w->d->n; i++) {
		struct tach__item *item = &w->d->item[i];
		int field;

		unpack(item);
		privilege |= item->privilege;
		if (!item->in->ncodes && item->in->flags & ~known)
			return tach__dispatch_error(w->d, TACH_ERR_INVAL,
						    "a flag that this PMU's counters lack");
		field = metric_of(item);
		if (field >= 0)
			item->counters = 0;
		rc = place_extra(w, i);
		restrict_pebs(w, item);
	}
	if (!rc)
		rc = tach__x86_privilege(w->d, privilege);
	return rc ? rc : check_metrics(w);
}

uint64_t tach__intel_metric_counter(const struct tach__item *item)
{
	return 1ull << (PMD_METRICS_0 + metric_of(item));
}

uint64_t tach__intel_word(const struct tach__item *item)
{
	uint64_t word = item->codes[0];

	if (item->in->privilege)
		word = (word & ~(SEL_USR | SEL_OS)) | tach__sel_privilege(item);
	return word | SEL_INT;
}

/* ---- registers that come after the counters ---- */

static int pebs(struct tach__intel *w)
{
	uint64_t value = 0;

	if (!w->d->in->x86 || !w->d->in->x86->pebs)
		return 0;
	for (int i = 0; i < w->d->n; i++) {
		unsigned n = (unsigned)w->counter[i];

		if (!can_sample(&w->d->item[i]) || n >= PMD_METRICS_0)
			continue;
		value |= n < PMD_FIXED_0 ? 1ull << n : 1ull << (32 + n - PMD_FIXED_0);
		/*
		 * Older processors have an enable bit for the latency at the position where
		 * newer ones have fixed counters.
		 */
		if (w->latency >> i & 1 && !pebs_everywhere(w->d->pmu))
			value |= 1ull << (32 + n);
	}
	return value ? tach__pmc(w->d, PMC_PEBS_ENABLE, value, 0x3f1, 0x3f1) : 0;
}

/*
 * From architectural version 2 on, and on Knights Corner, counters run only if they are also
 * enabled here.
 */
static int global_control(struct tach__intel *w)
{
	uint32_t at = w->model->knc ? MSR_KNC_GLOBAL : MSR_GLOBAL_CTRL;
	uint64_t value = 0;

	if (!w->d->pmu->fixed && !w->model->knc)
		return 0;
	for (int i = 0; i < w->d->n; i++) {
		unsigned n = (unsigned)w->counter[i];

		value |= n >= PMD_METRICS_0 ? METRICS_ENABLE
			 : n >= PMD_FIXED_0 ? 1ull << (32 + n - PMD_FIXED_0)
					    : 1ull << n;
	}
	/* If the register is unavailable, the kernel sets it. */
	if (!value || !tach__available(w->d, PMC_GLOBAL_CTRL))
		return 0;
	return tach__pmc(w->d, PMC_GLOBAL_CTRL, value, at, at);
}

void tach__intel_metric_register(struct tach__intel *w, unsigned n)
{
	tach__pmd(w->d, n, MSR_PERF_METRICS, RDPMC_METRICS);
}

int tach__intel_emit_encoded(struct tach__intel *w)
{
	int rc = pebs(w);

	if (!rc && w->ldlat)
		rc = tach__pmc(w->d, PMC_LD_LAT, w->ldlat, MSR_LD_LAT, MSR_LD_LAT);
	if (!rc && w->frontend)
		rc = tach__pmc(w->d, PMC_FRONTEND, w->frontend, MSR_FRONTEND, MSR_FRONTEND);
	return rc ? rc : global_control(w);
}
