/* SPDX-License-Identifier: MIT */
/* Fits text into a fixed number of terminal columns. */
#include <string.h>
#include <tach/error.h>
#include "core/base/utf8.h"
#include "tools/tach/screen.h"

/* Appends `n` bytes if they fit; returns the new length. */
static size_t append(char *to, size_t size, size_t at, const char *text, size_t n)
{
	if (at + n >= size)
		return at;
	memcpy(to + at, text, n);
	to[at + n] = '\0';
	return at + n;
}

/* Returns the number of bytes that fit `columns`; *used: their width in columns. */
static size_t measure_text(const char *text, int columns, int ascii, int *used)
{
	const char *p = text;

	*used = 0;
	while (*p) {
		size_t n = tach__utf8_length(p, 4);
		int wide = ascii && n > 1 ? 1 : tach__utf8_columns(p);

		if (*used + wide > columns)
			break;
		*used += wide;
		p += n ? n : 1;
	}
	return (size_t)(p - text);
}

static size_t append_ascii(char *to, size_t size, size_t at, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x80)
			at = append(to, size, at, text + i, 1);
		else if (((unsigned char)text[i] & 0xc0) == 0xc0)
			at = append(to, size, at, "?", 1);
	return at;
}

void fit_text(char *to, size_t size, const char *text, int columns, int ascii)
{
	const char *more = ascii ? ">" : "\u2026";
	char clean[4096];
	size_t n, at = 0;
	int used;

	*to = '\0';
	tach_printable(text, clean, sizeof clean);
	n = measure_text(clean, columns, ascii, &used);
	if (clean[n] && columns > 0)
		n = measure_text(clean, columns - 1, ascii, &used);
	else
		more = "";
	at = ascii ? append_ascii(to, size, at, clean, n) : append(to, size, at, clean, n);
	at = append(to, size, at, more, strlen(more));
	for (used += *more != '\0'; used < columns; used++)
		at = append(to, size, at, " ", 1);
}
