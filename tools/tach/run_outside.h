/* SPDX-License-Identifier: MIT */
/* `tach run --outside`: what its files share. */
#ifndef TOOLS_TACH_RUN_OUTSIDE_H
#define TOOLS_TACH_RUN_OUTSIDE_H

#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <tach/set.h>
#include <tach/uncore.h>

/* ---- run_boxes.c: events of boxes, which count for the whole machine ---- */

struct run_boxes {
	struct tach_uncore *uncore; /* NULL: there are none */
	uint64_t count[TACH_COUNTERS_MAX], last[TACH_COUNTERS_MAX];
	uint32_t flags[TACH_COUNTERS_MAX];
};

/* A list's events of boxes, or the others, become blank: what is left stays in its columns. */
void run_boxes_blank(char *events, int boxes);
/* The list, and the events of boxes that the metrics rest on. free() it; NULL: no memory. */
char *run_boxes_wanted(const char *events, const char *metrics);
int run_metrics_have_boxes(const char *metrics);
/* Before the program runs: a refusal is not for the end of an hour. events: of boxes alone; as
 * the user wrote them: shown. 0, or printed. */
int run_boxes_open(struct run_boxes *b, const char *events, const char *shown);
void run_boxes_start(struct run_boxes *b);
void run_boxes_stop(struct run_boxes *b);
void run_boxes_read(struct run_boxes *b);
/* Whose they are, for the report. */
void run_boxes_note(const struct run_boxes *b, char *note, size_t size);
void run_boxes_close(struct run_boxes *b);

/* ---- run_outside.c ---- */

/* Of a counter: what it counted, and the times of perf_event_open(2) that tell how it did. */
struct run_count {
	uint64_t count, enabled, running;
	int lost;
};

/* Whose counters they are: a program from its exec on, or a thread that runs already. */
struct run_target {
	pid_t thread;
	char row[64];		   /* what its row is called, where each has one */
	int fd[TACH_COUNTERS_MAX]; /* of members; -1: none */
	struct run_count now[TACH_COUNTERS_MAX], last[TACH_COUNTERS_MAX];
};

struct run_outside {
	char row[96]; /* what the one row of its report is called */
	struct tach_set *set;
	char note[512];
	struct run_target **target;
	int ntargets;
	int per_target; /* a row of each */
	int attached; /* they count already, and what they did before it begins is not shown */
	struct run_boxes boxes;
};

/* Another one; NULL: there is no memory, which was printed. */
struct run_target *run_outside_target(struct run_outside *o, pid_t thread);
/* Why a member cannot be counted, for the report. */
void run_outside_note(struct run_outside *o, int code);
/* Opens its members. disabled: until the next exec. The first errno, or 0. */
int run_outside_count(struct run_outside *o, struct run_target *t, int disabled);
void run_outside_read(struct run_outside *o);
/* What was counted up to the last reading is not shown any more. */
void run_outside_mark(struct run_outside *o);

#endif
