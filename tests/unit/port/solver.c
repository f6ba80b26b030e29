/* SPDX-License-Identifier: MIT */
/*
 * The solver, compared with brute force: it finds a solution whenever one exists, and finds the
 * first in order.
 */
#include <string.h>
#include <tach/error.h>
#include "core/port/port.h"
#include "tests/check.h"

static uint64_t seed = 1;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Fills the stack, so that the solver does not find its own old values there. */
static __attribute__((noinline)) void soil(void)
{
	volatile char stack[4096];

	for (size_t i = 0; i < sizeof stack; i++)
		stack[i] = 0x55;
}

static int solve(const struct tach__problem *p, int8_t *counter)
{
	enum { BEHIND = 77 };
	int8_t room[TACH__SOLVER_MAX + 1];
	int code;

	memset(room, BEHIND, sizeof room);
	soil();
	code = tach__solve(p, room);
	CHECK(room[p->nevents] == BEHIND, "written behind the last of %d", p->nevents);
	memcpy(counter, room, (size_t)p->nevents);
	return code;
}

static int legal(const struct tach__problem *p, const int8_t *counter)
{
	uint64_t all = 0;

	for (int e = 0; e < p->nevents; e++) {
		if (counter[e] < 0 || !(p->allowed[e] >> counter[e] & 1) ||
		    all >> counter[e] & 1)
			return 0;
		all |= 1ull << counter[e];
	}
	for (int i = 0; i < p->npools; i++)
		if (__builtin_popcountll(all & p->pool[i].counters) > p->pool[i].capacity)
			return 0;
	for (int i = 0; i < p->nmusts; i++) {
		int held = p->must[i].events == 0;

		for (int e = 0; e < p->nevents; e++)
			held |= p->must[i].events >> e & 1 && counter[e] == p->must[i].counter;
		if (!held)
			return 0;
	}
	return 1;
}

/* Tries every assignment in lexicographic order; returns the first legal one. */
static int brute(const struct tach__problem *p, int event, int8_t *counter)
{
	if (event == p->nevents)
		return legal(p, counter);
	for (int pass = 0; pass < 2; pass++)
		for (int c = 0; c < 64; c++) {
			if (!(p->allowed[event] >> c & 1) ||
			    (p->prefer[event] >> c & 1) != !pass)
				continue;
			counter[event] = (int8_t)c;
			if (brute(p, event + 1, counter))
				return 1;
		}
	return 0;
}

/* For a problem without required counters: takes the first counters that fit. */
static int first_fit(const struct tach__problem *p, int event, uint64_t held, int8_t *counter)
{
	if (event == p->nevents)
		return 1;
	for (int pass = 0; pass < 2; pass++)
		for (int c = 0; c < 10; c++) {
			int fits = (p->allowed[event] & ~held) >> c & 1 &&
				   (p->prefer[event] >> c & 1) == !pass;

			for (int i = 0; i < p->npools; i++)
				fits &= !(p->pool[i].counters >> c & 1) ||
					__builtin_popcountll(held & p->pool[i].counters) <
						p->pool[i].capacity;
			counter[event] = (int8_t)c;
			if (fits && first_fit(p, event + 1, held | 1ull << c, counter))
				return 1;
		}
	return 0;
}

static void problem(struct tach__problem *p, int ncounters, int musts)
{
	memset(p, 0, sizeof *p);
	p->nevents = 1 + (int)rnd(6);
	for (int e = 0; e < p->nevents; e++) {
		p->prefer[e] = rnd(4) ? 0 : rnd(1u << ncounters);
		p->allowed[e] = rnd(3) ? 1 + rnd((1u << ncounters) - 1)
				       : 1u << rnd((unsigned)ncounters);
	}
	if (musts && rnd(2)) {
		p->nmusts = 2;
		for (int i = 0; i < 2; i++) {
			p->must[i].counter = i;
			p->must[i].events = rnd(3) ? rnd(1u << p->nevents) : 0;
		}
	} else if (rnd(2)) {
		p->npools = 2;
		for (int i = 0; i < 2; i++) {
			p->pool[i].counters = i ? 0x38 : 0x07;
			p->pool[i].capacity = 1 + (int)rnd(3);
		}
	}
}

static void equals_brute_force(void)
{
	int solvable = 0;

	for (int round = 0; round < 60000; round++) {
		struct tach__problem p;
		int8_t want[8], got[8];
		int exists, rc;

		problem(&p, 2 + (int)rnd(5), round & 1);
		exists = brute(&p, 0, want);
		rc = solve(&p, got);
		solvable += exists;
		CHECK(rc == (exists ? 0 : TACH_ERR_NOASSIGN), "round %d: rc %d, exists %d",
		      round, rc, exists);
		if (exists && !rc)
			CHECK(memcmp(want, got, (size_t)p.nevents) == 0, "round %d", round);
	}
	CHECK(solvable > 10000 && solvable < 50000, "%d solvable: a lopsided test", solvable);
}

/* Three pools that overflow into each other, and counters in no pool. */
static void through_pools(void)
{
	int solvable = 0;

	for (int round = 0; round < 4000; round++) {
		struct tach__problem p = {.nevents = 5 + (int)rnd(3), .npools = 3};
		int8_t want[10], got[10];
		int exists, rc;

		for (int i = 0; i < 3; i++) {
			p.pool[i].counters = 7ull << 3 * i;
			p.pool[i].capacity = 1 + (int)rnd(3);
		}
		for (int e = 0; e < p.nevents; e++) {
			p.allowed[e] = 1ull << rnd(10) | 1ull << rnd(10) | 1ull << rnd(9);
			p.prefer[e] = rnd(2) ? 0 : rnd(1u << 10);
		}
		exists = first_fit(&p, 0, 0, want);
		rc = solve(&p, got);
		solvable += exists;
		CHECK(rc == (exists ? 0 : TACH_ERR_NOASSIGN), "round %d: rc %d, exists %d",
		      round, rc, exists);
		if (exists && !rc)
			CHECK(memcmp(want, got, (size_t)p.nevents) == 0, "round %d", round);
	}
	CHECK(solvable > 1000 && solvable < 3000, "%d solvable: a lopsided test", solvable);
}

static void pools_and_musts(void)
{
	struct tach__problem p = {.nevents = 1, .allowed = {1}, .npools = 1, .nmusts = 1};
	int8_t c[1];

	CHECK(solve(&p, c) == TACH_ERR_INVAL);
}

/* One event per counter, each with only one allowed counter. */
static void no_choice(void)
{
	enum { N = TACH__SOLVER_MAX };

	for (int by = 0; by < N; by++) {
		struct tach__problem p = {.nevents = N};
		int8_t c[N];

		for (int e = 0; e < N; e++)
			p.allowed[e] = 1ull << (e + by) % N;
		CHECK(solve(&p, c) == 0);
		for (int e = 0; e < N; e++)
			CHECK(c[e] == (e + by) % N, "%d: %d has %d", by, e, c[e]);
	}
}

static void greedy_would_fail(void)
{
	struct tach__problem p = {.nevents = 2, .allowed = {0x3, 0x1}};
	int8_t c[2];

	CHECK(solve(&p, c) == 0);
	CHECK(c[0] == 1 && c[1] == 0, "%d %d", c[0], c[1]);
}

/* The hardest chain: event i may use counters i and i+1, the last only counter 0. */
static void longest_chain(void)
{
	struct tach__problem p = {.nevents = 64};
	int8_t c[64];

	for (int e = 0; e < 63; e++)
		p.allowed[e] = 3ull << e;
	p.allowed[63] = 1;
	CHECK(solve(&p, c) == 0);
	for (int e = 0; e < 63; e++)
		CHECK(c[e] == e + 1, "%d on %d", e, c[e]);
	CHECK(c[63] == 0);
}

int main(void)
{
	CASE(greedy_would_fail);
	CASE(no_choice);
	CASE(longest_chain);
	CASE(equals_brute_force);
	CASE(through_pools);
	CASE(pools_and_musts);
	return check_done();
}
