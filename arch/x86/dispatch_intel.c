/* SPDX-License-Identifier: MIT */
/*
 * Intel, from P6 on: the counter that each event gets, in the order in which perfmon2's library
 * chose. Counters are bits by PMD number: 0-15 general, 16-22 fixed, 20-28 Nehalem's uncore,
 * 48-55 the fields of PERF_METRICS.
 */
#include <string.h>
#include "arch/x86/dispatch_intel.h"

/*
 * libpfm-3's lists, by name. All others are real PMUs: the table decides their counters and
 * registers.
 */
static const struct tach__intel_model models[] = {
	{"pfm3_p6", .combine = TACH_ERR_FEATCOMB, .wide_threshold = 1},
	{"pfm3_pii", .combine = TACH_ERR_FEATCOMB, .wide_threshold = 1},
	{"pfm3_pm", .combine = TACH_ERR_FEATCOMB, .wide_threshold = 1},
	{"pfm3_ppro", .combine = TACH_ERR_FEATCOMB, .wide_threshold = 1},
	{"pfm3_coreduo", .combine = TACH_ERR_NOASSIGN, .enable_each = 1, .core_specific = 1},
	{"pfm3_core", .combine = TACH_ERR_NOASSIGN, .enable_each = 1, .core_specific = 1,
	 .pebs_first = 1},
	{"pfm3_atom", .combine = TACH_ERR_NOASSIGN, .enable_each = 1, .pebs_first = 1,
	 .any_thread = 1},
	{"pfm3_gen_ia32", .combine = TACH_ERR_NOASSIGN, .enable_each = 1, .any_thread = 1},
	{"pfm3_nhm", .combine = TACH_ERR_NOASSIGN, .enable_each = 1, .any_thread = 1,
	 .uncore = 1, .lbr = 16},
	{"pfm3_wsm", .combine = TACH_ERR_NOASSIGN, .enable_each = 1, .any_thread = 1,
	 .uncore = 1, .lbr = 16},
};

static const struct tach__intel_model encoded = {"", .enable_each = 1, .any_thread = 1,
						 .encoded = 1};
/* P6 family, which has one enable bit for all counters. */
static const struct tach__intel_model encoded_p6 = {"", .encoded = 1};
static const struct tach__intel_model encoded_knc = {"", .enable_each = 1, .encoded = 1,
						     .knc = 1};

static const struct tach__intel_model *choose(const struct tach__pmu *pmu)
{
	const char *name = tach__str(pmu->name);

	/* For most PMUs, no names need to be compared. */
	if (pmu->fixed && !(pmu->flags & TACH__PMU_PFM3))
		return &encoded;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		if (strcmp(models[i].list, name) == 0)
			return &models[i];
		if (strcmp(models[i].list + strlen("pfm3_"), name) == 0 &&
		    !models[i].enable_each)
			return &encoded_p6;
	}
	return !(pmu->flags & TACH__PMU_PFM3) && strcmp(name, "knc") == 0 ? &encoded_knc
									  : &encoded;
}

int tach__intel_has_uncore(const struct tach__pmu *pmu)
{
	return choose(pmu)->uncore;
}

int tach__intel_counts_pebs(const struct tach__item *item)
{
	uint32_t able = 0;

	if (item->row->flags & TACH__EV_PEBS)
		return 1;
	for (uint32_t u = 0; u < item->in->numasks; u++)
		able += (tach__umask_at(item->row, item->in->umasks[u])->flags &
			 TACH__UM_PEBS) != 0;
	return able > 0 && able == item->in->numasks;
}

static int has_options(const struct tach__item *item)
{
	return item->flags || item->threshold;
}

/* ---- refusals ---- */

static int no_counters(const struct tach__intel *w)
{
	return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN,
				    "no counters are left for these events");
}

static int check_uncore(const struct tach__intel *w, const struct tach__item *item)
{
	uint32_t both = TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_USER;

	if (!(item->row->flags & TACH__EV_UNCORE))
		return 0;
	if (item->privilege != both && w->d->in->privilege != both)
		return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN,
					    "the uncore counts at all levels: ask for them");
	if (item->row->flags & TACH__EV_FIXED && has_options(item))
		return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN,
					    "the uncore's fixed counter has no options");
	return 0;
}

/* Checks that all offcore events of one register need the same requests and responses. */
static int check_offcore(struct tach__intel *w, const struct tach__item *item)
{
	uint64_t msr = 0, *value;

	if (!(item->row->flags & TACH__EV_OFFCORE))
		return 0;
	tach__attr(item->row->attrs, TACH__A_ONLY, &msr, NULL);
	value = &w->offcore[msr == MSR_OFFCORE_1];
	if (*value && *value != item->umask)
		return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN,
					    "offcore response events must have the same masks");
	if (!tach__available(w->d, msr == MSR_OFFCORE_1 ? PMC_OFFCORE_1 : PMC_OFFCORE_0))
		return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN,
					    "the offcore response register is not available");
	if (!(item->umask & 0xff) || !(item->umask & 0xff00))
		return tach__dispatch_error(w->d, TACH_ERR_INVAL,
					    "%s needs a request and a response mask",
					    tach__str(item->row->name));
	*value = item->umask;
	return 0;
}

/*
 * Refuses options that rule out the only counter of an event, and more events than counters if
 * all need the same one or two. The other events are not checked after that.
 */
static int check_counters(const struct tach__intel *w, int i)
{
	const struct tach__item *item = &w->d->item[i];
	uint64_t general = item->counters & 0xffff, fixed = item->counters >> 32;
	int same = 0;

	if (!general && fixed &&
	    (item->threshold || item->flags & (TACH_DISPATCH_INVERT | TACH_DISPATCH_EDGE)))
		return tach__dispatch_error(w->d, TACH_ERR_NOASSIGN,
					    "%s has a fixed counter, and that has no options",
					    tach__str(item->row->name));
	if (item->row->flags & TACH__EV_UNCORE) {
		if (!(item->row->flags & TACH__EV_FIXED))
			return 0;
		for (int j = 0; j <= i; j++)
			same += (w->d->item[j].row->flags & TACH__EV_UNCORE) != 0 &&
				(w->d->item[j].row->flags & TACH__EV_FIXED) != 0;
		return same < 2 ? 0 : no_counters(w);
	}
	if ((general && fixed) || general == w->d->pmu->general_mask)
		return 0;
	for (int j = 0; j <= i; j++)
		same += w->d->item[j].counters == item->counters &&
			!(w->d->item[j].row->flags & TACH__EV_UNCORE);
	return same <= __builtin_popcountll(item->counters) ? 0 : no_counters(w);
}

static int check_flags(const struct tach__intel *w, const struct tach__item *item)
{
	uint32_t known = TACH_DISPATCH_INVERT | TACH_DISPATCH_EDGE;

	if (w->model->any_thread)
		known |= TACH_DISPATCH_ANYTHREAD;
	if (w->model->uncore)
		known |= TACH_DISPATCH_OCCUPANCY;
	if (item->flags & ~known)
		return tach__dispatch_error(w->d, TACH_ERR_INVAL,
					    "a flag that this PMU's counters lack");
	return 0;
}

/*
 * Checks event by event, so that the error names the first event that cannot be counted.
 */
static int check_events(struct tach__intel *w)
{
	int rc = tach__x86_privilege(w->d, w->d->in->privilege);

	for (int i = 0; !rc && i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];

		rc = tach__x86_privilege(w->d, item->privilege);
		if (!rc)
			rc = check_flags(w, item);
		if (!rc)
			rc = tach__x86_masks(w->d, item, w->model->combine);
		if (!rc)
			rc = check_counters(w, i);
		if (!rc)
			rc = check_offcore(w, item);
		if (!rc)
			rc = check_uncore(w, item);
	}
	return rc;
}

/* Checks fields of the select registers that only some kinds of counter have. */
static int check_values(const struct tach__intel *w)
{
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		int uncore = (item->row->flags & TACH__EV_UNCORE) != 0;

		if (w->counter[i] >= 16 && !uncore)
			continue;
		if (w->counter[i] == PMD_UNCORE_FIXED && uncore)
			continue;
		if (item->flags & (uncore ? TACH_DISPATCH_ANYTHREAD : TACH_DISPATCH_OCCUPANCY))
			return tach__dispatch_error(
				w->d, TACH_ERR_INVAL,
				"any-thread is for core events, the occupancy reset for "
				"uncore events");
		if (item->threshold > 255 && !w->model->wide_threshold &&
		    !((item->code | item->umask << 8) & SEL_CMASK(0xff)))
			return tach__dispatch_error(w->d, TACH_ERR_INVAL,
						    "the counter mask must be 0 .. 255");
	}
	return 0;
}

/* ---- assign the counters ---- */

static uint64_t fixed_bits(uint64_t counters)
{
	return counters >> 32 << 16 & 0x7f0000;
}

static uint64_t general_counters(const struct tach__intel *w)
{
	return w->d->pmu->general_mask & 0xffff;
}

static int wants_pebs(const struct tach__intel *w, const struct tach__item *item)
{
	return w->d->in->x86 && w->d->in->x86->pebs && tach__intel_counts_pebs(item);
}

/* Returns 1 if a fixed counter can count the event: it counts only its own event, without
 * options except any-thread. */
static int may_be_fixed(const struct tach__intel *w, const struct tach__item *item)
{
	if (!tach__available(w->d, PMC_FIXED_CTRL))
		return 0;
	if (w->model->pebs_first && !w->model->any_thread && wants_pebs(w, item))
		return 0;
	if (!has_options(item))
		return 1;
	if (wants_pebs(w, item))
		return 0;
	/* libpfm-3 checked only the flags. */
	return item->flags == TACH_DISPATCH_ANYTHREAD &&
	       (!w->model->encoded || !item->threshold);
}

static uint64_t allowed_counters(const struct tach__intel *w, const struct tach__item *item)
{
	uint64_t general = item->counters & general_counters(w),
		 fixed = fixed_bits(item->counters);

	if (w->model->encoded && tach__intel_is_metric(item))
		return tach__intel_metric_counter(item);
	if (item->row->flags & TACH__EV_UNCORE)
		return tach__available_of(w->d, item->row->flags & TACH__EV_FIXED
							? 1ull << PMD_UNCORE_FIXED
							: 0xffull << PMD_UNCORE_0);
	if (!may_be_fixed(w, item))
		fixed = 0;
	return tach__available_of(w->d, general) | fixed;
}

struct queue {
	const struct tach__intel *w;
	struct tach__problem p;
	uint8_t who[TACH__SOLVER_MAX];
	uint32_t queued;
	uint64_t allowed[TACH_DISPATCH_EVENTS_MAX]; /* allowed counters of each event, in the
						       caller's order */
};

static void enqueue(struct queue *q, int i, uint64_t counters)
{
	q->who[q->p.nevents] = (uint8_t)i;
	q->p.allowed[q->p.nevents] = counters;
	q->p.prefer[q->p.nevents++] = 0x7f0000;
	q->queued |= 1u << i;
}

/* Queues events that fit only one general counter. With PEBS on Core and Atom, queues one more
 * for PMC0. */
static void enqueue_bound(struct queue *q, int *pebs)
{
	const struct tach__intel *w = q->w;
	uint64_t general = w->d->pmu->general_mask;

	*pebs = 0;
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		uint64_t own = item->counters & 0xffff, all = q->allowed[i];
		int first = w->model->pebs_first && !*pebs && wants_pebs(w, item);

		if (item->row->flags & TACH__EV_UNCORE)
			continue;
		if (first || own == 1)
			*pebs = 1;
		if (first)
			enqueue(q, i, all & 1);
		else if (own && own != general && !fixed_bits(item->counters))
			enqueue(q, i, all);
	}
}

/* Queues the first event for each fixed counter. Other events get the remaining counters
 * later. */
static void enqueue_fixed(struct queue *q)
{
	uint64_t taken = 0;

	for (int i = 0; i < q->w->d->n; i++) {
		uint64_t all = q->allowed[i], fixed = all & 0x7f0000 & ~taken;

		if (q->queued >> i & 1 || !fixed ||
		    q->w->d->item[i].row->flags & TACH__EV_UNCORE)
			continue;
		taken |= fixed & -fixed;
		enqueue(q, i, all);
	}
}

static int assign_counters(struct tach__intel *w)
{
	struct queue q;
	int8_t counter[TACH__SOLVER_MAX];
	int rc;

	q.w = w;
	q.queued = 0;
	q.p.nevents = q.p.npools = q.p.nmusts = 0;
	for (int i = 0; i < w->d->n; i++)
		q.allowed[i] = allowed_counters(w, &w->d->item[i]);
	enqueue_bound(&q, &w->pebs_placed);
	enqueue_fixed(&q);
	for (int i = 0; i < w->d->n; i++)
		if (!(q.queued >> i & 1))
			enqueue(&q, i, q.allowed[i]);
	rc = tach__solve(&q.p, counter);
	if (rc)
		return no_counters(w);
	for (int i = 0; i < w->d->n; i++)
		w->counter[q.who[i]] = counter[i];
	return 0;
}

int tach__dispatch_intel(struct tach__dispatch *d)
{
	struct tach__intel w = {.d = d, .model = choose(d->pmu)};
	int rc = w.model->encoded ? tach__intel_encoded(&w) : check_events(&w);

	if (!rc)
		rc = assign_counters(&w);
	if (!rc)
		rc = check_values(&w);
	return rc ? rc : tach__intel_emit(&w);
}
