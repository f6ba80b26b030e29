/* SPDX-License-Identifier: MIT */
/*
 * Runs a job in a child process, where results that a process computes once are not computed
 * yet.
 */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"

/* Runs job in a child and returns its status as wait(2) reports it. */
static inline int ends_with(void (*job)(void))
{
	struct rlimit none = {0, 0};
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &none);
		check__failed = 0;
		job();
		fflush(stdout);
		_exit(check__failed != 0);
	}
	waitpid(child, &status, 0);
	return status;
}

static inline void in_child_named(void (*job)(void), const char *name)
{
	int status = ends_with(job);

	CHECK(status == 0, "%s: %#x", name, (unsigned)status);
}
#define in_child(job) in_child_named(job, #job)

#endif
