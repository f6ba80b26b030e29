/* SPDX-License-Identifier: MIT */
/* `tach derived`: options and definitions (derived.c), evaluation (derived_eval.c). */
#ifndef TOOLS_TACH_DERIVED_H
#define TOOLS_TACH_DERIVED_H

#include <stdio.h>
#include <tach/derived.h>

struct derived_arguments {
	const char *pmu, *file;
	double max_hz, tsc_hz, elapsed_ns;
	int postfix, batch;
};

/*
 * Prints definitions of the file that refer to themselves, and definitions that none of their
 * PMUs can count (if only >= 0: only that PMU). Returns the number of self-references.
 */
int derived_check_uses(const char *file, int only);
/* FORMULA N0=.. N1=..; returns the exit status. */
int derived_eval(const struct derived_arguments *a, int argc, char **argv);
/* Evaluates lines "type TAB formula TAB v0,v1,..."; returns the exit status. */
int derived_batch(const struct derived_arguments *a, FILE *from);

#endif
