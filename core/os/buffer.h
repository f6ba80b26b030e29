/* SPDX-License-Identifier: MIT */
/* A text that grows, in pages of its own: malloc is not for the end of a process. */
#ifndef TACH_CORE_OS_BUFFER_H
#define TACH_CORE_OS_BUFFER_H

#include <stddef.h>

struct tach__buffer {
	char *at; /* pages, see tach__pages */
	size_t length, size;
};

/* A tach_sink that gathers; context: struct tach__buffer *. */
int tach__buffer_sink(void *context, const char *text, size_t length);
void tach__buffer_free(struct tach__buffer *text);

#endif
