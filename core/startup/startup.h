/* SPDX-License-Identifier: MIT */
/* What the environment asks of a process when its first region begins, and the report at its
 * end. */
#ifndef TACH_CORE_STARTUP_H
#define TACH_CORE_STARTUP_H

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <tach/error.h>

/* One sentence on variables that have no effect at all: misspelt ones, a PMU that there is not,
 * a file of definitions that cannot be read. */
int tach__environment_useless(char *text, size_t size);
/* Why TACH_OUTPUT could not be written, as far as can be told without writing it. */
int tach__environment_output(char *text, size_t size);
/*
 * For what `tach run` preloads. At the process's end the report, as JSON, goes to `take` and
 * nowhere else, and what is counted is decided; NULL: nowhere, and regions are over. 0: they
 * are off, and nothing is changed. tach__output_now hands the report over at once.
 * Async-signal-safe as far as snapshots are.
 */
typedef void (*tach__taker)(const char *text, size_t length);
int tach__output_to(tach__taker take);
void tach__output_now(void);
int tach__output_is_taken(void);
/*
 * Each says one line on standard error, if the kernel takes it at once. At the start: names
 * that are nearly ours and, if regions are wanted, all of the above. Why events that were asked
 * for are not counted, for a report that is not read as text. Once: what could not be written,
 * and why.
 */
void tach__environment_complain(int is_wanted);
void tach__environment_uncounted(const char *why);
void tach__environment_unwritten(const char *variable, const char *file, int code);

/*
 * output.c: a report to where TACH_OUTPUT says; waits so long for another thread's to be
 * finished. Async-signal-safe with in_handler; the report then has no trees of metrics. 0 or a
 * code.
 */
enum { TACH__OUTPUT_WAIT_MS = 2000 };
int tach__output_write(int wait_ms, int in_handler, struct tach_error *err);

/* deaths.c: from now on a report comes before signals that end the process, and at TACH_SIGNAL.
 */
void tach__deaths_watch(void);
const char *tach__deaths_odd(void); /* what is wrong with TACH_SIGNAL, or NULL */
/* One sentence on signals that are the program's by now, so that no report comes at them; 0:
 * there are none. Async-signal-safe. */
int tach__deaths_given_up(char *text, size_t size);
extern const int tach__deaths[]; /* signals that end a process by default; 0 ends them */
/* Every signal but those that a thread's own instructions raise, which kill when they are
 * blocked: counter instructions do, once access to counters is taken away. */
sigset_t tach__deaths_others(void);
/* Of every handler: QEMU's user mode (7.2) enters them on x86-64 with a stack that is no
 * multiple of 16. */
#if defined(__x86_64__)
#define TACH__HANDLER __attribute__((force_align_arg_pointer))
#else
#define TACH__HANDLER
#endif
/* At the end of a handler that has set the signal back to its default. */
void tach__deaths_go_on(int number, siginfo_t *info);

/* ambient.c: TACH_AMBIENT; why it cannot be used, as a sentence: 0, it can; from now on it is
 * counted; its row in a snapshot. */
struct tach_snapshot;
int tach__ambient_odd(char *text, size_t size);
void tach__ambient_start(void);
void tach__ambient_add(struct tach_snapshot *s);

/* Who writes 1 means "yes", not a file of that name. */
static inline int tach__output_is_stderr(const char *file)
{
	return strcmp(file, "-") == 0 || strcmp(file, "1") == 0;
}
/* Names of files: how they are made whole, and which are this process's to write. */
void tach__output_absolute(char to[PATH_MAX], const char *file);
/* Of a job of several ranks each has its file: "%r" is put before the suffix where nothing else
 * tells them apart. */
void tach__output_apart(char to[PATH_MAX]);
int tach__output_is_each_ones(const char *file); /* a number in it keeps processes apart */
int tach__output_is_owner(const char *file);	 /* at the start */
int tach__output_is_here(const char *file);	 /* later: not in a child that was forked */
/* "%p" becomes the process number, "%u" the attempt, "%r" the rank; 0: too long. */
int tach__output_expand(char *to, size_t size, const char *from, int attempt);

/* trace.c: TACH_TRACE. Whether it is wanted; the file, as reports are written; 0 or a code. */
int tach__trace_choose(void);
int tach__trace_wanted(void);
int tach__trace_write(void);

/* interval.c: reports by TACH_INTERVAL; `children`: forked ones have their own. */
void tach__interval_start(int children);
int tach__interval_odd(void); /* TACH_INTERVAL is no number that can be used */

#endif
