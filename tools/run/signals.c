/* SPDX-License-Identifier: MIT */
/* The signal by which threads are asked for what they counted. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tools/run/run.h"

int run_signal_free(void)
{
	for (int s = SIGRTMAX; s >= SIGRTMIN; s--) {
		struct sigaction now;

		if (sigaction(s, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			return s;
	}
	return 0;
}

/* proc(5), SigBlk */
int run_signal_blocked(pid_t tid, int signal)
{
	char path[64], text[4096], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nSigBlk:");
	return at && strtoull(at + 8, NULL, 16) >> (signal - 1) & 1;
}
