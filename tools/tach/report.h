/* SPDX-License-Identifier: MIT */
/* Saved reports, as the subcommands read and write them; `who` begins messages on stderr. */
#ifndef TOOLS_TACH_REPORT_H
#define TOOLS_TACH_REPORT_H

#include <stdio.h>
#include <tach/report.h>

/* The whole of a file, "-" is standard input, and a NUL after it; NULL with errno. */
char *report_slurp(const char *file, size_t *length);
/* A report's text; file: what messages call it. */
int report_read(struct tach_snapshot **out, const char *text, size_t length, const char *file,
		const char *who);
int report_load(struct tach_snapshot **out, const char *file, const char *who);
int report_merge(struct tach_snapshot **out, struct tach_snapshot **list, int n,
		 const char *who);
/* Takes `more`, which is freed, into the sum, NULL at first; -1: printed, and the sum is NULL.
 */
int report_add(struct tach_snapshot **sum, struct tach_snapshot *more, const char *who);
/* By the format's name or, where that is NULL, the file's suffix; -1: printed. */
int report_format(const char *name, const char *file, enum tach_format *format,
		  const char *who);
/* To the file, or where that is NULL, to fd. */
int report_write(const struct tach_snapshot *s, enum tach_format format, const char *file,
		 int fd, const char *who);
/* What a file's name ends in, from its last point on; NULL: it has none. */
const char *report_suffix(const char *file);

/* ---- report_bench.c ---- */

/* Whether that is what a program of benchmarks writes with --json. */
int report_bench_is(const char *text);
/* As HTML; -1: printed. */
int report_bench(const char *json, const char *file, FILE *to);

/* ---- report_ranks.c ---- */

/* The ranks of a parallel job, in their order. */
struct report_ranks {
	struct tach_snapshot **list;
	int n;
};
/* Takes a report of one of them, which is freed; -1: printed. */
int report_ranks_add(struct report_ranks *to, struct tach_snapshot *one, const char *file,
		     const char *who);
/* All, each and how evenly; NULL: printed. To be freed as before. */
struct tach_snapshot *report_ranks_join(struct report_ranks *r, const char *who);
void report_ranks_free(struct report_ranks *r);

#endif
