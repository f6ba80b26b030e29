/* SPDX-License-Identifier: MIT */
/*
 * TACH_INTERVAL: how the thread is started, when it writes reports, and when it ends. The test
 * calls the thread's function itself, with a simulated clock that advances during sleeps.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include "tests/unit/startup/reports.h"

/* What was begun. */
static void *(*routine)(void *);
static int begun, refusals;
static size_t stack_size;

/* The simulated clock, and the simulated content of /proc. */
static int simulated;
static double clock_now, late; /* late: extra length of the next sleep */
static double slept_until[20];
static int sleeps, sleeps_most, threads = 5;
static const char *first_thread = "1 (a) S 2";
static int reports[20]; /* true if a report existed when this sleep began */
static jmp_buf out;

#pragma GCC visibility push(default)
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*what)(void *),
		   void *with)
{
	sigset_t now;
	int state;

	(void)thread;
	(void)with;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGSEGV) == 0);
	CHECK(pthread_attr_getdetachstate(attr, &state) == 0 &&
	      state == PTHREAD_CREATE_DETACHED);
	CHECK(pthread_attr_getstacksize(attr, &stack_size) == 0);
	begun++;
	routine = what;
	return refusals-- > 0 ? EINVAL : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!simulated || clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, t);
	t->tv_sec = (time_t)clock_now;
	t->tv_nsec = (long)((clock_now - (double)t->tv_sec) * 1e9 + 0.5);
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *rest)
{
	CHECK(clock == CLOCK_MONOTONIC && flags == TIMER_ABSTIME && !rest);
	CHECK(t->tv_nsec >= 0 && t->tv_nsec < 1000000000, "%ld ns", t->tv_nsec);
	if (sleeps == sleeps_most)
		longjmp(out, 1);
	slept_until[sleeps] = (double)t->tv_sec + (double)t->tv_nsec / 1e9;
	reports[sleeps] = is_json(content("a.json"));
	clock_now = slept_until[sleeps++] + late;
	late = 0;
	return 0;
}

int stat(const char *path, struct stat *status)
{
	int code = fstatat(AT_FDCWD, path, status, 0);

	if (strcmp(path, "/proc/self/task") == 0)
		status->st_nlink = (nlink_t)threads;
	return code;
}

/* Returns NULL if the file cannot be opened. */
int open(const char *name, int flags, ...)
{
	va_list more;
	mode_t mode;
	int end[2];

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (strcmp(name, "/proc/self/stat") != 0)
		return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
	CHECK(flags == (O_RDONLY | O_CLOEXEC));
	if (!first_thread || pipe(end))
		return -1;
	CHECK(write(end[1], first_thread, strlen(first_thread)) >= 0);
	close(end[1]);
	return end[0];
}
#pragma GCC visibility pop

/* ---- values of TACH_INTERVAL ---- */

static void interval_accepts_usable_numbers(void)
{
	static const struct {
		const char *text;
		int odd;
	} cases[] = {{"1", 0},		{"2.5", 0}, {".5", 0},	{"0.01", 0}, {"0.009", 1},
		     {"0", 1},		{"", 0},    {".", 1},	{"-1", 1},   {"1000000000", 0},
		     {"1000000001", 1}, {"1e3", 1}, {"1 s", 1}, {"inf", 1}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("TACH_INTERVAL", cases[i].text, 1);
		CHECK(tach__interval_is_invalid() == cases[i].odd, "%s", cases[i].text);
		begun = 0;
		tach__interval_start(0);
		CHECK(begun == (!cases[i].odd && *cases[i].text), "%s", cases[i].text);
	}
	unsetenv("TACH_INTERVAL");
	CHECK(tach__interval_is_invalid() == 0);
	begun = 0;
	tach__interval_start(0);
	CHECK(begun == 0);
}

/* ---- the thread ---- */

static void none_in_the_child(void)
{
	CHECK(begun == 1, "%d", begun);
}

static void one_in_the_child(void)
{
	CHECK(begun == 3, "%d", begun);
}

static void how_it_is_begun(void)
{
	sigset_t before, after;

	setenv("TACH_INTERVAL", "5", 1);
	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	begun = 0;
	tach__interval_start(0);
	CHECK(begun == 1 && stack_size == 262144);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CHECK(sigismember(&after, SIGUSR2) == 1 && sigismember(&after, SIGTERM) == 0);
	in_child(none_in_the_child);
	tach__interval_start(1);
	CHECK(begun == 2);
	in_child(one_in_the_child);
	/* Thread-local variables need a larger stack: the default size, if possible. */
	refusals = 1;
	tach__interval_start(0);
	CHECK(begun == 4 && stack_size > 262144, "%zu", stack_size);
}

static void interval_thread_is_started(void)
{
	in_child(how_it_is_begun);
}

/* Runs the thread for this many sleeps, or until it ends; returns 1 if it ended. */
static int works(const char *interval, double at, int most)
{
	char name[16] = "";
	volatile int ended = 0;

	setenv("TACH_INTERVAL", interval, 1);
	tach__interval_start(0);
	sleeps = 0;
	sleeps_most = most;
	clock_now = at;
	simulated = 1;
	if (setjmp(out) == 0) {
		routine(NULL);
		ended = 1;
	}
	simulated = 0;
	prctl(PR_GET_NAME, name);
	CHECK(strcmp(name, "tach-interval") == 0, "%s", name);
	return ended;
}

static void slept(int i, double until, int report)
{
	CHECK(slept_until[i] > until - 5e-10 && slept_until[i] < until + 5e-10, "%d: %.9f", i,
	      slept_until[i]);
	CHECK(reports[i] == report, "%d", i);
}

/* Sleeps at most a second at a time; reports that are late are skipped. */
static void when_it_writes(void)
{
	CHECK(works("2.75", 100.9, 7) == 0);
	slept(0, 101.9, 0);
	slept(1, 102.9, 0);
	slept(2, 103.65, 0);
	slept(3, 104.65, 1);
	slept(4, 105.65, 0);
	slept(5, 106.4, 0);
	slept(6, 107.4, 1);
	late = 6.7;
	CHECK(works("0.5", 50.75, 4) == 0);
	slept(0, 51.25, 0);
	slept(1, 58.45, 1);
	slept(2, 58.95, 1);
	slept(3, 59.45, 1);
	CHECK(works("1", 10, 3) == 0);
	slept(0, 11, 1);
	slept(1, 12, 1);
}

/* Only the first thread is left, which has ended but still exists in the kernel. */
static void when_it_ends(void)
{
	static const struct {
		int threads;
		const char *first;
		int ends;
	} cases[] = {{4, "12 (a program) Z 1 2", 1},
		     {4, "12 (a) Z) Z 1 2", 1},
		     {4, "12 (a program) S 1 2", 0},
		     {4, "12 (a) Z) S 1 2", 0},
		     {5, "12 (a program) Z 1 2", 0},
		     {3, "12 (a program) Z 1 2", 0},
		     {4, "", 0},
		     {4, NULL, 0},
		     {4, "12 Z 1", 0},
		     {4, "12 (a)Z 1 2", 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		threads = cases[i].threads;
		first_thread = cases[i].first;
		CHECK(works("3", 100, 2) == cases[i].ends, "%d %s", threads, first_thread);
		CHECK(sleeps == (cases[i].ends ? 0 : 2));
	}
	/* The file gets the descriptor of the closed standard input, and is closed again. */
	close(0);
	threads = 4;
	first_thread = "12 (a program) Z 1 2";
	CHECK(works("3", 100, 2) == 1);
	CHECK(dup(1) == 0);
}

static void in_its_time(void)
{
	setenv("TACH_RUN", "1", 1); /* so that the library starts nothing else */
	start(in_folder("a.json"));
	when_it_writes();
	when_it_ends();
	content("a.json");
}

static void reports_are_written_in_time(void)
{
	in_child(in_its_time);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	CASE(interval_accepts_usable_numbers);
	CASE(interval_thread_is_started);
	CASE(reports_are_written_in_time);
	CHECK(rmdir(folder) == 0, "something was left in %s", folder);
	return check_done();
}
