/* SPDX-License-Identifier: MIT */
/* A finished benchmark: its values, and two of them compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/sized.h"
#include "core/bench/bench.h"
#include "core/change/change.h"

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

/* Returns the sorted samples, which the caller frees. NULL: no memory. */
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
	value->confidence = tach__series_interval(x, s->samples,
						  tach__persistence(s->sample, s->samples, 1),
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
	/*
	 * A time is never negative: a lower bound at or below 0 means that the time may be 0.
	 */
	if (value->low <= 0)
		value->flags |= TACH_FLAG_SMALL;
	tach__sized_done(out, value, TACH__STRUCT(tach_bench_quantity));
	free(x);
	return 0;
}

/* Finds the series with the same name and thread. */
static const struct tach__bench_series *find_series(const struct tach_bench *in,
						    const struct tach__bench_series *like)
{
	for (int i = 0; i < in->nseries; i++)
		if (in->series[i].thread == like->thread &&
		    strcmp(in->series[i].name, like->name) == 0)
			return &in->series[i];
	return NULL;
}

int tach__bench_is_time(const struct tach__bench_series *s)
{
	return strncmp(s->name, "time", strlen("time")) == 0 ||
	       strcmp(s->name, TACH__BENCH_CPU) == 0;
}

static uint32_t rule_flags(const struct tach__bench_series *a,
			   const struct tach__bench_series *b)
{
	uint32_t flags = (a->flags | b->flags) &
			 ~(TACH_FLAG_CORRECTED | TACH_FLAG_RESCHEDULED | TACH_FLAG_EMULATED);

	return !flags && tach__change_is_repeatable(a->name) ? TACH_CHANGE_EXACT : 0;
}

int tach_bench_judge(const struct tach_bench *old, const struct tach_bench *now, int i,
		     double bound, double alpha, struct tach_change_result *out)
{
	struct tach_change_rule rule = {.size = sizeof rule, .alpha = alpha};
	const struct tach__bench_series *a, *b;

	if (!old || !now || !out || i < 0 || i >= now->nseries)
		return TACH_ERR_INVAL;
	b = &now->series[i];
	a = find_series(old, b);
	if (!a)
		return TACH_ERR_NOTFOUND;
	rule.flags = rule_flags(a, b);
	rule.bound = bound >= 0		      ? bound
		     : tach__bench_is_time(b) ? TACH__BOUND_TIME
					      : TACH__BOUND_COUNT;
	return tach_change_judge(a->sample, a->samples, b->sample, b->samples, &rule, out,
				 NULL);
}
