/* SPDX-License-Identifier: MIT */
/* A finished benchmark as lines of CSV and of a Markdown table, one for each value. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/bench/bench.h"
#include "core/bench/row.h"

static const char *unit_of(const struct tach_bench *b, int i)
{
	return tach__bench_is_time(&b->series[i]) ? "ns" : "count";
}

void tach__bench_csv(struct tach__out *out, const struct tach_bench *b)
{
	struct tach_bench_quantity v = {.size = sizeof v};

	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++) {
		const double number[] = {v.median, v.low, v.high, v.confidence, v.mad};

		tach__out_csv_string(out, b->name);
		tach__out_text(out, ",");
		tach__out_csv_string(out, v.name);
		tach__out(out, ",%u,%s", v.thread, unit_of(b, i));
		for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
			tach__out_text(out, ",");
			tach__out_number(out, number[k], "");
		}
		tach__out(out, ",%u\r\n", v.samples);
	}
}

static void put_escaped(struct tach__out *out, const char *name)
{
	char shown[256];

	tach_printable(name, shown, sizeof shown);
	for (const char *c = shown; *c; c++)
		tach__out(out, strchr("|\\`*_<>[]", *c) ? "\\%c" : "%c", *c);
}

void tach__bench_markdown(struct tach__out *out, const struct tach_bench *b)
{
	struct tach_bench_quantity v = {.size = sizeof v};

	for (int i = 0; tach_bench_value(b, i, &v) == 0; i++) {
		tach__out_text(out, "| ");
		put_escaped(out, b->name);
		tach__out_text(out, " | ");
		put_escaped(out, v.name);
		if (v.thread)
			tach__out(out, " of thread %u", v.thread);
		tach__out(out, "%s | %.6g | %.6g to %.6g | %.0f %% | %u |\n",
			  tach__bench_is_time(&b->series[i]) ? " (ns)" : "", v.median, v.low,
			  v.high, 100 * v.confidence, v.samples);
	}
}
