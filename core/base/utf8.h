/* SPDX-License-Identifier: MIT */
/* UTF-8: names may come from anywhere, reports must be well-formed. */
#ifndef TACH_CORE_BASE_UTF8_H
#define TACH_CORE_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed sequence (RFC 3629) at text, of which `room` exist; 0: there is
 * none. */
size_t tach__utf8_length(const char *text, size_t room);
/* Whether that character, well-formed, is one to be shown: no control character (C0, DEL, C1),
 * bidirectional control or line separator. */
int tach__utf8_shown(const char *text, size_t length);
/* Its number. */
unsigned tach__utf8_code(const char *text, size_t length);
/* Columns on a terminal: of the character at text, and of all of it. */
int tach__utf8_columns(const char *text);
int tach__utf8_width(const char *text);
/* Writes a code point; the number of bytes, at most 4. */
size_t tach__utf8_put(char *to, unsigned code);

#endif
