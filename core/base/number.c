/* SPDX-License-Identifier: MIT */
/* Numbers as text, the same in every locale. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
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

/* The fewest digits that read back as the same double: 15 show every decimal of up to 15. */
int tach__number_print(double value, char *text, size_t size)
{
	char digits[40];
	locale_t c, old;
	int n = 0;

	/* What most of a report is: "%.15g" writes these in the same way. */
	if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value &&
	    !(value == 0 && signbit(value)))
		return snprintf(text, size, "%" PRId64, (int64_t)value);
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
