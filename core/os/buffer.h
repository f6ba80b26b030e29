/* SPDX-License-Identifier: MIT */
/* A growing text in pages of its own. It does not use malloc, because a handler at the end of a
 * process may write it. */
#ifndef TACH_CORE_OS_BUFFER_H
#define TACH_CORE_OS_BUFFER_H

#include <stddef.h>

struct tach__buffer {
	char *at; /* memory from tach__pages */
	size_t length, size;
};

/* A tach_sink that appends to a buffer; context: struct tach__buffer *. */
int tach__buffer_sink(void *context, const char *text, size_t length);
void tach__buffer_free(struct tach__buffer *text);

#endif
