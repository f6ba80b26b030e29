/* SPDX-License-Identifier: MIT */
/*
 * Arrays that end at an inaccessible page, so that a read beyond the end crashes. With glibc,
 * the library's calloc returns such memory too, unless a sanitizer checks accesses.
 */
#ifndef TESTS_UNIT_REPORT_GUARDED_H
#define TESTS_UNIT_REPORT_GUARDED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tests/guarded.h"

static inline void *guarded(size_t size)
{
	struct guarded g;

	if (guarded_map(&g, size) != 0)
		abort();
	return g.end - size;
}

/* The copy is never freed. */
static inline void *guarded_copy(const void *from, size_t size)
{
	return size ? memcpy(guarded(size), from, size) : NULL;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#pragma GCC visibility push(default)
void *__libc_calloc(size_t n, size_t size);
void __libc_free(void *p);

static int calloc_is_guarded __attribute__((unused));
static void *given[64]; /* they stay too */
static size_t ngiven;

void *calloc(size_t n, size_t size)
{
	if (!calloc_is_guarded || ngiven == sizeof given / sizeof *given)
		return __libc_calloc(n, size);
	return given[ngiven++] = guarded(n * size);
}

void free(void *p)
{
	for (size_t i = 0; i < ngiven; i++)
		if (given[i] == p)
			return;
	__libc_free(p);
}
#pragma GCC visibility pop
#else
static int calloc_is_guarded __attribute__((unused));
#endif

#endif
