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
	uint64_t count[TACH_COUNTERS_MAX];
	uint32_t flags[TACH_COUNTERS_MAX];
};

/* A list's events of boxes, or the others, become blank: what is left stays in its columns. */
void run_boxes_blank(char *events, int boxes);
/* Before the program runs: a refusal is not for the end of an hour. events: of boxes alone; as
 * the user wrote them: shown. 0, or printed. */
int run_boxes_open(struct run_boxes *b, const char *events, const char *shown);
void run_boxes_start(struct run_boxes *b);
/* And reads them. */
void run_boxes_stop(struct run_boxes *b);
/* Whose they are, for the report. */
void run_boxes_note(const struct run_boxes *b, char *note, size_t size);
void run_boxes_close(struct run_boxes *b);

/* ---- run_outside.c ---- */

struct run_outside {
	const char *row; /* what the one row of its report is called */
	struct tach_set *set;
	char note[512];
	int fd[TACH_COUNTERS_MAX]; /* of members; -1: none */
	struct run_boxes boxes;
};

#endif
