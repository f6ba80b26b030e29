/* SPDX-License-Identifier: MIT */
/*
 * Inside a benchmark: where numbers come from, the samples of one quantity, the whole result.
 */
#ifndef TACH_CORE_BENCH_H
#define TACH_CORE_BENCH_H

#include <tach/bench.h>

/*
 * What samples are taken with: the clock and the counters of one pass. A test puts its own here
 * and so knows every number in advance.
 */
enum {
	TACH__BENCH_OWN_MAX = 16, /* counters of the caller */
	TACH__BENCH_THREADS_MAX = 256,
	/* Of a sample: time, events, the processor's time, the caller's, and what threads have
	 * beside (team.h). */
	TACH__BENCH_QUANTITIES_MAX =
		1 + TACH_COUNTERS_MAX + 1 + TACH__BENCH_OWN_MAX + 1 + TACH__BENCH_THREADS_MAX,
};

struct tach__bench_source {
	unsigned count;	   /* of counters */
	double resolution; /* of the clock, ns */
	void (*begin)(struct tach__bench_source *source);
	/* delta[0] = ns since begin, delta[1 .. count] = counts; flags[0 .. count] are or-ed
	 * to. */
	void (*end)(struct tach__bench_source *source, uint64_t *delta, uint32_t *flags);
	/* All of a sample, instead of the two; or NULL. */
	void (*take)(struct tach__bench_source *source, tach_bench_body body, void *context,
		     uint64_t n, uint64_t *delta, uint32_t *flags);
	/* Of so many threads: the first `sums` of the numbers are to be divided by that. */
	unsigned threads, sums;
	void (*before)(void *context); /* each sample, not measured; or NULL */
};

struct tach__bench_plan {
	tach_bench_body body, empty;
	void *context;
	uint64_t iterations;
	uint32_t samples;
};

/*
 * Samples of one quantity per iteration, in the order in which they were taken: each less the
 * empty loop beside it.
 */
struct tach__bench_series {
	char *name;
	double *sample;
	double empty, resolution;
	uint32_t samples, outliers, flags, pass;
	uint32_t thread, rate; /* as in struct tach_bench_quantity */
};

struct tach_bench {
	char *name;
	uint64_t iterations;
	double confidence, drift;
	char *unit; /* NULL: none */
	double units;
	unsigned threads;
	int npasses, nseries;
	struct tach__bench_series *series;
	char missing[256];
	char date[32], host[64], machine[192]; /* "": not known */
};

/*
 * The number of iterations that take at least `ns`; runs the body, which warms it up as well.
 */
uint64_t tach__bench_choose(struct tach__bench_source *source, tach_bench_body body,
			    tach_bench_body empty, void *context, double ns);
/*
 * Takes the samples of one pass into series[0 .. source->count], whose `sample` has room for
 * plan->samples each. 0 or TACH_ERR_NOMEM.
 */
int tach__bench_sample(struct tach__bench_source *source, const struct tach__bench_plan *plan,
		       double outlier, struct tach__bench_series *series);
/* Runs the body for so long. */
void tach__bench_warm(struct tach__bench_source *source, const struct tach__bench_plan *plan,
		      double ns);
/* Of its samples, NaN when there is no memory. */
double tach__bench_median(const struct tach__bench_series *series);

/* The name of the time that all threads of a benchmark take together for one iteration. */
#define TACH__BENCH_ALL "time, all"
/* The name of the processor's time: all threads of a benchmark together. */
#define TACH__BENCH_CPU "cpu time"
int tach__bench_is_time(const struct tach__bench_series *s);
/* What throughput is by: that, where there are several threads, or the time. */
const struct tach__bench_series *tach__bench_pace(const struct tach_bench *bench);

#endif
