/* SPDX-License-Identifier: MIT */
/* A finished benchmark: its values, comparison of two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/sized.h"
#include "core/bench/bench.h"
#include "core/bench/decide.h"
#include "core/bench/stats.h"

void tach_bench_free(struct tach_bench *bench)
{
	if (!bench)
		return;
	for (int i = 0; i < bench->nseries; i++) {
		free(bench->series[i].name);
		free(bench->series[i].sample);
	}
	free(bench->series);
	free(bench->name);
	free(bench->unit);
	free(bench);
}

const char *tach_bench_name(const struct tach_bench *bench)
{
	return bench->name;
}

uint64_t tach_bench_iterations(const struct tach_bench *bench)
{
	return bench->iterations;
}

int tach_bench_passes(const struct tach_bench *bench)
{
	return bench->npasses;
}

int tach_bench_count(const struct tach_bench *bench)
{
	return bench->nseries;
}

const char *tach_bench_missing(const struct tach_bench *bench)
{
	return bench->missing;
}

double tach_bench_drift(const struct tach_bench *bench)
{
	return bench->drift;
}

const struct tach__bench_series *tach__bench_pace(const struct tach_bench *bench)
{
	for (int i = 1; i < bench->nseries; i++)
		if (strcmp(bench->series[i].name, TACH__BENCH_ALL) == 0)
			return &bench->series[i];
	return bench->series;
}

/* Its samples sorted, to be freed; NULL: no memory. */
static double *sorted_samples(const struct tach__bench_series *s)
{
	double *x = malloc(s->samples * sizeof *x + 1);

	if (x) {
		memcpy(x, s->sample, s->samples * sizeof *x);
		tach__sort(x, s->samples);
	}
	return x;
}

double tach__bench_median(const struct tach__bench_series *series)
{
	double *x = sorted_samples(series), median = x ? tach__median(x, series->samples) : NAN;

	free(x);
	return median;
}

int tach_bench_value(const struct tach_bench *bench, int i, struct tach_bench_quantity *out)
{
	const struct tach__bench_series *s;
	struct tach_bench_quantity ours, *value;
	double *x;

	if (!bench || i < 0 || i >= bench->nseries)
		return TACH_ERR_INVAL;
	value = tach__sized_out(out, &ours, TACH__STRUCT(tach_bench_quantity), NULL);
	if (!value)
		return TACH_ERR_INVAL;
	s = &bench->series[i];
	x = sorted_samples(s);
	if (!x)
		return TACH_ERR_NOMEM;
	value->name = s->name;
	value->median = tach__median(x, s->samples);
	value->confidence =
		tach__series_interval(x, s->samples, tach__persistence(s->sample, s->samples),
				      bench->confidence, &value->low, &value->high);
	value->mad = tach__mad(s->sample, s->samples, value->median, x);
	value->low -= s->resolution;
	value->high += s->resolution;
	value->empty = s->empty;
	value->samples = s->samples;
	value->outliers = s->outliers;
	value->flags = s->flags;
	value->pass = s->pass;
	value->thread = s->thread;
	value->rate = s->rate;
	/* No time is negative: what is at or below 0 cannot be told from 0. */
	if (value->low <= 0)
		value->flags |= TACH_FLAG_SMALL;
	tach__sized_done(out, value, TACH__STRUCT(tach_bench_quantity));
	free(x);
	return 0;
}

int tach_bench_compare(const struct tach_bench *a, const struct tach_bench *b, int i,
		       struct tach_bench_difference *out)
{
	const struct tach__bench_series *x, *y;
	double p, q;

	if (!a || !b || !out || i < 0 || i >= a->nseries || i >= b->nseries ||
	    strcmp(a->series[i].name, b->series[i].name) != 0)
		return TACH_ERR_INVAL;
	x = &a->series[i];
	y = &b->series[i];
	/* The test takes samples for independent; those of a machine whose speed changes are
	 * not.
	 */
	p = tach__persistence(x->sample, x->samples);
	q = tach__persistence(y->sample, y->samples);
	out->p = tach__persistent_p(
		tach__mann_whitney(x->sample, x->samples, y->sample, y->samples),
		p > q ? p : q);
	out->shift = tach__shift(x->sample, x->samples, y->sample, y->samples);
	if (out->p < 0 || isnan(out->shift))
		return TACH_ERR_NOMEM;
	out->reserved = 0;
	out->differs = out->p < 1 - a->confidence && out->shift != 0;
	return 0;
}

int tach_bench_judge(const struct tach_bench *old, const struct tach_bench *now, int i,
		     double bound, double alpha, double *change, double *detectable)
{
	struct tach__rule rule = {.bound = bound, .alpha = alpha};
	struct tach__decision is;
	struct tach__values a, b;

	if (!old || !now || i < 0 || i >= old->nseries || i >= now->nseries ||
	    strcmp(old->series[i].name, now->series[i].name) != 0 || !(bound >= 0) ||
	    !(alpha > 0 && alpha < 1))
		return TACH_ERR_INVAL;
	a = (struct tach__values){old->series[i].sample, old->series[i].samples};
	b = (struct tach__values){now->series[i].sample, now->series[i].samples};
	tach__decide(&is, &rule, a, b);
	if (change)
		*change = is.change;
	if (detectable)
		*detectable = tach__detectable(&is, &rule, a, b);
	return (int)is.verdict;
}
