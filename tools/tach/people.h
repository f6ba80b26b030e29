/* SPDX-License-Identifier: MIT */
/*
 * Included before every file of the command (GNUmakefile). people.c puts its own streams in the
 * place of stdout and stderr. glibc's stdout is a variable for that; elsewhere it is a
 * constant, which printf and getopt_long use by themselves, so that these names lead to the
 * command's streams there.
 */
#ifndef TOOLS_TACH_PEOPLE_H
#define TOOLS_TACH_PEOPLE_H

#include <getopt.h>
#include <stdio.h>

#ifndef __GLIBC__
extern FILE *people_out, *people_err;
int people_getopt(int argc, char **argv, const char *letters, const struct option *options);

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
