/* SPDX-License-Identifier: MIT */
/* The parts of event strings, and strings that are too long or contain a blank. */
#include <stdlib.h>
#include <string.h>
#include "core/port/grammar.h"
#include "tests/check.h"
#include "tests/random.h"

/* "(A)(B>1)": attributes, each with its value if it has one. */
static const char *joined(struct tach__attrs list)
{
	static char text[4096];
	struct tach__term term;
	char *at = text;

	*at = 0;
	while (tach__attrs_next(&list, &term))
		at += sprintf(at, "(%.*s%s%.*s)", (int)term.name.length, term.name.text,
			      term.has_value ? ">" : "", (int)term.value.length,
			      term.value.text);
	return text;
}

static int is(const struct tach__text *part, const char *want)
{
	return want ? part->text && part->length == strlen(want) &&
			       memcmp(part->text, want, part->length) == 0
		    : !part->text;
}

static void parts(void)
{
	static const struct {
		const char *string, *pmu, *event, *attrs, *rest;
	} all[] = {
		{"b", NULL, "b", "", ""},
		{"", NULL, "", "", ""},
		{"a::b", "a", "b", "", ""},
		{"a::b:c=1.d", "a", "b", "(c>1)(d)", ""},
		{"b:c", NULL, "b", "(c)", ""},
		{"b.c:d", NULL, "b", "(c)(d)", ""},
		{"b:", NULL, "b", "()", ""},
		{"b:.", NULL, "b", "()()", ""},
		{"a::b::c", "a", "b", "()(c)", ""},
		{"a:b::c", "a:b", "c", "", ""},
		{"a.b::c", "a.b", "c", "", ""},
		{"a=b::c=d:e", "a=b", "c=d", "(e)", ""},
		{"b=c:d", NULL, "b=c", "(d)", ""},
		{"b=c=d:e", NULL, "b=c=d", "(e)", ""},
		{"b:c=d=e:f", NULL, "b", "(c>d=e)(f)", ""},
		{"b:=1:c=", NULL, "b", "(>1)(c>)", ""},
		{"::x", "", "x", "", ""},
		{"x::", "x", "", "", ""},
		{"::", "", "", "", ""},
		{"b,c", NULL, "b", "", ",c"},
		{"b:c,d::e:f,g", NULL, "b", "(c)", ",d::e:f,g"},
		{"b:c=1,", NULL, "b", "(c>1)", ","},
		{",b", NULL, "", "", ",b"},
		/* A slash after a special character does not end a device. */
		{"b:c/d:e", NULL, "b", "(c/d)(e)", ""},
		{"a::b/c:d", "a", "b/c", "(d)", ""},
		{"b=c/d", NULL, "b=c/d", "", ""},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach__string s;
		const char *string = all[i].string;

		CHECK(tach__string_split(&s, string, &err) == 0, "%s: %s", string, err.text);
		CHECK(s.start == string && !s.terms && is(&s.pmu, all[i].pmu) &&
			      is(&s.event, all[i].event) && strcmp(s.end, all[i].rest) == 0,
		      "%s: %.*s, %.*s, %s", string, (int)s.pmu.length,
		      s.pmu.text ? s.pmu.text : "", (int)s.event.length, s.event.text, s.end);
		CHECK(strcmp(joined(s.attrs), all[i].attrs) == 0, "%s: %s", string,
		      joined(s.attrs));
		/* The result without marks is the same. */
		CHECK(strcmp(joined(tach__attrs_from(s.attrs.at, s.end)), all[i].attrs) == 0,
		      "%s: %s", string, joined(tach__attrs_from(s.attrs.at, s.end)));
	}
	CHECK(strcmp(joined(tach__attrs_of("A:B=1=2.c")), "(A)(B>1=2)(c)") == 0);
}

static void separators_and_columns(void)
{
	static const char string[] = "b:c.d=e";

	for (int i = 0; string[i]; i++)
		CHECK(tach__is_separator(string + i) == (i == 1 || i == 3), "%d", i);
	CHECK(tach__column(string, string) == 1 && tach__column(string, string + 3) == 4);
}

static void devices(void)
{
	static const char *const strings[][3] = {
		{"cpu/a=1,b/u", "cpu", "a=1,b/u"},
		{"cpu/", "cpu", ""},
		{"/a/", "", "a/"},
		{"cpu_x-1/a:b/c::d/", "cpu_x-1", "a:b/c::d/"},
	};

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		const char *string = strings[i][0];
		struct tach__string s;

		CHECK(tach__string_split(&s, string, NULL) == 0, "%s", string);
		CHECK(is(&s.pmu, strings[i][1]) && s.terms &&
			      strcmp(s.terms, strings[i][2]) == 0 && *s.end == 0 &&
			      s.end == string + strlen(string) && s.event.length == 0 &&
			      s.event.text == s.terms - 1,
		      "%s", string);
		CHECK(*joined(s.attrs) == 0, "%s", joined(s.attrs));
	}
}

static void blanks(void)
{
	static const struct {
		const char *string;
		int column;
	} all[] = {
		{" b", 1},	 {"b ", 2},	 {"b\tc", 2},	 {"b\n", 2}, {"a:: b", 4},
		{"b:c d", 4},	 {"b:c= 1", 5},	 {"b,c d", 4},	 {"b, ", 3}, {"b:c,d\te", 6},
		{"cpu/a b/", 6}, {"cpu/a/ ", 7}, {"cpu /a/", 4},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach__string s;

		CHECK(tach__string_split(&s, all[i].string, &err) == TACH_ERR_SYNTAX &&
			      err.line == 1 && err.column == all[i].column &&
			      strcmp(err.text, "an event string holds no blanks, tabs or "
					       "newlines") == 0,
		      "'%s': %d: %s", all[i].string, err.column, err.text);
	}
}

static int split_of(const char *first, char c, size_t n, const char *last)
{
	size_t before = strlen(first);
	char *string = malloc(before + n + strlen(last) + 1);
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__string s;
	int rc;

	memcpy(string, first, before);
	memset(string + before, c, n);
	strcpy(string + before + n, last);
	rc = tach__string_split(&s, string, &err);
	CHECK(!rc || (err.line == 1 && err.column == 0 &&
		      strcmp(err.text, "this event string is too long") == 0),
	      "%s", err.text);
	free(string);
	return rc;
}

/*
 * 256 special characters, including the end; 65,535 bytes. Text after the first event may be
 * longer.
 */
static void lengths(void)
{
	CHECK(split_of("b", ':', 257, "") == 0, "the first two end the PMU's name");
	CHECK(split_of("b", ':', 258, "") == TACH_ERR_TOOMANY);
	CHECK(split_of("b:c", '.', 254, "") == 0);
	CHECK(split_of("b:c", '.', 255, "") == TACH_ERR_TOOMANY);
	CHECK(split_of("b:c", '=', 254, ",") == 0);
	CHECK(split_of("b:c", '=', 255, ",") == TACH_ERR_TOOMANY);
	CHECK(split_of("", 'b', 65535, "") == 0);
	CHECK(split_of("", 'b', 65536, "") == TACH_ERR_TOOMANY);
	CHECK(split_of("", 'b', 65535, "/") == 0);
	CHECK(split_of("", 'b', 65536, "/") == TACH_ERR_TOOMANY);
	CHECK(split_of("b,", ':', 70000, "") == 0);
}

/* Random strings of these characters: attributes are the same with marks and without. */
static void by_chance(void)
{
	for (int i = 0; i < 20000; i++) {
		char string[16], marked[64];
		struct tach__string s;
		unsigned n = random_below(sizeof string);

		for (unsigned k = 0; k < n; k++)
			string[k] = "aB:.=,:=/"[random_below(9)];
		string[n] = 0;
		CHECK(tach__string_split(&s, string, NULL) == 0, "%s", string);
		if (s.terms)
			continue;
		strcpy(marked, joined(s.attrs));
		CHECK(strcmp(marked, joined(tach__attrs_from(s.attrs.at, s.end))) == 0,
		      "%s: %s and %s", string, marked,
		      joined(tach__attrs_from(s.attrs.at, s.end)));
		CHECK(s.end == strchr(string, ',') || !*s.end, "%s: %s", string, s.end);
	}
}

int main(void)
{
	CASE(parts);
	CASE(separators_and_columns);
	CASE(devices);
	CASE(blanks);
	CASE(lengths);
	CASE(by_chance);
	return check_done();
}
