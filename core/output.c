/* SPDX-License-Identifier: MIT */
/* TACH_OUTPUT: a report when the process ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tach/report.h>
#include "core/registry.h"

static char output[4096];
static pid_t owner;

void tach__output_at_exit(const char *file)
{
	if (file)
		snprintf(output, sizeof output, "%s", file);
	owner = getpid();
}

/* "%p" becomes the process number, so that children do not write over each other's. */
static void expand(char *to, size_t size, const char *from, int attempt)
{
	size_t n = 0;

	for (; *from && n + 1 < size; from++) {
		int number = from[0] == '%' && from[1] == 'p'	? (int)getpid()
			     : from[0] == '%' && from[1] == 'u' ? attempt
								: -1;

		if (number < 0) {
			to[n++] = *from;
			continue;
		}
		snprintf(to + n, size - n, "%d", number);
		n += strlen(to + n);
		from++;
	}
	to[n] = '\0';
}

/* "%u" becomes the least number that makes the file a new one. */
static int open_output(void)
{
	int new = strstr(output, "%u") != NULL, fd = -1;
	char file[4096];

	for (int attempt = 0; attempt < 10000; attempt++) {
		expand(file, sizeof file, output, attempt);
		fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | (new ? O_EXCL : O_TRUNC),
			  0666);
		if (fd >= 0 || errno != EEXIST || !new)
			break;
	}
	return fd;
}

/* After the program's own destructors where the linker lets us choose: they may use regions. */
__attribute__((destructor(101))) static void write_output(void)
{
	struct tach_report_options opt = {0};
	struct tach_snapshot *s;
	int fd;

	if (!*output || (getpid() != owner && !strstr(output, "%p")))
		return;
	if (tach_snapshot_take(&s, NULL) != 0)
		return;
	if (strcmp(output, "-") == 0) {
		tach_report_fd(s, NULL, STDERR_FILENO, NULL);
	} else {
		opt.format = tach_report_format(output);
		fd = open_output();
		if (fd >= 0) {
			tach_report_fd(s, &opt, fd, NULL);
			close(fd);
		}
	}
	tach_snapshot_free(s);
}
