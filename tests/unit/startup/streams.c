/* SPDX-License-Identifier: MIT */
/* TACH_OUTPUT that names a descriptor, and events while a report is written to it. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include "tests/unit/startup/reports.h"

static void (*while_polled)(void); /* called while a report is being written */
static int pauses;		   /* of a millisecond */

#pragma GCC visibility push(default)
int poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec at = {ms / 1000, 0};
	void (*then)(void) = while_polled;

	while_polled = NULL;
	if (then)
		then();
	return (int)syscall(SYS_ppoll, fds, n, &at, NULL, 0);
}
int nanosleep(const struct timespec *t, struct timespec *rest)
{
	pauses += t->tv_sec == 0 && t->tv_nsec == 1000000;
	return (int)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, t, rest);
}
#pragma GCC visibility pop

/* ---- descriptors ---- */

static const char *from_pipe(int end)
{
	ssize_t n = read(end, got, sizeof got - 1);

	got[n < 0 ? 0 : n] = '\0';
	return got;
}

/* Makes a pipe with this number; returns its read end. */
static int pipe_at(int fd)
{
	int end[2];

	CHECK(pipe2(end, O_NONBLOCK) == 0 && dup2(end[1], fd) == fd);
	if (end[1] != fd)
		close(end[1]);
	return end[0];
}

static void descriptor_of(const char *name, int fd)
{
	int kept = dup(fd), end = pipe_at(fd);

	tach__output_at_exit(name);
	CHECK(tach_report_now(NULL) == 0);
	CHECK(strncmp(from_pipe(end), "region  calls", 13) == 0, "%s: %s", name, got);
	if (kept >= 0)
		dup2(kept, fd);
	else
		close(fd);
	close(kept);
	close(end);
}

static void names(void)
{
	start(NULL);
	fflush(stdout);
	descriptor_of("-", 2);
	descriptor_of("/dev/stderr", 2);
	descriptor_of("/dev/stdout", 1);
	descriptor_of("/dev/fd/0", 0);
	descriptor_of("/dev/fd/2", 2);
	descriptor_of("/proc/self/fd/77", 77);
}

/* File names in a folder that cannot be written. */
static void no_descriptor(const char *name)
{
	int end = pipe_at(0);

	start(name);
	CHECK(tach_report_now(NULL) != 0 && !*from_pipe(end), "%s: %s", name, got);
}

static void no_number(void)
{
	no_descriptor("/dev/fd/");
}

static void more_than_a_number(void)
{
	no_descriptor("/dev/fd/0x");
}

static void negative(void)
{
	no_descriptor("/dev/fd/-1");
}

static void beyond_all(void)
{
	no_descriptor("/dev/fd/4294967296");
}

/* The text fits the terminal, although the report is made in memory. */
static void a_terminal(void)
{
	int behind = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;

	if (behind < 0 || grantpt(behind) || unlockpt(behind))
		return;
	fd = open(ptsname(behind), O_RDWR | O_NOCTTY | O_CLOEXEC);
	CHECK(dup2(fd, 66) == 66);
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	start("/dev/fd/66");
	now();
	CHECK(strncmp(from_pipe(behind), "\033[1mregion", 10) == 0, "%s", got);
}

static void closed_since(void)
{
	int end = pipe_at(66);

	start("/dev/fd/66");
	now();
	CHECK(*from_pipe(end));
	close(66);
	refused(-EBADF, "TACH_OUTPUT, /dev/fd/66, is closed, or is now another file");
	/* The same number now belongs to another pipe. */
	end = pipe_at(66);
	refused(-EBADF, "TACH_OUTPUT, /dev/fd/66, is closed, or is now another file");
	CHECK(!*from_pipe(end));
}

static void closed_from_the_start(void)
{
	start("/dev/fd/66");
	refused(TACH_ERR_STATE, "TACH_OUTPUT was not set as the process began");
	pipe_at(66);
	refused(TACH_ERR_STATE, "TACH_OUTPUT was not set as the process began");
}

static void unread(void)
{
	close(pipe_at(66));
	start("/dev/fd/66");
	refused(-EPIPE, "/dev/fd/66: Broken pipe");
}

static void descriptors(void)
{
	in_child(names);
	in_child(no_number);
	in_child(more_than_a_number);
	in_child(negative);
	in_child(beyond_all);
	in_child(a_terminal);
	in_child(closed_since);
	in_child(closed_from_the_start);
	in_child(unread);
}

/* ---- one at a time ---- */

static int looked;

static void look_meanwhile(void)
{
	sigset_t now;
	int state;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGUSR1) == 1);
	CHECK(sigismember(&now, SIGSEGV) == 0);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	CHECK(state == PTHREAD_CANCEL_DISABLE);
	refused(-EBUSY, "another report is being written");
	looked = 1;
}

static void *wait_for_it(void *unused)
{
	struct tach_error err = TACH_ERROR_INIT;

	pauses = 0;
	CHECK(tach__output_write(20, 0, &err) == -EBUSY && pauses == 20, "%d", pauses);
	CHECK(tach__output_write(0, 0, NULL) == -EBUSY);
	looked = 2;
	return unused;
}

static void another_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_it, NULL);
	pthread_join(thread, NULL);
}

static void *write_meanwhile(void *unused)
{
	CHECK(tach__output_write(TACH__OUTPUT_WAIT_MS, 0, NULL) == 0);
	return unused;
}

static pthread_t waiter;

/* The second report follows the one that is being written. */
static void leave_one_waiting(void)
{
	pthread_create(&waiter, NULL, write_meanwhile, NULL);
	usleep(20000);
}

/* The writer ended with its process, so the child does not wait for it. */
static void fork_meanwhile(void)
{
	looked = fork();
}

static void meanwhile(void)
{
	sigset_t before, after;
	int state, end = pipe_at(66);

	start("/dev/fd/66");
	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while_polled = look_meanwhile;
	now();
	CHECK(looked == 1 && *from_pipe(end));
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (int s = 1; s < 32; s++)
		CHECK(sigismember(&after, s) == (s == SIGUSR2), "%d", s);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	CHECK(state == PTHREAD_CANCEL_ENABLE);
	while_polled = another_thread;
	now();
	CHECK(looked == 2 && *from_pipe(end));
	while_polled = leave_one_waiting;
	now();
	pthread_join(waiter, NULL);
	CHECK(strstr(strstr(from_pipe(end), "region") + 1, "\nregion"), "%s", got);
}

static void by_a_child_meanwhile(void)
{
	int end = pipe_at(66), status;

	start("/dev/fd/66");
	while_polled = fork_meanwhile;
	now();
	if (looked == 0) {
		/*
		 * The child was forked during one report; then the parent writes another:
		 * neither belongs to the child.
		 */
		refused(TACH_ERR_STATE, "TACH_OUTPUT belongs to");
		_exit(check__failed != 0);
	}
	CHECK(waitpid(looked, &status, 0) == looked && status == 0);
	CHECK(*from_pipe(end));
}

static void one_at_a_time(void)
{
	in_child(meanwhile);
	in_child(by_a_child_meanwhile);
}

int main(void)
{
	CASE(descriptors);
	CASE(one_at_a_time);
	return check_done();
}
