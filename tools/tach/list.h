/* SPDX-License-Identifier: MIT */
/* `tach list`: the selected lines (list.c), and the two output formats. */
#ifndef TOOLS_TACH_LIST_H
#define TOOLS_TACH_LIST_H

#include <stddef.h>
#include <tach/derived.h>
#include <tach/pmu.h>

/* One line of output: an event, or a umask of the event before it. */
struct list_line {
	int event, umask; /* umask -1: the event itself */
};

/*
 * A PMU and the lines selected from it; without lines, only the PMU is shown. derived:
 * definitions that use its events.
 */
struct list_pmu {
	int pmu;
	struct tach_pmu_info info;
	struct list_line *lines;
	size_t nlines, room;
	struct tach_derived_info *derived;
	size_t nderived, derived_room;
};

/* Details of a line, for events and umasks. */
struct list_row {
	int is_umask, group, is_default, deprecated;
	const char *name, *description;
	const char *alias_of, *vendor_code, *libpfm4_code; /* NULL if missing */
	uint64_t code;
	char counters[160]; /* counters_text() */
	char words[80];	    /* register words, if two sources disagree on them; else "" */
};

void list_row(const struct list_pmu *pmu, const struct list_line *line, struct list_row *row);
void list_text(const struct list_pmu *pmus, size_t n);
void list_json(const struct list_pmu *pmus, size_t n);

#endif
