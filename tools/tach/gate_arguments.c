/* SPDX-License-Identifier: MIT */
/* The command line of `tach gate`. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/change/change.h"
#include "tools/tach/commands.h"
#include "tools/tach/gate.h"

static const char help[] =
	"usage: tach gate --baseline FILE [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       tach gate --against COMMAND [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       tach gate --save FILE [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       tach gate --baseline FILE --candidate FILE [OPTION]...\n"
	"\n"
	"Runs PROGRAM several times and fails if a region became worse than the baseline.\n"
	"\n"
	"      --save FILE        write the results of this run as a baseline\n"
	"      --baseline FILE    compare with a file of --save\n"
	"      --against COMMAND  compare with this command, run in turns with PROGRAM\n"
	"      --candidate FILE   judge a file of --save, without running PROGRAM\n"
	"  -n, --runs N           how many runs of each side (10; 20 if time is judged)\n"
	"  -e, --events EVENTS    count these, and judge the ones with a RULE\n"
	"  -m, --metrics FORMULAS compute these, and judge the ones with a RULE\n"
	"      --emulate          count in QEMU; default without a PMU, except time alone\n";
static const char end[] =
	"  -h, --help             print this text\n"
	"\n"
	"The default RULE is 'instructions > +0.5%'. man tach-gate explains each option.\n"
	"Exit status: 0 nothing is worse, 1 something is worse, 2 bad usage or PROGRAM\n"
	"failed, 3 undecided, a region is gone, or nothing was measured.\n";

int gate_usage(const char *what, const char *word)
{
	return refuse_usage("gate", "%s%s%s", what, word ? ": " : "", word ? word : "");
}

enum { RUNS_MAX = 1000 };
enum { BASELINE = 256, AGAINST, CANDIDATE, SAVE, EMULATE };
static const struct option options[] = {
	COMPARE_OPTIONS,
	{"baseline", required_argument, NULL, BASELINE},
	{"against", required_argument, NULL, AGAINST},
	{"candidate", required_argument, NULL, CANDIDATE},
	{"save", required_argument, NULL, SAVE},
	{"events", required_argument, NULL, 'e'},
	{"metrics", required_argument, NULL, 'm'},
	{"runs", required_argument, NULL, 'n'},
	{"emulate", no_argument, NULL, EMULATE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take_runs(struct gate_arguments *a, const char *text)
{
	char *rest;
	long n = strtol(text, &rest, 10);

	if (rest == text || *rest || n < 1 || n > RUNS_MAX)
		return gate_usage("--runs is 1 to 1000, not", text);
	a->runs = (size_t)n;
	return 0;
}

static int take_option(struct gate_arguments *a, int option)
{
	switch (option) {
	case BASELINE:
		a->baseline = optarg;
		return 0;
	case AGAINST:
		a->against = optarg;
		return 0;
	case CANDIDATE:
		a->candidate = optarg;
		return 0;
	case SAVE:
		a->save = optarg;
		return 0;
	case 'e':
		a->events = optarg;
		return 0;
	case 'm':
		a->metrics = optarg;
		return 0;
	case EMULATE:
		a->emulate = 1;
		return 0;
	default:
		return take_runs(a, optarg);
	}
}

/* A glob counts no quantity: the quantities must also be named. */
static int check_globs(const struct gate_arguments *a)
{
	for (size_t i = 0; i < a->compare.nrules; i++)
		if (strpbrk(a->compare.rule[i].quantity, "*?[") && !a->events && !a->metrics &&
		    !a->candidate)
			return gate_usage("a rule for several quantities takes -e or -m, which "
					  "say what is counted",
					  a->compare.rule[i].quantity);
	return 0;
}

static int check_sides(const struct gate_arguments *a, int has_program)
{
	if (a->candidate && (!a->baseline || a->against || a->save || has_program))
		return gate_usage("--candidate takes a --baseline, and no program", NULL);
	if (!has_program && !a->candidate)
		return gate_usage("no program given", NULL);
	if (!!a->baseline + !!a->against != 1 && !(a->save && !a->baseline && !a->against))
		return gate_usage("one of --baseline, --against and --save", NULL);
	return check_globs(a);
}

int gate_parse(struct gate_arguments *a, int argc, char **argv)
{
	int c, code;

	a->compare.who = "tach gate";
	a->compare.alpha = TACH__ALPHA;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+e:m:n:o:h", options, NULL)) != -1) {
		if (c == 'h') {
			printf("%s%s%s", help, compare_help, end);
			return -1;
		}
		if (c == '?')
			return gate_usage("cannot use", argv[optind - 1]);
		code = compare_option(&a->compare, c, optarg);
		if (code < 0)
			code = take_option(a, c);
		if (code)
			return code;
	}
	a->program = argv + optind;
	if (!a->compare.nrules)
		compare_option(&a->compare, COMPARE_FAIL_IF, "instructions > +0.5%");
	if (!a->runs)
		a->runs = compare_rule(&a->compare, "time") ? 20 : 10;
	return check_sides(a, optind < argc);
}
