/* SPDX-License-Identifier: MIT */
/*
 * Splits events into the fewest groups. Groups are copies of the machine's counters. An event
 * uses one counter of any copy, an anchor uses one counter of each copy. A bipartite matching
 * decides exactly if k groups are enough; k increases from 1. Events with equal values can
 * share a register, which a matching cannot express. These few events are tried in each group,
 * up to a limit.
 */
#include <string.h>
#include "core/pmu/pmu.h"

/* The caller's maximum, and one more for the watchdog. */
#define EVENTS (TACH_SCHEDULE_MAX + 1)
/* Fewer events than this use small arrays, because some callers have a small stack
 * (core/os/stack.h). Most schedules are for a set, which has fewer. */
#define FEW 65
/* Maximum number of trials for events with shared registers, per number of groups. It is enough
 * for 8 such events. */
#define TRIALS_MAX 5000

struct split {
	const struct tach__machine *machine;
	const struct tach__want *wants;
	int n, nanchors, ngroups;
	int trials;
	int16_t pinned[EVENTS]; /* the only allowed group, -1 = any */
	/* The matching. A seeker is an event, or anchor a's copy for group g, with number n + a
	 * * ngroups + g. */
	int16_t (*owner)[64]; /* by group */
	uint64_t visited[EVENTS];
	uint8_t group[EVENTS]; /* the result */
	int8_t counter[EVENTS];
};

static const struct tach__want *want_of(const struct split *s, int seeker)
{
	return &s->wants[seeker < s->n ? seeker : (seeker - s->n) / s->ngroups];
}

static void groups_of(const struct split *s, int seeker, int *first, int *last)
{
	int g = seeker >= s->n ? (seeker - s->n) % s->ngroups : s->pinned[seeker];

	*first = g < 0 ? 0 : g;
	*last = g < 0 ? s->ngroups - 1 : g;
}

/* Takes a free place, if there is one, so that other events stay in their groups. */
static int take_free(const struct split *s, int seeker, uint64_t allowed, int first, int last)
{
	for (int g = first; g <= last; g++)
		for (uint64_t left = allowed; left; left &= left - 1) {
			int c = __builtin_ctzll(left);

			if (s->owner[g][c] >= 0)
				continue;
			s->owner[g][c] = (int16_t)seeker;
			return 1;
		}
	return 0;
}

static int augment(struct split *s, int seeker)
{
	uint64_t allowed = want_of(s, seeker)->counters & s->machine->counters;
	int first, last;

	groups_of(s, seeker, &first, &last);
	if (take_free(s, seeker, allowed, first, last))
		return 1;
	for (int g = first; g <= last; g++) {
		uint64_t left;

		while ((left = allowed & ~s->visited[g])) {
			int c = __builtin_ctzll(left);

			s->visited[g] |= 1ull << c;
			if (!augment(s, s->owner[g][c]))
				continue;
			s->owner[g][c] = (int16_t)seeker;
			return 1;
		}
	}
	return 0;
}

static int place(struct split *s, int seeker)
{
	if (!want_of(s, seeker)->counters)
		return 1;
	memset(s->visited, 0, (size_t)s->ngroups * sizeof *s->visited);
	return augment(s, seeker);
}

static int match(struct split *s)
{
	for (int g = 0; g < s->ngroups; g++)
		memset(s->owner[g], 0xff, sizeof s->owner[g]);
	for (int a = 0; a < s->nanchors; a++)
		for (int g = 0; g < s->ngroups; g++)
			if (!place(s, s->n + a * s->ngroups + g))
				return 0;
	for (int e = s->nanchors; e < s->n; e++)
		if (!place(s, e))
			return 0;
	return 1;
}

/*
 * Returns 1 if group g has space for the value that event e needs, in addition to earlier ones.
 */
static int shares(const struct split *s, int e, int g)
{
	const struct tach__want *w = &s->wants[e];
	int distinct = 0;

	for (int i = 0; i < e; i++) {
		const struct tach__want *o = &s->wants[i];
		int seen = 0;

		if (o->shared != w->shared || (i >= s->nanchors && s->pinned[i] != g))
			continue;
		if (o->value == w->value)
			return 1;
		for (int j = 0; j < i; j++)
			seen |= s->wants[j].shared == w->shared &&
				s->wants[j].value == o->value &&
				(j < s->nanchors || s->pinned[j] == g);
		distinct += !seen;
	}
	return distinct < s->machine->nshared[w->shared];
}

/* Assigns groups to all events from e on that share a register, then matches. */
static int pin_and_match(struct split *s, int e)
{
	int used = 0;

	while (e < s->n && !s->wants[e].shared)
		e++;
	if (e == s->n)
		return s->trials-- > 0 && match(s);
	if (e < s->nanchors)
		return shares(s, e, 0) && pin_and_match(s, e + 1);
	for (int i = s->nanchors; i < e; i++)
		if (s->wants[i].shared && s->pinned[i] >= used)
			used = s->pinned[i] + 1;
	/* Groups without any of these events are equivalent, so one of them is tried. */
	for (int g = 0; g < s->ngroups && g <= used; g++) {
		s->pinned[e] = (int16_t)g;
		if (shares(s, e, g) && pin_and_match(s, e + 1))
			return 1;
	}
	s->pinned[e] = -1;
	return 0;
}

static int split_into(struct split *s, int ngroups)
{
	unsigned shared = 0;

	s->ngroups = ngroups;
	s->trials = TRIALS_MAX;
	for (int e = 0; e < s->n; e++) {
		/* Fields of PERF_METRICS take no place of another event: the first group has
		 * space. */
		s->pinned[e] = s->wants[e].metrics && e >= s->nanchors ? 0 : -1;
		shared |= s->wants[e].shared;
	}
	/* If they do not fit even without shared registers, no trial is needed. */
	return (!shared || match(s)) && pin_and_match(s, 0);
}

/*
 * Sets the counters of the events in one group. Takes the solver's first result, which prefers
 * fixed counters.
 */
static void settle(struct split *s, int group)
{
	struct tach__problem p = {.nevents = 0};
	int who[TACH__SOLVER_MAX];
	int8_t counter[TACH__SOLVER_MAX];

	for (int e = 0; e < s->n; e++) {
		if ((e >= s->nanchors && s->group[e] != group) || !s->wants[e].counters)
			continue;
		who[p.nevents] = e;
		p.prefer[p.nevents] = ~0xffffffffull;
		p.allowed[p.nevents++] = s->wants[e].counters & s->machine->counters;
	}
	if (tach__solve(&p, counter))
		return;
	for (int i = 0; i < p.nevents; i++)
		if (who[i] >= s->nanchors || group == 0)
			s->counter[who[i]] = counter[i];
}

static void record_groups(struct split *s)
{
	memset(s->counter, 0xff, sizeof s->counter);
	memset(s->group, 0, sizeof s->group);
	for (int g = 0; g < s->ngroups; g++)
		for (int c = 0; c < 64; c++)
			if (s->owner[g][c] >= 0 && s->owner[g][c] < s->n)
				s->group[s->owner[g][c]] = (uint8_t)g;
	for (int g = 0; g < s->ngroups; g++)
		settle(s, g);
}

/*
 * Returns the maximum number of events in one group. It adds each event that still fits, which
 * gives the maximum, because the sets that fit are a matroid. With shared registers, the result
 * depends on the order of the events.
 */
static int count_largest_fit(struct split *s)
{
	int fit = 0;

	s->ngroups = 1;
	memset(s->owner[0], 0xff, sizeof s->owner[0]);
	for (int e = 0; e < s->n; e++) {
		s->pinned[e] = 0;
		if (s->wants[e].shared && !shares(s, e, 0)) {
			s->pinned[e] = -1;
			continue;
		}
		if (!place(s, e)) {
			s->pinned[e] = -1;
			continue;
		}
		fit++;
	}
	return fit;
}

static int check(const struct tach__machine *m, const struct tach__want *wants, int n,
		 int nanchors)
{
	int metrics = 0, anchored = 0;

	for (int e = 0; e < n; e++) {
		if (wants[e].counters && !(wants[e].counters & m->counters))
			return TACH_ERR_NOASSIGN;
		if (wants[e].shared && !m->nshared[wants[e].shared])
			return TACH_ERR_NOASSIGN;
		metrics |= wants[e].metrics;
		if (e < nanchors)
			anchored |= wants[e].metrics;
	}
	return metrics == 1 || anchored == 1 ? TACH_ERR_FEATCOMB : 0;
}

/* Splits the events. s has space for all of them. The watchdog is one more anchor, in front of
 * the caller's events. */
static int schedule(struct split *s, struct tach__want *with, const struct tach__want *wants,
		    int n, int nanchors, struct tach_schedule *out)
{
	int watchdog = s->machine->watchdog != 0;

	s->wants = with;
	s->n = n + watchdog;
	s->nanchors = nanchors + watchdog;
	with[0] = (struct tach__want){.counters = s->machine->watchdog};
	memcpy(with + watchdog, wants, (size_t)n * sizeof *wants);
	out->nfit = count_largest_fit(s) - watchdog;
	for (int k = 1; k == 1 || k <= n - nanchors; k++) {
		if (!split_into(s, k))
			continue;
		record_groups(s);
		out->ngroups = k;
		memcpy(out->group, s->group + watchdog, (size_t)n);
		memcpy(out->counter, s->counter + watchdog, (size_t)n);
		return 0;
	}
	return TACH_ERR_NOASSIGN;
}

static __attribute__((noinline)) int schedule_few(const struct tach__machine *machine,
						  const struct tach__want *wants, int n,
						  int nanchors, struct tach_schedule *out)
{
	struct tach__want with[FEW];
	int16_t owner[FEW][64];
	struct split s = {.machine = machine, .owner = owner};

	return schedule(&s, with, wants, n, nanchors, out);
}

static __attribute__((noinline)) int schedule_many(const struct tach__machine *machine,
						   const struct tach__want *wants, int n,
						   int nanchors, struct tach_schedule *out)
{
	struct tach__want with[EVENTS];
	int16_t owner[EVENTS][64];
	struct split s = {.machine = machine, .owner = owner};

	return schedule(&s, with, wants, n, nanchors, out);
}

int tach__schedule(const struct tach__machine *machine, const struct tach__want *wants, int n,
		   int nanchors, struct tach_schedule *out)
{
	int rc = check(machine, wants, n, nanchors);

	if (rc)
		return rc;
	return n < FEW ? schedule_few(machine, wants, n, nanchors, out)
		       : schedule_many(machine, wants, n, nanchors, out);
}
