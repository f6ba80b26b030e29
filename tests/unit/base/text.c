/* SPDX-License-Identifier: MIT */
/* Numbers, names and characters as text; nothing is read beyond the end. */
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "tests/check.h"
#include "tests/unit/base/edge.h"

static locale_t used[2];
static int uses; /* how often a locale was used so far */

static locale_t use(locale_t locale)
{
	if (uses < 2)
		used[uses] = locale;
	uses++;
	return uselocale(locale);
}

#define uselocale use
#include "core/base/number.c"
#undef uselocale

static void numbers_of_every_base(void)
{
	static const struct {
		const char *text;
		int result;
		unsigned long long value;
	} cases[] = {
		{"0", 1, 0},
		{"7", 1, 7},
		{"+7", 1, 7},
		{"-7", 1, -7ull},
		{"-0", 1, 0},
		{"9", 1, 9},
		{"10", 1, 10},
		{"010", 1, 8},
		{"07", 1, 7},
		{"08", 0, 0},
		{"0x10", 1, 16},
		{"0X1f", 1, 31},
		{"0xAbCdEf", 1, 0xabcdef},
		{"0xag", 0, 0},
		{"0xa@", 0, 0},
		{"0xa`", 0, 0},
		{"0x", 0, 0},
		{"0xx", 0, 0},
		{"-0x8", 1, -8ull},
		{"", 0, 0},
		{"+", 0, 0},
		{"-", 0, 0},
		{"--1", 0, 0},
		{"+-1", 0, 0},
		{" 1", 0, 0},
		{"1 ", 0, 0},
		{"a", 0, 0},
		{"1a", 0, 0},
		{"1/", 0, 0},
		{"1:", 0, 0},
		{"18446744073709551615", 1, ULLONG_MAX},
		{"18446744073709551616", -1, ULLONG_MAX},
		{"18446744073709551620", -1, ULLONG_MAX},
		{"-18446744073709551616", -1, ULLONG_MAX},
		{"99999999999999999999999", -1, ULLONG_MAX},
		{"36893488147419103233", -1, ULLONG_MAX},
		{"0xffffffffffffffff", 1, ULLONG_MAX},
		{"0x10000000000000001", -1, ULLONG_MAX},
		{"0x10000000000000000g", 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = strlen(cases[i].text);
		struct tach__text text = {at_the_edge(cases[i].text, n), n};
		unsigned long long value = 0;
		int result = tach__text_number(&text, &value);

		CHECK(result == cases[i].result && value == cases[i].value, "%s: %d, %llu",
		      cases[i].text, result, value);
	}
}

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static void names_without_their_case(void)
{
	static const struct {
		const char *one, *other;
		int order;
	} cases[] = {{"abc", "ABC", 0}, {"abc", "abd", -1},  {"ab", "abc", -1},
		     {"abc", "ab", 1},	{"", "", 0},	     {"", "a", -1},
		     {"a", "", 1},	{"z", "Z", 0},	     {"@", "`", -1},
		     {"[", "{", -1},	{"a\0b", "a\0b", 1}, {"_", "B", -1},
		     {"\377", "a", 1}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = i == 10 ? 3 : strlen(cases[i].one);
		struct tach__text text = {at_the_edge(cases[i].one, n), n};

		CHECK(sign(tach__name_compare(text.text, n, cases[i].other)) == cases[i].order,
		      "%s, %s", cases[i].one, cases[i].other);
		if (i != 10)
			CHECK(tach__text_equal(&text, cases[i].other) == !cases[i].order,
			      "%s, %s", cases[i].one, cases[i].other);
	}
}

/* Uses RFC 3629's table, and reads nothing beyond the end. */
static int well_formed(const unsigned char *s, size_t n)
{
	static const unsigned char rows[][5] = {
		/* first byte: from, to; second byte: from, to; length */
		{0x00, 0x7f, 0, 0, 1},	     {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4}};

	for (size_t i = 0; n && i < sizeof rows / sizeof *rows; i++) {
		const unsigned char *row = rows[i];

		if (s[0] < row[0] || s[0] > row[1])
			continue;
		if (n < row[4] || (row[4] > 1 && (s[1] < row[2] || s[1] > row[3])))
			return 0;
		for (size_t k = 2; k < row[4]; k++)
			if (s[k] < 0x80 || s[k] > 0xbf)
				return 0;
		return row[4];
	}
	return 0;
}

static void sequences_of_utf8(void)
{
	static const unsigned char second[] = {0x00, 0x7f, 0x80, 0x8f, 0x90,
					       0x9f, 0xa0, 0xbf, 0xc0, 0xff};
	static const unsigned char later[] = {0x7f, 0x80, 0xbf, 0xc0};

	for (unsigned first = 0; first < 256; first++)
		for (size_t i = 0; i < sizeof second; i++)
			for (size_t k = 0; k < 16; k++)
				for (size_t n = 0; n <= 4; n++) {
					unsigned char s[4] = {(unsigned char)first, second[i],
							      later[k % 4], later[k / 4]};
					const char *at = at_the_edge(s, n);

					CHECK((int)tach__utf8_length(at, n) ==
						      well_formed(s, n),
					      "%02x %02x %02x %02x of %zu", s[0], s[1], s[2],
					      s[3], n);
				}
}

static void characters_there_and_back(void)
{
	for (unsigned code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 61) {
		char text[4];
		size_t n = tach__utf8_put(text, code);
		size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

		CHECK(n == length && tach__utf8_code(text, n) == code, "U+%04X", code);
		if (code < 0xd800 || code > 0xdfff)
			CHECK(tach__utf8_length(text, n) == n, "U+%04X", code);
	}
}

/*
 * The first and last character of each block that is not one column wide, and their neighbours.
 */
static void character_widths_match_their_blocks(void)
{
	static const struct {
		unsigned first, last;
		int columns;
	} blocks[] = {{0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},
		      {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},
		      {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},
		      {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},
		      {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2},
		      {0x20000, 0x3fffd, 2}};
	char text[64] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
		for (int k = 0; k < 4; k++) {
			unsigned code = k == 0	 ? blocks[i].first - 1
					: k == 1 ? blocks[i].first
					: k == 2 ? blocks[i].last
						 : blocks[i].last + 1;
			int expected = k == 0 || k == 3 ? 1 : blocks[i].columns;

			text[tach__utf8_put(text, code)] = '\0';
			CHECK(tach__utf8_columns(text) == expected &&
				      tach__utf8_width(text) == expected,
			      "U+%04X: %d", code, tach__utf8_columns(text));
		}
	n += tach__utf8_put(text, 'a');
	n += tach__utf8_put(text + n, 0x301);
	n += tach__utf8_put(text + n, 0x4e00);
	text[n] = '\0';
	CHECK(tach__utf8_width(text) == 3 && tach__utf8_width("") == 0);
	CHECK(tach__utf8_width("\377b") == 2);
}

/*
 * The shortest text that reads back to the same value, in the forms of "%.17g" with fewer
 * digits.
 */
static void doubles_have_the_shortest_text(void)
{
	static const double values[] = {0,    -0.0,	 1,	   -1,	      9,
					10,   0.1,	 1.0 / 3,  2e15,      999999999999999,
					1e15, -1e15,	 1e15 - 1, -1e15 + 1, 1e16,
					0.5,  -2.5,	 DBL_MIN,  DBL_MAX,   DBL_TRUE_MIN,
					1e22, 123456789, 1e-7,	   5e-324,    9007199254740992};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char expected[40], text[40], cut[40];
		int n = 0, length;

		for (int digits = 15; digits <= 17; digits++) {
			n = snprintf(expected, sizeof expected, "%.*g", digits, values[i]);
			if (strtod(expected, NULL) == values[i])
				break;
		}
		length = tach__number_print(values[i], text, sizeof text);
		CHECK(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
		CHECK(strcmp(text, expected) == 0 && length == n, "%s: %s, %d", expected, text,
		      length);
		for (size_t size = 0; size <= (size_t)n + 1; size++) {
			memset(cut, 'x', sizeof cut);
			CHECK(tach__number_print(values[i], cut, size) == n);
			CHECK(size == 0 || (memcmp(cut, text, size - 1) == 0 && !cut[size - 1]),
			      "%s of %zu", text, size);
			CHECK(cut[size] == 'x', "%s of %zu", text, size);
		}
		CHECK(tach__number_parse(at_the_edge(text, (size_t)n), (size_t)n) == values[i]);
	}
}

/* Uses the C locale, whatever the program's locale is, and restores the program's locale. */
static void in_the_c_locale(void)
{
	char text[40];

	uses = 0;
	tach__number_print(0.25, text, sizeof text);
	CHECK(strcmp(text, "0.25") == 0 && uses == 2, "%s, %d", text, uses);
	CHECK(used[0] == newlocale(LC_ALL_MASK, "C", (locale_t)0));
	CHECK(used[1] == LC_GLOBAL_LOCALE);
	uses = 0; /* not called for a text that does not need it */
	tach__number_print(-25, text, sizeof text);
	tach__number_print(0, text, sizeof text);
	CHECK(strcmp(text, "0") == 0 && uses == 0, "%s, %d", text, uses);
}

/* Numbers with more digits than the 127 that are read. */
static void long_numbers(void)
{
	char text[300];

	memset(text, '0', sizeof text);
	text[126] = '7';
	CHECK(tach__number_parse(text, 127) == 7 && tach__number_parse(text, 126) == 0);
	CHECK(tach__number_parse(text, 128) == 7 && tach__number_parse(text, 300) == 7);
	CHECK(tach__number_parse("12", 1) == 1);
}

int main(void)
{
	CASE(numbers_of_every_base);
	CASE(names_without_their_case);
	CASE(sequences_of_utf8);
	CASE(characters_there_and_back);
	CASE(character_widths_match_their_blocks);
	CASE(doubles_have_the_shortest_text);
	CASE(in_the_c_locale);
	CASE(long_numbers);
	return check_done();
}
