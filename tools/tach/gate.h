/* SPDX-License-Identifier: MIT */
/* `tach gate`: declarations that its files share. */
#ifndef TOOLS_TACH_GATE_H
#define TOOLS_TACH_GATE_H

#include "tools/tach/compare.h"

struct gate_arguments {
	struct compare_options compare;
	const char *baseline, *against, *candidate, *save;
	const char *events, *metrics; /* both NULL: only the quantities of the rules */
	size_t runs;
	int emulate;
	char **program;
};

/* ---- gate_run.c ---- */

struct gate_command {
	char **words;		      /* ends with NULL */
	const char *events, *metrics; /* what to count; NULL: not given */
	const struct gate_arguments *arguments;
};
/*
 * Runs the command once under `tach run`, and adds each region's values of the quantities that
 * the rules need. Returns -1 after printing an error.
 */
int gate_run(const struct gate_command *c, struct samples *s);

/* ---- gate_arguments.c ---- */

/* Returns 0, -1 after printing the help, or an exit status after printing an error. */
int gate_parse(struct gate_arguments *a, int argc, char **argv);
/* Prints an error; word NULL: without a word. Returns the exit status. */
int gate_usage(const char *what, const char *word);

#endif
