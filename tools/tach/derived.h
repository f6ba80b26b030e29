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
 * Says which definitions of the file refer to themselves and which no PMU that they are for can
 * count (only >= 0: that PMU); the number of the former.
 */
int derived_check_uses(const char *file, int only);
/* FORMULA N0=.. N1=..; the exit status. */
int derived_eval(const struct derived_arguments *a, int argc, char **argv);
/* Lines "type TAB formula TAB v0,v1,..."; the exit status. */
int derived_batch(const struct derived_arguments *a, FILE *from);

#endif
