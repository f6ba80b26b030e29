/* SPDX-License-Identifier: MIT */
/* `tach top`: the regions of a running process and their activity in each interval. */
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tools/tach/commands.h"
#include "tools/tach/screen.h"
#include "tools/tach/top.h"

static const char help[] =
	"usage: tach top [OPTION]... [PID]\n"
	"\n"
	"Shows the regions of a running process, the most expensive first. The process is\n"
	"not slowed. Without PID: the only process that has regions, or a list of them.\n"
	"\n"
	"  -i, --interval SECONDS  time between two looks, 0.01 or more (2)\n"
	"  -s, --sort COLUMN       sort by region, calls, time, self, threads, avg, p99,\n"
	"                          or a counter or metric (time)\n"
	"  -c, --columns LIST      show these counters and metrics\n"
	"  -r, --region GLOB       show only these regions\n"
	"      --once              take one look, after one interval\n"
	"      --json              print one line with an object for each interval\n"
	"  -h, --help              print this text\n"
	"\n"
	"On a terminal it is a live view; the key h lists its keys. Pipes and TERM=dumb\n"
	"get plain lines. TIME% is the time inside, with nested regions, of all threads\n"
	"together; SELF% is without nested regions. 100 is one thread all the time.\n"
	"man tach-top explains each option. Exit status: 0 done, or the process has\n"
	"ended; 1 it cannot be read; 2 bad usage.\n";

enum { ONCE = 256, JSON };

static const struct option options[] = {
	{"interval", required_argument, NULL, 'i'}, {"sort", required_argument, NULL, 's'},
	{"columns", required_argument, NULL, 'c'},  {"region", required_argument, NULL, 'r'},
	{"once", no_argument, NULL, ONCE},	    {"json", no_argument, NULL, JSON},
	{"help", no_argument, NULL, 'h'},	    {NULL, 0, NULL, 0},
};

static int usage(const char *what, const char *value)
{
	return refuse_usage("top", "%s '%s'", what, value);
}

static int parse_number(const char *text, double least, double most, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && *out >= least && *out <= most;
}

static int parse_process(struct top *t, int argc, char **argv)
{
	double number;

	if (optind + 1 < argc)
		return usage("one process, not also", argv[optind + 1]);
	if (optind < argc &&
	    (!parse_number(argv[optind], 1, 1 << 30, &number) || number != (double)(int)number))
		return usage("no process number is", argv[optind]);
	t->process = optind < argc ? (int)number : 0;
	return EXIT_DONE;
}

/* Returns EXIT_DONE to continue, or -1 after printing the help. */
static int parse(struct top *t, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "i:s:c:r:h", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			if (!parse_number(optarg, 0.01, 1e6, &t->interval))
				return usage("seconds are 0.01 to 1000000, not", optarg);
			break;
		case 's':
			t->sort = optarg;
			break;
		case 'c':
			t->columns = optarg;
			break;
		case 'r':
			t->filter = optarg;
			break;
		case ONCE:
			t->once = 1;
			break;
		case JSON:
			t->json = 1;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			return usage("cannot use", argv[optind - 1]);
		}
	}
	return parse_process(t, argc, argv);
}

/* Waits, and returns 1 if the process has ended; `fd` is its pidfd, or -1 before Linux 5.3. */
static int rest(int fd, double seconds)
{
	struct pollfd ended = {.fd = fd, .events = POLLIN};
	struct timespec time = {(time_t)seconds,
				(long)((seconds - (double)(time_t)seconds) * 1e9)};

	return ppoll(&ended, fd >= 0, &time, NULL) == 1;
}

/* Refuses unknown names in --sort and --columns. */
static int check_columns(const struct top *t, const struct tach_snapshot *s)
{
	const char *unknown = top_column(s, t->sort) < 0 ? t->sort : NULL;

	if (!unknown)
		unknown = top_unknown_column(t, s);
	if (!unknown)
		return EXIT_DONE;
	return refuse_usage("top", "the process has no column '%s'", unknown);
}

/* Prints the intervals as plain lines or JSON. */
static int print_looks(struct top *t, int fd, struct top_look *look)
{
	int status = EXIT_DONE;

	while (!status) {
		if (rest(fd, t->interval))
			return TOP_ENDED;
		status = top_look_next(t, look);
		if (!status)
			(t->json ? top_json : top_table)(t, look);
		if (t->once || feof(stdout) || ferror(stdout))
			break;
	}
	return status;
}

static int watch_process(struct top *t, int fd)
{
	struct top_look look = {0};
	int live = !t->once && !t->json && screen_possible(), status;

	status = top_look_first(t, &look);
	if (!status && check_columns(t, look.last) != EXIT_DONE)
		status = EXIT_USAGE;
	if (!status)
		status = (live ? top_live : print_looks)(t, fd, &look);
	if (status == TOP_ENDED)
		fprintf(stderr, "tach top: process %d has ended\n", t->process);
	else if (*look.error)
		fprintf(stderr, "tach top: %s\n", look.error);
	top_look_free(&look);
	screen_die();
	return status == TOP_ENDED ? EXIT_DONE : status;
}

int cmd_top(int argc, char **argv)
{
	struct top t = {.interval = 2, .sort = "time"};
	int status = parse(&t, argc, argv), fd;

	if (status)
		return status < 0 ? EXIT_DONE : status;
	if (!t.process)
		t.process = top_find();
	if (!t.process)
		return EXIT_NO;
	top_command(t.process, t.command, sizeof t.command);
	fd = (int)syscall(SYS_pidfd_open, t.process, 0);
	status = watch_process(&t, fd);
	if (fd >= 0)
		close(fd);
	return status;
}
