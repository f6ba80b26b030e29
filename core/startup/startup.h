/* SPDX-License-Identifier: MIT */
/* Actions that the environment asks for when the first region begins, and the report at the
 * end. */
#ifndef TACH_CORE_STARTUP_H
#define TACH_CORE_STARTUP_H

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <tach/error.h>

/* Writes a sentence about variables that have no effect: misspelt names, an unknown TACH_PMU, a
 * file of definitions that cannot be read. */
int tach__environment_useless(char *text, size_t size);
/* Writes the reason why TACH_OUTPUT cannot be written, if it is known without a write. */
int tach__environment_output(char *text, size_t size);
/*
 * For the library that `tach run` preloads. At the end of the process only `take` gets the
 * report, as JSON (text NULL: out of memory). The configuration is frozen. take NULL: no report
 * is made, and regions end. Returns 0 and changes nothing if regions are off. tach__output_now
 * delivers the report at once. Both are async-signal-safe like snapshots.
 */
typedef void (*tach__taker)(const char *text, size_t length);
int tach__output_to(tach__taker take);
void tach__output_now(void);
int tach__output_is_taken(void);
/*
 * Each prints one line on standard error, if the kernel accepts it at once. complain runs at
 * the start and reports names similar to ours and, if regions are wanted, all of the above.
 * uncounted gives the reason why requested events are not counted, for reports other than text.
 * unwritten names a file that could not be written, and why, once.
 */
void tach__environment_complain(int is_wanted);
void tach__environment_uncounted(const char *why);
void tach__environment_unwritten(const char *variable, const char *file, int code);

/*
 * output.c: writes a report to the destination of TACH_OUTPUT. Waits up to wait_ms for another
 * thread's report. With in_handler it is async-signal-safe, and the report has no trees of
 * metrics. Returns 0 or an error code.
 */
enum { TACH__OUTPUT_WAIT_MS = 2000 };
int tach__output_write(int wait_ms, int in_handler, struct tach_error *err);

/* deaths.c: after this call, the signals of TACH_SIGNAL write a report. */
void tach__deaths_watch(void);
const char *tach__deaths_odd(void); /* an error in TACH_SIGNAL, or NULL */
/*
 * Writes a sentence about signals that the program has taken over, which write no report.
 * Returns 0 if there is no such signal. Async-signal-safe.
 */
int tach__deaths_given_up(char *text, size_t size);
extern const int tach__deaths[]; /* signals that end a process by default; 0 ends the list */
/*
 * Returns all signals except those that a thread's own instructions raise, which end the
 * process if they are blocked. A counter instruction raises one after access to counters is
 * revoked.
 */
sigset_t tach__deaths_others(void);
/* Attribute for each handler. On x86-64, QEMU's user mode (7.2) enters handlers with a stack
 * that is not aligned to 16. */
#if defined(__x86_64__)
#define TACH__HANDLER __attribute__((force_align_arg_pointer))
#else
#define TACH__HANDLER
#endif
/* Call it at the end of a handler that has restored the signal's default. */
void tach__deaths_raise_again(int number, siginfo_t *info);

/* ambient.c: TACH_AMBIENT. _odd writes the reason why it cannot be used; it returns 0 if it can
 * be used. _start begins to count. _add adds the row to a snapshot. */
struct tach_snapshot;
int tach__ambient_odd(char *text, size_t size);
void tach__ambient_start(void);
void tach__ambient_add(struct tach_snapshot *s);

/* A user who writes 1 means "yes", not a file with that name. */
static inline int tach__output_is_stderr(const char *file)
{
	return strcmp(file, "-") == 0 || strcmp(file, "1") == 0;
}
/* Make names of files absolute, and decide which files this process writes. */
void tach__output_absolute(char to[PATH_MAX], const char *file);
/* In a job of several ranks each rank has its file: inserts "%r" before the suffix if nothing
 * else makes the names different. */
void tach__output_add_rank(char to[PATH_MAX]);
int tach__output_is_per_process(
	const char *file); /* 1: a number in the name gives each process its own file */
int tach__output_is_owner(const char *file); /* call it at the start */
int tach__output_is_here(const char *file);  /* call it later: 0 in a forked child */
/* Replaces "%p" by the process number, "%u" by the attempt, "%r" by the rank. Returns 0 if the
 * name is too long. */
int tach__output_expand(char *to, size_t size, const char *from, int attempt);

/* trace.c: TACH_TRACE. _choose and _wanted return 1 if it is set. _write writes the file as
 * reports are written, and returns 0 or an error code. */
int tach__trace_choose(void);
int tach__trace_wanted(void);
int tach__trace_write(void);

/* interval.c: reports by TACH_INTERVAL; `children`: forked children write their own. */
void tach__interval_start(int children);
int tach__interval_is_invalid(void); /* 1 if TACH_INTERVAL is not a usable number */

#endif
