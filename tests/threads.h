/* SPDX-License-Identifier: MIT */
/* Returns the state of another thread of the process. */
#ifndef TESTS_THREADS_H
#define TESTS_THREADS_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* 'S': it waits. */
static char thread_state(pid_t thread)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
	f = fopen(path, "re");
	if (f) {
		text[fread(text, 1, sizeof text - 1, f)] = '\0';
		fclose(f);
	}
	return strrchr(text, ')') ? strrchr(text, ')')[2] : '?';
}

#endif
