/* SPDX-License-Identifier: MIT */
/*
 * Values of a program's runs, by region and quantity: `tach gate`, `tach diff` and `tach run
 * -r` collect, save and compare them.
 */
#ifndef TOOLS_TACH_SAMPLES_H
#define TOOLS_TACH_SAMPLES_H

#include <stddef.h>
#include <tach/snapshot.h>

struct tach__out;
struct tach__json_out;

enum series_kind {
	SERIES_TIME,   /* nanoseconds */
	SERIES_COUNT,  /* a count */
	SERIES_EXACT,  /* a count that is the same in every run */
	SERIES_METRIC, /* a formula's value */
	SERIES_KINDS
};
extern const char *const series_kinds[SERIES_KINDS];

struct series {
	char *region, *file; /* file: "" if unknown */
	unsigned line;
	char *quantity;
	enum series_kind kind;
	double *value; /* in the order of the runs */
	size_t n;
	int twin; /* see samples_mark_twins */
};

struct samples {
	struct series **list; /* in the order in which they first appeared */
	size_t n;
	void *tree;	   /* the same series, for searching: tsearch(3) */
	char how[128];	   /* how the values were counted; "": unknown */
	const char *of;	   /* unit of one value: "run", "sample" */
	int emulated;	   /* an emulator counted */
	char missing[256]; /* why a quantity was not counted, or "" */
};

/* Adds a value; a single plain count makes the whole series inexact. */
void samples_add(struct samples *s, const struct series *like, double value);
/* Finds the series of the same region, place and quantity, or returns NULL. */
const struct series *samples_find(const struct samples *s, const struct series *like);
/* Adds each region's values of a run. `wants` NULL: all quantities. */
void samples_take(struct samples *s, const struct tach_snapshot *shot,
		  int (*wants)(const void *context, const char *quantity), const void *context);
/* Sorts by region, place and quantity, so that equal values give equal files. */
void samples_sort(struct samples *s);
/* Returns true if a list of names separated by commas contains this name. */
int samples_is_listed(const char *list, const char *name);
/* The smallest and the largest number of values in a series. */
void samples_range(const struct samples *s, size_t *fewest, size_t *most);
void samples_free(struct samples *s);

/* An interval that contains the median, for any distribution. */
struct series_median {
	double median, low, high, confidence;
};
struct series_median series_median(const struct series *of);
/* Returns true if both series belong to one region at one place. */
int series_share_place(const struct series *a, const struct series *b);

/* Marks regions whose name occurs at several places. */
void samples_mark_twins(struct samples *s);
/* "REGION", or "REGION FILE:LINE" for a twin; printable. */
void series_label(const struct series *of, int twin, char *to, size_t size);
/*
 * Writes the members region, file, line and quantity. is_short: without an unknown place.
 */
void series_json(struct tach__json_out *json, const struct series *of, int is_short);
/* Writes the first n values as an array. */
void series_json_values(struct tach__json_out *json, const struct series *of, size_t n);
/* Writes the cells region, file, line and quantity. */
void series_csv(struct tach__out *out, const struct series *of, const char *quantity);
/* A value as text: "122.6 ms", "1.500 M"; "-" for NaN. */
void series_value(const struct series *of, double value, char *to, size_t size);

/*
 * ---- samples_file.c: saved samples; who: begins messages; functions return -1 after printing
 * an error ----
 */

int samples_save(const struct samples *s, const char *file, const char *who);
/*
 * Loads a baseline of tach gate, a report in JSON, a folder of reports (one per run), benchmark
 * results (--json), or JSON of google-benchmark, hyperfine or tach run -r, or the folder of
 * criterion. From a history, loads the newest run that was counted as s->how says.
 */
int samples_load(struct samples *s, const char *path, const char *who);
/* Sets the kind with that name; returns -1 if there is none. */
int series_kind(struct series *s, const char *name);

/* ---- samples_others.c ---- */

struct tach__json;
int samples_load_hyperfine(struct samples *s, const struct tach__json *root, const char *file,
			   const char *who);
/*
 * Loads the folder target/criterion. Returns 1, without a message, if it contains no benchmark
 * of criterion.
 */
int samples_load_criterion(struct samples *s, const char *folder, const char *who);

/* ---- samples_write.c: formats of other tools ---- */

/*
 * Returns the number of the format google-benchmark, hyperfine, bmf or github-action-benchmark,
 * or -1.
 */
int samples_format(const char *name);
/*
 * Writes files of any kind in that format, each file as a run, to a file or to standard output
 * (NULL). Returns the exit status after printing any error.
 */
int samples_convert(char *const *files, int n, int format, const char *output);

/* ---- samples_json.c ---- */

/* Returns a member that is a text; NULL: the member is missing, or of another type. */
const char *samples_text(const struct tach__json *object, const char *key);
/*
 * Reads a series in the form of tach run -r and tach history: its values, each `times` times.
 * Returns -1 if it is malformed.
 */
int samples_take_series(struct samples *s, const struct tach__json *one);
int samples_load_json(struct samples *s, const char *text, size_t length, const char *file,
		      const char *who);

#endif
