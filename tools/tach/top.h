/* SPDX-License-Identifier: MIT */
/* `tach top`: what its files share. */
#ifndef TOOLS_TACH_TOP_H
#define TOOLS_TACH_TOP_H

#include <tach/report.h>

struct top {
	int process;
	double interval;
	const char *sort, *filter; /* a column; a glob of regions, or NULL */
	int once, json;
	char command[64]; /* of the process */
};

/* ---- top_show.c ---- */

/* The column of that name in snapshots like this one, or -1. */
int top_column(const struct tach_snapshot *s, const char *name);
/* A table of what happened in so many seconds, as a terminal holds it. */
void top_table(const struct top *t, const struct tach_snapshot *s, double seconds);
void top_json(const struct top *t, const struct tach_snapshot *s, double seconds);

/* ---- top_find.c ---- */

/* What process PID is called; "?" where that cannot be read. */
void top_command(int process, char *to, size_t size);
/* The only process with regions that may be looked into; 0: none, or several, which are
 * printed.
 */
int top_find(void);

#endif
