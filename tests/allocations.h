/* SPDX-License-Identifier: MIT */
/*
 * Lets every allocation fail once. A job that allocates n times is run n + 1 times; in run k
 * the k-th allocation fails. Each run must end with success or an error code, free all that it
 * took, and write nowhere else. The program's own malloc and mmap replace those of the C
 * library.
 */
#ifndef TESTS_ALLOCATIONS_H
#define TESTS_ALLOCATIONS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <tach/error.h>
#include "tests/check.h"

/* mallocs: calls that were not for pages; live: pieces; mapped: pages. */
static long calls __attribute__((unused)), mallocs __attribute__((unused));
static long live __attribute__((unused)), mapped __attribute__((unused));
static long fail_at __attribute__((unused)) = -1;
static int armed __attribute__((unused));

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define WATCHED 0 /* the sanitizer has its own malloc; musl hides the one below */
#else
#define WATCHED 1
static int fails(void)
{
	return armed && calls++ == fail_at;
}

/* The length of each piece is stored before it; the bytes after it must not change. */
struct piece {
	size_t size, ours; /* OURS, or another value if other code allocated it */
};
enum { OURS = 0x5eed, BEHIND = 64, MARK = 0xfd };
static long overrun; /* pieces with a write after their end */

/* Returns the size with guard bytes before and after the allocation. */
static size_t with_guards(size_t size)
{
	return sizeof(struct piece) + size + BEHIND;
}

static void *guard(struct piece *p, size_t size)
{
	if (!p)
		return NULL;
	*p = (struct piece){size, OURS};
	memset((char *)(p + 1) + size, MARK, BEHIND);
	return p + 1;
}

static void *unguard(void *given)
{
	struct piece *p = (struct piece *)given - 1;
	const unsigned char *behind;
	int as_it_was = 0;

	if (!given || p->ours != OURS)
		return given;
	behind = (const unsigned char *)given + p->size;
	while (as_it_was < BEHIND && behind[as_it_was] == MARK)
		as_it_was++;
	overrun += as_it_was < BEHIND;
	p->ours = 0;
	return p;
}

/* Visible, so that the C library's own calls (strdup) also come here. */
#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *p);

void *malloc(size_t size)
{
	void *p = fails() ? NULL : guard(__libc_malloc(with_guards(size)), size);

	mallocs += armed;
	live += p != NULL;
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = fails() ? NULL : guard(__libc_calloc(1, with_guards(n * size)), n * size);

	mallocs += armed;
	live += p != NULL;
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p;

	if (!old)
		return malloc(size);
	p = fails() ? NULL : guard(__libc_realloc(unguard(old), with_guards(size)), size);
	mallocs += armed;
	return p;
}

void free(void *p)
{
	live -= p != NULL;
	__libc_free(unguard(p));
}

static long pages_in(size_t size)
{
	return (long)((size + 4095) / 4096);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if ((flags & MAP_ANONYMOUS) && fails()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	at = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
	mapped += (flags & MAP_ANONYMOUS) && at != MAP_FAILED ? pages_in(size) : 0;
	return at;
}

int munmap(void *at, size_t size)
{
	mapped -= pages_in(size);
	return (int)syscall(SYS_munmap, at, size);
}
#pragma GCC visibility pop
#endif

/* Runs job with failures until it makes fewer than k allocations. */
static inline void exhaust(int (*job)(void))
{
#if WATCHED
	long k = 0;
	int code;

	CHECK(job() == TACH_OK, "without a fault");
	for (; k < 20000; k++) {
		long before = live, before_pages = mapped;

		calls = 0;
		fail_at = k;
		armed = 1;
		code = job();
		armed = 0;
		CHECK(live == before, "allocation %ld of the job: %ld not given back", k,
		      live - before);
		CHECK(mapped == before_pages, "allocation %ld of the job: pages not given back",
		      k);
		if (calls <= k)
			break;
		CHECK(code <= 0, "allocation %ld of the job: %d", k, code);
	}
	CHECK(k > 0 && k < 20000, "%ld allocations", k);
	CHECK(job() == TACH_OK, "after %ld faults", k);
	CHECK(overrun == 0, "%ld pieces of memory were written behind", overrun);
#else
	(void)job;
	SKIP("the malloc of a sanitizer or of this C library cannot be made to fail");
#endif
}

#endif
