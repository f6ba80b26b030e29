/* SPDX-License-Identifier: MIT */
/* `tach gate`: what its files share. */
#ifndef TOOLS_TACH_GATE_H
#define TOOLS_TACH_GATE_H

#include <stdio.h>
#include <stddef.h>
#include "core/bench/decide.h"

/* What one quantity of one region took, run after run. */
struct gate_series {
	char *region, *quantity;
	double *value;
	size_t n;
};
struct gate_samples {
	struct gate_series *list; /* by region, then quantity */
	size_t n;
	char how[128]; /* how it was counted: only what was counted alike is compared */
};

/* 'QUANTITY > +X%': worse if it grew by more; with '<', if it shrank by more. */
struct gate_rule {
	char quantity[128];
	double bound; /* 0.005; not negative */
	int less;     /* less is worse */
};

/* As the decision has them, and of what is only in one. */
enum gate_verdict {
	GATE_SAME = TACH__SAME,
	GATE_WORSE = TACH__WORSE,
	GATE_BETTER = TACH__BETTER,
	GATE_NEW,
	GATE_GONE,
	GATE_VERDICTS
};
extern const char *const gate_verdicts[GATE_VERDICTS];

struct gate_line {
	const char *region, *quantity;
	const struct gate_rule *rule;
	struct tach__decision is;
	double detectable; /* relative: what this run would have found; INFINITY: nothing */
	enum gate_verdict verdict;
};

/* ---- gate_samples.c ---- */

void gate_add(struct gate_samples *s, const char *region, const char *quantity, double value);
void gate_sort(struct gate_samples *s);
const struct gate_series *gate_find(const struct gate_samples *s, const char *region,
				    const char *quantity);
void gate_free(struct gate_samples *s);
/* A text file, the same whenever the values are; -1: printed. */
int gate_save(const struct gate_samples *s, const char *file);
int gate_load(struct gate_samples *s, const char *file);

/* ---- gate_run.c ---- */

struct gate_arguments;
struct gate_command {
	char **words;		      /* NULL at the end */
	const char *events, *metrics; /* what is to be counted; NULL: none */
	const struct gate_arguments *arguments;
};
/* Runs it once under `tach run` and adds what each region took, of what rules are for; -1:
 * printed. */
int gate_run(const struct gate_command *c, struct gate_samples *s);

/* ---- gate_arguments.c ---- */

enum gate_format { GATE_TEXT, GATE_JSON, GATE_JUNIT, GATE_MARKDOWN };
enum { GATE_RULES_MAX = 32 };

struct gate_arguments {
	const char *baseline, *against, *candidate, *save, *output, *regions;
	const char *events, *metrics; /* both NULL: what the rules name */
	enum gate_format format;
	struct gate_rule rule[GATE_RULES_MAX];
	size_t nrules, runs;
	double alpha;
	int emulate;
	char **program;
};

/* 0; -1: help was asked for and given; else the exit status, and why was printed. */
int gate_parse(struct gate_arguments *a, int argc, char **argv);
int gate_usage(const char *what,
	       const char *word); /* prints; word NULL: none. The exit status */
/* The rule for that quantity, by its name before by a glob; NULL: it is not judged. */
const struct gate_rule *gate_rule(const struct gate_arguments *a, const char *quantity);

/* ---- gate_report.c ---- */

struct gate_outcome {
	const struct gate_line *line;
	size_t n, judged, worse;
	double alpha;
	size_t runs;
	const char *against, *how;
};
void gate_report(FILE *to, enum gate_format format, const struct gate_outcome *o);

#endif
