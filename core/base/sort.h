/* SPDX-License-Identifier: MIT */
/* Sorting if malloc may not be called: qsort(3) takes memory for more than a page. */
#ifndef TACH_CORE_SORT_H
#define TACH_CORE_SORT_H

#include <stddef.h>

/*
 * Sorts in place like qsort; equal elements may change their order. Async-signal-safe if
 * `compare` is.
 */
void tach__heapsort(void *base, size_t n, size_t size,
		    int (*compare)(const void *, const void *));

#endif
