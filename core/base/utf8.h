/* SPDX-License-Identifier: MIT */
/* UTF-8: names may have any origin, and reports must be well-formed. */
#ifndef TACH_CORE_BASE_UTF8_H
#define TACH_CORE_BASE_UTF8_H

#include <stddef.h>

/* Returns the bytes of the well-formed sequence (RFC 3629) at text, of which `room` bytes
 * exist, or 0. */
size_t tach__utf8_length(const char *text, size_t room);
/*
 * Returns true if this well-formed character can be shown. Control characters (C0, DEL, C1),
 * bidirectional controls and line separators cannot.
 */
int tach__utf8_shown(const char *text, size_t length);
/* Its number. */
unsigned tach__utf8_code(const char *text, size_t length);
/* Return columns on a terminal: of the character at text, and of the whole text. */
int tach__utf8_columns(const char *text);
int tach__utf8_width(const char *text);
/* Writes a code point; returns the number of bytes, at most 4. */
size_t tach__utf8_put(char *to, unsigned code);

#endif
