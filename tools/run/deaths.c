/* SPDX-License-Identifier: MIT */
/*
 * Deadly signals. Wherever the program leaves a signal its default action, and that ends the
 * process, a handler of ours writes the report first and then lets the same signal do what it
 * would have done: the same status, the same core file. The program itself still sees SIG_DFL.
 * SIGKILL cannot be had, nor what the kernel forces when another thread than the main one has
 * no stack left.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/startup/startup.h"
#include "tools/run/run.h"

enum { WAIT_MS = 2000 };

typedef void (*handler)(int);
typedef int (*sigaction_function)(int, const struct sigaction *, struct sigaction *);

static int watching;

static sigaction_function next_sigaction(void)
{
	static sigaction_function next;

	if (!next)
		next = NEXT(sigaction);
	return next;
}

/* A second thread waits for the first, which ends the process. */
static void wait_for_end(void)
{
	struct timespec pause = {0, 1000000};

	for (int ms = 0; ms < WAIT_MS; ms++)
		nanosleep(&pause, NULL);
}

TACH__HANDLER static void on_death(int number, siginfo_t *info, void *context)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	int saved = errno;

	(void)context;
	if (run_finish())
		run_report();
	else
		wait_for_end();
	next_sigaction()(number, &action, NULL);
	tach__deaths_go_on(number, info);
	errno = saved;
}

/* Real-time signals stay open: one of them asks other threads for their sums. */
static struct sigaction death_action(void)
{
	struct sigaction action = {.sa_sigaction = on_death,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};

	action.sa_mask = tach__deaths_others();
	for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
		sigdelset(&action.sa_mask, s);
	return action;
}

static int is_deadly(int number)
{
	for (const int *s = tach__deaths; *s; s++)
		if (*s == number)
			return 1;
	return 0;
}

static int is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_death;
}

/* Also what raises a signal again after a handler of its own: SIG_DFL, then kill. */
EXPORT int sigaction(int number, const struct sigaction *restrict action,
		     struct sigaction *restrict old)
{
	struct sigaction ours;
	int code;

	if (watching && action && !(action->sa_flags & SA_SIGINFO) &&
	    action->sa_handler == SIG_DFL && is_deadly(number)) {
		ours = death_action();
		action = &ours;
	}
	code = next_sigaction()(number, action, old);
	if (code == 0 && old && is_ours(old))
		*old = (struct sigaction){.sa_handler = SIG_DFL};
	return code;
}

/* As BSD has it, which is what Linux programs get. */
EXPORT handler signal(int number, handler function)
{
	struct sigaction action = {.sa_handler = function, .sa_flags = SA_RESTART}, old;

	sigaddset(&action.sa_mask, number);
	if (sigaction(number, &action, &old) != 0)
		return SIG_ERR;
	return old.sa_handler;
}

/* For the handler when the main thread's stack has overflowed. */
static void set_stack(void)
{
	static char room[65536];
	stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, now;

	if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
		sigaltstack(&stack, NULL);
}

/*
 * One that the program is to ignore, or handles already, has ours for a moment: as all are
 * blocked, what comes meanwhile is for the action that it gets back.
 */
void run_watch_deaths(void)
{
	struct sigaction now, ours = death_action();
	sigset_t all, before;

	watching = 1;
	set_stack();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (const int *s = tach__deaths; *s; s++)
		if (next_sigaction()(*s, &ours, &now) == 0 && now.sa_handler != SIG_DFL)
			next_sigaction()(*s, &now, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
