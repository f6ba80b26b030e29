/* SPDX-License-Identifier: MIT */
/* JSON, written. */
#include <inttypes.h>
#include <stdio.h>
#include "core/base/json_out.h"
#include "core/base/utf8.h"

void tach__json_begin(struct tach__json_out *json, struct tach__out *out,
		      enum tach__json_style style)
{
	*json = (struct tach__json_out){out, style, -1, 0, 0};
}

void tach__json_line(struct tach__json_out *json, int blanks)
{
	json->line = blanks;
}

/* ---- strings ---- */

static const char *escape(unsigned c, char room[8])
{
	char one[4];

	/* '<' is escaped so that a string cannot end an enclosing script element. */
	if (c != '"' && c != '\\' && c != '<' &&
	    ((c >= ' ' && c < 0x7f) || tach__utf8_shown(one, tach__utf8_put(one, c))))
		return NULL;
	if (c == '"' || c == '\\')
		snprintf(room, 8, "\\%c", (int)c);
	else
		snprintf(room, 8, "\\u%04x", c);
	return room;
}

static void write_quoted(struct tach__out *out, const char *text)
{
	tach__out_text(out, "\"");
	tach__out_escaped(out, text, escape);
	tach__out_text(out, "\"");
}

/* ---- separators ---- */

/* Returns 1 if a line should begin here. */
static int begin_line(struct tach__json_out *json)
{
	if (json->line < 0)
		return 0;
	tach__out_text(json->out, "\n");
	for (; json->line > 0; json->line--)
		tach__out_text(json->out, " ");
	json->line = -1;
	return 1;
}

static void begin_item(struct tach__json_out *json, const char *key)
{
	const char *space = json->style == TACH__JSON_SPACED ? " " : "";
	int follows = json->filled & 1;

	if (follows)
		tach__out_text(json->out, ",");
	if (!begin_line(json) && follows)
		tach__out_text(json->out, space);
	json->filled |= 1;
	if (!key)
		return;
	write_quoted(json->out, key);
	tach__out_text(json->out, ":");
	tach__out_text(json->out, space);
}

/* ---- items ---- */

static void open_level(struct tach__json_out *json, const char *key, int is_object)
{
	begin_item(json, key);
	tach__out_text(json->out, is_object ? "{" : "[");
	json->object = json->object << 1 | (unsigned)is_object;
	json->filled <<= 1;
}

void tach__json_object(struct tach__json_out *json, const char *key)
{
	open_level(json, key, 1);
}

void tach__json_array(struct tach__json_out *json, const char *key)
{
	open_level(json, key, 0);
}

void tach__json_end(struct tach__json_out *json)
{
	begin_line(json);
	tach__out_text(json->out, json->object & 1 ? "}" : "]");
	json->object >>= 1;
	json->filled >>= 1;
}

void tach__json_string(struct tach__json_out *json, const char *key, const char *text)
{
	begin_item(json, key);
	write_quoted(json->out, text);
}

void tach__json_number(struct tach__json_out *json, const char *key, double value)
{
	begin_item(json, key);
	tach__out_number(json->out, value, "null");
}

void tach__json_unsigned(struct tach__json_out *json, const char *key, uint64_t value)
{
	begin_item(json, key);
	tach__out(json->out, "%" PRIu64, value);
}

void tach__json_int(struct tach__json_out *json, const char *key, int value)
{
	begin_item(json, key);
	tach__out(json->out, "%d", value);
}

void tach__json_hex(struct tach__json_out *json, const char *key, uint64_t value)
{
	begin_item(json, key);
	tach__out(json->out, "\"0x%" PRIx64 "\"", value);
}

static void write_word(struct tach__json_out *json, const char *key, const char *text)
{
	begin_item(json, key);
	tach__out_text(json->out, text);
}

void tach__json_bool(struct tach__json_out *json, const char *key, int value)
{
	write_word(json, key, value ? "true" : "false");
}

void tach__json_null(struct tach__json_out *json, const char *key)
{
	write_word(json, key, "null");
}
