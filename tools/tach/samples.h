/* SPDX-License-Identifier: MIT */
/*
 * Values that runs of a program gave, by region and quantity: what `tach gate`, `tach diff` and
 * `tach run -r` collect, save and compare.
 */
#ifndef TOOLS_TACH_SAMPLES_H
#define TOOLS_TACH_SAMPLES_H

#include <stddef.h>
#include <tach/snapshot.h>

enum series_kind {
	SERIES_TIME,   /* nanoseconds */
	SERIES_COUNT,  /* a count */
	SERIES_EXACT,  /* a count that the same program repeats */
	SERIES_METRIC, /* a formula's value */
	SERIES_KINDS
};
extern const char *const series_kinds[SERIES_KINDS];

struct series {
	char *region, *file; /* file: "" where it is not known */
	unsigned line;
	char *quantity;
	enum series_kind kind;
	double *value; /* in the order of the runs */
	size_t n;
	int twin; /* see samples_mark_twins */
};

struct samples {
	struct series **list; /* in the order in which they were met */
	size_t n;
	void *tree;	   /* the same, to be searched: tsearch(3) */
	char how[128];	   /* how it was counted; "": not known */
	const char *of;	   /* what a value is of: "run", "sample" */
	char missing[256]; /* why something was not counted, or "" */
};

/* Adds a value; a series that one value makes a plain count is no exact one. */
void samples_add(struct samples *s, const struct series *like, double value);
/* The series of the same region, place and quantity; NULL: there is none. */
const struct series *samples_find(const struct samples *s, const struct series *like);
/* Adds what each region took in a run. `wants` NULL: all quantities. */
void samples_take(struct samples *s, const struct tach_snapshot *shot,
		  int (*wants)(const void *context, const char *quantity), const void *context);
/* By region, place and quantity, so that the same values are saved as the same file. */
void samples_sort(struct samples *s);
/* How many values the series have, from the fewest to the most. */
void samples_range(const struct samples *s, size_t *fewest, size_t *most);
void samples_free(struct samples *s);

/* Finds out which regions have a name that several places have. */
void samples_mark_twins(struct samples *s);
/* "REGION", or of a twin "REGION FILE:LINE"; printable. */
void series_label(const struct series *of, int twin, char *to, size_t size);
/* A value as people read it: "122.6 ms", "1.500 M". "-": NaN. */
void series_value(const struct series *of, double value, char *to, size_t size);

/* ---- samples_file.c: saved ones; who: begins messages; -1: printed ---- */

int samples_save(const struct samples *s, const char *file, const char *who);
/*
 * A baseline of tach gate, a report in JSON or a folder of reports (one of each run), results
 * of a benchmark (--json), google-benchmark's or tach run -r's JSON.
 */
int samples_load(struct samples *s, const char *path, const char *who);

#endif
