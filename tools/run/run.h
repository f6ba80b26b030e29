/* SPDX-License-Identifier: MIT */
/* What the files of libtach-run.so share. */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>
#include <tach/region.h>

#define EXPORT __attribute__((visibility("default")))

/* The function that ours stands in front of. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* preload.c: 1: this call is the one to end the measuring of the process. Async-signal-safe. */
int run_finish(void);
/* signals.c: a real-time signal that is not in use, or 0. */
int run_signal_free(void);
/* Whether the thread blocks it: it would be waited for in vain. 0: that is not known, too. */
int run_signal_blocked(pid_t tid, int signal);
/* The report that the library will not come to write. Async-signal-safe. */
void run_report(void);

/* From now on system calls that end the process come without a word: leave a report at once. */
void run_confine(void);
int run_is_confined(void);
/* The process ends in this call. */
void run_finish_now(void);

/* Around a call that makes this program another one. */
struct run_replaced {
	int finished;
	unsigned number;
};
void run_before_exec(struct run_replaced *r);
/* The call came back: what the thread counts from now on is counted. Returns result. */
int run_after_exec(struct run_replaced *r, int result);

/*
 * emulate.c: how an emulated program starts another, so that it is emulated too: as it was
 * given, where this one is not, or the other's environment is to know nothing. Afterwards, if
 * it comes to that, _not. Async-signal-safe.
 */
struct run_emulated {
	const char *file;
	char *const *argv;
	size_t size; /* of argv's memory; 0: the caller's */
};
void run_emulated(struct run_emulated *e, const char *file, char *const argv[],
		  char *const envp[]);
void run_emulated_not(const struct run_emulated *e);
/* As execvp looks for a program; -1: it is not there, or this one is not emulated. */
int run_emulated_find(char *path, size_t size, const char *name);

/* A thread that is being measured; lies on the stack of who began it. */
struct run_thread {
	struct run_thread *next, **link;
	struct tach_region_mark mark;
	pid_t tid;
	unsigned number;
};
int run_measures(void); /* whether tach run started this process */
unsigned run_next_number(void);
void run_thread_begin(struct run_thread *thread, unsigned number); /* the calling one */
void run_thread_end(void);
void run_thread_end_bare(void); /* one that has no cleanup of ours on its stack */

/* deaths.c: from now on deadly signals leave a report behind. */
void run_watch_deaths(void);

#endif
