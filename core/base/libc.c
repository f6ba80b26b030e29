/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __GLIBC__
#include <sys/single_threaded.h>
#endif
#include "core/base/libc.h"

const char *tach__errno_words(int number)
{
#ifdef __GLIBC__
	/* strerrordesc_np reads a table, without locale or allocation, unlike strerror. */
	return strerrordesc_np(number);
#else
	/* musl's strerror also only reads a table. It has one text for all unknown numbers. */
	const char *words = strerror(number);

	return words && strcmp(words, strerror(-1)) != 0 ? words : NULL;
#endif
}

/* Returns the name of a signal. Only glibc has sigabbrev_np. */
const char *tach__signal_name(int number)
{
	static const char names[][8] = {
		[SIGHUP] = "HUP",	[SIGINT] = "INT",	[SIGQUIT] = "QUIT",
		[SIGILL] = "ILL",	[SIGTRAP] = "TRAP",	[SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",	[SIGFPE] = "FPE",	[SIGKILL] = "KILL",
		[SIGUSR1] = "USR1",	[SIGSEGV] = "SEGV",	[SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE",	[SIGALRM] = "ALRM",	[SIGTERM] = "TERM",
		[SIGCHLD] = "CHLD",	[SIGCONT] = "CONT",	[SIGSTOP] = "STOP",
		[SIGTSTP] = "TSTP",	[SIGTTIN] = "TTIN",	[SIGTTOU] = "TTOU",
		[SIGURG] = "URG",	[SIGXCPU] = "XCPU",	[SIGXFSZ] = "XFSZ",
		[SIGPROF] = "PROF",	[SIGVTALRM] = "VTALRM", [SIGWINCH] = "WINCH",
		[SIGPOLL] = "POLL",	[SIGPWR] = "PWR",	[SIGSYS] = "SYS",
#ifdef SIGSTKFLT
		[SIGSTKFLT] = "STKFLT",
#endif
	};

	return number > 0 && (size_t)number < sizeof names / sizeof *names && names[number][0]
		       ? names[number]
		       : NULL;
}

int tach__has_one_thread(void)
{
#ifdef __GLIBC__
	return __libc_single_threaded;
#else
	struct stat tasks;

	/*
	 * The folder has a link for itself, one for its "." and one for each thread
	 * (fs/proc/base.c, proc_task_getattr).
	 */
	return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
#endif
}
