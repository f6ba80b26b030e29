/* SPDX-License-Identifier: MIT */
/* ia64 counters: PMC4 and up: event sets of the caches, and the registers' values. */
#include "arch/ia64/dispatch.h"
#include "core/port/port.h"

enum { NO_GROUP = 0, L1D = 1, L2 = 2 };

static unsigned group_of(const struct tach__item *item)
{
	return (unsigned)tach__ia64_attr(item, TACH__A_GROUP, NO_GROUP) & 3;
}

static unsigned set_of(const struct tach__item *item)
{
	return (unsigned)tach__ia64_attr(item, TACH__A_SET, 0xf);
}

static int incompatible_sets(const struct tach__ia64 *w, int i, int j)
{
	return tach__dispatch_error(
		w->d, TACH_ERR_EVENTSET, "%s and %s are in different event sets of one cache",
		tach__str(w->d->item[i].row->name), tach__str(w->d->item[j].row->name));
}

/*
 * Itanium 2 counts one set per cache group at a time. L2 events outside sets 1 and 2 share the
 * unit mask of PMC4; if a later event has mask 0, any mask suits it.
 */
static int check_itanium2_sets(const struct tach__ia64 *w)
{
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *a = &w->d->item[i];

		for (int j = i + 1; group_of(a) != NO_GROUP && j < w->d->n; j++) {
			const struct tach__item *b = &w->d->item[j];
			uint64_t mask = tach__ia64_attr(b, TACH__A_UM, 0);

			if (group_of(b) != group_of(a))
				continue;
			if (set_of(b) != set_of(a))
				return incompatible_sets(w, i, j);
			if (group_of(a) != L2 || set_of(a) == 1 || set_of(a) == 2)
				continue;
			if (mask && mask != tach__ia64_attr(a, TACH__A_UM, 0))
				return tach__dispatch_error(
					w->d, TACH_ERR_NOASSIGN,
					"%s and %s would need two unit masks in PMC4",
					tach__str(a->row->name), tach__str(b->row->name));
		}
	}
	return 0;
}

/* Refuses a second OZQ_CANCELS event: these L2 events share their signals, so only one can be
 * counted. */
static int check_cancels(const struct tach__ia64 *w, uint32_t first, uint32_t second,
			 uint32_t third)
{
	int found = 0;

	for (int i = 0; i < w->d->n; i++) {
		uint32_t code = w->d->item[i].row->code;

		found += code == first || code == second || code == third;
	}
	return found < 2 ? 0
			 : tach__dispatch_error(w->d, TACH_ERR_INVAL,
						"only one OZQ_CANCELS event at a time");
}

static void available(const struct tach__ia64 *w, struct tach__problem *p)
{
	p->nevents = w->d->n;
	for (int i = 0; i < w->d->n; i++)
		p->allowed[i] = tach__available_of(w->d, w->d->item[i].counters);
}

static int solve(struct tach__ia64 *w, const struct tach__problem *p, const uint8_t *order)
{
	int8_t counter[TACH__SOLVER_MAX];
	int rc = tach__solve(p, counter);

	if (rc)
		return tach__dispatch_error(w->d, rc, "no counters are left for these events");
	for (int i = 0; i < w->d->n; i++)
		w->counter[order ? order[i] : i] = (uint64_t)counter[i];
	return 0;
}

static int assign_itanium2(struct tach__ia64 *w)
{
	struct tach__problem p = {.nmusts = 2};
	int rc = check_itanium2_sets(w), first_l2 = -1;

	if (!rc)
		rc = check_cancels(w, 0xa0, 0xa8, 0xac);
	if (rc)
		return rc;
	available(w, &p);
	/* One event of each group selects the group's set: L1D's in PMC5, L2's in PMC4. */
	p.must[0].counter = 5;
	p.must[1].counter = 4;
	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];

		if (group_of(item) == L1D)
			p.must[0].events |= 1ull << i;
		if (group_of(item) != L2)
			continue;
		if (first_l2 < 0)
			first_l2 = i;
		/* The first L2 event also sets the unit mask that all L2 events share. */
		if (set_of(item) == 1 || set_of(item) == 2 ||
		    tach__ia64_attr(item, TACH__A_UM, 0) ==
			    tach__ia64_attr(&w->d->item[first_l2], TACH__A_UM, 0))
			p.must[1].events |= 1ull << i;
	}
	return solve(w, &p, NULL);
}

/* Events in the order in which they get counters: see assign_montecito. */
struct queue {
	uint8_t order[TACH_DISPATCH_EVENTS_MAX];
	uint64_t prefer[TACH_DISPATCH_EVENTS_MAX], allowed[TACH_DISPATCH_EVENTS_MAX];
	int n;
	uint32_t taken;
};

static void enqueue(struct queue *q, int event, uint64_t allowed, uint64_t prefer)
{
	q->order[q->n] = (uint8_t)event;
	q->allowed[q->n] = allowed;
	q->prefer[q->n++] = prefer;
	q->taken |= 1u << event;
}

/*
 * Montecito: PMC5 selects the L1D set; PMC4 selects an L2D set for PMC4, 5 and 8, PMC6 one for
 * PMC6, 7 and 9. Events of a set are equivalent, so any of them may select it; it is chosen
 * first.
 */
static int queue_l2d(const struct tach__ia64 *w, struct queue *q, const uint64_t *allowed)
{
	static const uint64_t home[2] = {0x130, 0x2c0};
	unsigned sets[2];
	int nsets = 0, placed[2] = {0, 0}, first[2] = {0, 0};

	for (int i = 0; i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		int s = 0;

		if (group_of(item) != L2)
			continue;
		while (s < nsets && sets[s] != set_of(item))
			s++;
		if (s == 2)
			return incompatible_sets(w, first[0], i);
		if (s == nsets) {
			first[s] = i;
			sets[nsets++] = set_of(item);
		}
		if (placed[s] < 3)
			enqueue(q, i, placed[s] ? allowed[i] : allowed[i] & (s ? 0x40 : 0x10),
				home[s]);
		placed[s]++;
	}
	return 0;
}

static int queue_l1d(const struct tach__ia64 *w, struct queue *q, const uint64_t *allowed)
{
	int last = -1;

	for (int i = 0; i < w->d->n; i++) {
		if (group_of(&w->d->item[i]) != L1D)
			continue;
		if (last >= 0 && set_of(&w->d->item[last]) != set_of(&w->d->item[i]))
			return incompatible_sets(w, last, i);
		last = i;
	}
	if (last >= 0)
		enqueue(q, last, allowed[last] & 0x20, 0);
	return 0;
}

/*
 * Events get counters in this order, so that the first solution is the one that older libraries
 * find.
 */
static int assign_montecito(struct tach__ia64 *w)
{
	struct tach__problem p = {0}, sorted = {0};
	struct queue q = {.n = 0};
	int rc;

	available(w, &p);
	rc = queue_l1d(w, &q, p.allowed);
	if (!rc)
		rc = queue_l2d(w, &q, p.allowed);
	if (!rc)
		rc = check_cancels(w, 0xe0, 0xe2, 0xe2);
	if (rc)
		return rc;
	for (int restricted = 1; restricted >= 0; restricted--)
		for (int i = 0; i < w->d->n; i++)
			if (!(q.taken >> i & 1) &&
			    (!restricted || w->d->item[i].counters != w->d->pmu->general_mask))
				enqueue(&q, i, p.allowed[i], 0);
	sorted.nevents = q.n;
	for (int i = 0; i < q.n; i++) {
		sorted.allowed[i] = q.allowed[i];
		sorted.prefer[i] = q.prefer[i];
	}
	return solve(w, &sorted, q.order);
}

static int assign_plain(struct tach__ia64 *w)
{
	struct tach__problem p = {0};

	available(w, &p);
	return solve(w, &p, NULL);
}

static uint64_t mesi_bits(const struct tach__item *item)
{
	if (!(item->row->flags & TACH__EV_MESI))
		return 0;
	return item->umask ? item->umask & 0xf : 0xf;
}

/* Returns a PMC's value, without bit 23 of PMC4, the enable bit, which the kernel sets. */
static uint64_t value_of(const struct tach__ia64 *w, const struct tach__item *item)
{
	int montecito = w->model == TACH__MONTECITO;
	uint64_t overflow_interrupt = montecito ? 0 : 1 << 5;
	uint64_t umask = item->row->flags & (TACH__EV_IEAR | TACH__EV_DEAR)
				 ? 0
				 : tach__ia64_attr(item, TACH__A_UM, 0) & 0xf;
	uint64_t ism = montecito ? 2 : item->ism & 3;
	uint64_t threshold = item->threshold & 7;

	if (w->model == TACH__IA64_GENERIC)
		threshold = ism = 0;
	return (item->privilege & 0xf) | overflow_interrupt | tach__systemwide(w) << 6 |
	       (uint64_t)(item->row->code & 0xff) << 8 | umask << 16 | threshold << 20 |
	       ism << 24 | mesi_bits(item) << 27;
}

int tach__ia64_counters(struct tach__ia64 *w)
{
	int rc = w->model == TACH__ITANIUM2    ? assign_itanium2(w)
		 : w->model == TACH__MONTECITO ? assign_montecito(w)
					       : assign_plain(w);

	for (int i = 0; !rc && i < w->d->n; i++) {
		const struct tach__item *item = &w->d->item[i];
		unsigned number = (unsigned)w->counter[i], again;

		if (w->model == TACH__MONTECITO && item->flags & TACH_DISPATCH_ALLTHREADS)
			return tach__dispatch_error(
				w->d, TACH_ERR_NOTSUPP,
				"counting both threads of a core is not available");
		again = w->model == TACH__IA64_GENERIC ? 0 : number;
		rc = tach__pmc(w->d, number, value_of(w, item), number, again);
		tach__pmd(w->d, number, number, again);
	}
	return rc;
}
