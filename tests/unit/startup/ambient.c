/* SPDX-License-Identifier: MIT */
/*
 * TACH_AMBIENT: the row with counts of boxes, and the reason if it is missing; kernel and sysfs
 * are simulated.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include "core/snapshot/snapshot.h"
#include "tests/descriptors.h"
#include "tests/root.h"
#include "tests/unit/report/guarded.h"
#include "tests/unit/startup/reports.h"

static double clock_now; /* 0: the kernel's */

#pragma GCC visibility push(default)
#include "tests/unit/tools/boxes/kernel.c"

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock_now == 0 || clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, t);
	t->tv_sec = (time_t)clock_now;
	t->tv_nsec = (long)((clock_now - (double)t->tv_sec) * 1e9);
	return 0;
}
#pragma GCC visibility pop

static const char wanted[] = "rd=uncore_imc_0/event=4/,wr=uncore_imc_1/event=5/; "
			     "pace = rd / elapsed_ns; more = wr - rd";

/* ---- the row ---- */

static struct tach_value value(const struct tach_snapshot *s, int region, const char *name)
{
	struct tach_value v = {0};

	for (int q = 0; q < tach_snapshot_nquantities(s); q++)
		if (strcmp(tach_snapshot_quantity(s, q), name) == 0)
			CHECK(tach_snapshot_value(s, region, q, TACH_PART_SELF, &v) == 0);
	for (int m = 0; m < tach_snapshot_nmetrics(s); m++)
		if (strcmp(tach_snapshot_metric(s, m), name) == 0)
			CHECK(tach_snapshot_derived(s, region, m, TACH_PART_SELF, &v) == 0);
	return v;
}

static void a_row(void)
{
	struct tach_region_info info = {0};
	struct tach_snapshot *s = NULL;
	uint32_t flags = TACH_FLAG_SYSCALL | TACH_FLAG_SHARED;

	setenv("TACH_AMBIENT", wanted, 1);
	clock_now = 10.25;
	start(in_folder("a.json"));
	clock_now = 12.75;
	now();
	content("a.json");
	CHECK(tach_snapshot_load(got, strlen(got), &s, NULL) == 0, "%s", got);
	if (!s)
		return;
	CHECK(tach_snapshot_nregions(s) == 2 && tach_snapshot_region(s, 0, &info) == 0);
	CHECK(strcmp(info.name, "(whole machine)") == 0, "%s", info.name);
	/* Counts of a box with one set of counters, and of a box with two sets. */
	CHECK(value(s, 0, "time").value == 2.5e9, "%g", value(s, 0, "time").value);
	CHECK(value(s, 0, "rd").value == 1000 && value(s, 0, "rd").flags == flags, "%g",
	      value(s, 0, "rd").value);
	CHECK(value(s, 0, "wr").value == 2000 && value(s, 0, "wr").flags == flags);
	CHECK(value(s, 0, "more").value == 1000 && value(s, 0, "pace").value == 1000 / 2.5e9);
	CHECK(value(s, 1, "rd").flags == TACH_FLAG_LOST);
	CHECK(strcmp(tach_snapshot_missing(s),
		     "rd, wr: of the whole machine, all programs together") == 0,
	      "%s", tach_snapshot_missing(s));
	tach_snapshot_free(s);
}

static void none(void)
{
	start(in_folder("a.json"));
	now();
	CHECK(!strstr(content("a.json"), "whole machine"));
}

static void not_asked_for(void)
{
	unsetenv("TACH_AMBIENT");
	none();
}

/* The command counts the boxes, not the program. */
static void of_tach_run(void)
{
	setenv("TACH_AMBIENT", wanted, 1);
	setenv("TACH_RUN", "1", 1);
	tach__ambient_start();
	none();
}

static void rows(void)
{
	in_child(a_row);
	in_child(not_asked_for);
	in_child(of_tach_run);
}

/* ---- reasons for no row ---- */

static void odd(const char *ambient, const char *why)
{
	char text[300] = "";
	int before = descriptors(), found;

	setenv("TACH_AMBIENT", ambient, 1);
	found = tach__ambient_odd(text, sizeof text);
	CHECK(found == (why != NULL) &&
		      strncmp(text, why ? why : "", why ? strlen(why) : 1) == 0,
	      "%s: %s", ambient, text);
	/* Events that were only tried are closed again. */
	CHECK(descriptors() == before, "%s", ambient);
}

static void oddities(void)
{
	static const char machine[] = "TACH_AMBIENT cannot be used: ";
	struct tach_snapshot s = {.note = "first"}, alone = {0}, *full = guarded(sizeof *full);
	char text[300];

	odd(wanted, NULL);
	odd("", NULL);
	odd("page-faults", machine);
	odd(" ; x = 1", "TACH_AMBIENT cannot be used: the list names no events");
	odd("rd=uncore_imc_*/event=4/; x = rd / nosuch", machine);
	CHECK(tach__ambient_odd(text, sizeof text) && strstr(text, " (column 36)"), "%s", text);
	setenv("TACH_AMBIENT", " ; x = 1", 1);
	CHECK(tach__ambient_odd(text, sizeof text) && !strstr(text, "column"), "%s", text);
	/* In reports, the message follows existing notes. */
	tach__ambient_start();
	tach__ambient_add(&alone);
	tach__ambient_add(&s);
	CHECK(strncmp(alone.note, machine, strlen(machine)) == 0, "%s", alone.note);
	CHECK(strncmp(s.note, "first; ", 7) == 0 && strcmp(s.note + 7, alone.note) == 0, "%s",
	      s.note);
	/* The message is cut at the end of the buffer. */
	memset(full->note, 'a', 1010);
	tach__ambient_add(full);
	CHECK(strlen(full->note) == sizeof full->note - 1 &&
	      strncmp(full->note + 1010, "; TACH_AMBIEN", 13) == 0);
	setenv("TACH_RUN", "1", 1);
	CHECK(tach__ambient_odd(text, sizeof text) == 0);
}

static void reasons_for_no_row_are_reported(void)
{
	in_child(oddities);
}

int main(void)
{
	char sysfs[120];

	if (!mkdtemp(folder))
		return 1;
	snprintf(sysfs, sizeof sysfs, "%s/sysfs", folder);
	setenv("SYSFS", sysfs, 1);
	for (int i = 0; i < 2; i++) {
		char box[160];

		snprintf(box, sizeof box, "%s/uncore_imc_%d", sysfs, i);
		root_put(box, "type", "%d\n", 20 + i);
		root_put(box, "cpumask", i ? "0,28\n" : "0\n");
		root_put(box, "format/event", "config:0-7\n");
	}
	unsetenv("TACH_RUN");
	CASE(rows);
	CASE(reasons_for_no_row_are_reported);
	root_wipe(folder);
	CHECK(rmdir(folder) == 0, "something was left in %s", folder);
	return check_done();
}
