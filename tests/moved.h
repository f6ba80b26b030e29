/* SPDX-License-Identifier: MIT */
/* Replaces open(2), so that a test can redirect a path to another file. */
#ifndef TESTS_MOVED_H
#define TESTS_MOVED_H

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Defined by the test: returns the path itself, or another path in a buffer of this many bytes.
 */
static const char *moved(const char *path, int flags, char *room, size_t size);

#pragma GCC visibility push(default)
int open(const char *path, int flags, ...)
{
	char room[512];
	va_list args;
	mode_t mode = 0;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	return openat(AT_FDCWD, moved(path, flags, room, sizeof room), flags, mode);
}
#pragma GCC visibility pop

#endif
