/* SPDX-License-Identifier: MIT */
/* Formats of a result other than text and JSON: rows of a table, google-benchmark's JSON. */
#ifndef TACH_CORE_BENCH_ROW_H
#define TACH_CORE_BENCH_ROW_H

#include <tach/bench.h>
#include "core/base/out.h"

void tach__bench_head(struct tach__out *out, const struct tach_bench *b);
void tach__bench_row(struct tach__out *out, const struct tach_bench *b);
/* Writes one line per value; tach/bench_show.h has the headings of the first columns. */
void tach__bench_csv(struct tach__out *out, const struct tach_bench *b);
void tach__bench_markdown(struct tach__out *out, const struct tach_bench *b);
/* Writes objects for google-benchmark's list of benchmarks, one for each sample. */
void tach__bench_google(struct tach__out *out, const struct tach_bench *b);
/* Writes "12.5 Mbyte/s": the rate for that number of units in that number of ns. */
void tach__bench_rate(char *text, size_t size, double units, double ns, const char *unit);

#endif
