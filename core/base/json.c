/* SPDX-License-Identifier: MIT */
/* JSON values (RFC 8259) and the strict reader that makes them. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include "core/base/error.h"
#include "core/base/number.h"
#include "core/base/json.h"
#include "core/base/utf8.h"

enum { DEPTH_MAX = 64, NUMBER_MAX = 100 };

struct reader {
	const char *at, *end, *line_start;
	int line, depth;
	struct tach__arena *arena;
	struct tach_error *err;
};

static int column_of(const struct reader *r)
{
	ptrdiff_t n = r->at - r->line_start + 1;

	return n > INT_MAX ? INT_MAX : (int)n;
}

static int fail(const struct reader *r, const char *what)
{
	return tach__error(r->err, TACH_ERR_SYNTAX, r->line, column_of(r), "%s", what);
}

static int no_memory(const struct reader *r)
{
	return tach__error(r->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
}

static void skip_space(struct reader *r)
{
	for (; r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at; r->at++)
		if (*r->at == '\n') {
			r->line++;
			r->line_start = r->at + 1;
		}
}

static int take_char(struct reader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return 0;
	r->at++;
	return 1;
}

/* ---- strings ---- */

/* Four hexadecimal digits, or -1. */
static int hex4(struct reader *r)
{
	int code = 0;

	for (int i = 0; i < 4; i++, r->at++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *d;

		if (r->at == r->end || !*r->at || !(d = strchr(digits, *r->at)))
			return -1;
		code = code * 16 + (int)(d - digits) - (d - digits > 15 ? 6 : 0);
	}
	return code;
}

/* Reads an escape after "\u"; writes the character to *to. */
static int unicode_escape(struct reader *r, char **to)
{
	int code = hex4(r), low;

	if (code >= 0xd800 && code < 0xdc00) {
		if (!take_char(r, '\\') || !take_char(r, 'u') || (low = hex4(r)) < 0xdc00 ||
		    low > 0xdfff)
			return fail(r, "expected the second half of a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc00 && code < 0xe000) {
		return fail(r, "half a surrogate pair");
	}
	if (code < 0)
		return fail(r, "expected four hexadecimal digits after \\u");
	if (code == 0)
		return fail(r, "a NUL character in a string");
	*to += tach__utf8_put(*to, (unsigned)code);
	return 0;
}

static int escape(struct reader *r, char **to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (take_char(r, 'u'))
		return unicode_escape(r, to);
	if (r->at == r->end || !*r->at || !(found = strchr(letters, *r->at)))
		return fail(r, "no such escape in a string");
	r->at++;
	*(*to)++ = meant[found - letters];
	return 0;
}

/* Reads from the opening quote on. An escape is never shorter than its character. */
static int read_string(struct reader *r, const char **out)
{
	const char *close = ++r->at;
	char *to;

	while (close < r->end && *close != '"')
		close += *close == '\\' ? 2 : 1;
	if (close >= r->end)
		return fail(r, "a string without an end");
	*out = to = tach__arena_get(r->arena, (size_t)(close - r->at) + 1);
	if (!to)
		return no_memory(r);
	while (*r->at != '"') {
		size_t n = tach__utf8_length(r->at, (size_t)(r->end - r->at));
		int code = 0;

		if (n == 0)
			return fail(r, "not UTF-8");
		if ((unsigned char)*r->at < 0x20)
			return fail(r, "a control character in a string");
		if (take_char(r, '\\')) {
			code = escape(r, &to);
		} else {
			memcpy(to, r->at, n);
			to += n;
			r->at += n;
		}
		if (code)
			return code;
	}
	r->at++;
	return 0;
}

/* ---- numbers and words ---- */

static int skip_digits(struct reader *r)
{
	const char *from = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at > from;
}

static int read_number(struct reader *r, struct tach__json *v)
{
	const char *from = r->at;

	take_char(r, '-');
	if (!take_char(r, '0') && !skip_digits(r))
		return fail(r, "expected a value");
	if (take_char(r, '.') && !skip_digits(r))
		return fail(r, "expected digits after the decimal point");
	if (take_char(r, 'e') || take_char(r, 'E')) {
		if (!take_char(r, '-'))
			take_char(r, '+');
		if (!skip_digits(r))
			return fail(r, "expected digits in the exponent");
	}
	if (r->at - from > NUMBER_MAX)
		return fail(r, "a number of more than 100 characters");
	v->type = TACH__JSON_NUMBER;
	v->number = tach__number_parse(from, (size_t)(r->at - from));
	return isfinite(v->number) ? 0 : fail(r, "a number beyond what a double holds");
}

static int read_word(struct reader *r, struct tach__json *v)
{
	static const char *const words[] = {"null", "false", "true"};

	for (int i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i], n) == 0) {
			r->at += n;
			v->type = (enum tach__json_type)i;
			return 0;
		}
	}
	return fail(r, r->at == r->end ? "the text ends too soon" : "expected a value");
}

/* ---- arrays, objects and values ---- */

static int read_value(struct reader *r, struct tach__json **out);

static int read_key(struct reader *r, const char **key)
{
	int code;

	skip_space(r);
	if (r->at == r->end || *r->at != '"')
		return fail(r, "expected a name in quotes");
	code = read_string(r, key);
	if (code)
		return code;
	skip_space(r);
	return take_char(r, ':') ? 0 : fail(r, "expected ':'");
}

/* Reads from after the opening bracket. */
static int read_kids(struct reader *r, struct tach__json *v, char close)
{
	struct tach__json **link = &v->kid;

	v->type = close == '}' ? TACH__JSON_OBJECT : TACH__JSON_ARRAY;
	if (++r->depth > DEPTH_MAX)
		return fail(r, "nested too deeply");
	skip_space(r);
	if (take_char(r, close)) {
		r->depth--;
		return 0;
	}
	do {
		const char *key = NULL;
		int code = close == '}' ? read_key(r, &key) : 0;

		if (!code)
			code = read_value(r, link);
		if (code)
			return code;
		(*link)->key = key;
		link = &(*link)->next;
		skip_space(r);
	} while (take_char(r, ','));
	r->depth--;
	if (take_char(r, close))
		return 0;
	return fail(r, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
}

static int read_value(struct reader *r, struct tach__json **out)
{
	struct tach__json *v = tach__arena_get(r->arena, sizeof *v);

	*out = v;
	if (!v)
		return no_memory(r);
	skip_space(r);
	v->line = r->line;
	v->column = column_of(r);
	if (take_char(r, '{'))
		return read_kids(r, v, '}');
	if (take_char(r, '['))
		return read_kids(r, v, ']');
	if (r->at < r->end && *r->at == '"') {
		v->type = TACH__JSON_STRING;
		return read_string(r, &v->text);
	}
	if (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')))
		return read_number(r, v);
	return read_word(r, v);
}

int tach__json_read(struct tach__json **out, struct tach__arena *arena, const char *text,
		    size_t length, struct tach_error *err)
{
	struct reader r = {text, text + length, text, 1, 0, arena, err};
	int code = read_value(&r, out);

	if (code)
		return code;
	skip_space(&r);
	return r.at == r.end ? 0 : fail(&r, "more text after the end of the value");
}

const struct tach__json *tach__json_member(const struct tach__json *object, const char *key)
{
	const struct tach__json *kid = object->type == TACH__JSON_OBJECT ? object->kid : NULL;

	for (; kid; kid = kid->next)
		if (strcmp(kid->key, key) == 0)
			break;
	return kid;
}

int tach__json_is_true(const struct tach__json *object, const char *key)
{
	const struct tach__json *v = tach__json_member(object, key);

	return v && v->type == TACH__JSON_TRUE;
}
