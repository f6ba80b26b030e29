/* SPDX-License-Identifier: MIT */
/* Threads that run a benchmark's body at the same time. */
#ifndef TACH_CORE_BENCH_TEAM_H
#define TACH_CORE_BENCH_TEAM_H

#include "core/bench/counting.h"

struct tach__team;

/*
 * Starts a team: the calling thread with the reader of `first`, and more threads up to
 * `threads`; each has its own reader if `first` has one. Returns 0, TACH_ERR_NOMEM, or the
 * error of a reader: then no thread counts, but *out is valid.
 */
int tach__team_start(struct tach__team **out, struct tach__counting *first, unsigned threads,
		     struct tach_error *err);
/* A sample consists of the sums of the threads' times and events, and of the caller's counters;
 * the time from the first start to the last end; then each thread's time. */
struct tach__bench_source *tach__team_source(struct tach__team *team);
void tach__team_end(struct tach__team *team); /* NULL is fine */

#endif
