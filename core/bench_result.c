/* SPDX-License-Identifier: MIT */
/* A finished benchmark: its values, comparison of two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench.h"
#include "core/stats.h"

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

int tach_bench_value(const struct tach_bench *bench, int i, struct tach_bench_value *value)
{
	const struct tach__bench_series *s;
	double *work;

	if (!bench || !value || i < 0 || i >= bench->nseries)
		return TACH_ERR_INVAL;
	s = &bench->series[i];
	work = malloc(s->samples * sizeof *work + 1);
	if (!work)
		return TACH_ERR_NOMEM;
	memset(value, 0, sizeof *value);
	value->name = s->name;
	value->median = tach__median(s->sample, s->samples);
	value->mad = tach__mad(s->sample, s->samples, value->median, work);
	value->confidence = tach__median_interval(s->sample, s->samples, bench->confidence,
						  &value->low, &value->high);
	value->empty = s->empty;
	value->samples = s->samples;
	value->outliers = s->outliers;
	value->flags = s->flags;
	value->pass = s->pass;
	/* Nothing takes less than nothing: an interval below 0 tells of the empty loop's error.
	 */
	if (value->low <= 0)
		value->flags |= TACH_SMALL;
	free(work);
	return 0;
}

int tach_bench_compare(const struct tach_bench *a, const struct tach_bench *b, int i,
		       struct tach_bench_difference *out)
{
	const struct tach__bench_series *x, *y;

	if (!a || !b || !out || i < 0 || i >= a->nseries || i >= b->nseries ||
	    strcmp(a->series[i].name, b->series[i].name) != 0)
		return TACH_ERR_INVAL;
	x = &a->series[i];
	y = &b->series[i];
	out->p = tach__mann_whitney(x->sample, x->samples, y->sample, y->samples);
	out->shift = tach__shift(x->sample, x->samples, y->sample, y->samples);
	if (out->p < 0 || isnan(out->shift))
		return TACH_ERR_NOMEM;
	out->differs = out->p < 1 - a->confidence && out->shift != 0;
	return 0;
}
