/* SPDX-License-Identifier: MIT */
/* Splits event strings; see core/port/grammar.h for the grammar. */
#include <string.h>
#include "core/port/grammar.h"

/* The class of each character. The scan stops at END and the classes after it. It also stops at
 * a slash that ends a device's name: no special character is before it. */
enum { PLAIN, COLON, DOT, EQUAL, SLASH, END, COMMA, BLANK };

static const unsigned char kinds[256] = {
	[0] = END,     [' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK, [','] = COMMA,
	[':'] = COLON, ['.'] = DOT,   ['='] = EQUAL,  ['/'] = SLASH,
};

static int kind_of(const char *at)
{
	return kinds[(unsigned char)*at];
}

static int refuse_blank(const char *string, const char *at, struct tach_error *err)
{
	return tach__error(err, TACH_ERR_SYNTAX, 1, tach__column(string, at),
			   "an event string holds no blanks, tabs or newlines");
}

/* Checks the text after the first event: refuses spaces, except in a quoted name. */
static int check_rest(const char *string, const char *at, struct tach_error *err)
{
	for (const char *quote; *(at += strcspn(at, " \t\n'"));) {
		quote = *at == '\'' ? strchr(at + 1, '\'') : NULL;
		if (*at != '\'')
			return refuse_blank(string, at, err);
		at = quote ? quote + 1 : at + 1;
	}
	return 0;
}

/*
 * Marks each special character up to the end of the first event, including that end. The text
 * before the first "::" is the PMU and gets no marks. Returns the number of marks, or 0 if they
 * do not fit.
 */
static unsigned mark_characters(struct tach__string *s, const char *string)
{
	const char *at = string;

	for (unsigned n = 0; n < TACH__MARKS_MAX; at++) {
		int kind;

		/* Letters and '_' have larger codes than all special characters. */
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
	n = mark_characters(s, string);
	if (!n)
		return tach__error(err, TACH_ERR_TOOMANY, 1, 0,
				   "this event string is too long");
	s->end = string + s->marks[n - 1];
	if (kind_of(s->end) == BLANK)
		return refuse_blank(string, s->end, err);
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
	/* The first word has no separator before it, and the scan does not need one. */
	return tach__attrs_from(text - 1, text + strlen(text));
}
