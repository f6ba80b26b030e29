/* SPDX-License-Identifier: MIT */
/* The command line of `tach run`. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/set.h>
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"

enum {
	FORMAT = 256,
	THREADS,
	PROCESSES,
	PROGRAMS,
	OUTSIDE,
	INTERRUPTS,
	CORRECT,
	TOPDOWN,
	PASSES,
	TURNS,
	EMULATE,
	AMBIENT,
	TRACE,
	OPENMP,
	FUNCTIONS
};

static const struct option options[] = {
	{"events", required_argument, NULL, 'e'},
	{"metrics", required_argument, NULL, 'm'},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, FORMAT},
	{"per-thread", no_argument, NULL, THREADS},
	{"per-process", no_argument, NULL, PROCESSES},
	{"per-program", no_argument, NULL, PROGRAMS},
	{"outside", no_argument, NULL, OUTSIDE},
	{"topdown", optional_argument, NULL, TOPDOWN},
	{"passes", optional_argument, NULL, PASSES},
	{"turns", optional_argument, NULL, TURNS},
	{"emulate", no_argument, NULL, EMULATE},
	{"ambient", required_argument, NULL, AMBIENT},
	{"trace", required_argument, NULL, TRACE},
	{"openmp", no_argument, NULL, OPENMP},
	{"functions", optional_argument, NULL, FUNCTIONS},
	{"interrupts", no_argument, NULL, INTERRUPTS},
	{"correct", no_argument, NULL, CORRECT},
	{"interval", required_argument, NULL, 'I'},
	{"pid", required_argument, NULL, 'p'},
	{"repeat", required_argument, NULL, 'r'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int bad_usage(const char *what)
{
	return refuse_usage("run", "%s", what), RUN_FAILED;
}

/* For an option that may be given once: two different values are an error. */
static int once(const char **to, const char *value, const char *sentence)
{
	if (*to && strcmp(*to, value) != 0)
		return bad_usage(sentence);
	*to = value;
	return 0;
}

/* Adds the metric for --topdown. */
static int take_topdown(struct run_arguments *a, const char *level)
{
	if (level && (strlen(level) != 1 || *level < '1' || *level > '6'))
		return bad_usage("--topdown=N takes a level from 1 to 6");
	if (*a->topdown &&
	    (level ? *level : '\0') != a->topdown[sizeof "topdown" - 1 + !!level])
		return bad_usage("two levels for --topdown");
	snprintf(a->topdown, sizeof a->topdown, "topdown%s%s", level ? ":" : "",
		 level ? level : "");
	return 0;
}

/* The argument has the format of TACH_TURNS. */
static int take_turns(struct run_arguments *a, const char *entries)
{
	if (!entries)
		entries = "100";
	if (strspn(entries, "0123456789") != strlen(entries) || strlen(entries) > 9 ||
	    atoi(entries) < 1)
		return bad_usage("--turns=N takes a number of entries, from 1 to 999999999");
	return once(&a->turns, entries, "two lengths of --turns");
}

/* Percent. */
static int take_passes(struct run_arguments *a, const char *bound)
{
	char *end = NULL;
	double percent = bound ? strtod(bound, &end) : 1;

	if (bound && (end == bound || *end || !(percent >= 0 && percent <= 100)))
		return bad_usage("--passes=PERCENT takes the allowed difference of "
				 "instructions, from 0 to 100");
	a->passes = 1;
	a->bound = percent / 100;
	return 0;
}

/* Parses a number in that range; the option may be given once; `to` must be 0 before. */
static int take_number(double *to, double least, double most, int whole, const char *sentence)
{
	char *end;
	double v = strtod(optarg, &end);

	if (end == optarg || *end || !(v >= least && v <= most) ||
	    (whole && v != (double)(long)v) || (*to > 0 && *to != v))
		return refuse_usage("run", "%s, not '%s'", sentence, optarg), RUN_FAILED;
	*to = v;
	return 0;
}

static int take_process(struct run_arguments *a)
{
	double v = a->process;

	if (take_number(&v, 1, 1 << 30, 1, "-p takes the number of one process") != 0)
		return RUN_FAILED;
	a->process = (pid_t)v;
	return 0;
}

static int take_repeat(struct run_arguments *a)
{
	double v = a->repeat;

	if (take_number(&v, 2, 10000, 1, "-r takes one number of runs, from 2 to 10000") != 0)
		return RUN_FAILED;
	a->repeat = (int)v;
	return 0;
}

/* Joins both lists if metrics are named too. */
static int join_metrics(struct run_arguments *a)
{
	char *both;

	if (!*a->topdown)
		return 0;
	if (!a->metrics) {
		a->metrics = a->topdown;
		return 0;
	}
	/* Never freed: used until the command ends. */
	both = malloc(strlen(a->metrics) + 1 + sizeof a->topdown);
	if (!both)
		return fputs("tach run: out of memory\n", stderr), RUN_FAILED;
	sprintf(both, "%s;%s", a->metrics, a->topdown);
	a->metrics = both;
	return 0;
}

static int take_option(struct run_arguments *a, int option)
{
	enum run_rows rows = (enum run_rows)(RUN_THREADS + option - THREADS);

	switch (option) {
	case 'e':
		return once(&a->events, optarg,
			    "two lists of events; make one, with commas between them");
	case 'm':
		return once(&a->metrics, optarg,
			    "two lists of formulas; make one, with semicolons between them");
	case 'o':
		return once(&a->output, optarg, "two files for one report");
	case AMBIENT:
		return once(&a->ambient, optarg,
			    "--ambient is given twice; give one list, separated by commas");
	case TRACE:
		return once(&a->trace, optarg, "two files for one trace");
	case FORMAT:
		return once(&a->format_name, optarg, "two formats for one report");
	case OUTSIDE:
		a->outside = 1;
		return 0;
	case OPENMP:
		a->openmp = 1;
		return 0;
	case FUNCTIONS:
		return once(&a->functions, optarg ? optarg : "",
			    "two lists for --functions; make one, with commas between them");
	case TOPDOWN:
		return take_topdown(a, optarg);
	case PASSES:
		return take_passes(a, optarg);
	case TURNS:
		return take_turns(a, optarg);
	case EMULATE:
		a->emulate = 1;
		return 0;
	case 'I':
		return take_number(&a->interval, 0.01, 1e6, 0,
				   "-I takes one number of seconds, 0.01 to 1000000");
	case 'p':
		return take_process(a);
	case 'r':
		return take_repeat(a);
	case INTERRUPTS:
		return once(&a->interrupts, "1",
			    "--interrupts or --correct, not both: the second does the first");
	case CORRECT:
		return once(&a->interrupts, "correct",
			    "--interrupts or --correct, not both: the second does the first");
	}
	if (a->rows && a->rows != rows)
		return bad_usage(
			"give only one of --per-thread, --per-process and --per-program");
	a->rows = rows;
	return 0;
}

static const char *given(const char *variable)
{
	const char *value = getenv(variable);

	return value ? value : "";
}

/* Checks -I and -p, which imply --outside, and -r. */
static int check_outside(struct run_arguments *a)
{
	int inside = a->interrupts || a->trace || a->emulate || a->passes || a->turns;

	if ((a->interval > 0 || a->process) &&
	    (inside || a->ambient || (a->rows && (a->rows != RUN_THREADS || !a->process))))
		return bad_usage("-I and -p count from outside: they exclude --interrupts, "
				 "--correct, --trace, --emulate, --passes, --turns, --ambient "
				 "and --per-process and the like; -p allows --per-thread");
	if (a->repeat && (a->interval > 0 || a->process || a->passes || a->trace ||
			  a->rows == RUN_PROCESSES))
		return bad_usage("-r makes one table of many runs: it excludes -I, -p, "
				 "--passes, --trace and --per-process");
	if (a->interval > 0 || a->process)
		a->outside = 1;
	return 0;
}

static int check_together(const struct run_arguments *a)
{
	if (a->outside && a->rows && !a->process)
		return bad_usage("--outside has one row");
	if (a->outside && a->interrupts)
		return bad_usage("--outside counts no interrupts");
	if (a->outside && a->trace)
		return bad_usage("--outside sees no entries: leave it out for --trace");
	if (a->emulate && (a->outside || a->interrupts))
		return bad_usage(
			"--emulate counts inside the program, where there are no interrupts: "
			"it excludes --outside, --interrupts and --correct");
	if (a->passes && (a->interrupts || a->ambient || a->rows == RUN_PROCESSES))
		return bad_usage("--passes adds no interrupts and no boxes, and processes have "
				 "other numbers in each run: it excludes --interrupts, "
				 "--correct, --ambient and --per-process");
	if (a->openmp && (a->outside || a->emulate || a->passes || a->repeat))
		return bad_usage("--openmp counts in the program's threads, in one run: it "
				 "excludes --outside, -I, -p, --emulate, --passes and -r");
	if (a->functions && (a->outside || a->emulate || a->passes || a->repeat || a->turns))
		return bad_usage("--functions counts in the program's threads, in one run: it "
				 "excludes --outside, -I, -p, --emulate, --passes, --turns and "
				 "-r");
	if (a->turns && (a->passes || a->interrupts || a->outside || a->rows))
		return bad_usage("--turns is for regions, adds no interrupts and has no rows "
				 "of threads: it excludes --passes, --interrupts, --correct, "
				 "--outside and --per-thread and the like");
	return 0;
}

/* Series and tables of repeated runs have fewer formats than snapshots. */
static int check_format(const struct run_arguments *a)
{
	if ((a->interval > 0 || a->repeat) && a->format > TACH_FORMAT_CSV)
		return bad_usage("-I and -r write text, json or csv");
	return 0;
}

/* With -r, "::" separates commands. */
static int split_commands(struct run_arguments *a)
{
	a->ncommands = 1;
	for (char **word = a->program; a->repeat && *word; word++) {
		if (strcmp(*word, "::") != 0)
			continue;
		if (word == a->program || !word[-1] || !word[1])
			return bad_usage("with -r, '::' stands between two commands");
		*word = NULL;
		a->ncommands++;
	}
	return 0;
}

/*
 * Returns 0 to continue, 1 after printing the help. "+": words after the program's name belong
 * to the program.
 */
int run_parse(struct run_arguments *a, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+e:m:o:I:p:r:h", options, NULL)) != -1) {
		if (c == '?')
			return refuse_usage("run", "cannot use '%s'", argv[optind - 1]),
			       RUN_FAILED;
		if (c == 'h') {
			fputs(run_help, stdout);
			return 1;
		}
		if (take_option(a, c) != 0)
			return RUN_FAILED;
	}
	if (optind >= argc && !a->process)
		return bad_usage("no program given");
	if (check_outside(a) != 0 || check_together(a) != 0)
		return RUN_FAILED;
	if (join_metrics(a) != 0)
		return RUN_FAILED;
	if (!a->ambient && !a->passes && !(a->interval > 0) && !a->process &&
	    *given("TACH_AMBIENT"))
		a->ambient = given("TACH_AMBIENT");
	a->program = argv + optind;
	if (split_commands(a) != 0)
		return RUN_FAILED;
	if (report_format(a->format_name, a->output, &a->format, "tach run") != 0)
		return print_usage_error("run"), RUN_FAILED;
	return check_format(a);
}

/* Checks metrics together with the events; events NULL: only the metrics. */
static int check_one(const char *events, const char *metrics)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set;

	opt.events = events && *events ? events : NULL;
	opt.metrics = metrics;
	if (tach_set_create(&opt, &set, &err) == 0) {
		tach_set_free(set);
		return 0;
	}
	complain("tach run", metrics ? metrics : events, &err);
	return RUN_FAILED;
}

/* Checks the events here, because the measured program cannot report errors. */
int run_check_events(const struct run_arguments *a)
{
	int code;

	/* Events counted from outside, also of boxes, are checked when they are opened. */
	if (a->outside)
		return 0;
	if (a->events && run_has_boxes(a->events)) {
		fprintf(stderr,
			"tach run: %s: boxes of the uncore count for the whole machine and for "
			"no thread; --ambient counts them while the program runs\n",
			a->events);
		return RUN_FAILED;
	}
	code = a->events ? check_one(a->events, NULL) : 0;
	return code || !a->metrics ? code : check_one(a->events, a->metrics);
}
