/* SPDX-License-Identifier: MIT */
/* Pages straight from the kernel, since malloc is not for signal handlers. */
#ifndef TACH_CORE_OS_MEMORY_H
#define TACH_CORE_OS_MEMORY_H

#include <stddef.h>

void *tach__pages(size_t size); /* zeroed, or NULL */
void *tach__pages_grow(void *old, size_t old_size, size_t new_size);
void tach__pages_free(void *pages, size_t size);
int tach__pages_wiped(void *pages, size_t size); /* by every fork; nonzero: not here */
size_t tach__pages_round(size_t size);

#endif
