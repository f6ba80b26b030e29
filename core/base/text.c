/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include "core/base/text.h"

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tach__fold(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

int tach__text_number(const struct tach__text *span, unsigned long long *out)
{
	const char *p = span->text, *end = p + span->length;
	unsigned long long value = 0;
	int negative = 0, base = 10, beyond = 0;

	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	if (p < end && *p == '0') {
		base = 8;
		if (end - p > 1 && tach__fold(p[1]) == 'x') {
			base = 16;
			p += 2;
		}
	}
	if (p >= end)
		return 0;
	for (; p < end; p++) {
		int d = digit_value(*p);

		if (d >= base)
			return 0;
		beyond |= __builtin_mul_overflow(value, (unsigned)base, &value) ||
			  __builtin_add_overflow(value, (unsigned)d, &value);
	}
	*out = beyond ? ULLONG_MAX : negative ? -value : value;
	return beyond ? -1 : 1;
}

int tach__text_equal(const struct tach__text *span, const char *name)
{
	size_t i;

	for (i = 0; i < span->length; i++)
		if (tach__fold(span->text[i]) != tach__fold(name[i]))
			return 0;
	return !name[i];
}
