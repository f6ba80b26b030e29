/* SPDX-License-Identifier: MIT */
/* write(2) for a report: the process's signal actions and pending signals do not change. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tach.h>
#include <unistd.h>
#include "core/report/deliver.h"
#include "tests/check.h"

static struct tach_snapshot *snapshot;

/* Runs `what` in a child: returns its exit status, or 128 + the signal. */
static int outcome(int (*what)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(what());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int is_pending(int signal)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, signal);
}

static int to_closed_pipe(void)
{
	char text[] = "a report";
	struct tach__buffer buffer = {.at = text, .length = sizeof text};
	int end[2], bad = pipe(end);

	close(end[0]);
	return bad || tach__deliver_fd(end[1], &buffer) != -EPIPE;
}

static int and_goes_on(void)
{
	signal(SIGPIPE, SIG_DFL);
	return to_closed_pipe();
}

/* If the program blocks the signal, no new signal stays pending. */
static int with_the_signal_blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return to_closed_pipe() || is_pending(SIGPIPE);
}

static int with_one_of_its_own_pending(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	return to_closed_pipe() || !is_pending(SIGPIPE);
}

static void a_closed_pipe(void)
{
	CHECK(outcome(and_goes_on) == 0, "%d", outcome(and_goes_on));
	CHECK(outcome(with_the_signal_blocked) == 0, "%d", outcome(with_the_signal_blocked));
	CHECK(outcome(with_one_of_its_own_pending) == 0, "%d",
	      outcome(with_one_of_its_own_pending));
}

/* The pipe has no path, as may be the case for /dev/stdout. */
static void a_pipe_by_name(void)
{
	char name[64], got[16] = "";
	struct tach__buffer buffer = {.at = (char[]){"a report"}, .length = 8};
	int end[2];

	CHECK(pipe(end) == 0);
	snprintf(name, sizeof name, "/proc/self/fd/%d", end[1]);
	CHECK(tach__deliver_file(name, 0, &buffer) == 0);
	CHECK(read(end[0], got, sizeof got - 1) == 8 && strcmp(got, "a report") == 0, "%s",
	      got);
	close(end[0]);
	CHECK(tach__deliver_file(name, 0, &buffer) == -ENXIO ||
	      tach__deliver_file(name, 0, &buffer) == -EPIPE);
	close(end[1]);
}

static char file[64];

static int beyond_the_limit(void)
{
	struct rlimit none = {0, 0}, no_core = {0, 0};

	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_FSIZE, &none);
	return tach_report_file(snapshot, NULL, file, NULL) != -EFBIG;
}

static void a_file_size_limit(void)
{
	snprintf(file, sizeof file, "/tmp/tach-deliver.%d.json", (int)getpid());
	CHECK(outcome(beyond_the_limit) == 0, "%d", outcome(beyond_the_limit));
	CHECK(access(file, F_OK) != 0 && errno == ENOENT, "something was left");
	unlink(file);
}

int main(void)
{
	CHECK(tach_regions_configure(&(struct tach_regions_options){.events = ""}, NULL) == 0);
	{
		TACH_START(region);
		TACH_STOP(region);
	}
	CHECK(tach_snapshot_take(&snapshot, NULL) == 0);
	CASE(a_closed_pipe);
	CASE(a_pipe_by_name);
	CASE(a_file_size_limit);
	tach_snapshot_free(snapshot);
	return check_done();
}
