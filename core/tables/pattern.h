/* SPDX-License-Identifier: MIT */
/* Patterns of @match lines (arch/FORMAT.md): text in which [..] is one byte of that class and ~
 * is one or more hexadecimal digits; ~ ends a cell. Cells are separated by a space. */
#ifndef TACH_CORE_TABLES_PATTERN_H
#define TACH_CORE_TABLES_PATTERN_H

#include <ctype.h>

/*
 * Returns 1 if one element of the pattern, other than ~, matches that byte; *next is after it.
 */
static inline int tach__pattern_byte(const char *p, char byte, const char **next)
{
	int in = 0;

	if (*p != '[') {
		*next = p + 1;
		return *p == byte;
	}
	for (p++; *p && *p != ']'; p++) {
		int range = p[1] == '-' && p[2] && p[2] != ']';

		in |= *p <= byte && byte <= (range ? p[2] : *p);
		p += range ? 2 : 0;
	}
	*next = p + (*p != 0);
	return in;
}

static inline int tach__pattern_fits(const char *p, const char *text)
{
	while (*p) {
		if (*p != '~') {
			if (!*text || !tach__pattern_byte(p, *text++, &p))
				return 0;
			continue;
		}
		if (!isxdigit((unsigned char)*text))
			return 0;
		while (isxdigit((unsigned char)*text))
			text++;
		p++;
	}
	return !*text;
}

#endif
