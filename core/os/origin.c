/* SPDX-License-Identifier: MIT */
/* The origin of a report: a program, its command line, the machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <tach/error.h>
#include "core/os/environment.h"
#include "core/os/origin.h"

static struct tach__origin own;

/*
 * Writes the arguments of /proc/PID/cmdline as one line; the program is the last part of the
 * first.
 */
static void read_command(struct tach__origin *to, const char *file)
{
	char text[sizeof to->command];
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	const char *slash, *wanted = tach__environment("TACH_COMMAND");

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	while (n > 0 && text[n - 1] == '\0')
		n--;
	text[n] = '\0';
	slash = strrchr(text, '/');
	tach_printable(slash ? slash + 1 : text, to->program, sizeof to->program);
	/* The command line may contain passwords, and reports are kept and passed on. */
	*to->command = '\0';
	if (wanted && strcmp(wanted, "0") == 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	tach_printable(text, to->command, sizeof to->command);
}

static void read_host(struct tach__origin *to)
{
	struct utsname machine;

	if (uname(&machine) == 0)
		tach_printable(machine.nodename, to->host, sizeof to->host);
}

void tach__origin_note(void)
{
	int saved = errno;

	read_command(&own, "/proc/self/cmdline");
	read_host(&own);
	errno = saved;
}

void tach__origin_take(struct tach__origin *to)
{
	struct timespec now;

	*to = own;
	if (clock_gettime(CLOCK_REALTIME, &now) == 0)
		to->date = now.tv_sec;
}

void tach__origin_of(struct tach__origin *to, int process)
{
	char file[32];

	tach__origin_take(to);
	*to->program = *to->command = '\0';
	snprintf(file, sizeof file, "/proc/%d/cmdline", process);
	read_command(to, file);
	read_host(to);
}

void tach__origin_add(struct tach__origin *to, const struct tach__origin *from)
{
	if (!to->date)
		*to = *from;
	if (!from->date)
		return;
	if (strcmp(to->program, from->program) != 0)
		*to->program = '\0';
	if (strcmp(to->command, from->command) != 0)
		*to->command = '\0';
	if (strcmp(to->host, from->host) != 0)
		*to->host = '\0';
	to->date = to->date > from->date ? to->date : from->date;
}
