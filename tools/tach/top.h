/* SPDX-License-Identifier: MIT */
/* `tach top`: what its files share. */
#ifndef TOOLS_TACH_TOP_H
#define TOOLS_TACH_TOP_H

#include <stdio.h>
#include <tach/report.h>

struct top {
	int process;
	double interval;
	const char *sort, *filter; /* a column; a glob of regions, or NULL */
	const char *columns;	   /* a list of quantities and metrics, or NULL */
	int once, json, reverse;
	int idle;	  /* regions without a call in the interval are shown too */
	int histograms;	  /* p99 is known */
	char command[64]; /* of the process */
};

/* ---- top_look.c: what happens from look to look ---- */

struct top_look {
	struct tach_snapshot *last, *between; /* since the start; in the interval, or NULL */
	double when, seconds;		      /* of the last look; of the interval */
	char error[512];
};
enum { TOP_ENDED = -2 };

/* EXIT_DONE, or EXIT_NO and why in `error`; later ones also TOP_ENDED. */
int top_look_first(struct top *t, struct top_look *look);
int top_look_next(struct top *t, struct top_look *look);
void top_look_free(struct top_look *look);

/* ---- top_columns.c ---- */

/* The fixed columns; then the quantities after time, then the metrics. */
enum { TOP_REGION, TOP_CALLS, TOP_TIME, TOP_SELF, TOP_THREADS, TOP_AVG, TOP_P99, TOP_COUNTED };

int top_ncolumns(const struct tach_snapshot *s);
const char *top_column_name(const struct tach_snapshot *s, int column);
/* The column of that name in snapshots like this one, or -1. */
int top_column(const struct tach_snapshot *s, const char *name);
/*
 * A rate is per second, a time a share of the interval: 1 is one thread all the time. A metric
 * is what it is. NaN: there is no value.
 */
double top_cell(const struct tach_snapshot *s, int region, int column, double seconds);
/* The same as text, at most `width` columns. */
void top_cell_text(char *to, size_t size, const struct tach_snapshot *s, int region, int column,
		   double seconds);

/* The regions to be shown, in their order; to be freed. NULL: printed. */
struct top_line {
	int region;
	double key;
};
struct top_line *top_pick(const struct top *t, const struct tach_snapshot *s, double seconds,
			  int *n);

/* ---- top_layout.c: which columns there is room for ---- */

enum { TOP_CELLS = 64 };
struct top_layout {
	int name; /* columns of the terminal that names take */
	int n;
	struct {
		int column, at, width;
	} cell[TOP_CELLS];
	int extras, more; /* columns that scroll; those that did not fit on the right */
};

/* first: as many of the columns that scroll are left out on the left. */
void top_layout(const struct top *t, const struct tach_snapshot *s, int width, int first,
		struct top_layout *out);
/* The heading of a column. */
void top_heading(char *to, size_t size, const struct tach_snapshot *s, int column, int width);
/* The first name of t->columns that is no counter or metric, or NULL. */
const char *top_unknown_column(const struct top *t, const struct tach_snapshot *s);

/* ---- top_show.c ---- */

/* A line about the process and the interval. */
void top_title(char *to, size_t size, const struct top *t, const struct top_look *look, int n);
/* The interval as plain lines. */
void top_table(const struct top *t, const struct top_look *look);
void top_json(const struct top *t, const struct top_look *look);

/* ---- top_worst.c ---- */

enum { TOP_WORST = 5 };
/* Worst entries of the interval, a line each and one of headings before; how many. */
int top_worst(const struct tach_snapshot *s, const struct top_line *lines, int n,
	      char text[TOP_WORST + 1][512]);

/* ---- top_live.c ---- */

/* The live view, until it is left; the exit status. */
int top_live(struct top *t, int fd, struct top_look *look);

/* ---- top_details.c ---- */

/* All about one region, as lines. */
void top_details(FILE *to, const struct top_look *look, int region, int ascii);
void top_help(FILE *to, const struct top_look *look);
/* Text whose lines are at most so wide. */
void top_wrap(FILE *to, const char *text, int width);

/* ---- top_find.c ---- */

/* The name of a process; "?" if it cannot be read. */
void top_command(int process, char *to, size_t size);
/* The only process with regions that may be looked into; 0: none, or several, which are
 * printed.
 */
int top_find(void);

#endif
