/* SPDX-License-Identifier: MIT */
/*
 * A benchmark's JSON is read back: the limits of every field, and the position of the error
 * beyond them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/bench.h"
#include "tests/check.h"

/* Each field is on its own line, so that an error's line identifies the field. */
struct field {
	const char *key, *value; /* NULL: left out */
};
static const struct field whole[] = {
	{"schema", "\"tach-bench-1\""},
	{"name", "\"x\""},
	{"iterations", "1"},
	{"passes", "1"},
	{"drift", "0"},
	{"confidence", "0.95"},
};
static const struct field one[] = {
	{"name", "\"time\""}, {"empty", "0"}, {"resolution", "0"}, {"outliers", "0"},
	{"flags", "0"},	      {"pass", "0"},  {"sample", "[1]"},
};
enum {
	WHOLE = sizeof whole / sizeof *whole,
	ONE = sizeof one / sizeof *one,
	ROOM = 1 << 18,
	VALUES_MOST = TACH__BENCH_QUANTITIES_MAX + 64,
	SAMPLES_MOST = 10000,
};

static char json[ROOM];
static int line_of_other; /* on which `other` stands */

/* `other` replaces the field with its key, or follows the fields of `all`. */
static char *fields(char *at, const struct field *all, size_t n, const struct field *other,
		    int *line)
{
	int placed = !other;

	for (size_t i = 0; i <= n; i++) {
		const struct field *f = i < n ? &all[i] : placed ? NULL : other;

		if (i < n && other && strcmp(f->key, other->key) == 0)
			f = other;
		if (!f || !f->value)
			continue;
		(*line)++;
		if (f == other) {
			placed = 1;
			line_of_other = *line;
		}
		at += sprintf(at, "\"%s\":%s,\n", f->key, f->value);
	}
	at[-2] = ' '; /* no comma after the last field */
	return at;
}

/* A result with `values` equal samples, the last with the field `in_value`. */
static int load(const struct field *in_whole, const struct field *in_value, int values,
		struct tach_bench **out, struct tach_error *err)
{
	char *at = json + sprintf(json, "{\n");
	int line = 1;

	at = fields(at, whole, WHOLE, in_whole, &line);
	if (!in_whole || strcmp(in_whole->key, "values") != 0) {
		at += sprintf(at - 2, ",\n\"values\":[");
		at -= 2;
		for (int i = 0; i < values; i++) {
			line++;
			at += sprintf(at, "%s{\n", i ? "," : "");
			at = fields(at, one, ONE, i == values - 1 ? in_value : NULL, &line);
			line++;
			*at++ = '}';
		}
		*at++ = ']';
	}
	strcpy(at, "}");
	return tach_bench_load(json, strlen(json), out, err);
}

enum place { OBJECT, FIELD };

/* The error's position: for the value's object, its brace follows `"values":[`. */
static void refused(int in_value, struct field field, int code, enum place place,
		    const char *text)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b = NULL;
	int is = load(in_value ? NULL : &field, in_value ? &field : NULL, 1, &b, &err);
	int line = place == FIELD ? line_of_other : in_value ? WHOLE + 2 : 1;
	int column = place == FIELD ? (int)strlen(field.key) + 4 : in_value ? 11 : 1;

	CHECK(is == code && err.code == code && !b && err.line == line && err.column == column,
	      "%s: %d at %d:%d, not %d:%d: %s", json, is, err.line, err.column, line, column,
	      err.text);
	CHECK(strcmp(err.text, text) == 0, "%s", err.text);
}

static void of_another_type(int in_value, const char *key, const char *value)
{
	char text[128];

	snprintf(text, sizeof text,
		 "not a benchmark's result: '%s' is missing or of another type", key);
	refused(in_value, (struct field){key, value}, TACH_ERR_SYNTAX, OBJECT, text);
}

static void every_field_is_missed(void)
{
	for (size_t i = 0; i < WHOLE; i++)
		of_another_type(0, whole[i].key, NULL);
	for (size_t i = 0; i < ONE; i++)
		of_another_type(1, one[i].key, NULL);
	of_another_type(0, "values", NULL);
}

static void types_are_looked_at(void)
{
	static const char *const in_whole[] = {"schema", "name",    "iterations",
					       "passes", "drift",   "confidence",
					       "unit",	 "threads", "values"};
	static const char *const in_value[] = {"name",	   "empty", "resolution",
					       "outliers", "flags", "pass",
					       "thread",   "rate",  "sample"};

	for (size_t i = 0; i < sizeof in_whole / sizeof *in_whole; i++)
		of_another_type(0, in_whole[i], "null");
	for (size_t i = 0; i < sizeof in_value / sizeof *in_value; i++)
		of_another_type(1, in_value[i], "{}");
}

static void numbers_have_limits(void)
{
	static const struct {
		int in_value;
		struct field good, bad;
		const char *most;
	} of[] = {
		{0,
		 {"iterations", "9223372036854775808"},
		 {"iterations", "9223372036854777856"},
		 "9.22337e+18"},
		{0, {"iterations", "0"}, {"iterations", "-1"}, "9.22337e+18"},
		{0, {"passes", "355"}, {"passes", "356"}, "355"},
		{0, {"threads", "256"}, {"threads", "257"}, "256"},
		{0, {"threads", "1"}, {"threads", "-1"}, "256"},
		{1, {"outliers", "10000"}, {"outliers", "10001"}, "10000"},
		{1, {"flags", "4294967295"}, {"flags", "4294967296"}, "4.29497e+09"},
		{1, {"pass", "355"}, {"pass", "356"}, "355"},
		{1, {"thread", "256"}, {"thread", "257"}, "256"},
		{1, {"rate", "1"}, {"rate", "2"}, "1"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		int in = of[i].in_value;
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_bench *b;
		char text[64];

		CHECK(load(in ? NULL : &of[i].good, in ? &of[i].good : NULL, 1, &b, &err) == 0,
		      "%s: %s", json, err.text);
		tach_bench_free(b);
		snprintf(text, sizeof text, "'%s' is not between 0 and %s", of[i].bad.key,
			 of[i].most);
		refused(in, of[i].bad, TACH_ERR_SYNTAX, FIELD, text);
	}
}

static void others_are_refused(void)
{
	static const char confidence[] = "'confidence' is not between 0 and 1";

	refused(0, (struct field){"schema", "\"tach-bench-2\""}, TACH_ERR_NOTSUPP, FIELD,
		"schema 'tach-bench-2', not tach-bench-1");
	refused(0, (struct field){"confidence", "0"}, TACH_ERR_SYNTAX, OBJECT, confidence);
	refused(0, (struct field){"confidence", "1"}, TACH_ERR_SYNTAX, OBJECT, confidence);
	refused(0, (struct field){"values", "[]"}, TACH_ERR_SYNTAX, FIELD,
		"no value, or more than 355");
	refused(1, (struct field){"sample", "[]"}, TACH_ERR_SYNTAX, FIELD,
		"there is no sample");
	refused(0, (struct field){"unit", "\"byte\""}, TACH_ERR_SYNTAX, OBJECT,
		"not a benchmark's result: 'units' is missing or of another type");
	/* The first of several errors is reported. */
	refused(0, (struct field){"name", "1,\"iterations\":null"}, TACH_ERR_SYNTAX, OBJECT,
		"not a benchmark's result: 'name' is missing or of another type");
}

/* The wrong sample. */
static void samples_are_numbers(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct field wrong = {"sample", "[1,\n\"2\",3]"};
	struct tach_bench *b;

	CHECK(load(NULL, &wrong, 1, &b, &err) == TACH_ERR_SYNTAX && !b &&
		      err.line == line_of_other + 1 && err.column == 1 &&
		      strcmp(err.text, "samples are at most 10000 numbers") == 0,
	      "%d:%d: %s", err.line, err.column, err.text);
}

static void samples_are_ten_thousand(void)
{
	static char all[2 * SAMPLES_MOST + 8];
	struct field samples = {"sample", all};

	for (int more = 0; more < 2; more++) {
		struct tach_error err = TACH_ERROR_INIT;
		int n = SAMPLES_MOST + more, code;
		struct tach_bench *b;

		for (int i = 0; i < n; i++)
			memcpy(all + 2 * i, i ? ",7" : "[7", 2);
		strcpy(all + 2 * n, "]");
		code = load(NULL, &samples, 1, &b, &err);
		CHECK(code == (more ? TACH_ERR_SYNTAX : 0), "%d: %s", n, err.text);
		CHECK(more ? err.line == line_of_other &&
				      err.column == 10 + 2 * SAMPLES_MOST + 1
			   : b && b->series->samples == SAMPLES_MOST &&
				      b->series->sample[SAMPLES_MOST - 1] == 7,
		      "%d:%d", err.line, err.column);
		tach_bench_free(b);
	}
}

static void values_are_as_many_as_a_run_may_have(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b;

	CHECK(load(NULL, NULL, VALUES_MOST, &b, &err) == 0 &&
		      tach_bench_count(b) == VALUES_MOST,
	      "%s", err.text);
	tach_bench_free(b);
	CHECK(load(NULL, NULL, VALUES_MOST + 1, &b, &err) == TACH_ERR_SYNTAX && !b &&
		      err.line == WHOLE + 2 && err.column == 10 &&
		      strcmp(err.text, "no value, or more than 355") == 0,
	      "%d:%d: %s", err.line, err.column, err.text);
}

static void no_text_is_refused(void)
{
	struct tach_error err = {.size = sizeof err, .line = 7, .column = 7};
	struct tach_bench *b;

	CHECK(tach_bench_load(NULL, 0, &b, &err) == TACH_ERR_INVAL && err.line == 0 &&
	      err.column == 0 && strcmp(err.text, "no text, or nowhere to put it") == 0);
	CHECK(tach_bench_load("{}", 2, NULL, &err) == TACH_ERR_INVAL);
}

int main(void)
{
	CASE(every_field_is_missed);
	CASE(types_are_looked_at);
	CASE(numbers_have_limits);
	CASE(others_are_refused);
	CASE(samples_are_numbers);
	CASE(samples_are_ten_thousand);
	CASE(values_are_as_many_as_a_run_may_have);
	CASE(no_text_is_refused);
	return check_done();
}
