/* SPDX-License-Identifier: MIT */
/* A piece of a string: not terminated, not owned. */
#ifndef TACH_CORE_BASE_TEXT_H
#define TACH_CORE_BASE_TEXT_H

#include <stddef.h>

struct tach__text {
	const char *text;
	size_t length;
};

/* The same with its place in the caller's line or list, for errors. */
struct tach__span {
	const char *at;
	size_t length;
	int column; /* in bytes, from 1 */
};

static inline unsigned char tach__fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/*
 * strtoull's numbers, base 0, within the span alone: 1; 0 if it is malformed; -1 and ULLONG_MAX
 * if it is too large.
 */
int tach__text_number(const struct tach__text *span, unsigned long long *out);
int tach__text_equal(const struct tach__text *span, const char *name); /* case ignored */

#endif
