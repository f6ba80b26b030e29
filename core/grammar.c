/* SPDX-License-Identifier: MIT */
/* Splits event strings; see core/grammar.h for the shape. */
#include <string.h>
#include "core/grammar.h"

/* What a character does to the scan. */
enum { PLAIN, END, BLANK, COMMA, COLON, DOT, SLASH };

static const unsigned char kinds[256] = {
	[0] = END,     [' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK,
	[','] = COMMA, [':'] = COLON, ['.'] = DOT,    ['/'] = SLASH,
};

static int blank(const char *string, const char *at, struct tach_error *err)
{
	return tach__error(err, TACH_ERR_SYNTAX, 1, tach__column(string, at),
			   "an event string holds no blanks, tabs or newlines");
}

/* Behind the first event only blanks matter: they are refused wherever they stand. */
static int check_rest(const char *string, const char *at, struct tach_error *err)
{
	at += strcspn(at, " \t\n");
	return *at ? blank(string, at, err) : 0;
}

int tach__string_split(struct tach__string *out, const char *string, struct tach_error *err)
{
	const char *event = string, *separator = NULL, *at = string;

	out->start = string;
	out->pmu = (struct tach__text){NULL, 0};
	out->slash = 0;
	for (;; at++) {
		unsigned char kind = kinds[(unsigned char)*at];

		if (TACH_LIKELY(kind == PLAIN))
			continue;
		if (kind == END || kind == COMMA)
			break;
		if (kind == BLANK)
			return blank(string, at, err);
		if (kind == SLASH && !separator && !out->pmu.text) {
			out->slash = 1;
			out->pmu = (struct tach__text){string, (size_t)(at - string)};
			out->attrs = at + 1;
			break;
		}
		/* Only the first "::" splits off a PMU, and even behind a '.'. */
		if (kind == COLON && at[1] == ':' && !out->pmu.text) {
			out->pmu = (struct tach__text){string, (size_t)(at - string)};
			event = ++at + 1;
			separator = NULL;
			continue;
		}
		if (kind != SLASH && !separator)
			separator = at;
	}
	out->event = (struct tach__text){event, (size_t)((separator ? separator : at) - event)};
	if (out->slash) {
		out->event.length = 0;
		out->end = at + strlen(at);
		return check_rest(string, at, err);
	}
	out->end = at;
	out->attrs = separator ? separator : at;
	return *at ? check_rest(string, at, err) : 0;
}

int tach__string_next(const char **at, const char *end, struct tach__term *out)
{
	const char *p = *at, *equal = NULL;

	if (p >= end)
		return 0;
	out->name.text = ++p;
	for (; p < end && *p != ':' && *p != '.'; p++)
		if (*p == '=' && !equal)
			equal = p;
	out->has_value = equal != NULL;
	out->name.length = (size_t)((equal ? equal : p) - out->name.text);
	out->value.text = equal ? equal + 1 : p;
	out->value.length = (size_t)(p - out->value.text);
	*at = p;
	return 1;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tach__fold(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

int tach__text_number(const struct tach__text *span, unsigned long long *out)
{
	const char *p = span->text, *end = p + span->length;
	unsigned long long value = 0;
	int negative = 0, base = 10;

	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	if (p < end && *p == '0') {
		base = 8;
		if (end - p > 1 && tach__fold(p[1]) == 'x') {
			base = 16;
			p += 2;
		}
	}
	if (p >= end)
		return 0;
	for (; p < end; p++) {
		int d = digit(*p);

		if (d >= base || __builtin_mul_overflow(value, (unsigned)base, &value) ||
		    __builtin_add_overflow(value, (unsigned)d, &value))
			return 0;
	}
	*out = negative ? -value : value;
	return 1;
}

int tach__text_equal(const struct tach__text *span, const char *name)
{
	size_t i;

	for (i = 0; i < span->length; i++)
		if (tach__fold(span->text[i]) != tach__fold(name[i]))
			return 0;
	return !name[i];
}
