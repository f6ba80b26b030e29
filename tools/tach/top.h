/* SPDX-License-Identifier: MIT */
/* `tach top`: declarations that its files share. */
#ifndef TOOLS_TACH_TOP_H
#define TOOLS_TACH_TOP_H

#include <stdio.h>
#include <tach/report.h>

struct top {
	int process;
	double interval;
	const char *sort, *filter; /* name of a column; a glob of regions, or NULL */
	const char *columns;	   /* a list of quantities and metrics, or NULL */
	int once, json, reverse;
	int idle;	  /* also show regions without a call in the interval */
	int histograms;	  /* p99 is known */
	char command[64]; /* of the process */
};

/* ---- top_look.c: changes between looks ---- */

struct top_look {
	/* sums since the start; sums since the last look, or NULL */
	struct tach_snapshot *last, *between;
	double when, seconds; /* time of the last look; length of the interval */
	char error[512];
};
enum { TOP_ENDED = -2 };

/*
 * Returns EXIT_DONE, or EXIT_NO with the reason in `error`; later looks also return TOP_ENDED.
 */
int top_look_first(struct top *t, struct top_look *look);
int top_look_next(struct top *t, struct top_look *look);
void top_look_free(struct top_look *look);

/* ---- top_columns.c ---- */

/* The fixed columns; then quantities other than time, then metrics. */
enum { TOP_REGION, TOP_CALLS, TOP_TIME, TOP_SELF, TOP_THREADS, TOP_AVG, TOP_P99, TOP_COUNTED };

int top_ncolumns(const struct tach_snapshot *s);
const char *top_column_name(const struct tach_snapshot *s, int column);
/* Returns the column with that name in such snapshots, or -1. */
int top_column(const struct tach_snapshot *s, const char *name);
/*
 * Returns a value: a rate per second; for a time, its share of the interval (1: one thread all
 * the time); a metric unchanged. NaN: no value.
 */
double top_cell(const struct tach_snapshot *s, int region, int column, double seconds);
/* Writes the value as text of at most `width` columns. */
void top_cell_text(char *to, size_t size, const struct tach_snapshot *s, int region, int column,
		   double seconds);

/* Returns the regions to show, in order. The caller frees them. NULL: an error was printed. */
struct top_line {
	int region;
	double key;
};
struct top_line *top_pick(const struct top *t, const struct tach_snapshot *s, double seconds,
			  int *n);

/* ---- top_layout.c: which columns fit ---- */

enum { TOP_CELLS = 64 };
struct top_layout {
	int name; /* columns of the terminal used by names */
	int n;
	struct {
		int column, at, width;
	} cell[TOP_CELLS];
	/* number of scrolling columns; how many of them do not fit on the right */
	int extras, more;
};

/* first: number of scrolling columns that are hidden on the left. */
void top_layout(const struct top *t, const struct tach_snapshot *s, int width, int first,
		struct top_layout *out);
void top_heading(char *to, size_t size, const struct tach_snapshot *s, int column, int width);
/* Returns the first name of t->columns that is not a counter or metric, or NULL. */
const char *top_unknown_column(const struct top *t, const struct tach_snapshot *s);

/* ---- top_show.c ---- */

/* Writes a line about the process and the interval. */
void top_title(char *to, size_t size, const struct top *t, const struct top_look *look, int n);
/* Prints the interval as plain lines. */
void top_table(const struct top *t, const struct top_look *look);
void top_json(const struct top *t, const struct top_look *look);

/* ---- top_worst.c ---- */

enum { TOP_WORST = 5 };
/*
 * Writes the worst entries of the interval, one per line after a heading. Returns the number of
 * lines.
 */
int top_worst(const struct tach_snapshot *s, const struct top_line *lines, int n,
	      char text[TOP_WORST + 1][512]);

/* ---- top_live.c ---- */

/* Runs the live view until the user leaves it; returns the exit status. */
int top_live(struct top *t, int fd, struct top_look *look);

/* ---- top_details.c ---- */

/* Writes all details of one region as lines. */
void top_details(FILE *to, const struct top_look *look, int region, int ascii);
void top_help(FILE *to, const struct top_look *look);
/* Wraps text into lines of at most `width` columns. */
void top_wrap(FILE *to, const char *text, int width);

/* ---- top_find.c ---- */

/* Writes the name of a process; "?" if it cannot be read. */
void top_command(int process, char *to, size_t size);
/*
 * Finds the only process with regions that this user may inspect. Returns 0 if there is none,
 * or several, after printing them.
 */
int top_find(void);

#endif
