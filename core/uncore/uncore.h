/* SPDX-License-Identifier: MIT */
/* Counters of boxes: what the files of this room share. */
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

/* Events of one box on one processor that count at once; the first leads. */
struct tach__uncore_group {
	uint32_t type;
	int cpu, n;
	int fd[TACH_COUNTERS_MAX], event[TACH_COUNTERS_MAX];
	uint64_t id[TACH_COUNTERS_MAX]; /* which events those are: core/os/descriptor.h */
};

struct tach_uncore {
	int nevents, ngroups;
	struct tach__uncore_event *event;
	struct tach__uncore_group *group;
};

/* ---- core/uncore/boxes.c ---- */
/*
 * Calls take for each box and processor that an event string stands for, until it returns other
 * than 0; its answer, or an error with the column in the string. sysfs NULL: this machine's.
 */
struct tach__uncore_taker {
	int (*take)(void *context, const struct perf_event_attr *attr, int cpu,
		    struct tach_error *err);
	void *context;
};
int tach__uncore_boxes(const char *string, const char *sysfs,
		       const struct tach__uncore_taker *taker, struct tach_error *err);
/* Whether a string is one for boxes, as far as it says by itself or this machine knows. */
int tach__uncore_is(const char *string);

/* ---- core/uncore/ambient.c ---- */
/*
 * Members of a set by the names of boxes' events, so that metrics find them; nothing is opened
 * for them. `members` and `attrs` have TACH_COUNTERS_MAX. NULL: there are none.
 */
void tach__uncore_members(const struct tach_uncore *u, struct tach_set_options *opt,
			  struct tach_set_member *members, struct perf_event_attr *attrs);
/* The event of a box that a member of such a set stands for, or -1. */
int tach__uncore_member(const struct tach_uncore *u, const struct tach_set *set, int member);

/* ---- core/uncore/wanted.c ---- */
/*
 * The events of boxes that the metrics rest on, but for those of the list `events`, as such a
 * list;
 * "": none. free() it; NULL: no memory.
 */
char *tach__uncore_wanted(const char *metrics, const char *events);
/* Whether the name is a metric that rests on events of boxes. */
int tach__uncore_is_metric(const char *name, size_t length);

/* What counts beside a program, for the whole machine: events of boxes and metrics of them. */
struct tach__ambient {
	struct tach_uncore *uncore;
	struct tach_set *set; /* its members are those events: tach__uncore_member */
};
/*
 * list: events as tach_uncore_open takes them and, after a semicolon, metrics. 0, or the errors
 * of tach_uncore_open and tach_set_create with the column in it; then there is nothing to
 * close.
 */
int tach__ambient_open(struct tach__ambient *a, const char *list, struct tach_error *err);
/*
 * The same, where the caller counts the set's other members for a program: events of threads
 * may stand beside those of boxes, and metrics may rest on both.
 */
int tach__ambient_open_mixed(struct tach__ambient *a, const char *list, struct tach_error *err);
void tach__ambient_close(struct tach__ambient *a);
/* "NAME, NAME: of the whole machine, ...", for a report. */
void tach__ambient_note(const struct tach_uncore *u, char *note, size_t size);

/* ---- core/uncore/diagnose.c ---- */
/* perf_event_open gave `code` for that event on that processor: the library's code for it. */
int tach__uncore_refused(int code, const char *name, int cpu, const struct tach__settings *s,
			 struct tach_error *err);

#endif
