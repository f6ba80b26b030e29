/* SPDX-License-Identifier: MIT */
/* `tach top`: the regions of a running process, by what they did in the last seconds. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tools/tach/commands.h"
#include "tools/tach/top.h"

static const char help[] =
	"usage: tach top [OPTION]... [PID]\n\n"
	"Shows the regions of a running process, those first that took most time since the\n"
	"last look. Nothing runs in that process for it. Without PID: the only process that\n"
	"has regions, or a list of them.\n\n"
	"  -i, --interval SECONDS  from look to look, 0.01 or more (2)\n"
	"  -s, --sort COLUMN       by calls, time, self, threads, or the name of a quantity "
	"or\n"
	"                          metric (time)\n"
	"  -r, --region GLOB       these regions only\n"
	"      --once              one look, after one interval\n"
	"      --json              an object a line and interval, with all columns\n"
	"  -h, --help              this text\n\n"
	"TIME% is the time inside, of all threads together, with nested regions; SELF% "
	"without.\n"
	"100 is one thread all the time.\n"
	"Exit status: 0 done, or the process has ended; 1 it cannot be looked into; 2 bad "
	"usage.\n";

enum { ONCE = 256, JSON };
enum { ENDED = -2 };

static const struct option options[] = {
	{"interval", required_argument, NULL, 'i'},
	{"sort", required_argument, NULL, 's'},
	{"region", required_argument, NULL, 'r'},
	{"once", no_argument, NULL, ONCE},
	{"json", no_argument, NULL, JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int usage(const char *what, const char *value)
{
	fprintf(stderr, "tach top: %s '%s'\n", what, value);
	return usage_told("top");
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

/* EXIT_DONE: go on; -1: help was asked for and given. */
static int parse(struct top *t, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "i:s:r:h", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			if (!parse_number(optarg, 0.01, 1e6, &t->interval))
				return usage("seconds are 0.01 to 1000000, not", optarg);
			break;
		case 's':
			t->sort = optarg;
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

/* 1: the process has ended; `fd` is its pidfd, -1 where the kernel has none (before 5.3). */
static int rest(int fd, double seconds)
{
	struct pollfd ended = {.fd = fd, .events = POLLIN};
	struct timespec time = {(time_t)seconds,
				(long)((seconds - (double)(time_t)seconds) * 1e9)};

	return ppoll(&ended, fd >= 0, &time, NULL) == 1;
}

/* `again`: it was there before. EXIT_DONE, EXIT_NO or ENDED. */
static int look(const struct top *t, int again, struct tach_snapshot **out, double *when)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_snapshot_take_process(t->process, out, &err);

	*when = clock_seconds(CLOCK_MONOTONIC);
	/* Its memory goes before it has ended in the eyes of its pidfd. */
	if (code == -ESRCH && again) {
		fprintf(stderr, "tach top: process %d has ended\n", t->process);
		return ENDED;
	}
	if (code)
		fprintf(stderr, "tach top: %s\n", err.text);
	return code ? EXIT_NO : EXIT_DONE;
}

/* Of the last look and this one, which takes its place. */
static int show(const struct top *t, struct tach_snapshot **last, double *since)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *next, *between;
	double when;
	int code;

	code = look(t, 1, &next, &when);
	if (code)
		return code;
	code = tach_snapshot_since(next, *last, &between, &err);
	tach_snapshot_free(*last);
	*last = next;
	if (code) {
		fprintf(stderr, "tach top: %s\n", err.text);
		return EXIT_NO;
	}
	(t->json ? top_json : top_table)(t, between, when - *since);
	tach_snapshot_free(between);
	*since = when;
	return EXIT_DONE;
}

static int watch(const struct top *t, int fd)
{
	struct tach_snapshot *last;
	double since;
	int status = look(t, 0, &last, &since);

	if (status)
		return status;
	if (top_column(last, t->sort) < 0) {
		fprintf(stderr, "tach top: the process has no column '%s'\n", t->sort);
		status = usage_told("top");
	}
	while (!status) {
		if (rest(fd, t->interval)) {
			fprintf(stderr, "tach top: process %d has ended\n", t->process);
			break;
		}
		status = show(t, &last, &since);
		if (t->once || feof(stdout) || ferror(stdout))
			break;
	}
	tach_snapshot_free(last);
	return status == ENDED ? EXIT_DONE : status;
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
	status = watch(&t, fd);
	if (fd >= 0)
		close(fd);
	return status;
}
