/* SPDX-License-Identifier: MIT */
/* The command line of `tach gate`. */
#include <ctype.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/commands.h"
#include "tools/tach/gate.h"

static const char help[] =
	"usage: tach gate --baseline FILE [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       tach gate --against COMMAND [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       tach gate --save FILE [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       tach gate --baseline FILE --candidate FILE [OPTION]...\n\n"
	"Runs PROGRAM again and again under tach run, and says for each region and quantity\n"
	"whether it became worse than the baseline by more than a bound.\n\n"
	"      --baseline FILE   what --save wrote earlier\n"
	"      --against COMMAND another program, a shell's command, run in turns with "
	"PROGRAM\n"
	"      --save FILE       write what this run took\n"
	"      --candidate FILE  what --save wrote, instead of running PROGRAM\n"
	"      --fail-if RULE    'instructions > +0.5%', 'time > +5%'; may be repeated. "
	"Without\n"
	"                        it instructions > +0.5%. QUANTITY may be a glob: 'L1-* > 2%'\n"
	"  -e, --events LIST     count these, as tach run does, and judge what RULEs are for\n"
	"  -m, --metrics LIST    likewise: tach run -m\n"
	"      --region NAMES    only these, separated by commas: \"parse,(all threads)\"\n"
	"  -n, --runs N          of PROGRAM, and of COMMAND (10; for time 20)\n"
	"      --alpha PERCENT   how many runs of the gate may say worse where nothing "
	"changed\n"
	"                        (1)\n"
	"      --emulate         count in QEMU's user mode: tach run --help. By itself where\n"
	"                        there is no PMU and something other than time is judged\n"
	"  -o, --output FILE     write there instead of standard output\n"
	"      --format NAME     text, json, junit or markdown\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0 nothing is worse, 1 something is, 2 it could not be decided: bad "
	"usage,\n"
	"a program that failed, too few runs.\n";

int gate_usage(const char *what, const char *word)
{
	fprintf(stderr, "tach gate: %s%s%s\n", what, word ? ": " : "", word ? word : "");
	return usage_told("gate");
}

/* QUANTITY > +X%, or < -X%. */
static int take_rule(struct gate_arguments *a, const char *text)
{
	struct gate_rule *r = &a->rule[a->nrules];
	size_t n = strcspn(text, "<>"), length = n;
	const char *at = text + n;
	char *end;

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (a->nrules == GATE_RULES_MAX || !*at || !length || length >= sizeof r->quantity)
		return gate_usage("a rule is 'QUANTITY > +X%' or 'QUANTITY < -X%', not", text);
	memcpy(r->quantity, text, length);
	r->quantity[length] = '\0';
	r->less = *at++ == '<';
	r->bound = strtod(at, &end) / 100;
	if (r->less)
		r->bound = -r->bound;
	end += strspn(end, " ");
	if (end == at || strcmp(end, "%") != 0 || !isfinite(r->bound) || r->bound < 0 ||
	    (r->less && r->bound >= 1))
		return gate_usage("a rule is 'QUANTITY > +X%' or 'QUANTITY < -X%', not", text);
	for (size_t i = 0; i < a->nrules; i++)
		if (strcmp(a->rule[i].quantity, r->quantity) == 0)
			return gate_usage("two rules for one quantity", r->quantity);
	a->nrules++;
	return 0;
}

static int take_format(struct gate_arguments *a, const char *name)
{
	static const char *const names[] = {"text", "json", "junit", "markdown"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0) {
			a->format = (enum gate_format)i;
			return 0;
		}
	return gate_usage("no such format", name);
}

static int take_number(double *to, const char *text, double least, double most,
		       const char *what)
{
	char *end;

	*to = strtod(text, &end);
	if (end == text || *end || !(*to >= least && *to <= most))
		return gate_usage(what, text);
	return 0;
}

enum { RUNS_MAX = 1000 };
enum { BASELINE = 256, AGAINST, CANDIDATE, SAVE, FAIL_IF, REGION, ALPHA, EMULATE, FORMAT };
static const struct option options[] = {
	{"baseline", required_argument, NULL, BASELINE},
	{"against", required_argument, NULL, AGAINST},
	{"candidate", required_argument, NULL, CANDIDATE},
	{"save", required_argument, NULL, SAVE},
	{"fail-if", required_argument, NULL, FAIL_IF},
	{"events", required_argument, NULL, 'e'},
	{"metrics", required_argument, NULL, 'm'},
	{"region", required_argument, NULL, REGION},
	{"runs", required_argument, NULL, 'n'},
	{"alpha", required_argument, NULL, ALPHA},
	{"emulate", no_argument, NULL, EMULATE},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, FORMAT},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int take(struct gate_arguments *a, int option)
{
	double number = 0;
	int code;

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
	case REGION:
		a->regions = optarg;
		return 0;
	case 'e':
		a->events = optarg;
		return 0;
	case 'm':
		a->metrics = optarg;
		return 0;
	case 'o':
		a->output = optarg;
		return 0;
	case EMULATE:
		a->emulate = 1;
		return 0;
	case FAIL_IF:
		return take_rule(a, optarg);
	case FORMAT:
		return take_format(a, optarg);
	case ALPHA:
		code = take_number(&number, optarg, 1e-6, 50, "--alpha is a percentage, not");
		a->alpha = number / 100;
		return code;
	default:
		code = take_number(&number, optarg, 2, RUNS_MAX, "--runs is 2 to 1000, not");
		a->runs = (size_t)number;
		return code;
	}
}

const struct gate_rule *gate_rule(const struct gate_arguments *a, const char *quantity)
{
	for (size_t i = 0; i < a->nrules; i++)
		if (strcmp(a->rule[i].quantity, quantity) == 0)
			return &a->rule[i];
	for (size_t i = 0; i < a->nrules; i++)
		if (fnmatch(a->rule[i].quantity, quantity, 0) == 0)
			return &a->rule[i];
	return NULL;
}

/* What a glob stands for has to be counted by name. */
static int check_globs(const struct gate_arguments *a)
{
	for (size_t i = 0; i < a->nrules; i++)
		if (strpbrk(a->rule[i].quantity, "*?[") && !a->events && !a->metrics &&
		    !a->candidate)
			return gate_usage("a rule for several quantities takes -e or -m, which "
					  "say what is counted",
					  a->rule[i].quantity);
	return 0;
}

int gate_parse(struct gate_arguments *a, int argc, char **argv)
{
	int c, code;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+e:m:n:o:h", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (c == '?')
			return gate_usage("cannot use", argv[optind - 1]);
		if ((code = take(a, c)) != 0)
			return code;
	}
	a->program = argv + optind;
	if (a->candidate && (!a->baseline || a->against || a->save || optind < argc))
		return gate_usage("--candidate takes a --baseline, and no program", NULL);
	if (optind == argc && !a->candidate)
		return gate_usage("no program given", NULL);
	if (!!a->baseline + !!a->against != 1 && !(a->save && !a->baseline && !a->against))
		return gate_usage("one of --baseline, --against and --save", NULL);
	if (!a->nrules)
		take_rule(a, "instructions > +0.5%");
	if (!a->runs)
		a->runs = gate_rule(a, "time") ? 20 : 10;
	return check_globs(a);
}
