/* SPDX-License-Identifier: MIT */
/* `tach list`: what was chosen (list.c), and the two ways to show it. */
#ifndef TOOLS_TACH_LIST_H
#define TOOLS_TACH_LIST_H

#include <stddef.h>
#include <tach/pmu.h>

/* One line to show: an event, or a umask of the event before. */
struct list_line {
	int event, umask; /* umask -1: the event itself */
};

/* A PMU and the lines chosen from it; no lines: the PMU alone. */
struct list_pmu {
	int pmu;
	struct tach_pmu_info info;
	struct list_line *lines;
	size_t nlines, room;
};

void list_text(const struct list_pmu *pmus, size_t n);
void list_json(const struct list_pmu *pmus, size_t n);

/* "0-3,6,f0"; "any" for 0. Returns out. */
char *list_counters(uint64_t counters, char *out, size_t size);

#endif
