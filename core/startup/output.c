/* SPDX-License-Identifier: MIT */
/*
 * TACH_OUTPUT: a report when the process ends, which leaves the program's status, its files and
 * its time as they would have been.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tach/report.h>
#include "core/report/report.h"
#include "core/base/out.h"
#include "core/region/region.h"
#include "core/startup/startup.h"

/* Names the process for which TACH_OUTPUT was set, to the programs that it starts. */
#define OWNER "TACH_OUTPUT_PID"

static char output[PATH_MAX]; /* "": nothing to write */
static pid_t owner;

/* One of the process's own descriptors, as it was when the process began. */
static struct {
	int fd; /* -1: output is a file */
	dev_t device;
	ino_t inode;
} stream = {.fd = -1};

/* "-" and the names that stand for descriptors; else -1. */
static int descriptor(const char *file)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	char *end;

	if (strcmp(file, "-") == 0 || strcmp(file, "/dev/stderr") == 0)
		return STDERR_FILENO;
	if (strcmp(file, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		size_t n = strlen(folders[i]);
		long fd;

		if (strncmp(file, folders[i], n) != 0)
			continue;
		fd = strtol(file + n, &end, 10);
		if (end != file + n && !*end && fd >= 0 && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* 0: it is closed, or something else by now: a file of the program's data. */
static int stream_look(dev_t *device, ino_t *inode)
{
	struct stat status;

	if (fstat(stream.fd, &status) != 0)
		return 0;
	*device = status.st_dev;
	*inode = status.st_ino;
	return 1;
}

/* The folder is that in which the program began, wherever it goes. */
static void absolute(const char *file)
{
	size_t n = 0;

	if (*file != '/' && getcwd(output, sizeof output - 1)) {
		n = strlen(output);
		output[n++] = '/';
	}
	/* A name that was cut short would be another file. */
	if (strlen(file) < sizeof output - n)
		strcpy(output + n, file);
	else
		output[0] = '\0';
}

/* A number in its name keeps every process's apart. */
static int is_each_ones(const char *file)
{
	return strstr(file, "%p") || strstr(file, "%u");
}

/*
 * Whether the file is this process's to write. A program that the owner started inherits the
 * variable.
 */
static int is_owner(const char *file)
{
	const char *other = secure_getenv(OWNER);
	char number[16];

	if (is_each_ones(file))
		return 1;
	if (other && *other && atoi(other) != (int)getpid())
		return 0;
	snprintf(number, sizeof number, "%d", (int)getpid());
	/* Other threads may be in getenv: the library was loaded late, or by other code. */
	if (!other && __libc_single_threaded)
		setenv(OWNER, number, 1);
	return 1;
}

void tach__output_at_exit(const char *file)
{
	int saved = errno;

	if (!file)
		return;
	stream.fd = descriptor(file);
	if (stream.fd >= 0) {
		if (stream_look(&stream.device, &stream.inode))
			snprintf(output, sizeof output, "%s", file);
	} else if (is_owner(file)) {
		absolute(file);
	}
	owner = getpid();
	errno = saved;
}

/* "%p" becomes the process number, "%u" the attempt; 0: too long. */
static int expand(char *to, size_t size, const char *from, int attempt)
{
	size_t n = 0;

	for (; *from && n + 12 < size; from++) {
		int number = from[0] == '%' && from[1] == 'p'	? (int)getpid()
			     : from[0] == '%' && from[1] == 'u' ? attempt
								: -1;

		if (number < 0) {
			to[n++] = *from;
			continue;
		}
		n += (size_t)snprintf(to + n, size - n, "%d", number);
		from++;
	}
	to[n] = '\0';
	return !*from;
}

/* "%u" becomes the least number that makes the file a new one. */
static void write_file(const struct tach__buffer *text)
{
	int fresh = strstr(output, "%u") != NULL;
	char file[PATH_MAX];

	for (int attempt = 0; attempt < 10000; attempt++)
		if (!expand(file, sizeof file, output, attempt) ||
		    tach__deliver_file(file, fresh, text) != -EEXIST || !fresh)
			return;
}

/* The look of a terminal is that of the stream, though the text goes by way of memory. */
static int render(const struct tach_snapshot *s, struct tach__buffer *text)
{
	struct tach_report_options opt = {0};

	if (stream.fd >= 0)
		tach__report_terminal(&opt, stream.fd);
	else
		opt.format = tach_report_format(output);
	return tach_report_write(s, &opt, tach__buffer_sink, text, NULL);
}

static tach__taker taker;
static int is_taken; /* whoever called tach__output_to decides */

int tach__output_to(tach__taker take)
{
	tach__configure_once();
	if (take && !tach_regions_enabled())
		return 0;
	taker = take;
	is_taken = 1;
	tach__regions_decided();
	if (!take)
		tach__regions_over();
	return 1;
}

void tach__output_now(void)
{
	struct tach_report_options opt = {.format = TACH_FORMAT_JSON};
	struct tach__buffer text = {0};
	struct tach_snapshot *s;
	int saved = errno;

	if (taker && tach__snapshot_take_here(&s, NULL) == 0) {
		if (tach_report_write(s, &opt, tach__buffer_sink, &text, NULL) == 0)
			taker(text.at, text.length);
		tach__buffer_free(&text);
		tach_snapshot_free(s);
	}
	errno = saved;
}

/* After the program's own destructors where the linker lets us choose: they may use regions. */
__attribute__((destructor(101))) static void write_output(void)
{
	struct tach__buffer text = {0};
	struct tach_snapshot *s;
	dev_t device;
	ino_t inode;
	int saved = errno;

	if (is_taken) {
		tach__output_now();
		return;
	}
	if (!*output || (getpid() != owner && !is_each_ones(output)))
		return;
	if (stream.fd >= 0 &&
	    (!stream_look(&device, &inode) || device != stream.device || inode != stream.inode))
		return;
	if (tach__snapshot_take_here(&s, NULL) != 0)
		return;
	if (render(s, &text) == 0 && stream.fd >= 0)
		tach__deliver_fd(stream.fd, &text);
	else if (text.length)
		write_file(&text);
	tach__buffer_free(&text);
	tach_snapshot_free(s);
	errno = saved;
}
