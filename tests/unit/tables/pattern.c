/* SPDX-License-Identifier: MIT */
/* Patterns of @match lines, compared with processors' identities. */
#include "core/tables/pattern.h"
#include "tests/check.h"

static void texts_that_fit(void)
{
	static const struct {
		const char *pattern, *text;
		int fits;
	} of[] = {
		{"", "", 1},
		{"", "a", 0},
		{"abc", "abc", 1},
		{"abc", "ab", 0},
		{"abc", "abcd", 0},
		{"abc", "abd", 0},
		{"abc", "", 0},
		/* one byte of a class */
		{"a[xyz]c", "axc", 1},
		{"a[xyz]c", "ayc", 1},
		{"a[xyz]c", "azc", 1},
		{"a[xyz]c", "awc", 0},
		{"a[xyz]c", "ac", 0},
		{"a[xyz]c", "axyc", 0},
		{"[]", "x", 0},
		{"[b-d]", "a", 0},
		{"[b-d]", "b", 1},
		{"[b-d]", "c", 1},
		{"[b-d]", "d", 1},
		{"[b-d]", "e", 0},
		{"[b-d]", "-", 0},
		{"[b-dx]", "x", 1},
		{"[b-dx]", "y", 0},
		{"[xb-d]", "x", 1},
		{"[xb-d]", "c", 1},
		{"[b-dp-r]", "q", 1},
		{"[b-dp-r]", "o", 0},
		{"[b-b]", "b", 1},
		{"[b-b]", "-", 0},
		{"[b-bx]", "x", 1},
		{"[b-]", "b", 1}, /* a range needs an end */
		{"[b-]", "-", 1},
		{"[b-]c", "bc", 1},
		{"[b-]c", "b", 0},
		{"[-b]", "-", 1},
		{"[-b]", "a", 0},
		{"[ab", "b", 1}, /* without its end */
		{"[ab", "bb", 0},
		/* hexadecimal digits */
		{"~", "0", 1},
		{"~", "09afAF", 1},
		{"~", "", 0},
		{"~", "g", 0},
		{"~", "0g", 0},
		{"0x~ 0x~", "0x1f 0x02", 1},
		{"0x~ 0x~", "0x1f 0x", 0},
		{"0x~ 0x~", "0x1f", 0},
		{"0x~-", "0xab-", 1},
		{"0x~-", "0xab", 0},
		{"[a-c]~z", "b12z", 1},
		{"[a-c]~z", "d12z", 0},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		CHECK(tach__pattern_fits(of[i].pattern, of[i].text) == of[i].fits, "%s: %s",
		      of[i].pattern, of[i].text);
}

/* Returns where the next element begins, whether this element matched or not. */
static void one_element(void)
{
	static const struct {
		const char *pattern;
		char byte;
		int is, next;
	} of[] = {
		{"ab", 'a', 1, 1},     {"ab", 'b', 0, 1},     {"[a]b", 'a', 1, 3},
		{"[a]b", 'b', 0, 3},   {"[a-c]b", 'b', 1, 5}, {"[a-cx]b", 'x', 1, 6},
		{"[a-cx]", 'y', 0, 6}, {"[ab", 'c', 0, 3},    {"[a-", 'a', 1, 3},
		{"[a-]b", 'b', 0, 4},  {"[]b", 'b', 0, 2},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		const char *next = NULL;

		CHECK(tach__pattern_byte(of[i].pattern, of[i].byte, &next) == of[i].is, "%s",
		      of[i].pattern);
		CHECK(next == of[i].pattern + of[i].next, "%s: %td", of[i].pattern,
		      next - of[i].pattern);
	}
}

int main(void)
{
	CASE(texts_that_fit);
	CASE(one_element);
	return check_done();
}
