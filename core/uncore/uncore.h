/* SPDX-License-Identifier: MIT */
/* Counters of boxes: what the files of this room share. */
#ifndef TACH_CORE_UNCORE_H
#define TACH_CORE_UNCORE_H

#include <linux/perf_event.h>
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

/* ---- core/uncore/diagnose.c ---- */
/* perf_event_open gave `code` for that event on that processor: the library's code for it. */
int tach__uncore_refused(int code, const char *name, int cpu, const struct tach__settings *s,
			 struct tach_error *err);

#endif
