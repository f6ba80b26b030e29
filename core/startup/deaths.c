/* SPDX-License-Identifier: MIT */
/*
 * Signals, for a process that has TACH_OUTPUT. Where the program leaves a signal its default
 * action, and that ends the process, a handler of ours writes the report first and then lets
 * the same signal do what it would have done: the same status, the same core file. What the
 * program handles, ignores or blocks stays as it is, and so does what it handles from later on.
 * TACH_SIGNAL names one more, which asks for a report and ends nothing.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/base/libc.h"
#include "core/os/environment.h"
#include "core/startup/startup.h"

/* signal(7): those whose default action ends the process, but for SIGKILL. */
const int tach__deaths[] = {
	SIGHUP,	 SIGINT,    SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,	   SIGFPE,
	SIGUSR1, SIGSEGV,   SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, SIGXCPU,
	SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSYS,	0,
};

sigset_t tach__deaths_others(void)
{
	static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
		sigdelset(&set, raised[i]);
	return set;
}

void tach__deaths_go_on(int number, siginfo_t *info)
{
	/* Blocked until the handler returns; then it is as if it had never been here. */
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info) != 0)
		raise(number);
}

/* Of fork's children too; not of vfork's, which must not write in their parent's memory. */
static pid_t process;

static void on_fork(void)
{
	process = getpid();
}

TACH__HANDLER static void on_death(int number, siginfo_t *info, void *context)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	int saved = errno;

	(void)context;
	if (getpid() == process)
		tach__output_write(TACH__OUTPUT_WAIT_MS, 1, NULL);
	sigaction(number, &action, NULL);
	tach__deaths_go_on(number, info);
	errno = saved;
}

TACH__HANDLER static void on_request(int number)
{
	(void)number;
	if (getpid() == process)
		tach__output_write(TACH__OUTPUT_WAIT_MS, 1, NULL);
}

/* For the handler when the main thread's stack has overflowed. */
static void set_stack(void)
{
	static char room[65536];
	stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, now;

	if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
		sigaltstack(&stack, NULL);
}

static int is_default(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
	       now.sa_handler == SIG_DFL;
}

/* "USR1", "SIGUSR1", "10", "RTMIN+2"; 0: none of them, -1: one that cannot be had. */
static int signal_number(const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);

	if (*end || end == name) {
		name += strncmp(name, "SIG", 3) == 0 ? 3 : 0;
		number = 0;
		for (int s = 1; s < NSIG && !number; s++) {
			const char *known = tach__signal_name(s);

			number = known && strcmp(known, name) == 0 ? s : 0;
		}
		if (strncmp(name, "RTMIN", 5) == 0)
			number = SIGRTMIN + strtol(name + 5, &end, 10);
		if (strncmp(name, "RTMIN", 5) == 0 && *end)
			return 0;
	}
	if (number == SIGKILL || number == SIGSTOP || (number > 31 && number < SIGRTMIN))
		return -1;
	return number > 0 && number <= SIGRTMAX ? (int)number : 0;
}

/* Its handler runs wherever the program is, and calls that it interrupts go on. */
static void watch_request(void)
{
	struct sigaction action = {.sa_handler = on_request,
				   .sa_flags = SA_RESTART | SA_ONSTACK};
	const char *name = tach__environment("TACH_SIGNAL");
	int number = name ? signal_number(name) : 0;

	action.sa_mask = tach__deaths_others();
	if (number > 0 && is_default(number))
		sigaction(number, &action, NULL);
}

const char *tach__deaths_odd(void)
{
	const char *name = tach__environment("TACH_SIGNAL");
	int number = name ? signal_number(name) : 1;

	return number > 0    ? NULL
	       : number == 0 ? "is a signal: USR1, SIGUSR1, 10, RTMIN+1"
			     : "cannot be a signal that no program can handle";
}

void tach__deaths_watch(void)
{
	struct sigaction action = {.sa_sigaction = on_death,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};

	on_fork();
	pthread_atfork(NULL, NULL, on_fork);
	action.sa_mask = tach__deaths_others();
	set_stack();
	watch_request();
	for (const int *s = tach__deaths; *s; s++)
		if (is_default(*s))
			sigaction(*s, &action, NULL);
}
