/* SPDX-License-Identifier: MIT */
/* Simulated machines: files of /proc and /sys below another root directory. */
#ifndef TESTS_ROOT_H
#define TESTS_ROOT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "tests/check.h"

/* Creates that file for writing, with its folders. Returns NULL after failing the test. */
static inline FILE *root_file(const char *root, const char *path)
{
	char whole[512];
	FILE *to;

	snprintf(whole, sizeof whole, "%s/%s", root, path);
	for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(whole, 0777);
		*slash = '/';
	}
	to = fopen(whole, "w");
	CHECK(to != NULL, "%s", whole);
	return to;
}

__attribute__((format(printf, 3, 4))) static inline void
root_put(const char *root, const char *path, const char *format, ...)
{
	FILE *to = root_file(root, path);
	va_list args;

	if (!to)
		return;
	va_start(args, format);
	vfprintf(to, format, args);
	va_end(args);
	fclose(to);
}

/* Removes all files below that root. */
static inline void root_wipe(const char *root)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s/*", root);
	CHECK(system(command) == 0, "%s", command);
}

#endif
