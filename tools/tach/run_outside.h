/* SPDX-License-Identifier: MIT */
/* `tach run --outside`: declarations that its files share. */
#ifndef TOOLS_TACH_RUN_OUTSIDE_H
#define TOOLS_TACH_RUN_OUTSIDE_H

#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <tach/set.h>
#include <tach/uncore.h>

/* ---- run_boxes.c: events of boxes, which count for the whole machine ---- */

struct run_boxes {
	struct tach_uncore *uncore; /* NULL: no boxes */
	uint64_t count[TACH_COUNTERS_MAX], last[TACH_COUNTERS_MAX];
	uint32_t flags[TACH_COUNTERS_MAX];
};

/*
 * Replaces the list's events of boxes, or all other events, by blanks: the rest keeps its
 * columns.
 */
void run_boxes_blank(char *events, int boxes);
/*
 * Returns the list with the events of boxes that the metrics need. The caller frees it. NULL:
 * no memory.
 */
char *run_boxes_wanted(const char *events, const char *metrics);
int run_metrics_have_boxes(const char *metrics);
/*
 * Opens the boxes before the program runs, so that an error does not come after an hour.
 * events: only those of boxes; shown: the user's text. Returns nonzero after printing an error.
 */
int run_boxes_open(struct run_boxes *b, const char *events, const char *shown);
void run_boxes_start(struct run_boxes *b);
void run_boxes_stop(struct run_boxes *b);
void run_boxes_read(struct run_boxes *b);
/* Writes which boxes are counted, for the report. */
void run_boxes_note(const struct run_boxes *b, char *note, size_t size);
void run_boxes_close(struct run_boxes *b);

/* ---- run_outside.c ---- */

/* One counter: its count, and the times of perf_event_open(2) that show how long it counted. */
struct run_count {
	uint64_t count, enabled, running;
	int lost;
};

/* The owner of the counters: a program from its exec on, or a running thread. */
struct run_target {
	pid_t thread;
	char row[64];		   /* name of its row, if each target has one */
	int fd[TACH_COUNTERS_MAX]; /* of members; -1: none */
	struct run_count now[TACH_COUNTERS_MAX], last[TACH_COUNTERS_MAX];
};

struct run_outside {
	char row[96]; /* name of the report's only row */
	struct tach_set *set;
	char note[512];
	struct run_target **target;
	int ntargets;
	int per_target; /* a row of each */
	int attached;	/* the counters already ran before; earlier counts are not shown */
	struct run_boxes boxes;
};

/* Adds a target. Returns NULL after printing that there is no memory. */
struct run_target *run_outside_target(struct run_outside *o, pid_t thread);
/* Writes a note for the report why a member cannot be counted. */
void run_outside_note(struct run_outside *o, int code);
/* Opens the members. disabled: until the next exec. Returns the first errno, or 0. */
int run_outside_count(struct run_outside *o, struct run_target *t, int disabled);
void run_outside_read(struct run_outside *o);
/* Makes the last read the new start: earlier counts are no longer shown. */
void run_outside_mark(struct run_outside *o);

#endif
