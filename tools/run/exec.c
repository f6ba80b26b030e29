/* SPDX-License-Identifier: MIT */
/* Calls that replace or end this program: all forms of exec, daemon, syscall. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tools/run/load.h"
#include "tools/run/run.h"

EXPORT long syscall(long number, ...)
{
	int replaces = number == SYS_execve || number == SYS_execveat, reported = 0;
	long word[6], result;
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_exit_group)
		run_finish_now();
	if (number == SYS_exit)
		run_thread_exit();
	if (replaces)
		reported = run_before_exec();
	if (number == SYS_seccomp && (word[0] == SECCOMP_SET_MODE_STRICT ||
				      (word[0] == SECCOMP_SET_MODE_FILTER && word[2])))
		run_confine();
	result = NEXT(syscall)(number, word[0], word[1], word[2], word[3], word[4], word[5]);
	if (replaces)
		run_after_exec(reported, 0);
	return result;
}

#define REPLACE(call)                                                                          \
	do {                                                                                   \
		int reported = run_before_exec();                                              \
		return run_after_exec(reported, (call));                                       \
	} while (0)

/* Shells try each folder of PATH in turn: a missing file does not end the program. */
static int is_missing(const char *file)
{
	int saved = errno, missing;

	if (run_is_confined())
		return 0;
	missing = faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) != 0;
	errno = saved;
	return missing;
}

static int become(const char *file, char *const argv[], char *const envp[])
{
	struct run_emulated e;
	struct run_load l;
	int code;

	run_load(&l, AT_FDCWD, file, envp);
	run_emulated(&e, file, argv, l.envp);
	code = NEXT(execve)(e.file, e.argv, l.envp);
	run_emulated_not(&e);
	run_load_end(&l);
	return code;
}

EXPORT int execve(const char *file, char *const argv[], char *const envp[])
{
	if (is_missing(file))
		return NEXT(execve)(file, argv, envp);
	REPLACE(become(file, argv, envp));
}

EXPORT int execv(const char *file, char *const argv[])
{
	return execve(file, argv, environ);
}

/* The C library searches PATH again, and starts a shell for files without an interpreter. */
static int become_found(const char *file, char *const argv[], char *const envp[])
{
	char path[4096];
	struct run_load l;
	int code;

	run_load(&l, AT_FDCWD, run_find(path, sizeof path, file) == 0 ? path : file, envp);
	code = NEXT(execvpe)(file, argv, l.envp);
	run_load_end(&l);
	return code;
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	char path[4096];

	if (run_emulated_find(path, sizeof path, file) == 0)
		return execve(path, argv, envp);
	REPLACE(become_found(file, argv, envp));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* Prepares to execute an open file. */
static void load_open(struct run_load *l, int fd, char *const envp[])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	run_load(l, AT_FDCWD, path, envp);
}

/* glibc has declared it since 2.34, musl does not. */
int execveat(int folder, const char *file, char *const argv[], char *const envp[], int flags);

EXPORT int execveat(int folder, const char *file, char *const argv[], char *const envp[],
		    int flags)
{
	int reported = run_before_exec(), code;
	struct run_load l;

	if (*file)
		run_load(&l, folder, file, envp);
	else
		load_open(&l, folder, envp);
	code = (int)NEXT(syscall)(SYS_execveat, folder, file, argv, l.envp, flags);
	run_load_end(&l);
	return run_after_exec(reported, code);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	int reported = run_before_exec(), code;
	struct run_load l;

	load_open(&l, fd, envp);
	code = NEXT(fexecve)(fd, argv, l.envp);
	run_load_end(&l);
	return run_after_exec(reported, code);
}

enum { WORDS_MAX = 1024 };

/*
 * Collects the arguments of execl and similar functions; *last points after the final NULL.
 * E2BIG: too many.
 */
static int collect_arguments(char **argv, const char *word, va_list *args)
{
	int n = 0;

	for (; word; word = va_arg(*args, const char *)) {
		if (n == WORDS_MAX) {
			errno = E2BIG;
			return -1;
		}
		argv[n++] = (char *)word;
	}
	argv[n] = NULL;
	return 0;
}

/* Defines a function like execl from one like execv. */
#define IN_A_ROW(name, call)                                                                   \
	EXPORT int name(const char *file, const char *word, ...)                               \
	{                                                                                      \
		char *argv[WORDS_MAX + 1];                                                     \
		va_list args;                                                                  \
		int code;                                                                      \
                                                                                               \
		va_start(args, word);                                                          \
		code = collect_arguments(argv, word, &args);                                   \
		va_end(args);                                                                  \
		return code ? code : call(file, argv);                                         \
	}
IN_A_ROW(execl, execv)
IN_A_ROW(execlp, execvp)

EXPORT int execle(const char *file, const char *word, ...)
{
	char *argv[WORDS_MAX + 1], *const *envp;
	va_list args;
	int code;

	va_start(args, word);
	code = collect_arguments(argv, word, &args);
	envp = va_arg(args, char *const *);
	va_end(args);
	return code ? code : execve(file, argv, envp);
}

/* The parent exits inside daemon(), and the child starts like a child of fork. */
EXPORT int daemon(int keep_folder, int keep_streams)
{
	pid_t parent = getpid();
	int reported = run_before_exec(), result;

	result = NEXT(daemon)(keep_folder, keep_streams);
	return getpid() == parent ? run_after_exec(reported, result) : result;
}
