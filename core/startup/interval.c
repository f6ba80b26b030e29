/* SPDX-License-Identifier: MIT */
/*
 * TACH_INTERVAL: writes a report periodically, from a thread of the library that is started
 * only for this. A signal would interrupt the program's system calls, including sleeps that are
 * not resumed.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>
#include "core/base/number.h"
#include "core/os/environment.h"
#include "core/startup/startup.h"

enum { STACK = 256 * 1024 };
#define LEAST 0.01
#define MOST  1e9

static double interval;

/* Returns the value of TACH_INTERVAL, or 0 if it is not usable. */
static double interval_seconds(void)
{
	const char *value = tach__environment("TACH_INTERVAL");
	double s = value && value[strspn(value, "0123456789.")] == '\0'
			   ? tach__number_parse(value, strlen(value))
			   : 0;

	return s >= LEAST && s <= MOST ? s : 0;
}

int tach__interval_is_invalid(void)
{
	return tach__environment("TACH_INTERVAL") && interval_seconds() == 0;
}

/* Returns 1 if the first thread has ended. The kernel keeps it as a zombie while another thread
 * runs: see proc(5). */
static int first_has_ended(void)
{
	char text[512], *end;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return 0;
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'Z';
}

/*
 * Returns 1 if this is the last thread: after the main thread left by pthread_exit, the program
 * must end with the last of its own threads.
 */
static int is_last(void)
{
	struct stat threads;

	return stat("/proc/self/task", &threads) == 0 && threads.st_nlink == 4 &&
	       first_has_ended();
}

static void add_seconds(struct timespec *t, double s)
{
	t->tv_sec += (time_t)s;
	t->tv_nsec += (long)((s - (double)(time_t)s) * 1e9);
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
}

static int is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Returns 0 if this is the only thread left. Checks once a second, and at each report. */
static int wait_until(const struct timespec *next)
{
	struct timespec now;

	for (;;) {
		struct timespec soon;

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (is_last())
			return 0;
		if (!is_before(&now, next))
			return 1;
		soon = now;
		add_seconds(&soon, 1);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
				is_before(&soon, next) ? &soon : next, NULL);
	}
}

static void *report_on(void *unused)
{
	struct timespec next, now;

	prctl(PR_SET_NAME, "tach-interval");
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		add_seconds(&next, interval);
		if (!wait_until(&next))
			return unused;
		tach__output_write(0, 0, NULL);
		/* Skip the reports whose time has passed. */
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (is_before(&next, &now))
			next = now;
	}
}

/* Starts the thread with all signals blocked, because the program's handlers must not run in
 * it. */
static void start_thread(void)
{
	sigset_t signals = tach__deaths_others(), before;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_sigmask(SIG_BLOCK, &signals, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	/* The program's thread-local variables may need a larger stack. */
	if (pthread_create(&thread, &attr, report_on, NULL) == EINVAL) {
		pthread_attr_destroy(&attr);
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		pthread_create(&thread, &attr, report_on, NULL);
	}
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tach__interval_start(int children)
{
	interval = interval_seconds();
	if (interval == 0)
		return;
	start_thread();
	if (children)
		pthread_atfork(NULL, NULL, start_thread);
}
