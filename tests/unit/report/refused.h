/* SPDX-License-Identifier: MIT */
/*
 * System calls that are refused, interrupted or incomplete: the program's own functions replace
 * those of the C library. Include this in one file of a program.
 */
#ifndef TESTS_UNIT_REPORT_REFUSED_H
#define TESTS_UNIT_REPORT_REFUSED_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/check.h"
#ifdef __clang__ /* with _FORTIFY_SOURCE, glibc's headers have declared some of these          \
		    functions inline */
#pragma clang diagnostic ignored "-Wstatic-in-inline"
#endif

/* Refused calls: Refuses `times` calls of this function, after the first `skip` calls. */
static struct refusal {
	const char *call;
	int code, skip, times;
} refused[2];
static int calls_refused, chunk; /* chunk: maximum size of a write; 0: unlimited */
static size_t longest;		 /* of a write */
static void (*while_written)(void);

static inline void and_refuse(const char *call, int code, int skip, int times)
{
	refused[1] = (struct refusal){call, code, skip, times};
}

static inline void refuse(const char *call, int code, int skip, int times)
{
	refused[0] = (struct refusal){call, code, skip, times};
	refused[1].call = NULL;
	calls_refused = 0;
}

static int is_refused(const char *call)
{
	for (struct refusal *r = refused; r < refused + 2; r++) {
		if (!r->call || strcmp(call, r->call) != 0 || r->skip-- > 0 || r->times-- <= 0)
			continue;
		calls_refused++;
		errno = r->code;
		return 1;
	}
	return 0;
}

#pragma GCC visibility push(default)
ssize_t write(int fd, const void *from, size_t n)
{
	if (is_refused("write"))
		return errno ? -1 : 0;
	if (while_written)
		while_written();
	longest = n > longest ? n : longest;
	return syscall(SYS_write, fd, from, chunk && n > (size_t)chunk ? (size_t)chunk : n);
}

/* A refusal with code 0 means that no descriptor becomes ready. */
int poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec at = {ms / 1000, 0};

	if (is_refused("poll"))
		return errno ? -1 : 0;
	CHECK(ms == 1000 && n == 1);
	return (int)syscall(SYS_ppoll, fds, n, &at, NULL, 0);
}

int open(const char *file, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	CHECK(flags & O_CLOEXEC && !(flags & O_NONBLOCK) == !(flags & O_NOCTTY));
	if (is_refused(flags & O_CREAT ? "create" : "open"))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, file, flags, mode);
}

int close(int fd)
{
	syscall(SYS_close, fd);
	return is_refused("close") ? -1 : 0;
}

int rename(const char *from, const char *to)
{
	return is_refused("rename") ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int link(const char *from, const char *to)
{
	return is_refused("link") ? -1 : linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int access(const char *file, int mode)
{
	CHECK(mode == W_OK);
	return is_refused("access") ? -1 : faccessat(AT_FDCWD, file, mode, 0);
}

int fallocate(int fd, int mode, off_t from, off_t length)
{
	CHECK(mode == 0 && from == 0);
	return is_refused("fallocate") ? -1 : posix_fallocate(fd, from, length);
}

int ftruncate(int fd, off_t length)
{
	return is_refused("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int fchown(int fd, uid_t user, gid_t group)
{
	return is_refused("fchown") ? -1 : (int)syscall(SYS_fchown, fd, user, group);
}
#pragma GCC visibility pop

#endif
