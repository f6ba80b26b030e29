/* SPDX-License-Identifier: MIT */
/* Counts allocations of the program, so that a test can see that a job frees all of them. */
#ifndef TESTS_HEAP_H
#define TESTS_HEAP_H

#include <malloc.h>
#include <stddef.h>

/* Returns how many bytes malloc gave out that were not freed. */
#ifdef __GLIBC__
#define HEAP_IS_KNOWN 1
static inline size_t heap_in_use(void)
{
	return mallinfo2().uordblks;
}
#else
#define HEAP_IS_KNOWN 0
static inline size_t heap_in_use(void)
{
	return 0;
}
#endif
#define HEAP_SKIP "this C library does not tell what is allocated"

#endif
