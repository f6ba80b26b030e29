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

/* One sentence about variables that have no effect at all: misspelt ones, an unknown TACH_PMU,
 * a file of definitions that cannot be read. */
int tach__environment_useless(char *text, size_t size);
/* The reason why TACH_OUTPUT cannot be written, if it can be found without writing. */
int tach__environment_output(char *text, size_t size);
/*
 * For the library that `tach run` preloads. At the end of the process the report, as JSON, goes
 * to `take` only (text NULL: there was no memory for it), and the configuration is frozen;
 * NULL: the report goes nowhere, and regions end. Returns 0 and changes nothing if regions are
 * off. tach__output_now delivers the report at once. These are as async-signal-safe as
 * snapshots.
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
 * thread's report. Async-signal-safe with in_handler; the report then has no trees of metrics.
 * 0 or a code.
 */
enum { TACH__OUTPUT_WAIT_MS = 2000 };
int tach__output_write(int wait_ms, int in_handler, struct tach_error *err);

/* deaths.c: from now on writes a report at the signals of TACH_SIGNAL. */
void tach__deaths_watch(void);
const char *tach__deaths_odd(void); /* an error in TACH_SIGNAL, or NULL */
/*
 * One sentence on signals that the program has taken over, so that they write no report; 0: no
 * such signal. Async-signal-safe.
 */
int tach__deaths_given_up(char *text, size_t size);
extern const int tach__deaths[]; /* signals that end a process by default; 0 ends them */
/*
 * All signals except those that a thread's own instructions raise: they kill if they are
 * blocked. Counter instructions raise one after access to counters is revoked.
 */
sigset_t tach__deaths_others(void);
/* For each handler: QEMU's user mode (7.2) enters handlers on x86-64 with a stack that is not
 * aligned to 16. */
#if defined(__x86_64__)
#define TACH__HANDLER __attribute__((force_align_arg_pointer))
#else
#define TACH__HANDLER
#endif
/* Call it at the end of a handler that has restored the signal's default. */
void tach__deaths_raise_again(int number, siginfo_t *info);

/* ambient.c: TACH_AMBIENT. odd: why it cannot be used, as a sentence; 0 if it can. start:
 * counts from now on. add: adds its row to a snapshot. */
struct tach_snapshot;
int tach__ambient_odd(char *text, size_t size);
void tach__ambient_start(void);
void tach__ambient_add(struct tach_snapshot *s);

/* A user who writes 1 means "yes", not a file with that name. */
static inline int tach__output_is_stderr(const char *file)
{
	return strcmp(file, "-") == 0 || strcmp(file, "1") == 0;
}
/* Names of files: making them absolute, and finding out which this process must write. */
void tach__output_absolute(char to[PATH_MAX], const char *file);
/* In a job of several ranks each rank has its file: inserts "%r" before the suffix if nothing
 * else makes the names different. */
void tach__output_add_rank(char to[PATH_MAX]);
int tach__output_is_per_process(const char *file); /* a number in it keeps processes apart */
int tach__output_is_owner(const char *file);	   /* call it at the start */
int tach__output_is_here(const char *file);	   /* later: 0 in a child that was forked */
/* "%p" becomes the process number, "%u" the attempt, "%r" the rank; 0: too long. */
int tach__output_expand(char *to, size_t size, const char *from, int attempt);

/* trace.c: TACH_TRACE. Returns 1 if it is wanted; writes the file in the same way as reports: 0
 * or a code. */
int tach__trace_choose(void);
int tach__trace_wanted(void);
int tach__trace_write(void);

/* interval.c: reports by TACH_INTERVAL; `children`: forked children write their own. */
void tach__interval_start(int children);
int tach__interval_is_invalid(void); /* 1 if TACH_INTERVAL is not a usable number */

#endif
