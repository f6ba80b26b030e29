/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_SNAPSHOT_H
#define TACH_CORE_SNAPSHOT_H

#include <tach/snapshot.h>
#include "core/os/origin.h"
#include "core/region/region.h"
#include "core/snapshot/plain.h"

struct tach_snapshot {
	struct tach__plain plain;
	/* Number of the configuration that was summed, from 1; 0: unknown. */
	uint64_t generation;
	/* a reference, because it owns the names; NULL: not from this process */
	struct tach__config *config;
	uint64_t threads, refused, lost, stale;
	uint64_t missing_processes, missing_threads;
	uint32_t unopened, reports;
	int rank; /* 1 + the rank of its process in a parallel job; 0: no rank, or several */
	double clock_hz, clock_error; /* clock_error is a fraction */
	uint32_t clock_flags;
	/* by id, of another process; NULL: sites of this process */
	const struct tach__site *sites;
	int in_handler; /* 1: reports omit parts that need malloc: trees of metrics */
	struct tach__origin origin;
	char note[1024];
};

/* At the end of the process: includes the open entries that enclose a thread
 * (core/region/whole.c). */
int tach__snapshot_take_final(struct tach_snapshot **out, struct tach_error *err);

/* Frees a snapshot that was taken in this process. Can be called in a handler: if nothing else
 * uses the set, the next tach_snapshot_free frees it. */
void tach__snapshot_forget(struct tach_snapshot *s);

/* ---- origin.c ---- */
struct tach__json;
/* From a saved report's object, or NULL. */
void tach__origin_load(struct tach__origin *to, const struct tach__json *from);

/* Adds a sentence about missing data, unless it is there already. */
void tach__snapshot_note(struct tach_snapshot *s, const char *note);

/* ---- value.c ---- */
/* The part of the error of a time that comes from the clock: its ticks and its frequency. */
double tach__snapshot_clock_error(const struct tach_snapshot *s, double entries, double scale,
				  double ns);
/* The error of a quantile within its bucket. 0 for the minimum and the maximum. */
double tach__snapshot_resolution(const struct tach_snapshot *s, int region, int quantity,
				 double p);
/* Adds the result of tach__sample_error to a value's error, or flags it as unbounded. */
void tach__value_sampled(struct tach_value *v, double error);
/* Sets the flags that compare a value with its error. */
void tach__value_judge(struct tach_value *v);

/* ---- beside.c: one more row, with quantities and metrics of its own ---- */
struct tach__beside {
	const char *row;
	const struct tach_set *set; /* for its quantities and metrics */
	const uint64_t *count;	    /* counts of the set's members */
	const uint32_t *flags;
	double seconds;
};
/*
 * Adds a row to a snapshot that was taken in this process. Quantities missing in other rows are
 * flagged LOST there, and quantities of the others are LOST in this row. An existing quantity
 * or metric with the same name is reused. No malloc: handlers of deadly signals call this. 0,
 * TACH_ERR_NOMEM or TACH_ERR_TOOMANY.
 */
int tach__snapshot_add_row(struct tach_snapshot *s, const struct tach__beside *b);

/* ---- order.c: ids of the rows in their order in reports; memory in pages ---- */
struct tach__order {
	uint32_t *id, n;
	size_t size;
};
int tach__order_make(struct tach__order *order, const struct tach__rows *rows);
void tach__order_free(struct tach__order *order);

/* remote_find.c: tach_snapshot_take_process, within *cpu seconds of this thread's processor
 * time, all tries together. What is left of them replaces *cpu: 0 or less if they were used up.
 */
int tach__snapshot_take_within(int process, double *cpu, struct tach_snapshot **out,
			       struct tach_error *err);

/* notes.c: with the registry's lock; after the note of the set. */
void tach__notes_add(struct tach_snapshot *s);

#endif
