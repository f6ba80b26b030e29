/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files of libtach-run.so. */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>
#include <tach/region.h>

#define EXPORT __attribute__((visibility("default")))

/* next.c: the original functions that ours replace. */
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

/*
 * preload.c: returns 1 if this call is the one that ends the measurement of the process.
 * Async-signal-safe.
 */
int run_finish(void);
/* Also writes the report if the library will not write it. Async-signal-safe. */
void run_finish_now(void);

/*
 * A seccomp filter may kill the process at its next system call: writes a report immediately.
 */
void run_confine(void);
int run_is_confined(void);

/* Call before exec. Returns 1 if a report was written. */
int run_before_exec(void);
/* exec failed: discards the report. Returns result. */
int run_after_exec(int reported, int result);

/*
 * emulate.c: starts another program of an emulated one, in the emulator too. The arguments stay
 * unchanged if this program is not emulated, or if the other program's environment must not
 * contain our variables. If exec returns, call run_emulated_not. Async-signal-safe.
 */
struct run_emulated {
	const char *file;
	char *const *argv;
	size_t size; /* size of argv's memory; 0: argv belongs to the caller */
};
void run_emulated(struct run_emulated *e, const char *file, char *const argv[],
		  char *const envp[]);
void run_emulated_not(const struct run_emulated *e);
/* Searches PATH like execvp. Returns -1 if the program is not found. */
int run_find(char *path, size_t size, const char *name);
/*
 * Searches PATH like execvp. Returns -1 if it is not found, or if this program is not emulated.
 */
int run_emulated_find(char *path, size_t size, const char *name);

int run_measures(void); /* returns 1 in the process that tach run started */
unsigned run_next_number(void);
void run_thread_begin(unsigned number); /* starts to measure the calling thread */
void run_thread_end(void);
/* Ends the calling thread's measurement; the thread ends in a system call. */
void run_thread_exit(void);

/* functions.c: before the first region; before the calling thread ends. */
void run_functions_begin(void);
void run_functions_end(void);

/* signals.c: from now on fatal signals write a report. */
void run_watch_deaths(void);

#endif
