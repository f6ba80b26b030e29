/* SPDX-License-Identifier: MIT */
/* Names that match a pattern. */
#include "core/base/text.h"

/*
 * If the match fails, only the last '*' is retried: it can match all text that an earlier one
 * could match instead. So the work is at most the product of both lengths, for any number of
 * stars.
 */
int tach__glob(const char *g, const char *end, const char *name)
{
	/* the text after the last '*', and the position that it matches */
	const char *star = NULL, *resume = NULL;

	while (*name) {
		if (g < end && *g == '*') {
			star = ++g;
			resume = name;
		} else if (g < end && (*g == '?' || *g == *name)) {
			g++;
			name++;
		} else if (star) {
			g = star;
			name = ++resume;
		} else {
			return 0;
		}
	}
	while (g < end && *g == '*')
		g++;
	return g == end;
}
