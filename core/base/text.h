/* SPDX-License-Identifier: MIT */
/* A piece of a string: not terminated, not owned. */
#ifndef TACH_CORE_BASE_TEXT_H
#define TACH_CORE_BASE_TEXT_H

#include <stddef.h>

struct tach__text {
	const char *text;
	size_t length;
};

/* A piece with its position in the caller's line or list, for errors. */
struct tach__span {
	const char *at;
	size_t length;
	int column; /* in bytes, from 1 */
};

static inline unsigned char tach__fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Compares name[0..length) with the string `other`: <0, 0, >0. */
static inline int tach__name_compare(const char *name, size_t length, const char *other)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char a = tach__fold(name[i]), b = tach__fold(other[i]);

		/* A name that contains a NUL byte ends here too: b == 0 < a or a == b == 0. */
		if (a != b)
			return a < b ? -1 : 1;
		if (b == 0)
			return 1;
	}
	return other[length] ? -1 : 0;
}

/*
 * Parses a number as strtoull does with base 0, within the span only. Returns 1; 0 if it is
 * malformed; -1 and ULLONG_MAX if it is too large.
 */
int tach__text_number(const struct tach__text *span, unsigned long long *out);
int tach__text_equal(const struct tach__text *span, const char *name); /* ignores case */

/* True if the glob, which ends at `end`, matches the whole name: '*' any letters, '?' one. */
int tach__glob(const char *glob, const char *end, const char *name);

#endif
