/* SPDX-License-Identifier: MIT */
/* The clock, the counters and the caller's counters of one thread, as a source of samples. */
#ifndef TACH_CORE_BENCH_COUNTING_H
#define TACH_CORE_BENCH_COUNTING_H

#include <tach/reader.h>
#include "core/bench/bench.h"

struct tach__counting {
	/* First member; count: events, then the caller's counters. */
	struct tach__bench_source source;
	struct tach_reader *reader; /* NULL: only the clock */
	const struct tach_set *set; /* the set of the reader */
	unsigned events;	    /* events of the set, plus one for CPU time */
	int cpu;		    /* 1: CPU time is measured */
	uint64_t cpu_start;
	const struct tach_bench_counter *own;
	struct tach_mark mark;
	uint64_t start, end; /* ns */
	uint64_t before[TACH__BENCH_OWN_MAX];
};

/* Initializes a source without a reader. cpu: also measures CPU time. */
void tach__counting_init(struct tach__counting *c, const struct tach_bench_counter *own,
			 int cpu);
/* Sets the reader. NULL: measures only the clock from now on. */
void tach__counting_use(struct tach__counting *c, struct tach_reader *reader,
			const struct tach_set *set);

#endif
