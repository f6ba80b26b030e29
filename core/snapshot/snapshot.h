/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_SNAPSHOT_H
#define TACH_CORE_SNAPSHOT_H

#include <tach/snapshot.h>
#include "core/os/origin.h"
#include "core/region/region.h"
#include "core/snapshot/plain.h"

struct tach_snapshot {
	struct tach__plain plain;
	/* Number of the configuration whose sums it has, from 1; 0: not known. */
	uint64_t generation;
	struct tach__config *config; /* a reference: whose names it shows; NULL: of none here */
	uint64_t threads, refused, lost, stale;
	uint64_t missing_processes, missing_threads;
	uint32_t unopened, reports;
	int rank; /* 1 + that of its process in a parallel job; 0: in none, or in several */
	double clock_hz, clock_error; /* the latter a fraction */
	uint32_t clock_flags;
	const struct tach__site *sites; /* by id, of another process; NULL: this one's */
	int in_handler; /* its reports do without what takes malloc: trees of metrics */
	struct tach__origin origin;
	char note[1024];
};

/* As the process ends: with the open entries around all of a thread (core/region/whole.c). */
int tach__snapshot_take_final(struct tach_snapshot **out, struct tach_error *err);

/* Frees one that was taken here, in a handler too: a set that nothing else uses is left to the
 * next tach_snapshot_free. */
void tach__snapshot_forget(struct tach_snapshot *s);

/* ---- origin.c ---- */
struct tach__json;
/* Of a saved report's object, or NULL. */
void tach__origin_load(struct tach__origin *to, const struct tach__json *from);

/* Adds a sentence of what is missing, unless it is there already. */
void tach__snapshot_note(struct tach_snapshot *s, const char *note);

/* ---- value.c ---- */
/* The part of the error of a time that comes from the clock: its ticks and its frequency. */
double tach__snapshot_clock_error(const struct tach_snapshot *s, double entries, double scale,
				  double ns);
/* How far off a quantile may be: it lies in a bucket. 0 for the least and the greatest value.
 */
double tach__snapshot_resolution(const struct tach_snapshot *s, int region, int quantity,
				 double p);
/* Adds what tach__sample_error gives to a value's error, or flags it as unbounded. */
void tach__value_sampled(struct tach_value *v, double error);
/* Sets the flags that compare a value with its error. */
void tach__value_judge(struct tach_value *v);

/* ---- beside.c: one more row, with quantities and metrics of its own ---- */
struct tach__beside {
	const char *row;
	const struct tach_set *set; /* its quantities and metrics */
	const uint64_t *count;	    /* of the set's members */
	const uint32_t *flags;
	double seconds;
};
/*
 * To a snapshot that was taken here. What the other rows have not is lost there, and here what
 * they have; a quantity or a metric of a name that is there already is that one. No malloc:
 * handlers of deadly signals come here. 0, TACH_ERR_NOMEM or TACH_ERR_TOOMANY.
 */
int tach__snapshot_beside(struct tach_snapshot *s, const struct tach__beside *b);

/* ---- order.c: ids of the rows to be shown, as they are shown; memory in pages ---- */
struct tach__order {
	uint32_t *id, n;
	size_t size;
};
int tach__order_make(struct tach__order *order, const struct tach__rows *rows);
void tach__order_free(struct tach__order *order);

/* notes.c: with the registry's lock; behind the note of the set. */
void tach__notes_add(struct tach_snapshot *s);

#endif
