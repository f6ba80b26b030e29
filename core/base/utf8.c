/* SPDX-License-Identifier: MIT */
/* UTF-8: names may have any origin, and reports must be well-formed. */
#include "core/base/utf8.h"

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
	/* Overlong sequences, surrogates, and codes beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

unsigned tach__utf8_code(const char *text, size_t length)
{
	static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned code = (unsigned char)text[0] & mask[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/* Bidirectional controls: Unicode's Bidi_Control property (UAX 9). */
int tach__utf8_shown(const char *text, size_t length)
{
	static const struct {
		unsigned first, last;
	} hidden[] = {
		{0, 0x1f},	  {0x7f, 0x9f},	    {0x61c, 0x61c},
		{0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
	};
	unsigned code = tach__utf8_code(text, length);

	if (code >= ' ' && code < 0x7f)
		return 1;
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return 0;
	return 1;
}

/*
 * Unicode's East Asian Width (UAX 11), W and F, by blocks, and combining characters. wcwidth
 * depends on the program's locale, so it cannot be used.
 */
int tach__utf8_columns(const char *text)
{
	static const struct {
		unsigned first, last;
		int columns;
	} odd[] = {
		{0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},
		{0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},
		{0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},
		{0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},
		{0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2},
		{0x20000, 0x3fffd, 2},
	};
	unsigned code = tach__utf8_code(text, tach__utf8_length(text, 4));

	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		if (code >= odd[i].first && code <= odd[i].last)
			return odd[i].columns;
	return 1;
}

int tach__utf8_width(const char *text)
{
	int n = 0;

	while (*text) {
		size_t length = tach__utf8_length(text, 4);

		n += tach__utf8_columns(text);
		text += length ? length : 1;
	}
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
