/* SPDX-License-Identifier: MIT */
/*
 * Included before every file of the command (GNUmakefile). people.c replaces stdout and stderr
 * by its own streams. In glibc stdout is a variable. In other C libraries it is a constant that
 * printf and getopt_long use directly, so there these macros select the command's streams.
 */
#ifndef TOOLS_TACH_PEOPLE_H
#define TOOLS_TACH_PEOPLE_H

#include <getopt.h>
#include <stdio.h>

#ifndef __GLIBC__
extern FILE *people_out, *people_err;
int people_getopt(int argc, char **argv, const char *letters, const struct option *options);

/* The C library's own, before the macros hide their names. */
static inline FILE *people_library_stream(int descriptor)
{
	return descriptor == 2 ? stderr : stdout;
}

#undef stdout
#undef stderr
#define stdout			       people_out
#define stderr			       people_err
#define printf(...)		       fprintf(stdout, __VA_ARGS__)
#define putchar(c)		       putc(c, stdout)
#define puts(text)		       fprintf(stdout, "%s\n", text)
#define getopt_long(n, v, l, o, index) people_getopt(n, v, l, o)
#endif

#endif
