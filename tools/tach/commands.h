/* SPDX-License-Identifier: MIT */
/*
 * The subcommands of `tach`. Each command has its own file, gets argv from its own name on, and
 * returns the exit status: 0 success, 1 a negative answer (not found, refused, unhealthy,
 * worse), 2 bad usage, 3 the data cannot show if something became worse.
 */
#ifndef TOOLS_TACH_COMMANDS_H
#define TOOLS_TACH_COMMANDS_H

#include <stdio.h>
#include <time.h>
#include <tach/error.h>
#include "core/base/json_out.h"

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_UNKNOWN = 3 };

int cmd_derived(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_emulated(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_gate(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_dispatch(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_version(int argc, char **argv);

/*
 * people.c: after this call everything printed to stdout and stderr is safe to display:
 * tach_printable(3).
 */
void people_open(void);

/*
 * complaint.c: prints the error in a string from the user, with a caret below the position if
 * the string fits a line.
 */
void complain(const char *who, const char *string, const struct tach_error *err);

/* Prints where the help is, after an error in the command line. Returns EXIT_USAGE. */
int print_usage_error(const char *command);
/* Prints the error too. */
int refuse_usage(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * privilege.c: converts letters out of u k h, or libpfm's number, to TACH_PRIVILEGE_*. Returns
 * 0 if the text is neither.
 */
int privilege_parse(const char *text, uint32_t *privilege);
#define PRIVILEGE_TAKES "--privilege takes letters out of u k h, or 0 .. 31"

/* clock.c */
double clock_seconds(clockid_t clock);

/* streams.c: a tach_sink whose context is a FILE *, and JSON output to it. */
struct json_to {
	struct tach__out out;
	struct tach__json_out json;
};
int stream_sink(void *file, const char *text, size_t length);
void json_begin(struct json_to *json, FILE *to, enum tach__json_style style);
/*
 * Writes a text to the file, or to `otherwise` if that is NULL. Returns -1 after printing an
 * error.
 */
struct tach__buffer;
int deliver(const char *who, const char *file, FILE *otherwise,
	    const struct tach__buffer *text);
int json_end(struct json_to *json); /* ends the line; returns 0 or an error code */

enum { COUNTERS_TEXT_MAX = 160 };
/* "0-3,6,f0": fixed counters are listed one by one; "any". */
void counters_text(uint64_t counters, char *out, size_t size);

#endif
