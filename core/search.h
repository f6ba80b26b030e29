/* SPDX-License-Identifier: MIT */
/* Binary search over names, case folded as ASCII whatever the locale. */
#ifndef TACH_CORE_SEARCH_H
#define TACH_CORE_SEARCH_H

#include <stddef.h>

static inline unsigned char tach__fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Order of name[0..length) against the string `other`: <0, 0, >0. */
static inline int tach__name_compare(const char *name, size_t length, const char *other)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char a = tach__fold(name[i]), b = tach__fold(other[i]);

		/* A name that holds a NUL byte ends here too: b == 0 < a or a == b == 0. */
		if (a != b)
			return a < b ? -1 : 1;
		if (b == 0)
			return 1;
	}
	return other[length] ? -1 : 0;
}

/*
 * The first of n sorted elements that is not less than name[0..length), n if there is none.
 * at(context, i) gives element i's name. ceil(log2(n + 1)) steps.
 */
static inline size_t tach__lower_bound(size_t n, const char *(*at)(const void *, size_t),
				       const void *context, const char *name, size_t length)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tach__name_compare(name, length, at(context, middle)) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
