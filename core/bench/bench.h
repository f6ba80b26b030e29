/* SPDX-License-Identifier: MIT */
/* Internals of a benchmark: the source of numbers, the samples of one quantity, the whole
 * result. */
#ifndef TACH_CORE_BENCH_H
#define TACH_CORE_BENCH_H

#include <tach/bench.h>

/* The source of samples: the clock and the counters of one pass. Tests replace it to know all
 * numbers in advance. */
enum {
	TACH__BENCH_OWN_MAX = 16, /* counters of the caller */
	TACH__BENCH_THREADS_MAX = 256,
	/*
	 * Values of a sample: time, events, CPU time, the caller's counters, and the additional
	 * ones of threads (team.h).
	 */
	TACH__BENCH_QUANTITIES_MAX =
		1 + TACH_COUNTERS_MAX + 1 + TACH__BENCH_OWN_MAX + 1 + TACH__BENCH_THREADS_MAX,
};

struct tach__bench_source {
	unsigned count;	   /* number of counters */
	double resolution; /* resolution of the clock, in ns */
	void (*begin)(struct tach__bench_source *source);
	/* Writes ns since begin to delta[0], and counts to delta[1 .. count]. Adds flags to
	 * flags[0 .. count]. */
	void (*end)(struct tach__bench_source *source, uint64_t *delta, uint32_t *flags);
	/* Takes a whole sample, instead of begin and end; or NULL. */
	void (*take)(struct tach__bench_source *source, tach_bench_body body, void *context,
		     uint64_t n, uint64_t *delta, uint32_t *flags);
	/* The first `sums` numbers of a sample are divided by `threads`. */
	unsigned threads, sums;
	/* Called before each sample, and not measured; or NULL. */
	void (*before)(void *context);
};

struct tach__bench_plan {
	tach_bench_body body, empty;
	void *context;
	uint64_t iterations;
	uint32_t samples;
};

/*
 * Samples of one quantity per iteration, in the order of measurement; the empty loop is
 * subtracted from each.
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
	char date[32], host[64], machine[192]; /* "": unknown */
};

/*
 * Returns the number of iterations that take at least `ns`. Runs the body, which also warms up
 * its code and data.
 */
uint64_t tach__bench_choose(struct tach__bench_source *source, tach_bench_body body,
			    tach_bench_body empty, void *context, double ns);
/*
 * Takes the samples of one pass into series[0 .. source->count]; each `sample` has space for
 * plan->samples. Returns 0 or TACH_ERR_NOMEM.
 */
int tach__bench_sample(struct tach__bench_source *source, const struct tach__bench_plan *plan,
		       double outlier, struct tach__bench_series *series);
/* Runs the body for that many ns, to warm up. */
void tach__bench_warm(struct tach__bench_source *source, const struct tach__bench_plan *plan,
		      double ns);
/* Returns the median of the samples; NaN without memory. */
double tach__bench_median(const struct tach__bench_series *series);

/* Name of the time per iteration of all threads of a benchmark together. */
#define TACH__BENCH_ALL "time, all"
/* Name of the CPU time of all threads of a benchmark together. */
#define TACH__BENCH_CPU "cpu time"
int tach__bench_is_time(const struct tach__bench_series *s);
/* Returns the series for throughput: TACH__BENCH_ALL with several threads, otherwise time. */
const struct tach__bench_series *tach__bench_pace(const struct tach_bench *bench);

#endif
