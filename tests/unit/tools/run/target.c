/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/tools/run.sh measures this program: ways for threads and processes to start and
 * end.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
#include <tach.h>

static pthread_barrier_t barrier;

static void *work(void *argument)
{
	TACH_SCOPE(work);
	return argument;
}

static void *leaves(void *argument)
{
	pthread_exit(argument);
}

static void *waits(void *argument)
{
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return argument;
}

static int c11(void *argument)
{
	return *(int *)argument + 1;
}

/* As libraries do that leave the program's signals to its own threads. */
static void create_deaf(pthread_t *t)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(t, NULL, waits, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The thread itself blocks all signals. */
static void *hides(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return waits(arg);
}

static int hidden(void)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, hides, NULL);
	pthread_barrier_wait(&barrier);
	work(NULL);
	return 0;
}

static int threads(void)
{
	pthread_t t[4];
	thrd_t c;
	int number = 41, result;
	void *value;

	pthread_create(&t[0], NULL, work, t);
	pthread_create(&t[1], NULL, leaves, t);
	pthread_barrier_init(&barrier, NULL, 3);
	pthread_create(&t[2], NULL, waits, NULL);
	create_deaf(&t[3]);
	pthread_barrier_wait(&barrier);
	pthread_cancel(t[2]);
	pthread_join(t[2], &value);
	if (value != PTHREAD_CANCELED)
		return 1;
	for (int i = 0; i < 2; i++)
		if (pthread_join(t[i], &value) != 0 || value != t)
			return 1;
	/* t[3] still exists when the process ends. */
	return thrd_create(&c, c11, &number) != thrd_success ||
	       thrd_join(c, &result) != thrd_success || result != 42;
}

static int children(void)
{
	int status;

	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0) {
			work(NULL);
			if (i)
				_exit(0);
			exit(0);
		}
		waitpid(child, &status, 0);
		if (status)
			return 1;
	}
	work(NULL);
	return system("exit 7") == 7 << 8 ? 0 : 1;
}

static int execs(const char *self)
{
	work(NULL);
	if (execl("/nonexistent", "nonexistent", (char *)NULL) != -1 || errno != ENOENT)
		return 1;
	work(NULL);
	execlp(self, self, "once", (char *)NULL);
	return 1;
}

/* 2 instructions per round, on every machine. */
static void *loop(void *argument)
{
	uint64_t n = *(uint64_t *)argument;

	TACH_START(loop);
#if defined(__x86_64__)
	__asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(n)::"cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n)::"cc");
#elif defined(__riscv)
	__asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
#endif
	TACH_STOP(loop);
	return argument;
}

static int count(void)
{
	uint64_t rounds[2] = {1000000, 3000000};
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, loop, &rounds[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static void *raises(void *argument)
{
	pthread_barrier_wait(&barrier);
	raise(SIGTERM);
	return argument;
}

/* 4 threads at once, a fifth that waits, and the main thread, which sleeps. */
static int crowd(void)
{
	pthread_t t;

	work(NULL);
	pthread_barrier_init(&barrier, NULL, 6);
	for (int i = 0; i < 5; i++)
		pthread_create(&t, NULL, i ? raises : waits, NULL);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return 1;
}

/* The program sees the default actions of signals, as without tach; returns 0. */
static int default_signals(void)
{
	struct sigaction old;

	if (sigaction(SIGTERM, NULL, &old) != 0 || old.sa_handler != SIG_DFL || old.sa_flags)
		return 1;
	if (signal(SIGTERM, SIG_IGN) != SIG_DFL || signal(SIGTERM, SIG_DFL) != SIG_IGN)
		return 1;
	return signal(SIGTERM, SIG_DFL) != SIG_DFL;
}

static void own_handler(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void quits(int number)
{
	_exit(number == SIGTERM ? 7 : 8);
}

static int overflow(int depth)
{
	volatile char room[4096];

	room[depth % 4096] = (char)depth;
	return overflow(depth + 1) + room[(depth + 1) % 4096];
}

static int ended_by(const char *how)
{
	pid_t child;

	if (default_signals() != 0)
		return 98;
	work(NULL);
	if (strcmp(how, "fault") == 0) {
		*(volatile int *)(uintptr_t)16 = 1;
	} else if (strcmp(how, "overflow") == 0) {
		return overflow(0);
	} else if (strcmp(how, "again") == 0) {
		signal(SIGHUP, own_handler);
		raise(SIGHUP);
	} else if (strcmp(how, "group") == 0) { /* like a terminal */
		kill(0, SIGINT);
		pause();
	} else if (strcmp(how, "parent") == 0) {
		signal(SIGTERM, quits);
		kill(getppid(), SIGTERM);
		pause();
	} else if (strcmp(how, "stopped") == 0) {
		child = fork();
		if (child == 0) {
			kill(getppid(), SIGCONT);
			while (kill(getppid(), SIGCONT) == 0 && getppid() != 1)
				usleep(1000);
			_exit(0);
		}
		raise(SIGSTOP);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	} else if (strcmp(how, "child") == 0) {
		child = fork();
		if (child == 0) {
			work(NULL);
			abort();
		}
		waitpid(child, NULL, 0);
	} else {
		raise(atoi(how));
	}
	return 0;
}

/* The command line names the counted events. */
static int configures(void)
{
	struct tach_regions_options opt = {.events = "bogus"};

	if (tach_regions_configure(&opt, NULL) != 0)
		return 1;
	work(NULL);
	tach_regions_disable();
	work(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "once") == 0)
		work(NULL);
	else if (strcmp(what, "status") == 0)
		return 33;
	else if (strcmp(what, "ended-by") == 0 && argc > 2)
		return ended_by(argv[2]);
	else if (strcmp(what, "crowd") == 0)
		return crowd();
	else if (strcmp(what, "_exit") == 0)
		work(NULL), _exit(5);
	else if (strcmp(what, "threads") == 0)
		return threads();
	else if (strcmp(what, "hidden") == 0)
		return hidden();
	else if (strcmp(what, "children") == 0)
		return children();
	else if (strcmp(what, "exec") == 0)
		return execs(argv[0]);
	else if (strcmp(what, "count") == 0)
		return count();
	else if (strcmp(what, "configure") == 0)
		return configures();
	else
		return 99;
	return 0;
}
