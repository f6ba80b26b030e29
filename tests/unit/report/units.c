/* SPDX-License-Identifier: MIT */
/* Values in readable form: prefixes, units, digits, and the limits between them. */
#include <math.h>
#include <string.h>
#include <tach.h>
#include "core/report/report.h"
#include "core/report/units.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

static void is(const char *text, const char *wanted)
{
	CHECK(strcmp(text, wanted) == 0, "%s, not %s", text, wanted);
}

static void counts(void)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {{0, "0"},
		     {1, "1"},
		     {0.5, "0.5"},
		     {1234.5678, "1235"},
		     {-3, "-3"},
		     {-20000.5, "-2e+04"},
		     {9999, "9999"},
		     {9999.25, "9999"},
		     {9999.5, "10.00 k"},
		     {10000, "10.00 k"},
		     {99994, "99.99 k"},
		     {99995, "100.0 k"},
		     {999949, "999.9 k"},
		     {999950, "1.000 M"},
		     {9999499, "9.999 M"},
		     {9999500, "10.00 M"},
		     {1e9, "1.000 G"},
		     {1e12, "1.000 T"},
		     {1e15, "1.000 P"},
		     {1e18, "1.000 E"},
		     {1.5e21, "1500.0 E"}};
	char text[TACH__UNIT_MAX];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tach__unit_count(text, cases[i].v);
		is(text, cases[i].text);
	}
}

static void times(void)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {{0, "0.000 ns"},	     {9.9994, "9.999 ns"}, {9.9995, "10.00 ns"},
		     {99.994, "99.99 ns"},   {99.995, "100.0 ns"}, {999.94, "999.9 ns"},
		     {999.95, "1.000 us"},   {1e6, "1.000 ms"},	   {999949999, "999.9 ms"},
		     {999950000, "1.000 s"}, {1e12, "1000.0 s"}};
	char text[TACH__UNIT_MAX];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tach__unit_time(text, cases[i].ns);
		is(text, cases[i].text);
	}
}

/* Values of the time, of one quantity, and of metrics. */
static void values(void)
{
	static const struct {
		int q;
		double v;
		const char *text;
	} cases[] = {{0, 20000, "20.00 us"},
		     {1, 20000, "20.00 k"},
		     {2, 20000, "20000.000"},
		     /* A small value is not shown as 0. */
		     {2, 0, "0.000"},
		     {2, 0.1, "0.100"},
		     {2, 0.09996, "0.1"},
		     {2, 0.000512345, "0.000512"},
		     {2, -0.000012, "-1.2e-05"},
		     {2, -0.5, "-0.500"},
		     {2, 999999, "999999.000"},
		     {2, 1e6, "1e+06"},
		     {2, -1.5e6, "-1.5e+06"},
		     {2, -999999, "-999999.000"},
		     {0, NAN, "-"},
		     {1, NAN, "-"},
		     {3, NAN, "-"}};
	struct tach_snapshot s = {.plain.nquantities = 2};
	char text[TACH__UNIT_MAX];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tach__unit_value(text, &s, cases[i].q, cases[i].v);
		is(text, cases[i].text);
	}
}

static void errors(void)
{
	static const struct {
		double v, error;
		const char *text;
	} cases[] = {{100, 0, ""},
		     {100, -1, ""},
		     {NAN, 1, ""},
		     {100, NAN, ""},
		     /* A smaller error is not shown, because runs differ by more. */
		     {100, 0.099, ""},
		     {100, 0.1, "\u00b10.10%"},
		     {100, 0.99, "\u00b10.99%"},
		     {100, 1, "\u00b11.0%"},
		     {100, 9.9, "\u00b19.9%"},
		     {100, 10, "\u00b110%"},
		     {200, 500, "\u00b1250%"},
		     {0, 5, "\u00b1100%"},
		     {0.5, 0.125, "\u00b125%"},
		     {-100, 5, "\u00b1100%"}};
	char text[TACH__UNIT_MAX];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_value v = {.value = cases[i].v, .error = cases[i].error};

		tach__unit_error(text, &v);
		is(text, cases[i].text);
	}
}

/* A completely lost value is not shown. */
static void what_is_shown(void)
{
	CHECK(isnan(tach__unit_shown(&(struct tach_value){.flags = TACH_FLAG_LOST})));
	CHECK(tach__unit_shown(&(struct tach_value){.flags = TACH_FLAG_SMALL}) == 0);
	CHECK(tach__unit_shown(&(struct tach_value){.raw = 1, .flags = TACH_FLAG_LOST}) == 0);
	CHECK(tach__unit_shown(&(struct tach_value){.value = 1, .flags = TACH_FLAG_LOST}) == 1);
}

static char line[3000];
static size_t used;

static int gather(void *context, const char *piece, size_t length)
{
	(void)context;
	memcpy(line + used, piece, length);
	line[used += length] = '\0';
	return 0;
}

static void line_of(const char *text, int ascii)
{
	static struct tach__out out;

	used = 0;
	tach__out_open(&out, gather, NULL);
	tach__report_line(&out, text, ascii);
	CHECK(tach__out_flush(&out) == 0);
}

/* Lines with any content, of at most 1023 bytes. */
static void lines(void)
{
	char text[2000];

	line_of("gr\u00f6\u00dfe\n\x1b[m", 0);
	is(line, "gr\u00f6\u00dfe??[m");
	line_of("gr\u00f6\u00dfe\n", 1);
	is(line, "gr????e?");
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	line_of(text, 1);
	CHECK(used == 1023, "%zu", used);
}

int main(void)
{
	CASE(counts);
	CASE(times);
	CASE(values);
	CASE(errors);
	CASE(what_is_shown);
	CASE(lines);
	return check_done();
}
