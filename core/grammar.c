/* SPDX-License-Identifier: MIT */
/* Splits event strings; see core/grammar.h for the shape. */
#include <string.h>
#include "core/grammar.h"

/* What a character does to the scan; from END on it stops. */
enum { PLAIN, COLON, DOT, EQUAL, END, COMMA, BLANK, SLASH };

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

/* Up to eight characters from `at` on, zeroes behind the end. */
static uint64_t load(const char *string, size_t length, size_t at)
{
	uint64_t word = 0;

	if (at + 8 <= length)
		return tach__load8(string + at);
	if (length >= 8 && at < length)
		return tach__load8(string + length - 8) >> (8 * (at + 8 - length));
	while (length > at)
		word = word << 8 | (unsigned char)string[--length];
	return word;
}

/*
 * Bit 7 of every byte that may be special. All that are lie below 0x40, and of a name's
 * characters only digits and '-'; digits (0x30 to 0x39) are sifted out.
 */
static uint64_t suspects(uint64_t word)
{
	uint64_t low = ~(word | word << 1), thirties = word << 2 & word << 3;
	uint64_t above_9 = word << 4 & (word << 5 | word << 6);

	return low & ~(thirties & ~above_9) & UINT64_C(0x8080808080808080);
}

/*
 * Notes every special character up to the end of the first event, that included. Returns how
 * many there are, or 0 if they do not fit.
 */
static unsigned mark(struct tach__string *s, const char *string)
{
	size_t length = strlen(string), n = 0;

	for (size_t base = 0; base <= length; base += 8) {
		uint64_t found = suspects(load(string, length, base));

		for (; found; found &= found - 1) {
			size_t at = base + (size_t)__builtin_ctzll(found) / 8;
			int kind = kind_of(string + at);

			s->marks[n % TACH__MARKS_MAX] = (uint16_t)at;
			/* A slash is special in front of all else: it ends a device's name. */
			if (kind >= END && (kind != SLASH || n == 0))
				return n < TACH__MARKS_MAX && at <= UINT16_MAX ? (unsigned)n + 1
									       : 0;
			n += kind != PLAIN && kind != SLASH;
		}
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
	unsigned n = mark(s, string), i = 0;
	const char *event = string;

	s->start = string;
	s->pmu = (struct tach__text){NULL, 0};
	s->terms = NULL;
	if (!n)
		return tach__error(err, TACH_ERR_TOOMANY, 1, 0, "no event string is that long");
	s->end = string + s->marks[n - 1];
	if (kind_of(s->end) == BLANK)
		return blank(string, s->end, err);
	if (kind_of(s->end) == SLASH)
		return split_terms(s, s->end, err);
	/* Only the first "::" splits off a PMU. */
	while (i + 1 < n && !(string[s->marks[i]] == ':' && string[s->marks[i] + 1] == ':'))
		i++;
	if (i + 1 < n) {
		s->pmu = (struct tach__text){string, s->marks[i]};
		event = string + s->marks[i] + 2;
		i += 2;
	} else {
		i = 0;
	}
	while (i + 1 < n && kind_of(string + s->marks[i]) > DOT)
		i++;
	s->attrs = (struct tach__attrs){string + s->marks[i], s->end, string, s->marks + i};
	s->event = (struct tach__text){event, (size_t)(s->attrs.at - event)};
	return kind_of(s->end) == END ? 0 : check_rest(string, s->end, err);
}

static int is_separator(const char *at)
{
	return *at == ':' || *at == '.';
}

/* From mark to mark. */
static const char *next_marked(struct tach__attrs *list, const char **equal)
{
	const char *at;

	do {
		at = list->base + *++list->marks;
		if (*at == '=' && !*equal)
			*equal = at;
	} while (at < list->end && !is_separator(at));
	return at;
}

static const char *next_scanned(const struct tach__attrs *list, const char **equal)
{
	const char *at = list->at + 1;

	for (; at < list->end && !is_separator(at); at++)
		if (*at == '=' && !*equal)
			*equal = at;
	return at;
}

int tach__attrs_next(struct tach__attrs *list, struct tach__term *out)
{
	const char *name = list->at + 1, *equal = NULL, *at;

	if (list->at >= list->end)
		return 0;
	at = list->marks ? next_marked(list, &equal) : next_scanned(list, &equal);
	out->has_value = equal != NULL;
	out->name = (struct tach__text){name, (size_t)((equal ? equal : at) - name)};
	out->value.text = equal ? equal + 1 : at;
	out->value.length = (size_t)(at - out->value.text);
	list->at = at;
	return 1;
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
