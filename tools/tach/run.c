/* SPDX-License-Identifier: MIT */
/* `tach run`: a program with every thread measured, from start to exit, without a change to it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"

static const char help[] =
	"usage: tach run [-e EVENTS] [-m METRICS] [--interrupts | --correct]\n"
	"                [--per-thread | --per-process | --per-program | --outside]\n"
	"                [-o FILE] [--format F]\n"
	"                [--] PROGRAM [ARGUMENT]...\n\n"
	"Runs PROGRAM with every thread measured from its start to its end, and the regions "
	"in\n"
	"it, and prints the table to standard error when it has ended, however it ended. "
	"Child\n"
	"processes are added up with it.\n\n"
	"  -e EVENTS      what to count: \"cycles,instructions,l1=L1-dcache-load-misses\"\n"
	"  -m METRICS     what to derive: \"ipc = instructions / cycles\"\n"
	"  --interrupts   count interrupts too\n"
	"  --correct      count them, and take one for each out of instructions, where the "
	"CPU\n"
	"                 adds one\n"
	"  --per-thread   a row for every thread instead of one for all\n"
	"  --per-process  a row for every process\n"
	"  --per-program  a row for every program that processes ran: sh, cc1, ld\n"
	"  --outside      one row, by counters that are inherited; nothing is loaded into the\n"
	"                 program: for statically linked programs, and those ended by SIGKILL\n"
	"  --format F     text, json, csv, prometheus or html; without it what FILE's suffix\n"
	"                 says\n"
	"  -o FILE        write the report there\n\n"
	"Exit status: PROGRAM's, or 128 and the number of the signal that ended it; 125 tach "
	"run\n"
	"itself failed, 126 PROGRAM cannot be run, 127 there is no such program.\n";

/* ---- arguments ---- */

static const char *option(const char *name, int *i, int argc, char **argv)
{
	return strcmp(argv[*i], name) == 0 && *i + 1 < argc ? argv[++*i] : NULL;
}

static int flag(struct run_arguments *a, const char *word)
{
	static const char *const rows[] = {
		[RUN_THREADS] = "--per-thread",
		[RUN_PROCESSES] = "--per-process",
		[RUN_PROGRAMS] = "--per-program",
	};

	for (int r = RUN_THREADS; r <= RUN_PROGRAMS; r++)
		if (strcmp(word, rows[r]) == 0) {
			a->rows = (enum run_rows)r;
			return 1;
		}
	if (strcmp(word, "--outside") == 0)
		a->outside = 1;
	else if (strcmp(word, "--interrupts") == 0)
		a->interrupts = "1";
	else if (strcmp(word, "--correct") == 0)
		a->interrupts = "correct";
	else
		return 0;
	return 1;
}

static int parse(struct run_arguments *a, int argc, char **argv)
{
	const char *value;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		if (flag(a, argv[i]))
			continue;
		if ((value = option("-e", &i, argc, argv)))
			a->events = value;
		else if ((value = option("-m", &i, argc, argv)))
			a->metrics = value;
		else if ((value = option("-o", &i, argc, argv)))
			a->output = value;
		else if ((value = option("--format", &i, argc, argv)))
			a->format_name = value;
		else {
			fprintf(stderr, "tach run: cannot use '%s'\n%s", argv[i], help);
			return RUN_FAILED;
		}
	}
	if (i >= argc || (a->outside && (a->rows || a->interrupts))) {
		fprintf(stderr, "tach run: %s\n%s",
			i >= argc ? "no program given"
			: a->rows ? "--outside has one row"
				  : "--outside counts no interrupts",
			help);
		return RUN_FAILED;
	}
	a->program = argv + i;
	if (report_format(a->format_name, a->output, &a->format) != 0) {
		fprintf(stderr, "tach run: no format '%s'\n%s", a->format_name, help);
		return RUN_FAILED;
	}
	return 0;
}

/* Better now than in a program that has no way to complain. */
static int check_events(const struct run_arguments *a)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set;

	opt.events = a->events && *a->events ? a->events : NULL;
	opt.metrics = a->metrics;
	if (!opt.events && !opt.metrics)
		return 0;
	if (tach_set_create(&set, &opt, &err) == 0) {
		tach_set_free(set);
		return 0;
	}
	fprintf(stderr, "tach run: %s\n", err.text);
	return RUN_FAILED;
}

/* ---- the outcome ---- */

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* What the kernel knows of the program, whatever became of it. */
static void print_outcome(const struct run_arguments *a, const struct run_outcome *o,
			  const struct run_reports *reports)
{
	const struct rusage *u = &o->usage;

	if (WIFSIGNALED(o->status))
		fprintf(stderr, "tach run: %s was ended by signal %d (%s)%s%s\n", a->program[0],
			WTERMSIG(o->status), strsignal(WTERMSIG(o->status)),
			WCOREDUMP(o->status) ? ", core dumped" : "",
			reports->of_program || a->outside
				? ""
				: "; what it counted is lost, try --outside");
	else if (!reports->whole)
		fprintf(stderr,
			"tach run: %s left no report: it is set-user-ID, or cleared its "
			"environment; try --outside\n",
			a->program[0]);
	fprintf(stderr,
		"%.3f s elapsed, %.3f s user, %.3f s system, %ld page faults, %ld context "
		"switches, %ld MiB at most\n",
		o->seconds, seconds(u->ru_utime), seconds(u->ru_stime),
		u->ru_minflt + u->ru_majflt, u->ru_nvcsw + u->ru_nivcsw, u->ru_maxrss / 1024);
}

static int report(const struct run_arguments *a, const struct run_outcome *o,
		  struct run_reports *reports, struct run_outside *outside)
{
	struct tach_snapshot *more;
	int code = 0;

	/* Where nothing ran there is nothing to say; exec's error was printed. */
	if (o->exec_failed)
		return 0;
	if (outside && (more = run_outside_take(outside, o->seconds)))
		code = run_collect_add(reports, more);
	if (!code && reports->whole)
		code = report_write(reports->whole, a->format, a->output, STDERR_FILENO,
				    "tach run");
	print_outcome(a, o, reports);
	return code;
}

static int run(const struct run_arguments *a, const char *object, struct run_outside *outside)
{
	const char *tmp = getenv("TMPDIR");
	struct run_reports reports = {0};
	struct run_outcome outcome = {0};
	char directory[3000];
	int code;

	snprintf(directory, sizeof directory, "%s/tach-run.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(directory)) {
		fprintf(stderr, "tach run: %s: %s\n", directory, strerror(errno));
		return RUN_FAILED;
	}
	code = run_child(a, object, directory, outside, &outcome);
	if (run_collect(&reports, directory, outcome.process) != 0)
		code = -1;
	if (!code)
		code = report(a, &outcome, &reports, outside);
	tach_snapshot_free(reports.whole);
	if (code)
		return RUN_FAILED;
	return WIFSIGNALED(outcome.status) ? 128 + WTERMSIG(outcome.status)
					   : WEXITSTATUS(outcome.status);
}

int cmd_run(int argc, char **argv)
{
	struct run_arguments a = {0};
	char object[4096], program[4096];
	struct run_outside *outside = NULL;
	int code;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		fputs(help, stdout);
		return EXIT_DONE;
	}
	code = parse(&a, argc, argv);
	if (!code)
		code = check_events(&a);
	if (code)
		return code;
	if (!a.outside && run_find_object(object, sizeof object) != 0) {
		fprintf(stderr, "tach run: %s is neither beside this program nor in ../lib\n",
			RUN_OBJECT);
		return RUN_FAILED;
	}
	if (!a.outside && run_find_program(program, sizeof program, a.program[0]) == 0 &&
	    run_is_static(program)) {
		fprintf(stderr,
			"tach run: %s is statically linked: nothing can be preloaded into it; "
			"counting from outside\n",
			a.program[0]);
		code = 1;
	}
	if ((a.outside || code) && !(outside = run_outside_new(&a)))
		return RUN_FAILED;
	code = run(&a, a.outside ? NULL : object, outside);
	run_outside_free(outside);
	return code;
}
