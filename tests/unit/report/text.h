/* SPDX-License-Identifier: MIT */
/* A buffer for the first part of a report. */
#ifndef TESTS_UNIT_REPORT_TEXT_H
#define TESTS_UNIT_REPORT_TEXT_H

#include <string.h>
#include <tach/error.h>

struct text {
	size_t length;
	char at[1 << 18];
};

/* A tach_sink; context: struct text *. */
static inline int append(void *context, const char *piece, size_t length)
{
	struct text *t = context;

	if (t->length + length >= sizeof t->at)
		return TACH_ERR_TOOSMALL;
	memcpy(t->at + t->length, piece, length);
	t->length += length;
	t->at[t->length] = '\0';
	return 0;
}

#endif
