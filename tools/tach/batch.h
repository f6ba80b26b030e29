/* SPDX-License-Identifier: MIT */
/* Lines of a --batch mode: each line is a question and gets one line of answer. */
#ifndef TOOLS_TACH_BATCH_H
#define TOOLS_TACH_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct batch {
	FILE *from;
	const char *command; /* begins messages: "tach encode" */
	char *text;	     /* the line, without its line end */
	long number;	     /* number of the line, from 1 */
	int nul;	     /* the line contained NUL bytes, now '?': refuse the line */
	int refused;	     /* number of batch_refuse calls */
};

enum { BATCH_LINE_MOST = 1 << 20 }; /* bytes; longer lines are refused */

/*
 * Reads the next line, ended by LF, CR LF or the end of the file. Returns 0 if there is no more
 * line. A line that is too long is refused and skipped.
 */
int batch_next(struct batch *b);
/* Prints to standard error that the current line is malformed, and why. */
void batch_refuse(struct batch *b, const char *why, ...) __attribute__((format(printf, 2, 3)));
/*
 * Returns the exit status: 2 if some lines were malformed, 1 if they could not be read or
 * answered.
 */
int batch_end(struct batch *b, int status);

/*
 * Parses the whole text as an unsigned number, decimal, 0x... or 0...; returns 0 if it is not a
 * number.
 */
int batch_number(const char *text, uint64_t *value);

#endif
