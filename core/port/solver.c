/* SPDX-License-Identifier: MIT */
/* Finds the matching for solver.h by augmenting paths over bit masks. */
#include <tach/error.h>
#include "core/port/solver.h"

struct state {
	const struct tach__problem *p;
	uint64_t allowed[TACH__SOLVER_MAX]; /* counters that are still allowed; each decision
					       removes some */
	struct placement {
		int8_t counter[TACH__SOLVER_MAX]; /* by event */
		int8_t owner[64];		  /* for each counter that is held, its event */
		uint64_t held;			  /* counters that have an owner */
		uint8_t used[8];		  /* number of counters taken, per pool */
	} now;
};

static int pool_of(const struct state *s, int counter)
{
	for (int i = 0; i < s->p->npools; i++)
		if (s->p->pool[i].counters >> counter & 1)
			return i;
	return -1;
}

static int next_counter(const struct state *s, int event, uint64_t mask)
{
	uint64_t first = mask & s->p->prefer[event];

	return __builtin_ctzll(first ? first : mask);
}

static void take_counter(struct state *s, int event, int counter)
{
	s->now.owner[counter] = (int8_t)event;
	s->now.counter[event] = (int8_t)counter;
	s->now.held |= 1ull << counter;
}

static int augment(struct state *s, int event, uint64_t *visited, unsigned *pools);

/* The pool is full, so another event of the pool must give up its counter. */
static int push_out(struct state *s, int pool, uint64_t *visited, unsigned *pools)
{
	uint64_t left;

	if (*pools & 1u << pool)
		return 0;
	*pools |= 1u << pool;
	left = s->p->pool[pool].counters & s->now.held & ~*visited;
	for (; left; left &= left - 1) {
		int c = __builtin_ctzll(left);

		/* A recursive call tried this counter without success. */
		if (*visited >> c & 1)
			continue;
		*visited |= 1ull << c;
		if (augment(s, s->now.owner[c], visited, pools)) {
			s->now.held &= ~(1ull << c);
			return 1;
		}
	}
	return 0;
}

/*
 * Finds a counter for `event`, and moves others along an alternating path. A path visits each
 * counter and each pool at most once. If only one counter is allowed for an event, the event
 * cannot be moved. So decisions stay.
 */
static int augment(struct state *s, int event, uint64_t *visited, unsigned *pools)
{
	uint64_t left;

	while ((left = s->allowed[event] & ~*visited)) {
		int c = next_counter(s, event, left), pool = pool_of(s, c);

		*visited |= 1ull << c;
		if (s->now.held >> c & 1) {
			if (!augment(s, s->now.owner[c], visited, pools))
				continue;
		} else if (pool >= 0 && s->now.used[pool] >= s->p->pool[pool].capacity) {
			if (!push_out(s, pool, visited, pools))
				continue;
		} else if (pool >= 0) {
			s->now.used[pool]++;
		}
		take_counter(s, event, c);
		return 1;
	}
	return 0;
}

/* Handles the most frequent case: no other event has to move. */
static int place_free(struct state *s, int event)
{
	uint64_t left = s->allowed[event] & ~s->now.held;

	while (left) {
		int c = next_counter(s, event, left), pool = pool_of(s, c);

		if (pool < 0 || s->now.used[pool] < s->p->pool[pool].capacity) {
			if (pool >= 0)
				s->now.used[pool]++;
			take_counter(s, event, c);
			return 1;
		}
		left &= ~s->p->pool[pool].counters;
	}
	return 0;
}

static int place_event(struct state *s, int event)
{
	uint64_t visited = 0;
	unsigned pools = 0;

	return place_free(s, event) || augment(s, event, &visited, &pools);
}

/*
 * Returns 1 if events that are wanted on the demanded counters can still hold them. If so, and
 * if all events can be placed, one assignment has both properties (Mendelsohn and Dulmage). No
 * search is needed, because after the last decision only this assignment is left.
 */
static int musts_hold(const struct state *s)
{
	uint64_t who[2] = {0, 0};
	int n = 0;

	for (int i = 0; i < s->p->nmusts; i++) {
		if (!s->p->must[i].events)
			continue;
		for (uint64_t left = s->p->must[i].events; left; left &= left - 1) {
			int e = __builtin_ctzll(left);

			if (s->allowed[e] >> s->p->must[i].counter & 1)
				who[n] |= 1ull << e;
		}
		if (!who[n++])
			return 0;
	}
	return n < 2 || (who[0] | who[1]) & ((who[0] | who[1]) - 1);
}

/* Tries to assign counter c to `event` permanently. If that fails, changes nothing. */
static int settle_counter(struct state *s, int event, int c)
{
	struct placement saved;
	uint64_t allowed = s->allowed[event];
	int old = s->now.counter[event], pool = pool_of(s, old);

	if (old == c && !s->p->nmusts) {
		s->allowed[event] = 1ull << c;
		return 1;
	}
	saved = s->now;
	s->allowed[event] = 1ull << c;
	if (old != c) {
		s->now.held &= ~(1ull << old);
		if (pool >= 0)
			s->now.used[pool]--;
	}
	if ((old == c || place_event(s, event)) && musts_hold(s))
		return 1;
	s->now = saved;
	s->allowed[event] = allowed;
	return 0;
}

static int start_solver(struct state *s)
{
	const struct tach__problem *p = s->p;

	s->now.held = 0;
	for (int i = 0; i < p->npools; i++)
		s->now.used[i] = 0;
	for (int e = 0; e < p->nevents; e++) {
		s->allowed[e] = p->allowed[e];
		for (int i = 0; i < p->nmusts; i++)
			if (p->must[i].events && !(p->must[i].events >> e & 1))
				s->allowed[e] &= ~(1ull << p->must[i].counter);
	}
	for (int e = 0; e < p->nevents; e++)
		if (!place_event(s, e))
			return TACH_ERR_NOASSIGN;
	return musts_hold(s) ? 0 : TACH_ERR_NOASSIGN;
}

int tach__solve(const struct tach__problem *problem, int8_t *counter)
{
	struct state s; /* start() initializes the used part */
	int rc;

	if (problem->npools && problem->nmusts)
		return TACH_ERR_INVAL;
	s.p = problem;
	rc = start_solver(&s);
	if (rc)
		return rc;
	for (int e = 0; e < problem->nevents; e++) {
		uint64_t left = s.allowed[e];

		while (left) {
			int c = next_counter(&s, e, left);

			left &= ~(1ull << c);
			if (settle_counter(&s, e, c))
				break;
		}
	}
	for (int e = 0; e < problem->nevents; e++)
		counter[e] = s.now.counter[e];
	return 0;
}
