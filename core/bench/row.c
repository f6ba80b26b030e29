/* SPDX-License-Identifier: MIT */
/* A finished benchmark as a row of a table, and the head of such a table. */
#include <stdio.h>
#include <string.h>
#include "core/bench/bench.h"
#include "core/bench/row.h"

enum { WIDTH = 13 };

static int width_of(const char *name)
{
	int n = (int)strlen(name);

	return n > WIDTH ? n : WIDTH;
}

/* In steps of thousands: of nanoseconds up to seconds, of a rate's unit up to tera. */
static double scaled(double v, double step, const char *const *names, const char **name)
{
	for (*name = *names; v >= step && names[1]; *name = *++names)
		v /= step;
	return v;
}

static void rate(struct tach__out *out, const struct tach_bench *b, double ns)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", NULL};
	const char *prefix;
	double r = scaled(b->units * 1e9 / ns, 1000, prefixes, &prefix);
	char cell[64], unit[32];

	tach_printable(b->unit, unit, sizeof unit);
	snprintf(cell, sizeof cell, "%.4g %s%s/s", r, prefix, unit);
	tach__out(out, " %*s", WIDTH + 4, cell);
}

void tach__bench_head(struct tach__out *out, const struct tach_bench *b)
{
	tach__out(out, "%*s %8s", WIDTH, "time", "+-");
	for (int i = 1; i < b->nseries; i++) {
		char name[128];

		tach_printable(b->series[i].name, name, sizeof name);
		tach__out(out, " %*s", width_of(name), name);
	}
	if (b->unit)
		tach__out(out, " %*s", WIDTH + 4, "rate");
}

void tach__bench_row(struct tach__out *out, const struct tach_bench *b)
{
	static const char *const units[] = {"ns", "us", "ms", "s ", NULL};
	struct tach_bench_quantity v = {.size = sizeof v};

	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++) {
		const char *unit;
		double scale = scaled(v.median, 1000, units, &unit);
		char name[128];

		tach_printable(v.name, name, sizeof name);
		if (i)
			tach__out(out, " %*.*f", width_of(name), v.median < 100 ? 2 : 0,
				  v.median);
		else if (v.flags & TACH_FLAG_SMALL)
			tach__out(out, "%*s %8s", WIDTH, "about 0 ns", "-");
		else
			tach__out(out, "%*.4g %s %6.1f %%", WIDTH - 3, scale, unit,
				  50 * (v.high - v.low) / v.median);
	}
	if (b->unit && tach_bench_value(b, 0, &v) == 0) {
		if (v.flags & TACH_FLAG_SMALL)
			tach__out(out, " %*s", WIDTH + 4, "-");
		else
			rate(out, b, v.median);
	}
}
