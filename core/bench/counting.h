/* SPDX-License-Identifier: MIT */
/* The clock, the counters and the caller's own of one thread, as samples are taken with them.
 */
#ifndef TACH_CORE_BENCH_COUNTING_H
#define TACH_CORE_BENCH_COUNTING_H

#include <tach/reader.h>
#include "core/bench/bench.h"

struct tach__counting {
	struct tach__bench_source source; /* first; count: events, then the caller's counters */
	struct tach_reader *reader;	  /* NULL: the clock alone */
	const struct tach_set *set;	  /* the reader's */
	unsigned events;		  /* the set's, and one more: the processor's time */
	int cpu;			  /* it is measured */
	uint64_t cpu_start;
	const struct tach_bench_counter *own;
	struct tach_mark mark;
	uint64_t start, end; /* ns */
	uint64_t before[TACH__BENCH_OWN_MAX];
};

/* Without a reader so far. cpu: with the processor's time. */
void tach__counting_init(struct tach__counting *c, const struct tach_bench_counter *own,
			 int cpu);
/* reader NULL: the clock alone again. */
void tach__counting_use(struct tach__counting *c, struct tach_reader *reader,
			const struct tach_set *set);

#endif
