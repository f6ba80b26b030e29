/* SPDX-License-Identifier: MIT */
/* The references' answers (tests/vectors/README.md), which make has decompressed. */
#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H

#include <stdio.h>
#include <stdlib.h>

/* The path of tests/vectors/NAME.xz without its compression; valid until the next call. */
static inline const char *vectors_path(const char *name)
{
	static char path[512];
	const char *build = getenv("B");

	snprintf(path, sizeof path, "%s/vectors/%s", build ? build : "build", name);
	return path;
}

/* Returns NULL, after failing the test, if the file does not exist. */
static inline FILE *vectors_open(const char *name)
{
	return fopen(vectors_path(name), "re");
}

#endif
