/* SPDX-License-Identifier: MIT */
/* What the files of libtach-run.so share. */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>
#include <tach/region.h>

#define EXPORT __attribute__((visibility("default")))

/* next.c: the function that ours stands in front of. */
#define RUN_NEXT(function)                                                                     \
	function(_exit) function(daemon) function(execve) function(execvpe) function(fexecve)  \
		function(popen) function(posix_spawn) function(posix_spawnp) function(prctl)   \
			function(pthread_create) function(pthread_exit) function(sigaction)    \
				function(sigaltstack) function(syscall) function(system)       \
					function(thrd_create)
enum run_next {
#define RUN_NEXT_ENUMERATOR(function) RUN_NEXT_##function,
	RUN_NEXT(RUN_NEXT_ENUMERATOR)
#undef RUN_NEXT_ENUMERATOR
		RUN_NEXT_COUNT
};
void *run_next(enum run_next function);
#define NEXT(name) ((__typeof__(&name))run_next(RUN_NEXT_##name))

/* preload.c: 1: this call is the one to end the measuring of the process. Async-signal-safe. */
int run_finish(void);
/* And the report, which the library will not come to write. Async-signal-safe. */
void run_finish_now(void);

/* From now on system calls that end the process come without a word: leave a report at once. */
void run_confine(void);
int run_is_confined(void);

/* Around a call that makes this program another one. 1: a report was left. */
int run_before_exec(void);
/* The call came back: the report does not count. Returns result. */
int run_after_exec(int reported, int result);

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
/* Looks for a program like execvp. -1: there is none. */
int run_find(char *path, size_t size, const char *name);
/* As execvp looks for a program; -1: it is not there, or this one is not emulated. */
int run_emulated_find(char *path, size_t size, const char *name);

int run_measures(void); /* whether tach run started this process */
unsigned run_next_number(void);
void run_thread_begin(unsigned number); /* the calling one is to be measured */
void run_thread_end(void);
/* The calling thread ends in a system call. */
void run_thread_exit(void);

/* signals.c: from now on deadly signals leave a report behind. */
void run_watch_deaths(void);

#endif
