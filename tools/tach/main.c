/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "tools/tach/commands.h"

/*
 * The command has no regions: region settings in the environment are for the programs that it
 * runs.
 */
extern const char tach__environment_is_for_others;
const char tach__environment_is_for_others = 1;

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"doctor", cmd_doctor, "find out whether counters work here, and if not, why"},
	{"run", cmd_run, "run a program and measure its threads and regions"},
	{"top", cmd_top, "watch the regions of a running process"},
	{"report", cmd_report, "convert saved reports, or add them up"},
	{"diff", cmd_diff, "compare two reports or results"},
	{"gate", cmd_gate, "fail if a program became worse: for CI"},
	{"history", cmd_history, "keep what each commit took, and find what changed it"},
	{"list", cmd_list, "show PMUs and events"},
	{"encode", cmd_encode, "show what an event string means"},
	{"derived", cmd_derived, "show and check derived events"},
	{"dispatch", cmd_dispatch, "compute register values for events, of any PMU"},
	{"version", cmd_version, "print the version"},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *to)
{
	fputs("usage: tach COMMAND [ARGUMENT]...\n\n", to);
	for (int i = 0; i < NCOMMANDS; i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\ntach COMMAND --help and man tach-COMMAND say more. Exit status: 0 done, 1 no, "
	      "2 bad usage.\n",
	      to);
}

static int is_word(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* `tach help COMMAND` is `tach COMMAND --help`. */
static char **help_of(int *argc, char **argv)
{
	static char word[] = "--help";

	argv[1] = argv[2];
	argv[2] = word;
	*argc = 3;
	return argv;
}

/*
 * Output that cannot be written (a full disk, a closed pipe) makes the exit status a failure.
 */
static int flush_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "tach: standard output: %s\n", strerror(errno));
	return status == EXIT_DONE ? EXIT_NO : status;
}

int main(int argc, char **argv)
{
	people_open();
	if (argc > 2 && strcmp(argv[1], "help") == 0)
		argv = help_of(&argc, argv);
	if (argc < 2 || is_word(argv[1], "help", "--help", "-h")) {
		usage(argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_USAGE : flush_output(EXIT_DONE);
	}
	if (is_word(argv[1], "version", "--version", "-V"))
		return flush_output(cmd_version(argc, argv));
	if (strcmp(argv[1], "emulated") == 0)
		return cmd_emulated(argc - 1, argv + 1);
	for (int i = 0; i < NCOMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return flush_output(commands[i].run(argc - 1, argv + 1));
	fprintf(stderr, "tach: no command '%s'; tach --help lists them\n", argv[1]);
	return EXIT_USAGE;
}
