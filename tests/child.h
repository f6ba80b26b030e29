/* SPDX-License-Identifier: MIT */
/* Checks in a process of their own, where what is asked once was not asked yet. */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"

static inline void in_a_child(void (*job)(void), const char *name)
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		check__failed = 0;
		job();
		fflush(stdout);
		_exit(check__failed != 0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "%s: %#x", name, (unsigned)status);
}

#endif
