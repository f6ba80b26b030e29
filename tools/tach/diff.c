/* SPDX-License-Identifier: MIT */
/* `tach diff`: compares two reports, folders of reports, baselines or benchmark results. */
#include <getopt.h>
#include <stdio.h>
#include "core/change/change.h"
#include "tools/tach/commands.h"
#include "tools/tach/compare.h"

static const char help[] =
	"usage: tach diff [OPTION]... OLD NEW\n"
	"\n"
	"Compares each region and quantity. OLD and NEW are each a report in JSON, a\n"
	"folder with a report of each run, a baseline of tach gate --save, or results of\n"
	"a benchmark (tach, google-benchmark) in JSON.\n"
	"\n"
	"Instruction counts need one run of each side. Time needs several: use a folder,\n"
	"or tach gate. Without a RULE, time may change by 5 % and counts by 0.5 %.\n"
	"\n";
static const char end[] =
	"  -h, --help             print this text\n"
	"\n"
	"man tach-diff explains each option. Exit status: 0 nothing is worse, 1 something\n"
	"is worse, 2 bad usage or an unreadable file, 3 undecided, or a region is gone.\n";

static const struct option options[] = {
	COMPARE_OPTIONS,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Returns 0, -1 after printing the help, or an exit status. */
static int parse(struct compare_options *o, int argc, char **argv)
{
	int c, code;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == 'h') {
			printf("%s%s%s", help, compare_help, end);
			return -1;
		}
		code = compare_option(o, c, optarg);
		if (code < 0)
			fprintf(stderr, "tach diff: cannot use '%s'\n", argv[optind - 1]);
		if (code)
			return code < 0 ? print_usage_error("diff") : code;
	}
	if (argc - optind == 2)
		return 0;
	return refuse_usage("diff", "give two files or folders, OLD and NEW");
}

int cmd_diff(int argc, char **argv)
{
	struct compare_options o = {.who = "tach diff", .alpha = TACH__ALPHA};
	struct samples side[2] = {{0}};
	struct comparison c = {0};
	int status = parse(&o, argc, argv);

	if (status)
		return status < 0 ? EXIT_DONE : status;
	c.old_name = argv[optind];
	c.now_name = argv[optind + 1];
	status = EXIT_USAGE;
	if (samples_load(&side[0], c.old_name, o.who) == 0 &&
	    samples_load(&side[1], c.now_name, o.who) == 0) {
		status = compare(&c, &o, &side[0], &side[1]);
		if (!status)
			status = compare_write(&c);
		if (!status)
			status = compare_status(&c);
		compare_free(&c);
	}
	samples_free(&side[0]);
	samples_free(&side[1]);
	return status;
}
