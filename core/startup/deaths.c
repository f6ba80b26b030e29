/* SPDX-License-Identifier: MIT */
/*
 * Signals, for a process that has TACH_OUTPUT. Without TACH_SIGNAL there are no
 * handlers: many programs set their own handler if they find the default action. TACH_SIGNAL
 * names signals that ask for a report and end nothing. Its word "end" stands for each signal
 * whose default action ends the process: on_death writes the report, then the same signal ends
 * the process, with the same status and core file.
 *
 * The library does not handle signals that the program handles, ignores or blocks. If the
 * program sets the action of a signal later, the signal belongs to the program: on_death does
 * nothing if the program's handler calls it, and reports name the signal. This code changes no
 * mask and no alternate stack.
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

void tach__deaths_raise_again(int number, siginfo_t *info)
{
	/* musl's gettid() and raise() use the number that the thread had before vfork: the
	 * parent's. */
	long thread = syscall(SYS_gettid);

	/* The signal is blocked until the handler returns. Then its default action happens. */
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, info) != 0)
		syscall(SYS_tgkill, getpid(), thread, number);
}

/* fork's children set it; vfork's must not write in their parent's memory. */
static pid_t process;
/* Bits of signals: those that have on_death or on_request, and those that TACH_SIGNAL names. */
static uint64_t watched, requested;

static uint64_t signal_bit(int number)
{
	return (uint64_t)1 << (number - 1);
}

static void on_fork(void)
{
	process = getpid();
}

/* Returns 0 if the program has set another action. Its handler may call the earlier handler. */
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
	tach__deaths_raise_again(number, info);
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

static void watch_signal(int number, const struct sigaction *action)
{
	if (is_set_to(number, SIG_DFL) && sigaction(number, action, NULL) == 0)
		watched |= signal_bit(number);
}

/* Parses "USR1", "SIGUSR1", "10", "RTMIN+2". Returns 0 if it is not a signal, -1 if the signal
 * cannot be used. */
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

enum { ENDS = NSIG }; /* represents the word "end" */

/*
 * Takes the first word of a list, and moves *list after it. Returns a signal's number, ENDS, 0
 * for the word "none" or no word, -1 if the signal cannot be used, -2 if it is not a signal.
 */
static int next_word(const char **list)
{
	char word[32];
	size_t n = strcspn(*list, ":");
	int number;

	snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word), *list);
	*list += n + ((*list)[n] == ':');
	if (!*word || strcmp(word, "none") == 0)
		return 0;
	if (strcmp(word, "end") == 0)
		return ENDS;
	number = n < sizeof word ? signal_number(word) : 0;
	return number ? number : -2;
}

/* The signal's handler may run at any point of the program. Interrupted calls are restarted. */
static void watch_request(int number)
{
	struct sigaction action = {.sa_handler = on_request,
				   .sa_flags = SA_RESTART | SA_ONSTACK};

	action.sa_mask = tach__deaths_others();
	watch_signal(number, &action);
	watched |= signal_bit(
		number); /* if the program sets another action, reports name the signal */
	requested |= signal_bit(number);
}

static void watch_ends(void)
{
	struct sigaction action = {.sa_sigaction = on_death,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};

	action.sa_mask = tach__deaths_others();
	for (const int *s = tach__deaths; *s; s++)
		watch_signal(*s, &action);
}

const char *tach__deaths_odd(void)
{
	const char *list = tach__environment("TACH_SIGNAL");
	int number = 0;

	while (list && *list && number >= 0)
		number = next_word(&list);
	return number >= 0    ? NULL
	       : number == -2 ? "is one or more of end, USR1, SIGUSR1, 10, RTMIN+1, joined by "
				"colons, or none"
			      : "cannot be a signal that no program can handle";
}

void tach__deaths_watch(void)
{
	const char *list = tach__environment("TACH_SIGNAL");
	int ends = 0;

	if (!list || !*list || tach__deaths_odd())
		return;
	on_fork();
	pthread_atfork(NULL, NULL, on_fork);
	while (*list) {
		int number = next_word(&list);

		ends |= number == ENDS;
		if (number > 0 && number != ENDS)
			watch_request(number);
	}
	/* Done last: a signal that requests a report does not end the process, wherever the
	 * list has it. */
	if (ends)
		watch_ends();
}

int tach__deaths_given_up(char *text, size_t size)
{
	size_t n = 0;

	for (int number = 1; number < NSIG && n + 40 < size; number++) {
		const char *name = tach__signal_name(number);

		if (!(watched & signal_bit(number)) || is_ours(number) ||
		    (!(requested & signal_bit(number)) && is_set_to(number, SIG_IGN)))
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
