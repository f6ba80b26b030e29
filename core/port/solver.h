/* SPDX-License-Identifier: MIT */
/*
 * Assigns events to counters: exact, deterministic, bounded.
 *
 * Each event takes one counter of its own set, and no two events share a counter. There are two
 * options:
 * - A pool of counters shares a scarcer resource (NetBurst: 15 event selectors for 2 or 3
 *   counters). At most `capacity` counters of the pool may be used.
 * - A counter must be held by one of certain events (Itanium 2: if any L1D event is measured,
 *   one must be on PMC5).
 *
 * A problem has pools or musts, not both.
 *
 * The result is the first of all solutions in lexicographic order: event 0 gets the most
 * preferred counter that it has in any solution, then event 1, etc. If a greedy pass over the
 * events in this order finds a solution, it is this one.
 *
 * Cost: a matching by augmenting paths, without search. With n events and m counters, n paths
 * find a matching and at most n * m more decide about each event in turn. A path visits a
 * counter once, so there are at most (n * m + n) * m steps. The worst problems that hill
 * climbing found need far fewer: 25 steps for 4 events, 582 for 16 on 16 counters, 2,985 for 32
 * on 32. With pools of capacity 2 and 3, where a step may check the whole pool, it found 4,132
 * steps for 18 events on 45 counters. In the most frequent case, the preferred counters are
 * free, and there are no steps.
 */
#ifndef TACH_CORE_PORT_SOLVER_H
#define TACH_CORE_PORT_SOLVER_H

#include <stdint.h>

#define TACH__SOLVER_MAX 64 /* events; counters are bits of a uint64_t */

struct tach__pool {
	uint64_t counters;
	int capacity;
};

struct tach__must {
	int counter;
	uint64_t events; /* a bit for each event that is wanted on the counter; 0 = no demand */
};

struct tach__problem {
	int nevents;
	int npools, nmusts;
	uint64_t allowed[TACH__SOLVER_MAX];
	uint64_t prefer[TACH__SOLVER_MAX]; /* counters that are tried first; then the others;
					      both in ascending order */
	struct tach__pool pool[8];	   /* disjoint */
	struct tach__must must[2];
};

/* Fills counter[0 .. nevents-1]. Returns 0, or TACH_ERR_NOASSIGN if no solution exists. */
int tach__solve(const struct tach__problem *problem, int8_t *counter);

#endif
