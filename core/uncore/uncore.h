/* SPDX-License-Identifier: MIT */
/* Counters of boxes: functions that the files of this room share. */
#ifndef TACH_CORE_UNCORE_H
#define TACH_CORE_UNCORE_H

#include <linux/perf_event.h>
#include <tach/set.h>
#include <tach/uncore.h>
#include "core/base/text.h"
#include "core/os/settings.h"

struct tach__uncore_event {
	char *name;
	int counters;
};

/*
 * Events of one box on one processor that count at the same time; the first one is the leader.
 */
struct tach__uncore_group {
	uint32_t type;
	int cpu, n;
	int fd[TACH_COUNTERS_MAX], event[TACH_COUNTERS_MAX];
	uint64_t id[TACH_COUNTERS_MAX]; /* identify the events: core/os/descriptor.h */
};

struct tach_uncore {
	int nevents, ngroups;
	struct tach__uncore_event *event;
	struct tach__uncore_group *group;
};

/* ---- core/uncore/boxes.c ---- */
/* Calls `take` for each box and processor of an event string, until it returns other than 0.
 * Returns that value, or an error with the column in the string. sysfs NULL: use this machine's
 * sysfs. */
struct tach__uncore_taker {
	int (*take)(void *context, const struct perf_event_attr *attr, int cpu,
		    struct tach_error *err);
	void *context;
};
int tach__uncore_boxes(const char *string, const char *sysfs,
		       const struct tach__uncore_taker *taker, struct tach_error *err);
/* Returns 1 if a string names boxes, by its form or because this machine has such boxes. */
int tach__uncore_is_event(const char *string);

/* ---- core/uncore/ambient.c ---- */
/* Makes set members from the names of boxes' events, so that metrics find them. They are not
 * opened. `members` and `attrs` have TACH_COUNTERS_MAX elements. u NULL: no events. */
void tach__uncore_members(const struct tach_uncore *u, struct tach_set_options *opt,
			  struct tach_set_member *members, struct perf_event_attr *attrs);
/* Returns the box event of a member of such a set, or -1. */
int tach__uncore_member(const struct tach_uncore *u, const struct tach_set *set, int member);

/* ---- core/uncore/wanted.c ---- */
/* Lists the events of boxes that the metrics use, except the events in `events`; may be "". The
 * caller frees the list. NULL: out of memory. */
char *tach__uncore_wanted(const char *metrics, const char *events);
/* Returns 1 if the name is a metric that uses events of boxes. */
int tach__uncore_is_metric(const char *name, size_t length);

/* Counts for the whole machine while a program runs: events of boxes and metrics over them. */
struct tach__ambient {
	struct tach_uncore *uncore;
	struct tach_set *set; /* members: the boxes' events (tach__uncore_member), and events of
				 threads */
};
/*
 * list: events of boxes and of threads and, after a semicolon, metrics of both. The caller
 * counts the events of threads. A list without boxes is refused. Returns 0, or an error of
 * tach_uncore_open or tach_set_create with the column in the list. After an error, do not call
 * tach__ambient_close.
 */
int tach__ambient_open(struct tach__ambient *a, const char *list, struct tach_error *err);
void tach__ambient_close(struct tach__ambient *a);
/* Writes the note for a report: "NAME, NAME: of the whole machine, ...". */
void tach__ambient_note(const struct tach_uncore *u, char *note, size_t size);

/* ---- core/uncore/diagnose.c ---- */
/*
 * Call it if perf_event_open returned `code` for that event on that processor. Returns the
 * library's code.
 */
int tach__uncore_refused(int code, const char *name, int cpu, const struct tach__settings *s,
			 struct tach_error *err);

#endif
