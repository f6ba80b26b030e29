/* SPDX-License-Identifier: MIT */
/* What the files of libtach-run.so share. */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include <dlfcn.h>
#include <signal.h>

#define EXPORT __attribute__((visibility("default")))

/* The function that ours stands in front of. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/*
 * All signals but those that a thread's own instructions raise, which kill when they are
 * blocked: counter instructions do, once access to counters is taken away.
 */
static inline sigset_t run_signals(void)
{
	static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (unsigned i = 0; i < sizeof raised / sizeof *raised; i++)
		sigdelset(&set, raised[i]);
	return set;
}

/* preload.c: 1: this call is the one to end the measuring of the process. Async-signal-safe. */
int run_finish(void);
/* The report that the library will not come to write. Async-signal-safe. */
void run_report(void);

/* deaths.c: from now on deadly signals leave a report behind. */
void run_watch_deaths(void);

#endif
