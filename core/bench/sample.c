/* SPDX-License-Identifier: MIT */
/* Sampling: chooses the number of iterations, and runs body and empty loop in turn. */
#include <stdlib.h>
#include <string.h>
#include <tach/base.h>
#include "core/bench/bench.h"
#include "core/change/change.h"

enum { QUANTITIES_MAX = TACH__BENCH_QUANTITIES_MAX };

/* If a body needs more iterations than this, its time is too short to measure. */
#define ITERATIONS_MAX ((uint64_t)1 << 40)
/* The empty loop is too short to measure with fewer iterations. */
#define WORTH_A_LOOK 100000

static void sample_of(struct tach__bench_source *source, tach_bench_body body, void *context,
		      uint64_t n, uint64_t *delta, uint32_t *flags)
{
	if (source->before)
		source->before(context);
	if (source->take) {
		source->take(source, body, context, n, delta, flags);
		return;
	}
	source->begin(source);
	body(context, n);
	source->end(source, delta, flags);
}

/* Takes the shortest of several runs: an interruption must not count as time of the body. */
static uint64_t time_of(struct tach__bench_source *source, tach_bench_body body, void *context,
			uint64_t n, double enough)
{
	uint64_t least = UINT64_MAX, delta[QUANTITIES_MAX];
	uint32_t flags[QUANTITIES_MAX] = {0};

	for (int i = 0; i < 3 && (double)least >= enough; i++) {
		sample_of(source, body, context, n, delta, flags);
		delta[0] /= source->sums ? source->threads : 1;
		least = delta[0] < least ? delta[0] : least;
	}
	return least;
}

/* If a body ignores the number of iterations, its time never reaches ns. Then the time of the
 * empty loop ends the search: that loop would otherwise run for hours. */
uint64_t tach__bench_choose(struct tach__bench_source *source, tach_bench_body body,
			    tach_bench_body empty, void *context, double ns)
{
	uint64_t n = 1;

	for (;;) {
		uint64_t took = time_of(source, body, context, n, ns);
		double factor;

		if ((double)took >= ns || n >= ITERATIONS_MAX)
			return n;
		if (n >= WORTH_A_LOOK && (double)time_of(source, empty, context, n, ns) >= ns)
			return n;
		/* Early runs are slow (cold caches, page faults): do not increase too much
		 * because of them. */
		factor = took ? 1.2 * ns / (double)took : 10;
		n = factor >= 10 ? n * 10 : (uint64_t)((double)n * factor) + 1;
	}
}

void tach__bench_warm(struct tach__bench_source *source, const struct tach__bench_plan *plan,
		      double ns)
{
	uint64_t delta[QUANTITIES_MAX];
	uint32_t flags[QUANTITIES_MAX] = {0};
	double took = 0;

	/* If the body is too short to measure, a million samples are enough to warm it up. */
	for (int i = 0; i < 1000000 && took < ns; i++) {
		sample_of(source, plan->body, plan->context, plan->iterations, delta, flags);
		took += (double)delta[0];
	}
}

static double median_of(double *x, size_t n)
{
	tach__sort(x, n);
	return tach__median(x, n);
}

/* Body and empty loop are measured one after the other, so that a change of the machine's speed
 * affects both. The order alternates, so that a trend favours neither. */
static void take_both(struct tach__bench_source *source, const struct tach__bench_plan *plan,
		      int body_first, uint64_t delta[2][QUANTITIES_MAX], uint32_t *flags)
{
	for (int i = 0; i < 2; i++) {
		int body = i != body_first;

		sample_of(source, body ? plan->body : plan->empty, plan->context,
			  plan->iterations, delta[body], flags);
	}
}

int tach__bench_sample(struct tach__bench_source *source, const struct tach__bench_plan *plan,
		       double outlier, struct tach__bench_series *series)
{
	unsigned quantities = source->count + 1;
	uint32_t n = plan->samples, flags[QUANTITIES_MAX] = {0};
	double *empty = malloc((size_t)n * quantities * sizeof *empty);
	uint64_t delta[2][QUANTITIES_MAX];

	if (!empty)
		return TACH_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		take_both(source, plan, i % 2 != 0, delta, flags);
		for (unsigned q = 0; q < quantities; q++) {
			/*
			 * Divides instead of multiplying by the inverse, so that a whole number
			 * of events per iteration stays whole.
			 */
			double times = (double)plan->iterations *
				       (q < source->sums ? source->threads : 1);

			empty[q * n + i] = (double)delta[0][q] / times;
			series[q].sample[i] =
				((double)delta[1][q] - (double)delta[0][q]) / times;
		}
	}
	for (unsigned q = 0; q < quantities; q++) {
		struct tach__bench_series *s = &series[q];

		s->empty = median_of(empty + q * n, n);
		s->resolution = q == 0 ? source->resolution / (double)plan->iterations : 0;
		s->samples = n;
		/* The empty loop's samples are no longer needed: their memory is used for
		 * counting. */
		s->outliers = outlier < 0 ? 0
					  : (uint32_t)tach__outliers(s->sample, n, outlier,
								     empty + q * n);
		s->flags |= flags[q];
	}
	free(empty);
	return 0;
}
