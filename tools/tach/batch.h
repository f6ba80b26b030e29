/* SPDX-License-Identifier: MIT */
/* Lines of a --batch form: one question each, and each gets one line of answer. */
#ifndef TOOLS_TACH_BATCH_H
#define TOOLS_TACH_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct batch {
	FILE *from;
	const char *command; /* who complains: "tach encode" */
	char *text;	     /* the line, without its end */
	long number;	     /* of the line, from 1 */
	int nul;     /* it held NUL bytes, which are '?' now: not to be answered as it stands */
	int refused; /* lines that batch_refuse was called for */
};

enum { BATCH_LINE_MOST = 1 << 20 }; /* bytes; longer ones are refused */

/* The next line, ended by LF, CR LF or the end of the file; 0 when there is none. Lines that
 * are too long are refused here and passed over. */
int batch_next(struct batch *b);
/* Says on standard error that the line at hand is malformed, and why. */
void batch_refuse(struct batch *b, const char *why, ...) __attribute__((format(printf, 2, 3)));
/* The exit status: some lines were malformed (2), or could not be read or answered (1). */
int batch_end(struct batch *b, int status);

/* The whole text as an unsigned number, decimal, 0x... or 0...; 0 if it is none. */
int batch_number(const char *text, uint64_t *value);

#endif
