/* SPDX-License-Identifier: MIT */
/* Sends text to a sink: in pieces, and nothing after the first error. */
#ifndef TACH_CORE_BASE_OUT_H
#define TACH_CORE_BASE_OUT_H

#include <tach/report.h>

struct tach__out {
	tach_sink sink;
	void *context;
	int code;    /* the sink's first negative result */
	int lacking; /* set: a part is missing because there was no memory */
	size_t used;
	char buffer[4096];
};

void tach__out_open(struct tach__out *out, tach_sink sink, void *context);
/* Writes a piece formatted by printf's rules, at most as long as the buffer. */
void tach__out(struct tach__out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void tach__out_bytes(struct tach__out *out, const char *text, size_t length);
void tach__out_text(struct tach__out *out, const char *text);
/*
 * Writes all digits of v, independent of the locale; writes `otherwise` for NaN and infinities.
 */
void tach__out_number(struct tach__out *out, double v, const char *otherwise);
/*
 * Writes well-formed UTF-8 for any text. escape(code) returns the replacement of a character,
 * or NULL to keep it. Characters that must not be shown (tach__utf8_shown) and have no escape
 * become U+FFFD.
 */
void tach__out_escaped(struct tach__out *out, const char *text,
		       const char *(*escape)(unsigned c, char room[8]));
/* A cell of CSV (RFC 4180). */
void tach__out_csv_string(struct tach__out *out, const char *text);
int tach__out_flush(struct tach__out *out);

#endif
