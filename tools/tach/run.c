/* SPDX-License-Identifier: MIT */
/* `tach run`: measures every thread of an unmodified program, from start to exit. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach/region.h>
#include "tools/tach/commands.h"
#include "tools/tach/emulate.h"
#include "tools/tach/report.h"
#include "tools/tach/run.h"
#include "tools/tach/run_outside.h"

static const char separators[] =
	": ,\t\n"; /* separators in LD_PRELOAD and in QEMU's option -E */

static int is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/*
 * If the default events cannot be counted, this is checked once here instead of in every
 * process. TACH_RUN_NOTE contains the note for the program's report.
 */
static void try_default_events(const struct run_arguments *a)
{
	struct tach_regions_options none = {0};
	struct tach_snapshot *s;

	if (a->events || a->metrics || a->interrupts || getenv("TACH_EVENTS") ||
	    is_set("TACH_METRICS") || is_set("TACH_INTERRUPTS") ||
	    tach_regions_configure(&none, NULL) != 0)
		return;
	if (tach_snapshot_take(&s, NULL) == 0) {
		if (tach_snapshot_nquantities(s) == 1)
			setenv("TACH_RUN_NOTE", tach_snapshot_missing(s), 1);
		tach_snapshot_free(s);
	}
	tach_regions_disable();
}

/* ---- the outcome ---- */

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Prints what the kernel reported about the program, however the program ended. */
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
				: "; its counts are lost, try --outside");
	else if (!reports->whole && !reports->began && !a->outside)
		fprintf(stderr,
			"tach run: %s left no report: it is set-user-ID, cleared its "
			"environment, or ended while it was loaded; try --outside\n",
			a->program[0]);
	run_missing_print(reports);
	fprintf(stderr,
		"%.3f s elapsed, %.3f s user, %.3f s system\n"
		"%ld page faults, %ld context switches, %ld MiB at most\n",
		o->seconds, seconds_of(u->ru_utime), seconds_of(u->ru_stime),
		u->ru_minflt + u->ru_majflt, u->ru_nvcsw + u->ru_nivcsw, u->ru_maxrss / 1024);
}

static int add_outside(struct run_reports *reports, struct run_outside *outside, double seconds)
{
	struct tach_snapshot *more = outside ? run_outside_take(outside, seconds) : NULL;

	return more ? run_collect_add(reports, more) : 0;
}

/* If the output file cannot be written, writes elsewhere: the program has already run. */
static int write_whole(const struct run_arguments *a, const struct tach_snapshot *s)
{
	int code = report_write(s, a->format, a->output, STDERR_FILENO, "tach run");

	if (code && a->output)
		report_write(s, a->format, NULL, STDERR_FILENO, "tach run");
	return code;
}

/* For a rank of a parallel job: the last rank writes the sum of all ranks. */
static int report_rank(const struct run_arguments *a, const struct run_outcome *o,
		       struct run_reports *reports)
{
	struct tach_snapshot *all;
	int code = run_ranks_gather(a, reports->whole, &all);

	if (all)
		code = write_whole(a, all);
	else if (code && reports->whole)
		report_write(reports->whole, a->format, NULL, STDERR_FILENO, "tach run");
	if (WIFSIGNALED(o->status))
		print_outcome(a, o, reports);
	else
		run_missing_print(reports);
	tach_snapshot_free(all);
	return code;
}

int run_report(const struct run_arguments *a, const struct run_outcome *o,
	       struct run_reports *reports)
{
	int code = 0;

	/* If the program did not run, prints nothing: the error of exec is already printed. */
	if (o->exec_failed)
		return 0;
	if (a->interval <= 0 && run_ranks_wanted(a))
		return report_rank(a, o, reports);
	if (reports->whole)
		code = write_whole(a, reports->whole);
	print_outcome(a, o, reports);
	return code;
}

/*
 * Fails now, not after the program has run for an hour. A pipe is not opened: closing it again
 * would end the input of its reader.
 */
static int check_output(const char *file)
{
	struct stat status;
	int fd;

	if (stat(file, &status) == 0 && S_ISFIFO(status.st_mode) && access(file, W_OK) == 0)
		return 0;
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0)
		unlink(file);
	else if (errno == EEXIST)
		fd = open(file, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	fprintf(stderr, "tach run: %s: %s\n", file, strerror(errno));
	return RUN_FAILED;
}

/* LD_PRELOAD is a list: if the path contains a separator, a link without one is used. */
static int make_link(char *path, size_t size, const char *object, const char *directory)
{
	char folder[4096], link[3100];

	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(object, '/') - object), object);
	snprintf(link, sizeof link, "%s/" RUN_LINK, directory);
	if (symlink(folder, link) != 0) {
		fprintf(stderr, "tach run: %s: %s\n", link, strerror(errno));
		return -1;
	}
	snprintf(path, size, "%s/%s", link, RUN_OBJECT);
	return 0;
}

/* Processes that still run may start programs, and their loader would report a missing link. */
static void remove_directory(const char *directory, int running)
{
	char link[4096];

	snprintf(link, sizeof link, "%s/" RUN_LINK, directory);
	if (running && access(link, F_OK) == 0) {
		fprintf(stderr,
			"tach run: %s stays: programs that are still running load %s "
			"through it\n",
			link, RUN_OBJECT);
		return;
	}
	unlink(link);
	if (rmdir(directory) != 0)
		fprintf(stderr, "tach run: %s: %s\n", directory, strerror(errno));
}

static int make_directory(char *path, size_t size, int plain)
{
	const char *const places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!places[i] || !*places[i] || (plain && strpbrk(places[i], separators)))
			continue;
		snprintf(path, size, "%s/tach-run.XXXXXX", places[i]);
		if (mkdtemp(path))
			return 0;
	}
	fprintf(stderr, "tach run: %s: %s; TMPDIR may name another folder\n", path,
		strerror(errno));
	return -1;
}

/* results: from run_results_open, or -1. */
static int run_program(const struct run_arguments *a, const char *object, int results,
		       const struct run_beside *beside, struct run_reports *reports,
		       struct run_outcome *outcome)
{
	int by_link = object && strpbrk(object, separators), code;
	char directory[3000], link[4096];

	if (make_directory(directory, sizeof directory, by_link) != 0)
		return RUN_FAILED;
	if (by_link && make_link(link, sizeof link, object, directory) == 0)
		object = link;
	if (object && !a->emulate)
		try_default_events(a);
	code = run_child(a, object, directory, beside, outcome);
	if (run_collect(reports, results, directory, outcome->process) != 0)
		code = -1;
	remove_directory(directory, reports->running);
	if (!code && !outcome->exec_failed && !beside->series)
		code = add_outside(reports, beside->outside, outcome->seconds);
	if (!code && !outcome->exec_failed)
		code = add_outside(reports, beside->ambient, outcome->seconds);
	return code ? RUN_FAILED : 0;
}

/* Prepares a native run. Returns 0, or the exit status after printing why not. */
static int ready_machine(struct run_arguments *a, enum run_loading loading,
			 struct run_outside **outside, int *results)
{
	int forbidden = run_outside_forbidden();

	if (loading != RUN_LOADABLE)
		fprintf(stderr,
			"tach run: %s is %s: nothing can be preloaded into it; counting from "
			"outside\n",
			a->program[0],
			loading == RUN_STATIC ? "statically linked"
					      : "of another C library than this command's "
						"(musl, or 32 bits)");
	/*
	 * A statically linked program may contain regions of its own. The dynamic linker of a
	 * program for another C library would fail.
	 */
	if (loading == RUN_FOREIGN)
		a->outside = 1;
	if (forbidden || (!a->outside && (*results = run_results_open()) < 0))
		a->outside = 1;
	if (!forbidden && (a->outside || loading != RUN_LOADABLE) &&
	    !(*outside = run_outside_new(a)))
		return RUN_FAILED;
	if (!a->process || !*outside)
		return 0;
	return run_attach(*outside, a);
}

/* Prepares --emulate. Returns 0, or the exit status after printing why not. */
static int ready_emulation(struct run_arguments *a, const char *program,
			   enum run_loading loading, int *results)
{
	int other;

	if (!*program) {
		fprintf(stderr, "tach run: %s: no such program\n", a->program[0]);
		return RUN_MISSING;
	}
	other = emulate_ready(program);
	if (other < 0)
		return RUN_FAILED;
	if (!other && (a->events || a->metrics) && emulate_check(a) != 0)
		return RUN_FAILED;
	if (other || loading != RUN_LOADABLE)
		fprintf(stderr,
			"tach run: nothing can be preloaded into %s: its regions are counted, "
			"its threads are not\n",
			a->program[0]);
	a->path = program;
	*results = run_results_open();
	return 0;
}

int run_once(struct run_arguments *a, const struct run_found *found,
	     struct run_reports *reports, struct run_outcome *outcome)
{
	struct run_beside beside = {NULL, NULL, NULL};
	struct run_series series;
	int results = -1;
	int code = a->emulate ? ready_emulation(a, found->program, found->loading, &results)
			      : ready_machine(a, found->loading, &beside.outside, &results);

	if (!code && a->ambient && !(beside.ambient = run_ambient_new(a->ambient)))
		code = RUN_FAILED;
	if (!code && a->interval > 0 && beside.outside) {
		code = run_series_begin(&series, a);
		beside.series = &series;
	}
	if (!code)
		code = run_program(a, a->outside ? NULL : found->object, results, &beside,
				   reports, outcome);
	if (!code && beside.series)
		code = run_series_end(&series, a);
	run_outside_free(beside.ambient);
	run_outside_free(beside.outside);
	if (results >= 0)
		close(results);
	return code;
}

int run_status(const struct run_outcome *o)
{
	return WIFSIGNALED(o->status) ? 128 + WTERMSIG(o->status) : WEXITSTATUS(o->status);
}

/* Runs the program once, and counts everything in that run. */
static int run_plainly(struct run_arguments *a, const struct run_found *found)
{
	struct run_reports reports = {0};
	struct run_outcome outcome = {0};
	int code = run_once(a, found, &reports, &outcome);

	if (!code &&
	    (run_name_places(a, &reports) != 0 || run_report(a, &outcome, &reports) != 0))
		code = RUN_FAILED;
	tach_snapshot_free(reports.whole);
	return code ? code : run_status(&outcome);
}

int cmd_run(int argc, char **argv)
{
	struct run_arguments a = {0};
	struct run_found found;
	int code;

	run_hold_streams();

	code = run_parse(&a, argc, argv);
	if (code == 1)
		return EXIT_DONE;
	/* Boxes do not count by thread, so the program is counted from outside too. */
	if (!code && a.metrics && run_metrics_have_boxes(a.metrics))
		a.outside = 1;
	if (!code && a.turns)
		code = run_check_turns(&a);
	else if (!code && !a.emulate && !a.passes)
		code = run_check_events(&a);
	run_ranks_file(&a);
	if (!code && a.output)
		code = check_output(a.output);
	if (code)
		return code;
	if (a.process && !*a.program)
		return run_process(&a);
	if (run_find(&a, &found) != 0)
		return RUN_FAILED;
	if (a.repeat)
		return run_repeat(&a, &found);
	return a.passes ? run_passes(&a, &found) : run_plainly(&a, &found);
}
