/* SPDX-License-Identifier: MIT */
/* What decides once for a process is tried in processes of its own. */
#ifndef TESTS_UNIT_STARTUP_CHILD_H
#define TESTS_UNIT_STARTUP_CHILD_H

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"

/* How a child ends that does this: its status as wait(2) tells it. */
static inline int ends_with(void (*what)(void))
{
	struct rlimit none = {0, 0};
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &none);
		check__failed = 0;
		what();
		fflush(stdout);
		_exit(check__failed != 0);
	}
	waitpid(child, &status, 0);
	return status;
}

static inline void in_child(void (*what)(void))
{
	int status = ends_with(what);

	CHECK(status == 0, "the child's status is %#x", (unsigned)status);
}

#endif
