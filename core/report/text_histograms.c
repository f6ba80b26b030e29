/* SPDX-License-Identifier: MIT */
/* Writes histograms as text: the distribution of single calls, one line for each power of
 * two. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"
#include "core/report/units.h"

enum { BAR = 40, POWERS = 1025 };

static void write_quantiles(struct tach__out *out, const struct tach_snapshot *s, int region,
			    int quantity, int ascii)
{
	static const struct {
		const char *name;
		double p;
	} which[] = {{"min", 0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};
	char value[2 * TACH__UNIT_MAX], *sign;

	tach__out_text(out, "  ");
	tach__report_line(out, tach_snapshot_quantity(s, quantity), ascii);
	tach__out_text(out, ":");
	for (int i = 0; i < 5; i++) {
		tach__unit_quantile(value, s, region, quantity, which[i].p);
		sign = ascii ? strstr(value, "\u00b1") : NULL;
		if (sign)
			memcpy(sign, "+-", 2);
		tach__out(out, "%s %s %s", i ? "," : "", which[i].name, value);
	}
	tach__out_text(out, "\n");
}

/* Returns the exponent of the smallest power of two above v, or 0 if v is below 1. */
static int power_above(double v)
{
	int exponent;

	frexp(v, &exponent);
	return exponent < 0 ? 0 : exponent;
}

static void write_text_bars(struct tach__out *out, const struct tach_snapshot *s, int quantity,
			    const struct tach_bucket *b, int n)
{
	double count[POWERS] = {0}, most = 0;
	int first = power_above(b[0].low), last = power_above(b[n - 1].low);

	for (int i = 0; i < n; i++) {
		double *to = &count[power_above(b[i].low)];

		*to += (double)b[i].count;
		most = *to > most ? *to : most;
	}
	for (int p = first; p <= last && most > 0; p++) {
		char low[TACH__UNIT_MAX], number[TACH__UNIT_MAX];
		int length = (int)ceil(BAR * count[p] / most);

		tach__unit_value(low, s, quantity, p ? ldexp(1, p - 1) : 0);
		tach__unit_count(number, count[p]);
		tach__out(out, "    from %9s  %-*.*s  %s\n", low, BAR, length,
			  "########################################", number);
	}
}

/* Uses pages instead of malloc, because a handler of a deadly signal may write this. */
void tach__report_text_histogram(struct tach__out *out, const struct tach_snapshot *s,
				 int region, int ascii)
{
	int n = tach_snapshot_buckets(s, region, TACH_QUANTITY_TIME, NULL, 0);
	size_t size = n > 0 ? (size_t)n * sizeof(struct tach_bucket) : 0;
	struct tach_bucket *b = size ? tach__pages(size) : NULL;
	struct tach_region_info info = {0};

	out->lacking |= size && !b;
	if (!b)
		return;
	tach_snapshot_region(s, region, &info);
	tach_snapshot_buckets(s, region, TACH_QUANTITY_TIME, b, n);
	tach__out_text(out, "\n");
	tach__report_line(out, info.name, ascii);
	tach__out_text(out, ", single calls:\n");
	for (int q = 0; q < tach_snapshot_nquantities(s); q = tach__column_next(s, q))
		write_quantiles(out, s, region, q, ascii);
	write_text_bars(out, s, TACH_QUANTITY_TIME, b, n);
	tach__pages_free(b, size);
}

void tach__report_text_histograms(struct tach__out *out, const struct tach_snapshot *s,
				  int ascii)
{
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		tach__report_text_histogram(out, s, r, ascii);
	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		tach__report_text_worst(out, s, r, ascii);
}
