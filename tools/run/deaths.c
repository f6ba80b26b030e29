/* SPDX-License-Identifier: MIT */
/*
 * Fatal signals. If the program keeps the default action of such a signal, our handler writes
 * the report and then raises the same signal again with its default action: exit status and
 * core file are the same. The program itself still sees SIG_DFL (signals.c). A traced program
 * gets no handlers, because a debugger would stop twice. Two cases cannot be caught: SIGKILL,
 * and signals that the kernel forces when a thread other than the main one has no stack left.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/startup/startup.h"
#include "tools/run/signals.h"

TACH__HANDLER static void on_death(int number, siginfo_t *info, void *context)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	int saved = errno;

	(void)context;
	run_finish_now();
	NEXT(sigaction)(number, &action, NULL);
	tach__deaths_raise_again(number, info);
	errno = saved;
}

struct sigaction run_death_action(void)
{
	struct sigaction action = {.sa_sigaction = on_death,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};

	action.sa_mask = tach__deaths_others();
	return action;
}

int run_is_deadly(int number)
{
	for (const int *s = tach__deaths; *s; s++)
		if (*s == number)
			return 1;
	return 0;
}

int run_is_death_action(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_death;
}

/* proc(5): TracerPid in /proc/PID/status. */
static int is_traced(void)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char text[1024];
	const char *at;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nTracerPid:");
	return at && atoi(at + 11) != 0;
}

/*
 * Also installs our handler for signals that the program ignores or handles, then restores the
 * program's action. All signals are blocked during that time, so a pending one gets the
 * program's action.
 */
void run_watch_deaths(void)
{
	struct sigaction now, ours = run_death_action();
	sigset_t all, before;

	if (is_traced())
		return;
	run_signals_watch();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (const int *s = tach__deaths; *s; s++)
		if (NEXT(sigaction)(*s, &ours, &now) == 0 && now.sa_handler != SIG_DFL)
			NEXT(sigaction)(*s, &now, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
