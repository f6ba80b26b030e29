/* SPDX-License-Identifier: MIT */
/* Sends text to a sink, with its numbers and strings. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "core/base/number.h"
#include "core/base/out.h"
#include "core/base/utf8.h"

void tach__out_open(struct tach__out *out, tach_sink sink, void *context)
{
	out->sink = sink;
	out->context = context;
	out->code = out->lacking = 0;
	out->used = 0;
}

int tach__out_flush(struct tach__out *out)
{
	int code;

	if (out->code == 0 && out->used) {
		code = out->sink(out->context, out->buffer, out->used);
		if (code < 0)
			out->code = code;
	}
	out->used = 0;
	return out->code;
}

void tach__out_bytes(struct tach__out *out, const char *text, size_t length)
{
	while (length) {
		size_t room = sizeof out->buffer - out->used, n = length < room ? length : room;

		memcpy(out->buffer + out->used, text, n);
		out->used += n;
		text += n;
		length -= n;
		if (out->used == sizeof out->buffer)
			tach__out_flush(out);
	}
}

void tach__out_text(struct tach__out *out, const char *text)
{
	tach__out_bytes(out, text, strlen(text));
}

void tach__out(struct tach__out *out, const char *format, ...)
{
	for (int again = 0; again < 2; again++) {
		size_t room = sizeof out->buffer - out->used;
		va_list args;
		int n;

		va_start(args, format);
		n = vsnprintf(out->buffer + out->used, room, format, args);
		va_end(args);
		if (n >= 0 && (size_t)n < room) {
			out->used += (size_t)n;
			return;
		}
		tach__out_flush(out);
	}
}

void tach__out_number(struct tach__out *out, double v, const char *otherwise)
{
	char text[40];

	if (!isfinite(v)) {
		tach__out_text(out, otherwise);
		return;
	}
	tach__number_print(v, text, sizeof text);
	tach__out_text(out, text);
}

void tach__out_escaped(struct tach__out *out, const char *text,
		       const char *(*escape)(unsigned c, char room[8]))
{
	const char *plain = text; /* text after this point needs no escape */
	char room[8];

	while (*text) {
		size_t n = tach__utf8_length(text, 4); /* a NUL ends the sequence */
		const char *escaped = n ? escape(tach__utf8_code(text, n), room) : NULL;

		if (!escaped && n && tach__utf8_shown(text, n)) {
			text += n;
			continue;
		}
		tach__out_bytes(out, plain, (size_t)(text - plain));
		tach__out_text(out, escaped ? escaped : "\xef\xbf\xbd"); /* U+FFFD */
		text += n ? n : 1;
		plain = text;
	}
	tach__out_bytes(out, plain, (size_t)(text - plain));
}

static const char *csv_escape(unsigned c, char room[8])
{
	(void)room;
	return c == '"' ? "\"\"" : c == '\n' ? "\n" : c == '\t' ? "\t" : NULL;
}

/*
 * Spreadsheets read a cell that begins with one of these as a formula, and text after an
 * apostrophe as text.
 */
void tach__out_csv_string(struct tach__out *out, const char *text)
{
	tach__out_text(out, *text && strchr("=+-@\t\r\n", *text) ? "\"'" : "\"");
	tach__out_escaped(out, text, csv_escape);
	tach__out_text(out, "\"");
}
