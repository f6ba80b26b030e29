/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON (RFC 8259) item by item: the writer adds brackets, commas, quotes and escapes,
 * and the caller chooses where lines break. Allocates nothing.
 */
#ifndef TACH_CORE_BASE_JSON_OUT_H
#define TACH_CORE_BASE_JSON_OUT_H

#include <stdint.h>
#include "core/base/out.h"

enum tach__json_style { TACH__JSON_SPACED, TACH__JSON_COMPACT };

struct tach__json_out {
	struct tach__out *out;
	enum tach__json_style style;
	int line;		 /* see tach__json_line; -1: the next item stays on this line */
	uint64_t object, filled; /* one bit for each open level, the innermost is the lowest; at
				    most 64 */
};

void tach__json_begin(struct tach__json_out *json, struct tach__out *out,
		      enum tach__json_style style);
/* The next item or closing bracket begins a line, after this many blanks. */
void tach__json_line(struct tach__json_out *json, int blanks);

/* An item: key is its key in an object, and NULL elsewhere. */
void tach__json_object(struct tach__json_out *json, const char *key);
void tach__json_array(struct tach__json_out *json, const char *key);
void tach__json_end(struct tach__json_out *json); /* closes the innermost object or array */
/* Always UTF-8, without characters that control a terminal or end an HTML script. */
void tach__json_string(struct tach__json_out *json, const char *key, const char *text);
/* Writes all digits; null for NaN and infinities. */
void tach__json_number(struct tach__json_out *json, const char *key, double value);
void tach__json_unsigned(struct tach__json_out *json, const char *key, uint64_t value);
void tach__json_int(struct tach__json_out *json, const char *key, int value);
/* Writes a string "0x...", because readers may round numbers of more than 53 bits. */
void tach__json_hex(struct tach__json_out *json, const char *key, uint64_t value);
void tach__json_bool(struct tach__json_out *json, const char *key, int value);
void tach__json_null(struct tach__json_out *json, const char *key);

#endif
