/* SPDX-License-Identifier: MIT */
/*
 * A process ends while another of its threads is in a blocking call. Without arguments: runs
 * every call, way to end and state, each in its own process, and prints a line for each with
 * its status and output. Run the program directly and under `tach run`: the lines must be
 * equal.
 *
 * A worker prints a message if its call returns. The process ends after the worker has begun
 * the call and sleeps, but no line depends on that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "matrix_calls.h"

/* ---- ways to end ---- */

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		abort();
}

static void end_by_exit(void)
{
	exit(3);
}
static void end_by_quick_exit(void)
{
	quick_exit(3);
}
static void end_by__exit(void)
{
	_exit(3);
}
static void end_by_abort(void)
{
	abort();
}
static void end_by_term(void)
{
	kill(getpid(), SIGTERM);
}
static void end_by_fault(void)
{
	*(volatile char *)(uintptr_t)8 = 1;
}
static void end_by_exit_group(void)
{
	syscall(SYS_exit_group, 3);
}
static void end_by_exec(void)
{
	execl("/bin/sh", "sh", "-c", "echo another; exit 3", (char *)NULL);
}
static void end_by_failed_exec(void)
{
	execl("/dev/null", "null", (char *)NULL);
	say("failed\n");
	_exit(4);
}
static void *end_elsewhere(void *unused)
{
	exit(5);
	return unused;
}
static void end_by_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_elsewhere, NULL);
	pthread_exit(NULL);
}

#define WAY(name)                                                                              \
	{                                                                                      \
#name, end_by_##name                                                           \
	}
static const struct way {
	const char *name;
	void (*end)(void);
} ways[] = {
	{"return", NULL}, WAY(exit),	    WAY(quick_exit), WAY(_exit),
	WAY(abort),	  WAY(term),	    WAY(fault),	     WAY(exit_group),
	WAY(exec),	  WAY(failed_exec), WAY(thread),
};

/* ---- states ---- */

static void on_signal(int number)
{
	char text[32];

	snprintf(text, sizeof text, "signal %d\n", number);
	say(text);
	_exit(6);
}

static void be_plain(void)
{
}

static void block_all(void)
{
	sigset_t set;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void handle_all(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	for (int number = 1; number <= SIGRTMAX; number++)
		sigaction(number, &action, NULL);
}

static const struct state {
	const char *name;
	void (*enter)(void);
} states[] = {{"plain", be_plain}, {"blocked", block_all}, {"handled", handle_all}};

/* ---- a cell ---- */

static const struct call *the_call;

static void *work(void *unused)
{
	char text[128];
	long result;

	__atomic_store_n(&other_thread_tid, (int)gettid(), __ATOMIC_SEQ_CST);
	errno = 0;
	result = the_call->call();
	snprintf(text, sizeof text, "%s came back: %ld, errno %d\n", the_call->name, result,
		 errno);
	say(text);
	_exit(77);
	return unused;
}

/* Waits until the worker sleeps or, if the call spins, until the call has begun. */
static void wait_for_worker(void)
{
	char name[64], text[256], *at;
	int tid;

	while (!(tid = __atomic_load_n(&other_thread_tid, __ATOMIC_SEQ_CST)))
		sched_yield();
	snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
	for (at = NULL; the_call->call != call_spin && (!at || at[2] != 'S');) {
		int fd = open(name, O_RDONLY);
		ssize_t n = read(fd, text, sizeof text - 1);

		close(fd);
		text[n > 0 ? n : 0] = '\0';
		at = strrchr(text, ')');
		sched_yield();
	}
}

static void at_exit(void)
{
	say("at exit\n");
}
static void at_quick(void)
{
	say("at quick exit\n");
}
static int is_cell;
__attribute__((destructor)) static void at_end(void)
{
	if (is_cell)
		say("destructor\n");
}

static int run_cell(char **names)
{
	pthread_t thread;

	is_cell = 1;
	atexit(at_exit);
	at_quick_exit(at_quick);
	queue = atoi(names[3]);
	semaphores = atoi(names[4]);
	main_thread = pthread_self();
	if (pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		return 99;
	states[atoi(names[2])].enter();
	the_call = &calls[atoi(names[0])];
	pthread_create(&thread, NULL, work, NULL);
	wait_for_worker();
	if (ways[atoi(names[1])].end)
		ways[atoi(names[1])].end();
	return 3;
}

/* ---- all of them ---- */

enum {
	CALLS = sizeof calls / sizeof *calls,
	WAYS = sizeof ways / sizeof *ways,
	STATES = sizeof states / sizeof *states,
	CELLS = CALLS * WAYS * STATES,
	TEXT = 400,
	HANG = 120, /* seconds for one cell, far more than needed */
};

static struct cell {
	pid_t process;
	int output, status;
	time_t began;
	char text[TEXT];
} cells[CELLS];

static const char *number(char *to, int n)
{
	sprintf(to, "%d", n);
	return to;
}

static void begin(int n)
{
	struct cell *c = &cells[n];
	char text[5][16];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		exit(99);
	c->began = time(NULL);
	c->output = ends[0];
	c->process = fork();
	if (c->process == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		execl("/proc/self/exe", "matrix", number(text[0], n / (WAYS * STATES)),
		      number(text[1], n / STATES % WAYS), number(text[2], n % STATES),
		      number(text[3], queue), number(text[4], semaphores), (char *)NULL);
		_exit(98);
	}
	close(ends[1]);
}

/* Waits for any child; kills those that hang. */
static void finish(void)
{
	int status;
	pid_t ended = waitpid(-1, &status, WNOHANG);

	if (ended <= 0)
		usleep(2000);
	for (int n = 0; n < CELLS; n++) {
		struct cell *c = &cells[n];
		ssize_t length;

		if (c->process <= 0)
			continue;
		if (time(NULL) - c->began > HANG)
			kill(c->process, SIGKILL);
		if (c->process != ended)
			continue;
		length = read(c->output, c->text, TEXT - 1);
		c->text[length > 0 ? length : 0] = '\0';
		close(c->output);
		c->status = status;
		c->process = -1;
	}
}

static int running(void)
{
	int count = 0;

	for (int n = 0; n < CELLS; n++)
		count += cells[n].process > 0;
	return count;
}

static void print(int n)
{
	const struct cell *c = &cells[n];

	printf("%s, %s, %s: ", calls[n / (WAYS * STATES)].name, ways[n / STATES % WAYS].name,
	       states[n % STATES].name);
	if (WIFSIGNALED(c->status))
		printf("signal %d;", WTERMSIG(c->status));
	else
		printf("status %d;", WEXITSTATUS(c->status));
	for (const char *at = c->text; *at; at++)
		putchar(*at == '\n' ? '|' : *at);
	putchar('\n');
}

/* Returns true if the main thread, which the worker joins, may end before the process does. */
static int is_race(int n)
{
	return calls[n / (WAYS * STATES)].call == call_join &&
	       ways[n / STATES % WAYS].end == end_by_thread;
}

/* Every `step`th cell, from the first on. */
int main(int argc, char **argv)
{
	int step = argc == 2 ? atoi(argv[1]) : 1, side_by_side;

	if (argc == 6)
		return run_cell(argv + 1);
	side_by_side = 2 * (int)sysconf(_SC_NPROCESSORS_ONLN);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	for (int n = 0; n < CELLS; n += step) {
		if (is_race(n))
			continue;
		while (running() >= side_by_side)
			finish();
		begin(n);
	}
	while (running())
		finish();
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	for (int n = 0; n < CELLS; n += step)
		if (!is_race(n))
			print(n);
	return 0;
}
