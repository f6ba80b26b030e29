/* SPDX-License-Identifier: MIT */
/* Starts the program of `tach run`: its environment, the signals while it runs, and its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <tach/arch.h>
#include "tools/tach/commands.h"
#include "tools/tach/emulate.h"
#include "tools/tach/run.h"

/* ---- environment ---- */

/* Puts the word before the variable's present value. */
static void prepend_word(const char *name, const char *word)
{
	const char *others = getenv(name);
	char *value;

	if (asprintf(&value, "%s%s%s", word, others && *others ? ":" : "",
		     others ? others : "") < 0)
		return;
	setenv(name, value, 1);
	free(value);
}

/*
 * Reads both clocks several times and takes the closest pair: in a process of a few
 * milliseconds, pairs would not be far enough apart.
 */
static void set_clock(void)
{
	unsigned long long best = 0, least = ~0ull;
	struct timespec now = {0, 0};
	struct timespec awake, all;
	char value[120];

	for (int i = 0; i < 8; i++) {
		unsigned long long before = tach_clock(), took;
		struct timespec t;

		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		took = tach_clock() - before;
		if (took < least) {
			least = took;
			best = before + took / 2;
			now = t;
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &awake);
	clock_gettime(CLOCK_BOOTTIME, &all);
	snprintf(value, sizeof value, "%llu:%lld.%09ld:%llu:%lld", best, (long long)now.tv_sec,
		 now.tv_nsec, least,
		 (long long)(all.tv_sec - awake.tv_sec) * 1000000000 + all.tv_nsec -
			 awake.tv_nsec);
	setenv("TACH_CLOCK", value, 1);
}

/* Preloads another object of the folder of `object`. Returns 0 after printing an error. */
static int preload_beside(char path[4200], const char *object, const char *name)
{
	snprintf(path, 4200, "%.*s%s", (int)(strrchr(object, '/') + 1 - object), object, name);
	if (access(path, R_OK) != 0) {
		fprintf(stderr, "tach run: %s: %s\n", path, strerror(errno));
		return 0;
	}
	prepend_word("LD_PRELOAD", path);
	return 1;
}

/*
 * One variable is for LLVM's runtime, one for gcc's. Both are set, because a program may use
 * either runtime.
 */
static void set_openmp(const struct run_arguments *a, const char *object)
{
	char path[4200];

	if (!preload_beside(path, object, RUN_OPENMP))
		return;
	prepend_word("OMP_TOOL_LIBRARIES", path);
	if (!run_ranks_wanted(a))
		setenv("TACH_BY", "thread:1000", 0);
}

static void set_functions(const struct run_arguments *a, const char *object)
{
	char path[4200];

	if (!preload_beside(path, object, RUN_FUNCTIONS))
		return;
	setenv("TACH_FUNCTIONS", a->functions, 1);
	if (a->rows == RUN_THREADS)
		setenv("TACH_BY", "thread:1000", 0);
}

static void set_environment(const struct run_arguments *a, const char *object,
			    const char *directory)
{
	static const char *const rows[] = {
		[RUN_THREADS] = "threads",
		[RUN_PROCESSES] = "Processes",
		[RUN_PROGRAMS] = "programs",
	};
	const char *regions = getenv("TACH_REGIONS");
	char *value;

	if (a->openmp)
		set_openmp(a, object);
	if (a->functions)
		set_functions(a, object);
	prepend_word("LD_PRELOAD", object);
	/*
	 * Without this, AddressSanitizer ends programs in which another object is loaded before
	 * it.
	 */
	prepend_word("ASAN_OPTIONS", "verify_asan_link_order=0");
	set_clock();
	setenv("TACH_ENABLE", "1", 1);
	setenv("TACH_RUN", directory, 1);
	if (a->rows != RUN_ALL)
		setenv("TACH_RUN_ROWS", rows[a->rows], 1);
	if (a->events || a->metrics) {
		unsetenv("TACH_EVENTS");
		unsetenv("TACH_METRICS");
	}
	if (a->events)
		setenv("TACH_EVENTS", a->events, 1);
	if (a->metrics)
		setenv("TACH_METRICS", a->metrics, 1);
	if (a->trace)
		setenv("TACH_TRACE", a->trace, 1);
	if (a->interrupts)
		setenv("TACH_INTERRUPTS", a->interrupts, 1);
	if (a->turns)
		setenv("TACH_TURNS", a->turns, 1);
	/* TACH_REGIONS must also select the regions of threads. */
	if (regions && *regions && asprintf(&value, "%s,(*)", regions) > 0) {
		setenv("TACH_REGIONS", value, 1);
		free(value);
	}
	if (asprintf(&value, "%s/%%p.%%u.json", directory) > 0) {
		setenv("TACH_OUTPUT", value, 1);
		free(value);
	}
}

/* ---- signals ---- */

static volatile sig_atomic_t child; /* the process that gets the signals sent to us */

static void pass_on(int signal)
{
	int saved = errno;

	if (child > 0)
		kill((pid_t)child, signal);
	errno = saved;
}

/*
 * While the program runs, the terminal sends it the interrupt directly and we only wait.
 * Signals sent to us are forwarded.
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

/* Signals that arrive before the program exists are kept for it. */
static void take_signals(struct dispositions *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before->mask);
	for (int i = 0; i < NSIGNALS; i++) {
		struct sigaction action = {.sa_handler = signals[i].handler,
					   .sa_flags = SA_RESTART};

		sigaction(signals[i].number, NULL, &before->action[i]);
		/* An ignored hangup (nohup) stays ignored. */
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

/* ---- its life ---- */

/* go: closed when exec may start. failed: receives the errno of exec. */
static _Noreturn void exec_program(const struct run_arguments *a, const char *object,
				   const char *directory, int go, int failed)
{
	char number[16];
	int code;

	if (object)
		set_environment(a, object, directory);
	snprintf(number, sizeof number, "%d", (int)getpid());
	setenv("TACH_RUN_PID", number, 1);
	while (read(go, number, 1) < 0 && errno == EINTR)
		;
	if (a->emulate)
		emulate_exec(a->path, a->program);
	else
		execvp(a->program[0], a->program);
	code = errno;
	fprintf(stderr, "tach run: %s: %s\n", a->program[0], strerror(code));
	if (write(failed, &code, sizeof code) < 0)
		_exit(RUN_FAILED);
	_exit(code == ENOENT ? RUN_MISSING : RUN_CANNOT);
}

static int wait_for(struct run_outcome *outcome, const struct run_beside *beside, int failed)
{
	while (read(failed, &outcome->exec_failed, sizeof outcome->exec_failed) < 0 &&
	       errno == EINTR)
		;
	if (beside->series && !outcome->exec_failed)
		run_series_watch(beside->series, beside->outside, outcome->process, -1);
	while (wait4(outcome->process, &outcome->status, 0, &outcome->usage) < 0)
		if (errno != EINTR)
			return -1;
	outcome->seconds = clock_seconds(CLOCK_MONOTONIC) - outcome->seconds;
	return 0;
}

int run_child(const struct run_arguments *a, const char *object, const char *directory,
	      const struct run_beside *beside, struct run_outcome *outcome)
{
	struct dispositions before;
	int go[2], failed[2], code;

	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0) {
		fprintf(stderr, "tach run: %s\n", strerror(errno));
		return -1;
	}
	fflush(NULL);
	take_signals(&before);
	outcome->process = fork();
	if (outcome->process == 0) {
		give_signals_back(&before);
		close(go[1]);
		exec_program(a, object, directory, go[0], failed[1]);
	}
	child = outcome->process;
	if (child < 0)
		fprintf(stderr, "tach run: %s\n", strerror(errno));
	else {
		run_outside_open(beside->outside, outcome->process);
		run_outside_open(beside->ambient, outcome->process);
	}
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
	outcome->seconds = clock_seconds(CLOCK_MONOTONIC); /* wait_for subtracts this value */
	close(go[0]);
	close(go[1]);
	close(failed[1]);
	code = child < 0 ? -1 : wait_for(outcome, beside, failed[0]);
	run_outside_end(beside->ambient);
	run_outside_end(beside->outside);
	give_signals_back(&before);
	close(failed[0]);
	return code;
}

/*
 * Keeps our files off the numbers of closed standard streams, which stay closed for the
 * program.
 */
void run_hold_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR | O_CLOEXEC);
}
