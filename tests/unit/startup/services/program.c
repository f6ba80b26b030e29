/* SPDX-License-Identifier: MIT */
/* A service that ends, or continues, depending on its first argument. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>

static volatile int calls;

static void work(void)
{
	TACH_START(work);
	calls++;
	TACH_STOP(work);
}

/* Reports that it is ready, then enters regions until a signal ends it. */
static int served; /* number of threads that had a region; atomic */

static void *work_on(void *arg)
{
	work();
	__atomic_fetch_add(&served, 1, __ATOMIC_SEQ_CST);
	for (;;)
		work();
	return arg;
}

static void live(void)
{
	work();
	puts("ready");
	fflush(stdout);
	work_on(NULL);
}

/* ---- the program's own handlers ---- */

static void on_term(int number)
{
	(void)number;
	_exit(42);
}

static void handled(int number)
{
	signal(number, on_term);
	live();
}

/* ---- deaths ---- */

static volatile int in_malloc;

/* A handler must not use the heap, because the fault happened inside it. */
void *malloc(size_t size)
{
	static char room[1 << 20];
	static size_t used;
	char *p = room + used;

	if (in_malloc) {
		if (in_malloc++ == 1)
			*(volatile int *)16 = 1;
		_exit(99);
	}
	used += (size + 15) & ~(size_t)15;
	return used < sizeof room ? p : NULL;
}

void free(void *p)
{
	(void)p;
	if (in_malloc)
		_exit(98);
}

static int deeper(volatile char *before)
{
	volatile char here[4096];

	here[0] = before ? before[0] : 0;
	return deeper(here) + here[0];
}

static void *overflow(void *arg)
{
	deeper(NULL);
	return arg;
}

static void *fault(void *arg)
{
	*(volatile int *)16 = 1;
	return arg;
}

static void die(const char *how)
{
	pthread_t thread;

	if (strcmp(how, "null") == 0)
		fault(NULL);
	if (strcmp(how, "thread") == 0) {
		pthread_create(&thread, NULL, fault, NULL);
		pthread_join(thread, NULL);
	}
	if (strcmp(how, "overflow") == 0)
		overflow(NULL);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "trap") == 0)
		__builtin_trap();
	if (strcmp(how, "malloc") == 0) {
		void *volatile p;

		in_malloc = 1;
		p = malloc(100);
		free(p);
	}
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(3);
}

/* ---- living on ---- */

/* Four threads with regions; an interrupted read(2) continues. */
static int serve(void)
{
	pthread_t thread;
	char byte;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, work_on, NULL);
	while (__atomic_load_n(&served, __ATOMIC_SEQ_CST) < 4)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) == 1)
		;
	return errno == 0 ? 0 : 9;
}

/* Each entry is longer than all earlier ones, so every interval has new worst entries. */
static void grow(void)
{
	for (int i = 0;; i++) {
		TACH_START(growing);
		usleep(20 * i);
		TACH_STOP(growing);
		if (i == 0) {
			puts("ready");
			fflush(stdout);
		}
	}
}

static int leave_main(void)
{
	work();
	pthread_exit(NULL);
}

static int family(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		TACH_START(child_part);
		TACH_STOP(child_part);
		work_on(NULL);
	}
	printf("%d\n", (int)child);
	fflush(stdout);
	work();
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int now(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code;

	work();
	code = tach_report_now(&err);
	printf("%d %s\n", code, err.text);
	fflush(stdout);
	_exit(0);
}

/* A signal from inside its PID namespace does not end process 1. */
static int first(void)
{
	work();
	kill(getpid(), SIGTERM);
	work();
	return getpid() == 1 ? 5 : 6;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "live") == 0)
		live();
	if (strcmp(what, "handled") == 0)
		handled(atoi(argv[2]));
	if (strcmp(what, "serve") == 0)
		return serve();
	if (strcmp(what, "grow") == 0)
		grow();
	if (strcmp(what, "leave_main") == 0)
		return leave_main();
	if (strcmp(what, "family") == 0)
		return family();
	if (strcmp(what, "now") == 0)
		return now();
	if (strcmp(what, "first") == 0)
		return first();
	work();
	die(what);
	return 0;
}
