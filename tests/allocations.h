/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a job fails once. A job that allocates n times is run n + 1 times, the
 * k-th allocation of run k failing: each run must end with success or an error code, and give
 * back all that it took. The program's own malloc and mmap stand before the C library's.
 */
#ifndef TESTS_ALLOCATIONS_H
#define TESTS_ALLOCATIONS_H

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 0 /* the sanitizer brings a malloc of its own */
#else
#define WATCHED 1
static long calls, mallocs, fail_at = -1, live; /* mallocs: calls that were not for pages */
static int armed;

static int fails(void)
{
	return armed && calls++ == fail_at;
}

/* Visible, so that the C library's own calls (strdup) come here too. */
#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *p);

void *malloc(size_t size)
{
	void *p = fails() ? NULL : __libc_malloc(size);

	mallocs += armed;
	live += p != NULL;
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(n, size);

	mallocs += armed;
	live += p != NULL;
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p;

	if (!old)
		return malloc(size);
	p = fails() ? NULL : __libc_realloc(old, size);
	mallocs += armed;
	return p;
}

void free(void *p)
{
	live -= p != NULL;
	__libc_free(p);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if ((flags & MAP_ANONYMOUS) && fails()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}
#pragma GCC visibility pop
#endif

/* Runs job until its k-th allocation no longer exists. */
static void exhaust(int (*job)(void))
{
#if WATCHED
	long k = 0;
	int code;

	CHECK(job() == TACH_OK, "without a fault");
	for (; k < 20000; k++) {
		long before = live;

		calls = 0;
		fail_at = k;
		armed = 1;
		code = job();
		armed = 0;
		if (calls <= k)
			break;
		CHECK(code <= 0, "allocation %ld of the job: %d", k, code);
		CHECK(live == before, "allocation %ld of the job: %ld not given back", k,
		      live - before);
	}
	CHECK(k > 0 && k < 20000, "%ld allocations", k);
	CHECK(job() == TACH_OK, "after %ld faults", k);
#else
	(void)job;
	SKIP("a sanitizer's malloc cannot be made to fail");
#endif
}

#endif
