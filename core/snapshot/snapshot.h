/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_SNAPSHOT_H
#define TACH_CORE_SNAPSHOT_H

#include <tach/snapshot.h>
#include "core/os/origin.h"
#include "core/region/region.h"
#include "core/snapshot/plain.h"

struct tach_snapshot {
	struct tach__plain plain;
	/* Number of the configuration whose entries were added up, from 1; 0: unknown. */
	uint64_t generation;
	/* a reference: the config owns the names; NULL: not from this process */
	struct tach__config *config;
	uint64_t threads, refused, lost, stale;
	uint64_t missing_processes, missing_threads;
	uint32_t unopened, reports;
	int rank; /* 1 + the rank of the process in a parallel job; 0: no rank, or several */
	double clock_hz, clock_error; /* clock_error is a fraction */
	uint32_t clock_flags;
	/* sites of another process, by id; NULL: sites of this process */
	const struct tach__site *sites;
	int in_handler; /* 1: reports omit parts that need malloc: trees of metrics */
	struct tach__origin origin;
	char note[1024];
};

/* Call it at the end of the process. Includes the open entries that enclose a thread
 * (core/region/whole.c). */
int tach__snapshot_take_final(struct tach_snapshot **out, struct tach_error *err);

/* Frees a snapshot that was taken in this process. Handlers may call it. If nothing else uses
 * the set, the next tach_snapshot_free frees the set. */
void tach__snapshot_forget(struct tach_snapshot *s);

/* ---- origin.c ---- */
struct tach__json;
/* Reads the origin from the object in a saved report; `from` may be NULL. */
void tach__origin_load(struct tach__origin *to, const struct tach__json *from);

/* Adds a sentence about missing data, unless the note has it already. */
void tach__snapshot_note(struct tach_snapshot *s, const char *note);

/* ---- value.c ---- */
/* Returns the part of a time's error that the clock causes, by its ticks and its frequency. */
double tach__snapshot_clock_error(const struct tach_snapshot *s, double entries, double scale,
				  double ns);
/* Returns the error of a quantile within its bucket: 0 for the minimum and the maximum. */
double tach__snapshot_resolution(const struct tach_snapshot *s, int region, int quantity,
				 double p);
/* Adds the result of tach__sample_error to a value's error, or flags it as unbounded. */
void tach__value_sampled(struct tach_value *v, double error);
/* Sets the flags that compare a value with its error. */
void tach__value_judge(struct tach_value *v);

/* ---- beside.c: one more row, with quantities and metrics of its own ---- */
struct tach__beside {
	const char *row;
	const struct tach_set *set; /* the set of the row's quantities and metrics */
	const uint64_t *count;	    /* counts of the set's members */
	const uint32_t *flags;
	double seconds;
};
/*
 * Adds a row to a snapshot that was taken in this process. If a row lacks a quantity of the new
 * row, or the new row lacks a quantity of the others, the value is flagged LOST. An existing
 * quantity or metric with the same name is reused. This does not call malloc, because handlers
 * of deadly signals call it. 0, TACH_ERR_NOMEM or TACH_ERR_TOOMANY.
 */
int tach__snapshot_add_row(struct tach_snapshot *s, const struct tach__beside *b);

/* ---- order.c: ids of the rows in their order in reports; memory in pages ---- */
struct tach__order {
	uint32_t *id, n;
	size_t size;
};
int tach__order_make(struct tach__order *order, const struct tach__rows *rows);
void tach__order_free(struct tach__order *order);

/* remote_find.c: as tach_snapshot_take_process, but all tries together take at most *cpu
 * seconds of this thread's processor time. *cpu becomes the rest: 0 or less if the time is used
 * up. */
int tach__snapshot_take_within(int process, double *cpu, struct tach_snapshot **out,
			       struct tach_error *err);

/* notes.c: adds notes after the note of the set. Call it with the registry's lock. */
void tach__notes_add(struct tach_snapshot *s);

#endif
