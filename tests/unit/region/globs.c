/* SPDX-License-Identifier: MIT */
/* Lists of globs: the names that match; and for no list does matching take long. */
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/region/region.h"
#include "tests/check.h"

static void what_fits(void)
{
	static const struct {
		const char *globs, *name;
		int selected;
	} cases[] = {
		{"", "x", 1},
		{"*", "", 1},
		{"?", "", 0},
		{"?*", "a", 1},
		{"a*b", "ab", 1},
		{"a*b", "aXbXb", 1},
		{"a*b", "aXbX", 0},
		{"*ab*cd*", "xabyabzcd", 1},
		{"*aab", "aaaab", 1},
		{"**b**", "abc", 1},
		{"a?c*", "abc", 1},
		{"a?c*", "ac", 0},
		{"abc", "abcd", 0},
		{"abcd", "abc", 0},
		{"a*,!ab*,abc", "ab", 0},
		{"a*,!ab*,abc", "abc", 1},
		{"!b", "a", 1},
		{"!b", "b", 0},
		{"*", "*", 1},
		{"a*,b", "a,", 1},
		{"b,a", "a", 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(tach__glob_list(cases[i].globs, cases[i].name) == cases[i].selected,
		      "'%s' '%s'", cases[i].globs, cases[i].name);
}

/*
 * Trying every way in which the stars can divide the name would take longer than the age of the
 * universe; ten seconds of processor time are far more than needed.
 */
static void many_stars(void)
{
	struct rlimit limit = {10, 10};
	char globs[128], name[512];
	int status = 0;
	pid_t child;

	for (size_t i = 0; i < sizeof globs; i++)
		globs[i] = i % 2 ? 'a' : '*';
	globs[sizeof globs - 2] = 'b';
	globs[sizeof globs - 1] = '\0';
	memset(name, 'a', sizeof name);
	name[sizeof name - 1] = '\0';
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CPU, &limit);
		_exit(tach__glob_list(globs, name));
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
}

int main(void)
{
	CASE(what_fits);
	CASE(many_stars);
	return check_done();
}
