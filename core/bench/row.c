/* SPDX-License-Identifier: MIT */
/* A finished benchmark as a row of a table, and the head of such a table. */
#include <stdio.h>
#include <string.h>
#include "core/bench/bench.h"
#include "core/bench/row.h"

enum { WIDTH = 13 };
static const char *const times[] = {"ns", "us", "ms", "s ", NULL};

static int width_of(const char *name)
{
	int n = (int)strlen(name);

	return n > WIDTH ? n : WIDTH;
}

/* Divides by thousands: from nanoseconds up to seconds, from a rate's unit up to tera. */
static double scale_value(double v, double step, const char *const *names, const char **name)
{
	for (*name = *names; v >= step && names[1]; *name = *++names)
		v /= step;
	return v;
}

void tach__bench_rate(char *text, size_t size, double units, double ns, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", NULL};
	const char *prefix;
	double r = scale_value(ns > 0 ? units * 1e9 / ns : 0, 1000, prefixes, &prefix);
	char name[64];

	tach_printable(unit, name, sizeof name);
	snprintf(text, size, "%.4g %s%s/s", r, prefix, name);
}

static void write_rate(struct tach__out *out, int width, double units, double ns,
		       const char *unit)
{
	char cell[128];

	tach__bench_rate(cell, sizeof cell, units, ns, unit);
	tach__out(out, " %*s", width, cell);
}

static int width_of_rate(const char *name)
{
	int n = width_of(name);

	return n > WIDTH + 4 ? n : WIDTH + 4;
}

static int is_time(const struct tach_bench_quantity *v)
{
	return strncmp(v->name, "time", strlen("time")) == 0 ||
	       strcmp(v->name, TACH__BENCH_CPU) == 0;
}

/* Writes a column other than time. */
static void write_cell(struct tach__out *out, const struct tach_bench_quantity *v, double ns)
{
	char name[128];
	const char *unit;
	double scale = scale_value(v->median, 1000, times, &unit);

	tach_printable(v->name, name, sizeof name);
	if (v->rate && ns > 0)
		write_rate(out, width_of_rate(name), v->median, ns, "");
	else if (v->rate)
		tach__out(out, " %*s", width_of_rate(name), "-");
	else if (is_time(v) && (v->flags & TACH_FLAG_SMALL))
		tach__out(out, " %*s", width_of(name), "about 0 ns");
	else if (is_time(v))
		tach__out(out, " %*.4g %s", width_of(name) - 3, scale, unit);
	else
		tach__out(out, " %*.*f", width_of(name), v->median < 100 ? 2 : 0, v->median);
}

void tach__bench_head(struct tach__out *out, const struct tach_bench *b)
{
	tach__out(out, "%*s %8s", WIDTH, "time", "+-");
	for (int i = 1; i < b->nseries; i++) {
		const struct tach__bench_series *s = &b->series[i];
		char name[128];

		if (s->thread)
			continue;
		tach_printable(s->name, name, sizeof name);
		tach__out(out, " %*s", s->rate ? width_of_rate(name) : width_of(name), name);
	}
	if (b->unit)
		tach__out(out, " %*s", WIDTH + 4, "rate");
}

/* Returns the time for throughput, or 0 if it is too short to measure. */
static double pace_of(const struct tach_bench *b)
{
	struct tach_bench_quantity v = {.size = sizeof v};

	return tach_bench_value(b, (int)(tach__bench_pace(b) - b->series), &v) == 0 &&
			       !(v.flags & TACH_FLAG_SMALL)
		       ? v.median
		       : 0;
}

void tach__bench_row(struct tach__out *out, const struct tach_bench *b)
{
	struct tach_bench_quantity v = {.size = sizeof v};
	double ns = pace_of(b);

	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++) {
		const char *unit;
		double scale = scale_value(v.median, 1000, times, &unit);

		if (v.thread)
			continue;
		if (i)
			write_cell(out, &v, ns);
		else if (v.flags & TACH_FLAG_SMALL)
			tach__out(out, "%*s %8s", WIDTH, "about 0 ns", "-");
		else
			tach__out(out, "%*.4g %s %6.1f %%", WIDTH - 3, scale, unit,
				  50 * (v.high - v.low) / v.median);
	}
	if (b->unit && ns > 0)
		write_rate(out, WIDTH + 4, b->units, ns, b->unit);
	else if (b->unit)
		tach__out(out, " %*s", WIDTH + 4, "-");
}
