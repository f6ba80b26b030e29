/* SPDX-License-Identifier: MIT */
/* `tach run`: a program with every thread measured, from start to exit, without a change to it.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <tach/report.h>
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"

static const char help[] =
	"usage: tach run [-e EVENTS] [-m METRICS] [--per-thread] [-o FILE] [--format F]\n"
	"                [--] PROGRAM [ARGUMENT]...\n\n"
	"Runs PROGRAM with every thread measured from its start to its end, and the regions "
	"in\n"
	"it, and prints the table to standard error when it has ended. Child processes are\n"
	"added up with it.\n\n"
	"  -e EVENTS     what to count: \"cycles,instructions,l1=L1-dcache-load-misses\"\n"
	"  -m METRICS    what to derive: \"ipc = instructions / cycles\"\n"
	"  --per-thread  a row for every thread instead of one for all\n"
	"  --format F    text, json, csv, prometheus or html; without it what FILE's suffix "
	"says\n"
	"  -o FILE       write the report there\n\n"
	"Exit status: PROGRAM's, or 128 and the number of the signal that ended it; 125 tach "
	"run\n"
	"itself failed, 126 PROGRAM cannot be run, 127 there is no such program.\n";

enum { EXIT_FAILED = 125, EXIT_CANNOT = 126, EXIT_MISSING = 127, REPORTS_MAX = 4096 };

struct arguments {
	const char *events, *metrics, *output, *format_name;
	enum tach_format format;
	int per_thread;
	char **program;
};

struct outcome {
	pid_t process;
	int status; /* as wait gives it */
	int left;   /* it left a report */
	double seconds;
	struct rusage usage;
};

/* ---- arguments ---- */

static const char *option(const char *name, int *i, int argc, char **argv)
{
	return strcmp(argv[*i], name) == 0 && *i + 1 < argc ? argv[++*i] : NULL;
}

static int parse(struct arguments *a, int argc, char **argv)
{
	const char *value;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		if (strcmp(argv[i], "--per-thread") == 0)
			a->per_thread = 1;
		else if ((value = option("-e", &i, argc, argv)))
			a->events = value;
		else if ((value = option("-m", &i, argc, argv)))
			a->metrics = value;
		else if ((value = option("-o", &i, argc, argv)))
			a->output = value;
		else if ((value = option("--format", &i, argc, argv)))
			a->format_name = value;
		else {
			fprintf(stderr, "tach run: cannot use '%s'\n%s", argv[i], help);
			return EXIT_FAILED;
		}
	}
	if (i >= argc) {
		fprintf(stderr, "tach run: no program given\n%s", help);
		return EXIT_FAILED;
	}
	a->program = argv + i;
	if (report_format(a->format_name, a->output, &a->format) != 0) {
		fprintf(stderr, "tach run: no format '%s'\n%s", a->format_name, help);
		return EXIT_FAILED;
	}
	return 0;
}

/* Better now than in a program that has no way to complain. */
static int check_events(const struct arguments *a)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set;

	opt.events = a->events && *a->events ? a->events : NULL;
	opt.metrics = a->metrics;
	if ((!opt.events && !opt.metrics) || tach_set_create(&set, &opt, &err) == 0) {
		if (opt.events || opt.metrics)
			tach_set_free(set);
		return 0;
	}
	fprintf(stderr, "tach run: %s\n", err.text);
	return EXIT_FAILED;
}

/* ---- the program ---- */

/* Before what is already there. */
static void preload(const char *object)
{
	const char *others = getenv("LD_PRELOAD");
	char *value;

	if (asprintf(&value, "%s%s%s", object, others && *others ? ":" : "",
		     others ? others : "") < 0)
		return;
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

static void set_environment(const struct arguments *a, const char *object,
			    const char *directory)
{
	const char *regions = getenv("TACH_REGIONS");
	char *value;

	preload(object);
	setenv("TACH_ENABLE", "1", 1);
	setenv("TACH_RUN", directory, 1);
	if (a->per_thread)
		setenv("TACH_RUN_THREADS", "1", 1);
	if (a->events || a->metrics) {
		unsetenv("TACH_EVENTS");
		unsetenv("TACH_METRICS");
	}
	if (a->events)
		setenv("TACH_EVENTS", a->events, 1);
	if (a->metrics)
		setenv("TACH_METRICS", a->metrics, 1);
	/* Whatever regions are chosen, those of threads are. */
	if (regions && *regions && asprintf(&value, "%s,(*)", regions) > 0) {
		setenv("TACH_REGIONS", value, 1);
		free(value);
	}
	if (asprintf(&value, "%s/%%p.%%u.json", directory) > 0) {
		setenv("TACH_OUTPUT", value, 1);
		free(value);
	}
}

static _Noreturn void become(const struct arguments *a, const char *object,
			     const char *directory)
{
	char number[16];

	set_environment(a, object, directory);
	snprintf(number, sizeof number, "%d", (int)getpid());
	setenv("TACH_RUN_PID", number, 1);
	execvp(a->program[0], a->program);
	fprintf(stderr, "tach run: %s: %s\n", a->program[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_MISSING : EXIT_CANNOT);
}

static volatile sig_atomic_t child; /* whom to tell */

static void pass_on(int signal)
{
	int saved = errno;

	if (child > 0)
		kill((pid_t)child, signal);
	errno = saved;
}

/*
 * While the program runs: the terminal's interrupt reaches it by itself, and to wait for its
 * end is ours; what is meant for us is handed on.
 */
static const struct {
	int number;
	void (*handler)(int);
} signals[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGTERM, pass_on}, {SIGHUP, pass_on}};
enum { NSIGNALS = sizeof signals / sizeof *signals };

struct dispositions {
	struct sigaction action[NSIGNALS];
	sigset_t mask;
};

/* Signals that come before there is a program to hand them to wait for it. */
static void take_signals(struct dispositions *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before->mask);
	for (int i = 0; i < NSIGNALS; i++) {
		struct sigaction action = {.sa_handler = signals[i].handler,
					   .sa_flags = SA_RESTART};

		sigaction(signals[i].number, NULL, &before->action[i]);
		/* Who ignores the hangup (nohup) goes on doing so. */
		if (before->action[i].sa_handler != SIG_IGN)
			sigaction(signals[i].number, &action, NULL);
	}
}

static void give_signals_back(const struct dispositions *before)
{
	for (int i = 0; i < NSIGNALS; i++)
		sigaction(signals[i].number, &before->action[i], NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

static int start_and_wait(const struct arguments *a, const char *object, const char *directory,
			  struct outcome *outcome)
{
	struct dispositions before;
	struct timespec from, to;
	pid_t pid;

	fflush(NULL);
	clock_gettime(CLOCK_MONOTONIC, &from);
	take_signals(&before);
	pid = fork();
	if (pid == 0) {
		give_signals_back(&before);
		become(a, object, directory);
	}
	if (pid < 0) {
		fprintf(stderr, "tach run: %s\n", strerror(errno));
		give_signals_back(&before);
		return -1;
	}
	child = outcome->process = pid;
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
	while (wait4(pid, &outcome->status, 0, &outcome->usage) < 0)
		if (errno != EINTR)
			return -1;
	give_signals_back(&before);
	clock_gettime(CLOCK_MONOTONIC, &to);
	outcome->seconds =
		(double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	return 0;
}

/* ---- the reports ---- */

/* Reads and deletes what the processes left; one that is not named .json is not whole. */
static int collect(const char *directory, struct tach_snapshot **list, struct outcome *outcome)
{
	DIR *dir = opendir(directory);
	struct dirent *d;
	int n = 0;

	while (dir && (d = readdir(dir))) {
		char file[4096];

		if (d->d_name[0] == '.')
			continue;
		snprintf(file, sizeof file, "%s/%s", directory, d->d_name);
		if (n < REPORTS_MAX && tach_report_format(file) == TACH_JSON &&
		    report_load(&list[n], file, "tach run") == 0) {
			outcome->left |= atoi(d->d_name) == (int)outcome->process;
			n++;
		}
		unlink(file);
	}
	if (dir)
		closedir(dir);
	if (rmdir(directory) != 0)
		fprintf(stderr, "tach run: %s: %s\n", directory, strerror(errno));
	return n;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* What the kernel knows of the program, whatever became of it. */
static void print_outcome(const struct arguments *a, const struct outcome *o, int reports)
{
	const struct rusage *u = &o->usage;

	if (WIFSIGNALED(o->status))
		fprintf(stderr, "tach run: %s was ended by signal %d (%s)%s%s\n", a->program[0],
			WTERMSIG(o->status), strsignal(WTERMSIG(o->status)),
			WCOREDUMP(o->status) ? ", core dumped" : "",
			o->left ? "" : "; what it counted is lost");
	else if (reports == 0)
		fprintf(stderr,
			"tach run: %s left no report: a statically linked or set-user-ID "
			"program, or "
			"one that cleared its environment\n",
			a->program[0]);
	fprintf(stderr,
		"%.3f s elapsed, %.3f s user, %.3f s system, %ld page faults, %ld context "
		"switches, %ld MiB at most\n",
		o->seconds, seconds(u->ru_utime), seconds(u->ru_stime),
		u->ru_minflt + u->ru_majflt, u->ru_nvcsw + u->ru_nivcsw, u->ru_maxrss / 1024);
}

static int report(const struct arguments *a, struct tach_snapshot **list, int n)
{
	struct tach_snapshot *whole = NULL;
	int code;

	if (n == 0)
		return 0;
	if (n == 1)
		return report_write(list[0], a->format, a->output, STDERR_FILENO, "tach run");
	code = report_merge(&whole, list, n, "tach run");
	if (!code)
		code = report_write(whole, a->format, a->output, STDERR_FILENO, "tach run");
	tach_snapshot_free(whole);
	return code;
}

static int run(const struct arguments *a, const char *object)
{
	struct tach_snapshot **list = calloc(REPORTS_MAX, sizeof *list);
	const char *tmp = getenv("TMPDIR");
	char directory[3000];
	struct outcome outcome = {0};
	int n, code;

	snprintf(directory, sizeof directory, "%s/tach-run.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!list || !mkdtemp(directory)) {
		fprintf(stderr, "tach run: %s: %s\n", directory, strerror(errno));
		free(list);
		return EXIT_FAILED;
	}
	code = start_and_wait(a, object, directory, &outcome);
	n = collect(directory, list, &outcome);
	if (!code) {
		int status = WEXITSTATUS(outcome.status);
		/* Where nothing ran there is nothing to say; execvp's error was printed. */
		int ran = !WIFEXITED(outcome.status) || n > 0 ||
			  (status != EXIT_CANNOT && status != EXIT_MISSING);

		code = report(a, list, n);
		if (ran)
			print_outcome(a, &outcome, n);
	}
	for (int i = 0; i < n; i++)
		tach_snapshot_free(list[i]);
	free(list);
	if (code)
		return EXIT_FAILED;
	return WIFSIGNALED(outcome.status) ? 128 + WTERMSIG(outcome.status)
					   : WEXITSTATUS(outcome.status);
}

int cmd_run(int argc, char **argv)
{
	struct arguments a = {0};
	char object[4096], program[4096];
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
	if (run_find_object(object, sizeof object) != 0) {
		fprintf(stderr, "tach run: %s is neither beside this program nor in ../lib\n",
			RUN_OBJECT);
		return EXIT_FAILED;
	}
	if (run_find_program(program, sizeof program, a.program[0]) == 0 &&
	    run_is_static(program))
		fprintf(stderr,
			"tach run: %s is statically linked: nothing can be preloaded into it, "
			"only regions compiled into it are measured\n",
			a.program[0]);
	return run(&a, object);
}
