/* SPDX-License-Identifier: MIT */
/* `tach gate`: what its files share. */
#ifndef TOOLS_TACH_GATE_H
#define TOOLS_TACH_GATE_H

#include "tools/tach/compare.h"

struct gate_arguments {
	struct compare_options compare;
	const char *baseline, *against, *candidate, *save;
	const char *events, *metrics; /* both NULL: what the rules name */
	size_t runs;
	int emulate;
	char **program;
};

/* ---- gate_run.c ---- */

struct gate_command {
	char **words;		      /* NULL at the end */
	const char *events, *metrics; /* what is to be counted; NULL: none */
	const struct gate_arguments *arguments;
};
/* Runs it once under `tach run` and adds what each region took, of what rules are for; -1:
 * printed. */
int gate_run(const struct gate_command *c, struct samples *s);

/* ---- gate_arguments.c ---- */

/* 0; -1: help was asked for and given; else the exit status, and why was printed. */
int gate_parse(struct gate_arguments *a, int argc, char **argv);
/* Prints; word NULL: none. The exit status */
int gate_usage(const char *what, const char *word);

#endif
