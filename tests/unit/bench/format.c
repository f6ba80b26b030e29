/* SPDX-License-Identifier: MIT */
/* A result as text, as JSON and as a row of a table, compared to the last character. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/row.h"
#include "tests/check.h"
#include "tests/results.h"

/*
 * Values of six samples alternating above and below their median; all other fields are empty.
 */
#define PLAIN		"\"empty\":0,\"resolution\":0,\"outliers\":0,\"flags\":0,\"pass\":0,"
#define VALUE(name, of) "{\"name\":\"" name "\"," of "}"
#define RESULT(name, of, values)                                                               \
	"{\"schema\":\"tach-bench-1\",\"name\":\"" name "\",\"iterations\":10," of             \
	"\"values\":[" values "]}"
#define ALONE "\"passes\":1,\"drift\":0,\"confidence\":0.95,"
/*
 * Sorted 8 9 10 11 12 13: the median is 10.5, distances from it are 0.5, 1.5 and 2.5, two of
 * each. The extremes miss the median in 2 of 64 cases.
 */
#define SIX "\"sample\":[10,13,8,12,9,11]"

#define EVERYTHING                                                                                                  \
	RESULT("copy \\u001b[1m",                                                                                   \
	       "\"passes\":2,\"drift\":0.25,\"confidence\":0.9,\"unit\":\"by\\u001bte\","                           \
	       "\"units\":4200,\"threads\":2,",                                                                     \
	       VALUE("time",                                                                                        \
		     "\"empty\":1.5,\"resolution\":0.5,\"outliers\":1,\"flags\":"                                   \
		     "1024,"                                                                                        \
		     "\"pass\":1," SIX) "," VALUE("lo\\u001bcks", PLAIN                                             \
						  "\"rate\":1,\"sample\":["                                         \
						  "21]") "," VALUE("none", PLAIN                                    \
								   "\"rate\":"                                      \
								   "1,"                                             \
								   "\"sample"                                       \
								   "\":[0]") "," VALUE("time,"                      \
										       " all",                      \
										       PLAIN SIX) "," VALUE("time", \
													    PLAIN   \
													    "\"thread\":2,\"sample\":[0]"))

static void as_text(void)
{
	show(EVERYTHING, TACH_BENCH_TEXT,
	     "copy ?[1m: 10 iterations a sample, several passes\n"
	     "  time, ns                        10.5000  +- 1.5000      96.9 % in "
	     "[7.5000, 13.5000]  n 6 (1 far off)  less one for every interrupt\n"
	     "  lo?cks                          21.0000  +- 0.0000       0.0 % in "
	     "[21.0000, 21.0000]  n 1\n"
	     "  none                             0.0000  +- 0.0000       0.0 % in "
	     "[0.0000, 0.0000]  n 1  below resolution: the body takes no measurable time\n"
	     "  time, all, ns                   10.5000  +- 1.5000      96.9 % in "
	     "[8.0000, 13.0000]  n 6\n"
	     "  thread 2: time, ns               0.0000  +- 0.0000       0.0 % in "
	     "[0.0000, 0.0000]  n 1  below resolution: the body takes no measurable time\n"
	     "  per by?te, ns                    0.0025  400 Gby?te/s\n"
	     "  per lo?cks, ns                   0.5000  2 Glo?cks/s\n"
	     "  per none, ns                     0.0000  0 none/s\n"
	     "  the passes differ by 25.0 % in instructions: not the same work\n");
}

/* A body without measurable time has no rate; passes may differ by 1 %. */
static void little_is_said_of_nothing(void)
{
	show(RESULT("x",
		    "\"passes\":1,\"drift\":0.01,\"confidence\":0.95,\"unit\":\"byte\","
		    "\"units\":1,",
		    VALUE("time", PLAIN "\"sample\":[0,1]") "," VALUE(
			    "locks", PLAIN "\"rate\":1,\"sample\":[3]")),
	     TACH_BENCH_TEXT,
	     "x: 10 iterations a sample\n"
	     "  time, ns                         0.5000  +- 0.5000      50.0 % in "
	     "[0.0000, 1.0000]  n 2  below resolution: the body takes no measurable time\n"
	     "  locks                            3.0000  +- 0.0000       0.0 % in "
	     "[3.0000, 3.0000]  n 1\n");
}

#define TEN	"0123456789"
#define BLANKS	"          "
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* Names are cut to 127 characters for the result, 95 for a value, 64 for a unit. */
static void long_names_are_cut(void)
{
	show(RESULT(HUNDRED HUNDRED, ALONE "\"unit\":\"" HUNDRED "\",\"units\":1,",
		    VALUE("time", PLAIN "\"sample\":[1]") "," VALUE(HUNDRED,
								    PLAIN "\"sample\":[1]")),
	     TACH_BENCH_TEXT,
	     HUNDRED TEN TEN
	     "0123456: 10 iterations a sample\n"
	     "  time, ns                         1.0000  +- 0.0000       0.0 % in "
	     "[1.0000, 1.0000]  n 1\n"
	     "  " TEN TEN TEN TEN TEN TEN TEN TEN TEN "01234"
	     "         1.0000  +- 0.0000       0.0 % in [1.0000, 1.0000]  n 1\n"
	     "  per " TEN TEN TEN TEN TEN TEN "0123, ns"
	     "         1.0000  1 G" TEN TEN TEN TEN TEN TEN "012/s\n");
}

static void as_json(void)
{
	show(EVERYTHING, TACH_BENCH_JSON,
	     "{\"schema\":\"tach-bench-1\",\"name\":\"copy \\u001b[1m\",\"iterations\":10,"
	     "\"passes\":2,\"drift\":0.25,\"confidence\":0.9,\"unit\":\"by\\u001bte\","
	     "\"units\":4200,\"threads\":2,\"values\":["
	     "{\"name\":\"time\",\"median\":10.5,\"mad\":1.5,\"low\":7.5,\"high\":13.5,"
	     "\"confidence\":0.96875,\"empty\":1.5,\"resolution\":0.5,\"samples\":6,"
	     "\"outliers\":1,\"flags\":1024,\"pass\":1,\"sample\":[10,13,8,12,9,11]},"
	     "{\"name\":\"lo\\u001bcks\",\"median\":21,\"mad\":0,\"low\":21,\"high\":21,"
	     "\"confidence\":0,\"empty\":0,\"resolution\":0,\"samples\":1,"
	     "\"outliers\":0,\"flags\":0,\"pass\":0,\"rate\":1,\"sample\":[21]},"
	     "{\"name\":\"none\",\"median\":0,\"mad\":0,\"low\":0,\"high\":0,"
	     "\"confidence\":0,\"empty\":0,\"resolution\":0,\"samples\":1,"
	     "\"outliers\":0,\"flags\":512,\"pass\":0,\"rate\":1,\"sample\":[0]},"
	     "{\"name\":\"time, all\",\"median\":10.5,\"mad\":1.5,\"low\":8,\"high\":13,"
	     "\"confidence\":0.96875,\"empty\":0,\"resolution\":0,\"samples\":6,"
	     "\"outliers\":0,\"flags\":0,\"pass\":0,\"sample\":[10,13,8,12,9,11]},"
	     "{\"name\":\"time\",\"median\":0,\"mad\":0,\"low\":0,\"high\":0,"
	     "\"confidence\":0,\"empty\":0,\"resolution\":0,\"samples\":1,"
	     "\"outliers\":0,\"flags\":512,\"pass\":0,\"thread\":2,\"sample\":[0]}"
	     "],\"missing\":\"\"}\n");
}

/* ---- tables ---- */

/* Half of the interval from 7.5 to 13.5 is 28.6 % of 10.5, rounded up. */
static void as_a_row(void)
{
	static const char of[] = RESULT(
		"x", ALONE "\"unit\":\"byte\",\"units\":4200,",
		VALUE("time",
		      "\"empty\":0,\"resolution\":0.5,\"outliers\":0,\"flags\":0,"
		      "\"pass\":0," SIX) "," VALUE("cycles", PLAIN
						   "\"sample\":[99.5]") "," VALUE("a\\u001b "
										  "longer name",
										  PLAIN
										  "\"sample\":["
										  "100]") "," VALUE("locks",
												    PLAIN
												    "\"rate\":1,\"sample\":[21]") "," VALUE("locks of a longer name",
																	    PLAIN
																	    "\"rate\":1,\"sample\":[21]") "," VALUE("time, all",
																						    PLAIN
																						    "\"sample\":[10500]") "," VALUE("time",
																										    PLAIN
																										    "\"thread\":1,\"sample\":[5]"));

	show(of, TACH_BENCH_HEAD,
	     "         time       +-        cycles a? longer name             locks "
	     "locks of a longer name     time, all              rate");
	show(of, TACH_BENCH_ROW,
	     "      10.5 ns   28.6 %         99.50            100             2 M/s "
	     "                 2 M/s       10.5 us       400 Mbyte/s");
}

/* An interval that contains 0 gives no value. */
static void nothing_as_a_row(void)
{
	static const char small[] =
		RESULT("x", ALONE "\"unit\":\"byte\",\"units\":1,",
		       VALUE("time", PLAIN "\"sample\":[0,8]") "," VALUE(
			       "locks", PLAIN
			       "\"rate\":1,\"sample\":[21]") "," VALUE("time, all", PLAIN
								       "\"sample\":[0,8]"));

	show(small, TACH_BENCH_ROW,
	     "   about 0 ns        -                 -    about 0 ns                 -");
}

/* Without a unit there is no column of rates; long names show 127 characters. */
static void other_rows(void)
{
	static const char plain[] = RESULT("x", ALONE,
					   VALUE("time", PLAIN "\"sample\":[1000]") "," VALUE(
						   "cycles", PLAIN "\"sample\":[3]"));
	static const char half[] =
		RESULT("x", ALONE "\"unit\":\"byte\",\"units\":1,",
		       VALUE("time", PLAIN "\"sample\":[0.5]") "," VALUE(
			       "eighteen character", PLAIN
			       "\"rate\":1,\"sample\":[21]") "," VALUE("fourteen chars", PLAIN
								       "\"sample\":[21]"));
	static const char wide[] = RESULT("x", ALONE,
					  VALUE("time", PLAIN "\"sample\":[1]") "," VALUE(
						  HUNDRED HUNDRED, PLAIN "\"sample\":[21]"));

	show(plain, TACH_BENCH_ROW, "         1 us    0.0 %          3.00");
	show(plain, TACH_BENCH_HEAD, "         time       +-        cycles");
	show(half, TACH_BENCH_ROW,
	     "       0.5 ns    0.0 %             42 G/s          21.00         2 Gbyte/s");
	show(half, TACH_BENCH_HEAD,
	     "         time       +- eighteen character fourteen chars              rate");
	show(wide, TACH_BENCH_HEAD, "         time       +- " HUNDRED TEN TEN "0123456");
	show(wide, TACH_BENCH_ROW,
	     "         1 ns    0.0 % " BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS
		     BLANKS BLANKS BLANKS BLANKS "  21.00");
}

static void rates_have_prefixes(void)
{
	static const struct {
		double units, ns;
		const char *unit, *want;
	} of[] = {
		{1, 1e9, "x", "1 x/s"},	       {999, 1e9, "x", "999 x/s"},
		{1000, 1e9, "x", "1 kx/s"},    {3, 1e3, "x", "3 Mx/s"},
		{4, 1, "x", "4 Gx/s"},	       {5e3, 1, "x", "5 Tx/s"},
		{6e6, 1, "x", "6000 Tx/s"},    {1, 0, "x", "0 x/s"},
		{1, -1, "x", "0 x/s"},	       {1, 2e9, "\x1b", "0.5 ?/s"},
		{12345, 1e9, "", "12.35 k/s"},
	};
	char text[128];

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		tach__bench_rate(text, sizeof text, of[i].units, of[i].ns, of[i].unit);
		CHECK(strcmp(text, of[i].want) == 0, "%s, not %s", text, of[i].want);
	}
}

/* ---- room ---- */

/* Texts longer than one buffer are written completely, or up to the size that fits. */
static void texts_are_cut_to_size(void)
{
	enum { SAMPLES = 3000, ROOM = 40000 };
	static char json[ROOM], want[ROOM], is[ROOM];
	char *at = json;
	const char *samples;
	struct tach_bench *b;
	size_t n;

	at += sprintf(at, "{\"schema\":\"tach-bench-1\",\"name\":\"\",\"iterations\":1," ALONE
			  "\"values\":[{\"name\":\"time\"," PLAIN "\"sample\":[");
	for (int i = 0; i < SAMPLES; i++)
		at += sprintf(at, "%s%d", i ? "," : "", 7000 + i * 7 % 1000);
	sprintf(at, "]}]}");
	b = result_of(json);
	if (!b)
		return;
	n = (size_t)tach_bench_print(b, TACH_BENCH_JSON, want, sizeof want);
	samples = strstr(json, "\"sample\"");
	CHECK(n == strlen(want) && strstr(want, "\"sample\"") &&
		      strncmp(strstr(want, "\"sample\""), samples, strlen(samples) - 1) == 0,
	      "%s", want);
	for (size_t i = 0; i < 12; i++) {
		const size_t rooms[] = {0,    1,    2,	  4095, 4096,  4097,
					5000, 8192, 8193, n,	n + 1, n + 2};
		size_t room = rooms[i], most = room > n ? n : room ? room - 1 : 0;

		memset(is, '#', sizeof is);
		CHECK(tach_bench_print(b, TACH_BENCH_JSON, is, room) == (int)n, "in %zu", room);
		CHECK(memcmp(is, want, most) == 0 && is[most] == (room ? '\0' : '#') &&
			      is[most + 1] == '#',
		      "in %zu", room);
	}
	tach_bench_free(b);
}

int main(void)
{
	CASE(as_text);
	CASE(little_is_said_of_nothing);
	CASE(long_names_are_cut);
	CASE(as_json);
	CASE(as_a_row);
	CASE(nothing_as_a_row);
	CASE(other_rows);
	CASE(rates_have_prefixes);
	CASE(texts_are_cut_to_size);
	return check_done();
}
