/* SPDX-License-Identifier: MIT */
/* Pages straight from the kernel, since malloc is not for signal handlers. */
#ifndef TACH_CORE_OS_MEMORY_H
#define TACH_CORE_OS_MEMORY_H

#include <stddef.h>

void *tach__pages(size_t size); /* zeroed, or NULL */
/*
 * Reserved and not to be touched yet; then the holes, which are filled by use and not by
 * mlockall(MCL_FUTURE), which fills what may be touched (mm/mlock.c); then tach__pages_open.
 */
void *tach__pages_reserve(size_t size);
void tach__pages_hole(void *reserved, size_t from, size_t to);
int tach__pages_open(void *reserved, size_t size); /* nonzero: out of memory, and unmapped */
/*
 * A larger copy, or NULL. The old pages stay until their owner frees them, behind the store of
 * the new pointer: a child forked in between has one or the other.
 */
void *tach__pages_larger(const void *old, size_t old_size, size_t new_size);
void tach__pages_free(void *pages, size_t size);
int tach__pages_wiped(void *pages, size_t size); /* by every fork; nonzero: not here */
size_t tach__pages_round(size_t size);

#endif
