/* SPDX-License-Identifier: MIT */
/* What the environment asks of a process when its first region begins, and the report at its
 * end. */
#ifndef TACH_CORE_STARTUP_H
#define TACH_CORE_STARTUP_H

#include <stddef.h>

/* One sentence on variables that have no effect at all: misspelt ones, a PMU that there is not,
 * a file of definitions that cannot be read. */
int tach__environment_useless(char *text, size_t size);
/* Why TACH_OUTPUT could not be written, as far as can be told without writing it. */
int tach__environment_output(char *text, size_t size);
/*
 * For what `tach run` preloads. At the process's end the report, as JSON, goes to `take` and
 * nowhere else, and what is counted is decided; NULL: to nobody, and regions are over. 0: they
 * are off, and nothing is changed. tach__output_now hands the report over at once.
 * Async-signal-safe as far as snapshots are.
 */
typedef void (*tach__taker)(const char *text, size_t length);
int tach__output_to(tach__taker take);
void tach__output_now(void);
/* Says the last two on standard error, if the kernel takes it at once; for the program's start.
 */
void tach__environment_complain(void);

#endif
