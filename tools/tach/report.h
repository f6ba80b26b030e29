/* SPDX-License-Identifier: MIT */
/* Saved reports, as the subcommands read and write them; `who` begins messages on stderr. */
#ifndef TOOLS_TACH_REPORT_H
#define TOOLS_TACH_REPORT_H

#include <stdio.h>
#include <tach/report.h>

/*
 * Reads a whole file ("-": standard input) and appends a NUL. Returns NULL after printing an
 * error.
 */
char *report_slurp(const char *file, size_t *length, const char *who);
/* Parses a report's text; file: the name in messages. */
int report_read(struct tach_snapshot **out, const char *text, size_t length, const char *file,
		const char *who);
int report_load(struct tach_snapshot **out, const char *file, const char *who);
int report_merge(struct tach_snapshot **out, struct tach_snapshot **list, int n,
		 const char *who);
/*
 * Adds `more` to the sum, which is NULL at first, and frees `more`. On an error it prints the
 * error, sets the sum to NULL and returns -1.
 */
int report_add(struct tach_snapshot **sum, struct tach_snapshot *more, const char *who);
/*
 * Finds the format by its name or, if that is NULL, by the file's suffix. Returns -1 after
 * printing an error.
 */
int report_format(const char *name, const char *file, enum tach_format *format,
		  const char *who);
/* Writes to the file or, if that is NULL, to fd. */
int report_write(const struct tach_snapshot *s, enum tach_format format, const char *file,
		 int fd, const char *who);
/* Returns the suffix of a file's name, from its last dot on, or NULL if it has no suffix. */
const char *report_suffix(const char *file);

/* ---- report_bench.c ---- */

/* Returns true if the text is the output of a benchmark program with --json. */
int report_bench_is(const char *text);
/* Writes the results as HTML. Returns -1 after printing an error. */
int report_bench(const char *json, const char *file, FILE *to);

/* ---- report_ranks.c ---- */

/* Reports of the ranks of a parallel job, in order. */
struct report_ranks {
	struct tach_snapshot **list;
	int n;
};
/* Adds one rank's report, and frees it. Returns -1 after printing an error. */
int report_ranks_add(struct report_ranks *to, struct tach_snapshot *one, const char *file,
		     const char *who);
/*
 * Joins all reports: the total, each rank, and the imbalance. Returns NULL after printing an
 * error. The caller still frees the reports.
 */
struct tach_snapshot *report_ranks_join(struct report_ranks *r, const char *who);
void report_ranks_free(struct report_ranks *r);

#endif
