/* SPDX-License-Identifier: MIT */
/* TACH_OUTPUT: a report when the process ends. */
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
static void expand(char *to, size_t size, const char *from)
{
	const char *p = strstr(from, "%p");

	if (p)
		snprintf(to, size, "%.*s%d%s", (int)(p - from), from, (int)getpid(), p + 2);
	else
		snprintf(to, size, "%s", from);
}

/* After the program's own destructors where the linker lets us choose: they may use regions. */
__attribute__((destructor(101))) static void write_output(void)
{
	struct tach_report_options opt = {0};
	struct tach_snapshot *s;
	char file[4096];
	int fd;

	if (!*output || (getpid() != owner && !strstr(output, "%p")))
		return;
	if (tach_snapshot_take(&s, NULL) != 0)
		return;
	if (strcmp(output, "-") == 0) {
		tach_report_fd(s, NULL, STDERR_FILENO, NULL);
	} else {
		expand(file, sizeof file, output);
		opt.format = tach_report_format(file);
		fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd >= 0) {
			tach_report_fd(s, &opt, fd, NULL);
			close(fd);
		}
	}
	tach_snapshot_free(s);
}
