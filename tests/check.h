/* SPDX-License-Identifier: MIT */
/*
 * The whole test framework: CASE(function) runs one case, CHECK records a failure and goes on,
 * SKIP gives the reason and leaves the case. Each case prints one line
 *
 *     ok NAME | not ok NAME | skip NAME: reason
 *
 * with "# file:line: text" lines for failures before it; tests/run counts the lines.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>

static int check__failed, check__total;
static const char *check__skip;

#define CHECK(cond, ...)                                                                       \
	do {                                                                                   \
		if (!(cond)) {                                                                 \
			if (check__failed++ < 20) {                                            \
				printf("# %s:%d: %s:", __FILE__, __LINE__, #cond);             \
				printf(" " __VA_ARGS__);                                       \
				putchar('\n');                                                 \
			}                                                                      \
		}                                                                              \
	} while (0)
#define SKIP(reason)                                                                           \
	do {                                                                                   \
		check__skip = (reason);                                                        \
		return;                                                                        \
	} while (0)
#define CASE(function)                                                                         \
	do {                                                                                   \
		check__failed = 0;                                                             \
		check__skip = NULL;                                                            \
		function();                                                                    \
		if (check__failed)                                                             \
			printf("not ok %s (%d failures)\n", #function, check__failed);         \
		else if (check__skip)                                                          \
			printf("skip %s: %s\n", #function, check__skip);                       \
		else                                                                           \
			printf("ok %s\n", #function);                                          \
		check__total += check__failed != 0;                                            \
		fflush(stdout);                                                                \
	} while (0)

static inline int check_done(void)
{
	return check__total != 0;
}

#endif
