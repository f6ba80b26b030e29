/* SPDX-License-Identifier: MIT */
/*
 * The subcommands of `tach`. Each lives in a file of its own, gets argv from its own name on,
 * and returns the exit status: 0 done, 1 the answer is no (not found, refused, unhealthy), 2
 * bad usage.
 */
#ifndef TOOLS_TACH_COMMANDS_H
#define TOOLS_TACH_COMMANDS_H

#include <stdio.h>
#include <tach/error.h>

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2 };

int cmd_derived(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_dispatch(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* people.c: from now on what stdout and stderr print is fit to be shown: tach_printable(3). */
void people_open(void);

/*
 * complaint.c: what is wrong with a string that the user gave, with a caret below the place
 * where the string fits a line.
 */
void complain(const char *who, const char *string, const struct tach_error *err);

/* strings.c: prints the text as a JSON string, as a cell of CSV. */
void json_string(FILE *to, const char *text);
void csv_string(FILE *to, const char *text);

#endif
