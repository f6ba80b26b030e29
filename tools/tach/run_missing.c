/* SPDX-License-Identifier: MIT */
/* The parts that the report of `tach run` lacks, and the reasons. */
#include <stdio.h>
#include "core/snapshot/snapshot.h"
#include "tools/tach/people.h"
#include "tools/tach/run.h"

static const char *const unmeasured_why[RUN_REASONS] = {
	[RUN_APART] = "another C library, or root directory",
	[RUN_CLEARED] = "started with a cleared environment",
};

/*
 * Writes a note into the report about unmeasured programs, for readers who do not see tach
 * run's output.
 */
static void say_unmeasured(const struct run_reports *reports)
{
	char note[300];

	for (int why = 0; reports->whole && why < RUN_REASONS; why++) {
		if (!reports->unmeasured[why])
			continue;
		snprintf(note, sizeof note, "%u programs ran unmeasured, %s first: %s",
			 reports->unmeasured[why], reports->first_unmeasured[why],
			 unmeasured_why[why]);
		tach__snapshot_note(reports->whole, note);
	}
}

/* Writes a note about processes without a report. */
static void say_missing(const struct run_reports *reports)
{
	int missing = reports->began - reports->left;
	struct tach_snapshot *s = reports->whole;
	char note[300];
	int n;

	if (!s || missing <= 0)
		return;
	s->missing_processes += (uint64_t)missing;
	n = snprintf(note, sizeof note, "of %d processes and programs %d left no report",
		     reports->began, missing);
	for (int i = 0; i < RUN_GONE && reports->gone[i]; i++)
		n += snprintf(note + n, sizeof note - (size_t)n, "%s%d",
			      i ? ", " : ": process ", reports->gone[i]);
	tach__snapshot_note(s, note);
}

void run_missing_note(const struct run_reports *reports)
{
	say_missing(reports);
	say_unmeasured(reports);
}

/* Prints the reasons that apply. */
static void print_left(const struct run_reports *reports, int missing)
{
	const struct {
		int n;
		const char *why;
	} part[] = {
		{reports->running, "still run"},
		{reports->no_memory, "lacked memory for it (RLIMIT_AS)"},
		{missing - reports->running - reports->no_memory,
		 "ended in a way that no code in them sees (SIGKILL, a raw system call)"},
	};
	const char *before = ":";

	fprintf(stderr, "tach run: %d of %d processes and programs left no report", missing,
		reports->began);
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		if (part[i].n <= 0)
			continue;
		fprintf(stderr, "%s %d %s", before, part[i].n, part[i].why);
		before = ",";
	}
	fputs("; try --outside\n", stderr);
}

/* Prints which processes are missing in the table, and why. */
void run_missing_print(const struct run_reports *reports)
{
	int missing = reports->began - reports->left;
	char name[4 * sizeof *reports->first_unmeasured];

	if (reports->confined)
		fprintf(stderr,
			"tach run: %d of %d processes and programs installed a seccomp filter "
			"and were counted until then; --outside counts them completely\n",
			reports->confined, reports->began);
	for (int why = 0; why < RUN_REASONS; why++) {
		tach_printable(reports->first_unmeasured[why], name, sizeof name);
		if (reports->unmeasured[why])
			fprintf(stderr,
				"tach run: programs that could not be measured, and ran "
				"unmeasured: %u, %s first (%s); try --outside\n",
				reports->unmeasured[why], name, unmeasured_why[why]);
	}
	if (missing)
		print_left(reports, missing);
}
