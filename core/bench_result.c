/* SPDX-License-Identifier: MIT */
/* A finished benchmark: its values, comparison of two, text and JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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

	if (i < 0 || i >= bench->nseries)
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

	if (i < 0 || i >= a->nseries || i >= b->nseries ||
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

/* Appends like snprintf and keeps the whole length, so that a caller learns what room to bring.
 */
struct text {
	char *at;
	size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	size_t room = t->length < t->size ? t->size - t->length : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(room ? t->at + t->length : NULL, room, format, args);
	va_end(args);
	t->length += n > 0 ? (size_t)n : 0;
}

static void add_string(struct text *t, const char *s)
{
	add(t, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			add(t, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			add(t, "\\u%04x", *s);
		else
			add(t, "%c", *s);
	}
	add(t, "\"");
}

static void format_text(struct text *t, const struct tach_bench *b)
{
	struct tach_bench_value v;

	add(t, "%s: %llu iterations a sample%s\n", b->name, (unsigned long long)b->iterations,
	    b->npasses > 1 ? ", several passes" : "");
	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++) {
		add(t, "  %-24s %14.4f  +- %-10.4f %5.1f %% in [%.4f, %.4f]  n %u", v.name,
		    v.median, v.mad, 100 * v.confidence, v.low, v.high, v.samples);
		if (v.outliers)
			add(t, " (%u removed)", v.outliers);
		if (v.flags & TACH_SMALL)
			add(t, "  too small to tell from nothing");
		if (v.flags & TACH_CORRECTED)
			add(t, "  less one for every interrupt");
		add(t, "\n");
	}
	if (b->drift > 0.01)
		add(t, "  the passes differ by %.1f %% in instructions: not the same work\n",
		    100 * b->drift);
	if (b->missing[0])
		add(t, "  %s\n", b->missing);
}

static void format_json(struct text *t, const struct tach_bench *b)
{
	struct tach_bench_value v;

	add(t, "{\"schema\":\"tach-bench-1\",\"name\":");
	add_string(t, b->name);
	add(t, ",\"iterations\":%llu,\"passes\":%d,\"drift\":%.9g,\"values\":[",
	    (unsigned long long)b->iterations, b->npasses, b->drift);
	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++) {
		add(t, "%s{\"name\":", i ? "," : "");
		add_string(t, v.name);
		add(t,
		    ",\"median\":%.17g,\"mad\":%.17g,\"low\":%.17g,\"high\":%.17g,"
		    "\"confidence\":%.9g,\"empty\":%.17g,\"samples\":%u,\"outliers\":%u,"
		    "\"flags\":%u,\"pass\":%u}",
		    v.median, v.mad, v.low, v.high, v.confidence, v.empty, v.samples,
		    v.outliers, v.flags, v.pass);
	}
	add(t, "],\"missing\":");
	add_string(t, b->missing);
	add(t, "}\n");
}

int tach_bench_format(const struct tach_bench *bench, enum tach_bench_format format, char *text,
		      size_t size)
{
	struct text t = {text, size, 0};

	if (size)
		text[0] = '\0';
	if (format == TACH_BENCH_JSON)
		format_json(&t, bench);
	else
		format_text(&t, bench);
	return (int)t.length;
}
