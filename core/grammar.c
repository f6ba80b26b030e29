/* SPDX-License-Identifier: MIT */
/* Splits event strings; see core/grammar.h for the shape. */
#include <limits.h>
#include <string.h>
#include "core/grammar.h"

/*
 * What a character does to the scan; from END on it stops. A slash stops it too where nothing
 * special has been before: that ends a device's name.
 */
enum { PLAIN, COLON, DOT, EQUAL, SLASH, END, COMMA, BLANK };

static const unsigned char kinds[256] = {
	[0] = END,     [' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK, [','] = COMMA,
	[':'] = COLON, ['.'] = DOT,   ['='] = EQUAL,  ['/'] = SLASH,
};

static int kind_of(const char *at)
{
	return kinds[(unsigned char)*at];
}

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

/*
 * Notes every special character up to the end of the first event, that included; of what is in
 * front of the first "::" only that it is the PMU. Returns how many there are, or 0 if they do
 * not fit.
 */
static unsigned mark(struct tach__string *s, const char *string)
{
	const char *at = string;

	for (unsigned n = 0; n < TACH__MARKS_MAX; at++) {
		int kind;

		/* Letters and '_' lie above all that is special. */
		while ((unsigned char)*at > '=' || (kind = kind_of(at)) == PLAIN)
			at++;
		if (kind == COLON && at[1] == ':' && !s->pmu.text) {
			s->pmu = (struct tach__text){string, (size_t)(at - string)};
			s->event.text = ++at + 1;
			n = 0;
			continue;
		}
		if (kind == SLASH && (n > 0 || s->pmu.text))
			continue;
		s->marks[n++] = (uint16_t)(at - string);
		if (kind >= SLASH)
			return at - string <= UINT16_MAX ? n : 0;
	}
	return 0;
}

static int split_terms(struct tach__string *s, const char *slash, struct tach_error *err)
{
	s->pmu = (struct tach__text){s->start, (size_t)(slash - s->start)};
	s->event = (struct tach__text){slash, 0};
	s->terms = slash + 1;
	s->end = slash + strlen(slash);
	s->attrs = tach__attrs_from(s->end, s->end);
	return check_rest(s->start, slash, err);
}

int tach__string_split(struct tach__string *s, const char *string, struct tach_error *err)
{
	unsigned n, i = 0;

	s->start = s->event.text = string;
	s->pmu.text = s->terms = NULL;
	n = mark(s, string);
	if (!n)
		return tach__error(err, TACH_ERR_TOOMANY, 1, 0, "no event string is that long");
	s->end = string + s->marks[n - 1];
	if (kind_of(s->end) == BLANK)
		return blank(string, s->end, err);
	if (kind_of(s->end) == SLASH)
		return split_terms(s, s->end, err);
	while (string[s->marks[i]] == '=')
		i++;
	s->attrs = (struct tach__attrs){string + s->marks[i], s->end, string, s->marks + i};
	s->event.length = (size_t)(s->attrs.at - s->event.text);
	return kind_of(s->end) == END ? 0 : check_rest(string, s->end, err);
}

const char *tach__attrs_scan(const struct tach__attrs *list, const char **equal)
{
	const char *at = list->at + 1;

	for (; at < list->end && !tach__is_separator(at); at++)
		if (*at == '=' && !*equal)
			*equal = at;
	return at;
}

struct tach__attrs tach__attrs_of(const char *text)
{
	/* The first word has no separator in front; nobody looks. */
	return tach__attrs_from(text - 1, text + strlen(text));
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
	int negative = 0, base = 10, beyond = 0;

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

		if (d >= base)
			return 0;
		beyond |= __builtin_mul_overflow(value, (unsigned)base, &value) ||
			  __builtin_add_overflow(value, (unsigned)d, &value);
	}
	*out = beyond ? ULLONG_MAX : negative ? -value : value;
	return beyond ? -1 : 1;
}

int tach__text_equal(const struct tach__text *span, const char *name)
{
	size_t i;

	for (i = 0; i < span->length; i++)
		if (tach__fold(span->text[i]) != tach__fold(name[i]))
			return 0;
	return !name[i];
}
