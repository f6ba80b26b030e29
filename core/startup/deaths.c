/* SPDX-License-Identifier: MIT */
/*
 * Signals, for a process that has TACH_OUTPUT. If the default action of a signal ends the
 * process, and the program has not set another, on_death writes the report. Then the same
 * signal ends the process, with the same status and core file. TACH_SIGNAL names one more
 * signal, which asks for a report and ends nothing; "none" leaves every signal alone.
 *
 * Signals that the program handles, ignores or blocks are left alone. If it sets the action of
 * a signal later, that signal is the program's from then on: on_death does nothing if the
 * program's handler calls it, and reports name the signal. The code changes no mask and no
 * alternate stack.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/base/libc.h"
#include "core/os/environment.h"
#include "core/startup/startup.h"

/* signal(7): the default action of these ends the process. SIGKILL cannot be handled. */
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
	/* musl's gettid() and raise() use the number that the thread had before vfork: the
	 * parent's. */
	long thread = syscall(SYS_gettid);

	/* Blocked until the handler returns; then it acts as if we had not handled it. */
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, info) != 0)
		syscall(SYS_tgkill, getpid(), thread, number);
}

/* fork's children set it; vfork's must not write in their parent's memory. */
static pid_t process;
static uint64_t watched; /* bits of the signals that have on_death or on_request */
static int requested;	 /* TACH_SIGNAL, or 0 */

static void on_fork(void)
{
	process = getpid();
}

/* 0: the program has set another action since; its handler may call the one that was there. */
static int is_ours(int number);

TACH__HANDLER static void on_death(int number, siginfo_t *info, void *context)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	int saved = errno;

	(void)context;
	if (!is_ours(number))
		return;
	if (getpid() == process)
		tach__output_write(TACH__OUTPUT_WAIT_MS, 1, NULL);
	sigaction(number, &action, NULL);
	tach__deaths_go_on(number, info);
	errno = saved;
}

TACH__HANDLER static void on_request(int number)
{
	if (is_ours(number) && getpid() == process)
		tach__output_write(TACH__OUTPUT_WAIT_MS, 1, NULL);
}

static int is_ours(int number)
{
	struct sigaction now;

	if (sigaction(number, NULL, &now) != 0)
		return 0;
	return now.sa_flags & SA_SIGINFO ? now.sa_sigaction == on_death
					 : now.sa_handler == on_request;
}

static int is_set_to(int number, void (*constant)(int))
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
	       now.sa_handler == constant;
}

static void watch(int number, const struct sigaction *action)
{
	if (is_set_to(number, SIG_DFL) && sigaction(number, action, NULL) == 0)
		watched |= (uint64_t)1 << (number - 1);
}

/* "USR1", "SIGUSR1", "10", "RTMIN+2"; 0: not a signal, -1: a signal that cannot be used. */
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

/* Its handler may run at any point of the program; interrupted calls are restarted. */
static void watch_request(void)
{
	struct sigaction action = {.sa_handler = on_request,
				   .sa_flags = SA_RESTART | SA_ONSTACK};
	const char *name = tach__environment("TACH_SIGNAL");
	int number = name ? signal_number(name) : 0;

	action.sa_mask = tach__deaths_others();
	if (number <= 0)
		return;
	watch(number, &action);
	watched |= (uint64_t)1 << (number - 1); /* reports name it if the program has it */
	requested = number;
}

static int leaves_all(void)
{
	const char *name = tach__environment("TACH_SIGNAL");

	return name && strcmp(name, "none") == 0;
}

const char *tach__deaths_odd(void)
{
	const char *name = tach__environment("TACH_SIGNAL");
	int number = name && !leaves_all() ? signal_number(name) : 1;

	return number > 0    ? NULL
	       : number == 0 ? "is a signal: USR1, SIGUSR1, 10, RTMIN+1, or none"
			     : "cannot be a signal that no program can handle";
}

void tach__deaths_watch(void)
{
	struct sigaction action = {.sa_sigaction = on_death,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (leaves_all())
		return;
	on_fork();
	pthread_atfork(NULL, NULL, on_fork);
	action.sa_mask = tach__deaths_others();
	watch_request();
	for (const int *s = tach__deaths; *s; s++)
		watch(*s, &action);
}

int tach__deaths_given_up(char *text, size_t size)
{
	size_t n = 0;

	for (int number = 1; number < NSIG && n + 40 < size; number++) {
		const char *name = tach__signal_name(number);

		if (!(watched >> (number - 1) & 1) || is_ours(number) ||
		    (number != requested && is_set_to(number, SIG_IGN)))
			continue;
		n += (size_t)snprintf(text + n, size - n, n ? ", " : "no report comes at ");
		if (name)
			n += (size_t)snprintf(text + n, size - n, "SIG%s", name);
		else
			n += (size_t)snprintf(text + n, size - n, "signal %d", number);
	}
	if (n && n < size)
		snprintf(text + n, size - n, ": the program set its own action");
	return n != 0;
}
