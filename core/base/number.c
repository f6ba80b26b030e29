/* SPDX-License-Identifier: MIT */
/* Numbers as text, equal in every locale. */
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/number.h"

/* With the name "C" and no base, newlocale returns libc's constant object: nothing to free. */
static locale_t c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double tach__number_parse(const char *text, size_t length)
{
	char copy[128];

	if (length >= sizeof copy)
		length = sizeof copy - 1;
	memcpy(copy, text, length);
	copy[length] = 0;
	return strtod_l(copy, NULL, c_locale());
}

static int print_integer(int64_t value, char *text, size_t size)
{
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24], *at = digits + sizeof digits;
	size_t n;

	*--at = '\0';
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	n = (size_t)(digits + sizeof digits - at);
	if (size) {
		memcpy(text, at, n < size ? n : size);
		text[size - 1 < n - 1 ? size - 1 : n - 1] = '\0';
	}
	return (int)n - 1;
}

/*
 * The fewest digits that read back as the same double: 15 digits restore every decimal number
 * of up to 15 digits.
 */
int tach__number_print(double value, char *text, size_t size)
{
	char digits[40];
	locale_t c, old;
	int n = 0;

	/* Most values in reports are integers. "%.15g" would write the same text for them. */
	if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value &&
	    !(value == 0 && signbit(value)))
		return print_integer((int64_t)value, text, size);
	c = c_locale();
	old = uselocale(c);
	for (int precision = 15; precision <= 17; precision++) {
		n = snprintf(digits, sizeof digits, "%.*g", precision, value);
		if (strtod_l(digits, NULL, c) == value)
			break;
	}
	uselocale(old);
	if (size)
		snprintf(text, size, "%s", digits);
	return n;
}
