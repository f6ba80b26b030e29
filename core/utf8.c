/* SPDX-License-Identifier: MIT */
/* UTF-8: names may come from anywhere, reports must be well-formed. */
#include "core/utf8.h"

size_t tach__utf8_length(const char *text, size_t room)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	if (room == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	n = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : 4;
	if (s[0] < 0xc2 || s[0] > 0xf4 || room < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than need be, surrogates, beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

int tach__utf8_width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

size_t tach__utf8_put(char *to, unsigned code)
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(lead[n] | code);
	return n;
}
