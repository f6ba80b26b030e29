/* SPDX-License-Identifier: MIT */
/* Splitting into groups, compared with brute force: never more groups than necessary. */
#include <string.h>
#include <tach/error.h>
#include "core/pmu/pmu.h"
#include "tests/check.h"

static uint64_t seed = 7;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

struct problem {
	struct tach__machine machine;
	struct tach__want wants[8];
	int n, nanchors;
};

/*
 * Returns true if the events whose bits are in `set` can be counted at once. Tries every
 * assignment.
 */
static int fits(const struct problem *p, unsigned set, uint64_t taken)
{
	const struct tach__want *w;
	int e;

	if (!set)
		return 1;
	e = __builtin_ctz(set);
	w = &p->wants[e];
	if (!w->counters)
		return fits(p, set & (set - 1), taken);
	for (int c = 0; c < 64; c++)
		if (w->counters & p->machine.counters & ~taken & 1ull << c &&
		    fits(p, set & (set - 1), taken | 1ull << c))
			return 1;
	return 0;
}

static int group_ok(const struct problem *p, unsigned set)
{
	int distinct[TACH__NSHARED] = {0}, metrics = 0;

	for (int e = 0; e < p->n; e++) {
		int first = 1;

		if (!(set >> e & 1))
			continue;
		metrics |= p->wants[e].metrics;
		for (int o = 0; o < e; o++)
			if (set >> o & 1 && p->wants[o].shared == p->wants[e].shared &&
			    p->wants[o].value == p->wants[e].value)
				first = 0;
		distinct[p->wants[e].shared] += first;
	}
	for (int k = 1; k < TACH__NSHARED; k++)
		if (distinct[k] > p->machine.nshared[k])
			return 0;
	if (metrics == 1)
		return 0;
	if (!p->machine.watchdog)
		return fits(p, set, 0);
	for (int c = 0; c < 64; c++)
		if (p->machine.watchdog >> c & 1 && fits(p, set, 1ull << c))
			return 1;
	return 0;
}

/* Finds the fewest groups, by dynamic programming over subsets; 99 = impossible. */
static int brute(const struct problem *p)
{
	unsigned anchors = (1u << p->nanchors) - 1, rest = (1u << p->n) - 1 - anchors;
	int best[256];

	for (unsigned set = 0; set <= rest; set++) {
		best[set] = 99;
		if (set & anchors)
			continue;
		for (unsigned sub = set;; sub = (sub - 1) & set) {
			int more = sub == set ? 0 : best[set & ~sub];

			if ((sub || !set) && more + 1 < best[set] && group_ok(p, sub | anchors))
				best[set] = more + 1;
			if (!sub)
				break;
		}
	}
	return best[rest];
}

static void random_problem(struct problem *p)
{
	int ncounters = 1 + (int)rnd(4);

	memset(p, 0, sizeof *p);
	p->n = 1 + (int)rnd(7);
	p->nanchors = rnd(3) ? 0 : (int)rnd((unsigned)p->n > 2 ? 3 : (unsigned)p->n + 1);
	p->machine.counters = ((1ull << ncounters) - 1) | 1ull << TACH__COUNTER_FIXED;
	p->machine.watchdog = rnd(4) ? 0 : 1 + rnd(1u << (ncounters - 1));
	p->machine.watchdog &= p->machine.counters;
	p->machine.nshared[TACH__SHARED_OFFCORE] = (uint8_t)(1 + rnd(2));
	p->machine.nshared[TACH__SHARED_LDLAT] = 1;
	for (int e = 0; e < p->n; e++) {
		struct tach__want *w = &p->wants[e];

		w->counters = rnd(8) ? 1 + rnd((1u << ncounters) - 1) : 0;
		if (!rnd(4))
			w->counters |= 1ull << TACH__COUNTER_FIXED;
		if (w->counters && !rnd(3)) {
			w->shared = rnd(2) ? TACH__SHARED_OFFCORE : TACH__SHARED_LDLAT;
			w->value = rnd(3);
		}
	}
}

static void check_plan(const struct problem *p, const struct tach_schedule *plan)
{
	for (int g = 0; g < plan->ngroups; g++) {
		unsigned set = (1u << p->nanchors) - 1;
		uint64_t taken = 0;

		for (int e = p->nanchors; e < p->n; e++)
			set |= (unsigned)(plan->group[e] == g) << e;
		CHECK(group_ok(p, set), "group %d is not schedulable", g);
		for (int e = g ? p->nanchors : 0; e < p->n; e++) {
			if (!(set >> e & 1))
				continue;
			CHECK((plan->counter[e] < 0) == (p->wants[e].counters == 0));
			if (plan->counter[e] < 0)
				continue;
			CHECK(p->wants[e].counters >> plan->counter[e] & 1);
			CHECK(!(taken >> plan->counter[e] & 1), "a counter twice");
			taken |= 1ull << plan->counter[e];
		}
	}
}

static void fewest_groups(void)
{
	int split = 0;

	for (int round = 0; round < 20000; round++) {
		struct problem p;
		struct tach_schedule plan = {.size = sizeof plan};
		int want, rc;

		random_problem(&p);
		want = brute(&p);
		rc = tach__schedule(&p.machine, p.wants, p.n, p.nanchors, &plan);
		CHECK((rc == 0) == (want != 99), "round %d: rc %d, brute force %d", round, rc,
		      want);
		if (rc || want == 99)
			continue;
		CHECK(plan.ngroups == want, "round %d: %d groups, %d are enough", round,
		      plan.ngroups, want);
		check_plan(&p, &plan);
		split += want > 1;
	}
	CHECK(split > 3000, "only %d rounds had to split", split);
}

/* Fields of PERF_METRICS count only together with their slots event. */
static void metrics_with_slots(void)
{
	struct problem p = {.n = 4};
	struct tach_schedule plan = {.size = sizeof plan};

	p.machine.counters = 1 | 1ull << 35 | 0xffull << TACH__COUNTER_METRICS;
	p.wants[0].counters = p.wants[1].counters = 1;
	for (int i = 2; i < 4; i++) {
		p.wants[i].counters = 1ull << (TACH__COUNTER_METRICS + i);
		p.wants[i].metrics = 1;
	}
	CHECK(tach__schedule(&p.machine, p.wants, 4, 0, &plan) == TACH_ERR_FEATCOMB);
	p.wants[1] = (struct tach__want){.counters = 1ull << 35, .metrics = 2};
	CHECK(tach__schedule(&p.machine, p.wants, 4, 0, &plan) == 0 && plan.ngroups == 1);
}

static void hopeless_events(void)
{
	struct problem p = {.n = 2, .nanchors = 1};
	struct tach_schedule plan = {.size = sizeof plan};

	p.machine.counters = 3;
	p.wants[0].counters = 1;
	p.wants[1].counters = 4;
	CHECK(tach__schedule(&p.machine, p.wants, 2, 0, &plan) == TACH_ERR_NOASSIGN);
	p.wants[1].counters = 1;
	CHECK(tach__schedule(&p.machine, p.wants, 2, 1, &plan) == TACH_ERR_NOASSIGN);
	CHECK(tach__schedule(&p.machine, p.wants, 2, 0, &plan) == 0 && plan.ngroups == 2);
	CHECK(plan.nfit == 1, "%d", plan.nfit);
}

int main(void)
{
	CASE(fewest_groups);
	CASE(metrics_with_slots);
	CASE(hopeless_events);
	return check_done();
}
