/* SPDX-License-Identifier: MIT */
/* Reports: Reports: JSON is read strictly; tables have the requested width and colours. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/base/json.h"
#include "core/base/utf8.h"
#include "tests/check.h"
#include "tests/unit/report/text.h"

/* ---- JSON ---- */

static void refused(const char *text, int line, int column)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__arena arena = {0};
	struct tach__json *v;

	CHECK(tach__json_read(&v, &arena, text, strlen(text), &err) == TACH_ERR_SYNTAX, "%s",
	      text);
	CHECK(err.line == line && err.column == column, "%s: %d:%d, not %d:%d (%s)", text,
	      err.line, err.column, line, column, err.text);
	tach__arena_free(&arena);
}

static void json_is_strict(void)
{
	refused("", 1, 1);
	refused("nul", 1, 1);
	refused("[1,]", 1, 4);
	refused("[1 2]", 1, 4);
	refused("{1: 2}", 1, 2);
	refused("{\"a\" 2}", 1, 6);
	refused("{\"a\": 2", 1, 8);
	refused("[1]\n\n x", 3, 2);
	refused("// comment", 1, 1);
	refused("+1", 1, 1);
	refused("01", 1, 2);
	refused("1.", 1, 3);
	refused("1e", 1, 3);
	refused("-", 1, 2);
	refused("1e999", 1, 6);
	refused("NaN", 1, 1);
	refused("'a'", 1, 1);
	refused("\"a", 1, 2);
	refused("\"a\\\"", 1, 2);
	refused("\"\\x\"", 1, 3);
	refused("\"\\u12\"", 1, 6);
	refused("\"\\u0000\"", 1, 8);
	refused("\"\\ud800\"", 1, 8);
	refused("\"\\ud800\\u0041\"", 1, 14);
	refused("\"\\udc00\"", 1, 8);
	refused("\"a\tb\"", 1, 3);
	refused("\"a\nb\"", 1, 3);
	refused("\"\xff\"", 1, 2);
	refused("\"\xc0\x80\"", 1, 2);
	refused("\"\xed\xa0\x80\"", 1, 2);
	refused("\xef\xbb\xbf{}", 1, 1);
}

static void json_depth_is_bounded(void)
{
	char text[300];

	for (int depth = 64; depth <= 65; depth++) {
		struct tach__arena arena = {0};
		struct tach__json *v;

		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		CHECK((tach__json_read(&v, &arena, text, 2 * (size_t)depth, NULL) == 0) ==
		      (depth == 64));
		tach__arena_free(&arena);
	}
}

static void json_values(void)
{
	static const char text[] =
		" {\"s\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\xc3\xa9\","
		"\n\t\"n\": [-0.5e+1, 0, 9007199254740993, true, false, null],"
		" \"e\": {}, \"s\": 2}\r\n";
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__arena arena = {0};
	const struct tach__json *n;
	struct tach__json *v;

	CHECK(tach__json_read(&v, &arena, text, sizeof text - 1, &err) == 0, "%s", err.text);
	n = tach__json_member(v, "s");
	CHECK(n && n->type == TACH__JSON_STRING &&
	      strcmp(n->text, "\"\\/\b\f\n\r\t\u00e9\U0001f600\u00e9") == 0);
	n = tach__json_member(v, "n");
	CHECK(n && n->type == TACH__JSON_ARRAY && n->line == 2 && n->column == 7);
	n = n->kid;
	CHECK(n->number == -5 && n->next->number == 0 &&
	      n->next->next->number == 9007199254740992.0);
	n = n->next->next->next;
	CHECK(n->type == TACH__JSON_TRUE && n->next->type == TACH__JSON_FALSE &&
	      n->next->next->type == TACH__JSON_NULL && !n->next->next->next);
	n = tach__json_member(v, "e");
	CHECK(n && n->type == TACH__JSON_OBJECT && !n->kid);
	CHECK(!tach__json_member(v, "x") && !tach__json_member(n, "x"));
	tach__arena_free(&arena);
}

/* ---- what is written ---- */

static struct tach_snapshot *load(void)
{
	static char text[20000];
	struct tach_error err = TACH_ERROR_INIT;
	FILE *from = fopen("tests/unit/report/report/sample.json", "r");
	struct tach_snapshot *s = NULL;
	size_t n = from ? fread(text, 1, sizeof text, from) : 0;

	if (from)
		fclose(from);
	CHECK(tach_snapshot_load(text, n, &s, &err) == 0, "%d:%d: %s", err.line, err.column,
	      err.text);
	return s;
}

static const char *write_as(const struct tach_snapshot *s, struct tach_report_options opt)
{
	static struct text t;
	struct tach_error err = TACH_ERROR_INIT;

	t.length = 0;
	CHECK(tach_report_write(s, &opt, append, &t, &err) == 0, "%s", err.text);
	return t.at;
}

static void widths_are_respected(void)
{
	struct tach_snapshot *s = load();

	/* The narrowest table has the first column and one more: 35 + 2 + 27. */
	for (int width = 64; s && width < 200; width++) {
		struct tach_report_options opt = {.width = width};
		const char *line = write_as(s, opt);

		/* Long sentences below the table are wrapped by the terminal. */
		for (; *line && *line != '\n'; line += strcspn(line, "\n") + 1) {
			char copy[1000];

			snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
			CHECK(tach__utf8_width(copy) <= width, "%d: %s", width, copy);
		}
	}
	tach_snapshot_free(s);
}

static void colour_is_asked_for(void)
{
	struct tach_snapshot *s = load();
	struct tach_report_options opt = {0};
	FILE *file = tmpfile();
	char text[4000];
	size_t n;

	if (!s || !file)
		return;
	CHECK(!strchr(write_as(s, opt), '\033'));
	opt.color = 1;
	CHECK(strstr(write_as(s, opt), "\033[1mregion"));
	/* A file is not a terminal. */
	CHECK(tach_report_fd(s, NULL, fileno(file), NULL) == 0);
	rewind(file);
	n = fread(text, 1, sizeof text, file);
	CHECK(n > 100 && !memchr(text, '\033', n));
	fclose(file);
	tach_snapshot_free(s);
}

static void no_locale_changes_numbers(void)
{
	struct tach_snapshot *s = load();
	char *plain =
		strdup(write_as(s, (struct tach_report_options){.format = TACH_FORMAT_JSON}));

	if (setlocale(LC_ALL, "de_DE.UTF-8")) {
		CHECK(strcmp(plain, write_as(s, (struct tach_report_options){
							.format = TACH_FORMAT_JSON})) == 0);
		setlocale(LC_ALL, "C");
	} else {
		puts("# no de_DE.UTF-8 here");
	}
	free(plain);
	tach_snapshot_free(s);
}

static void loaded_snapshots_have_the_same_values(void)
{
	struct tach_snapshot *s = load();
	struct tach_region_info info = {0};
	struct tach_counts c = {0};
	struct tach_value v;

	if (!s)
		return;
	CHECK(tach_snapshot_region(s, 2, &info) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_region(s, 0, &info) == 0 && info.nested == 500);
	CHECK(tach_snapshot_value(s, 0, 3, TACH_PART_SELF, &v) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_value(s, 0, 2, TACH_PART_SELF, &v) == 0 && v.value == 5000000);
	CHECK(tach_snapshot_derived(s, 0, 1, TACH_PART_SELF, &v) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_derived(s, 1, 0, TACH_PART_SELF, &v) == 0 && isnan(v.value) &&
	      v.flags == TACH_FLAG_DIVZERO);
	CHECK(fabs(tach_snapshot_quantile(s, 0, 0, 0.5) - 982.4175) < 1e-9);
	CHECK(isnan(tach_snapshot_quantile(s, 1, 0, 0.5)));
	CHECK(tach_snapshot_quantity(s, 3) == NULL && tach_snapshot_metric(s, 1) == NULL);
	CHECK(tach_snapshot_counts(s, &c) == 0 && c.clock_hz == 2e9 && c.reports == 1);
	tach_snapshot_free(s);
}

static void null_pointers_are_refused(void)
{
	struct tach_snapshot *s = load(), *t;
	const struct tach_snapshot *two[] = {s, NULL};

	if (!s)
		return;
	CHECK(tach_snapshot_take(NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_load("{}", 2, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_load(NULL, 0, &t, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_merge(two, 1, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_merge(NULL, 1, &t, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_merge(two, 2, &t, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_merge(two, 0, &t, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_region(s, 0, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_value(s, 0, 0, TACH_PART_SELF, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_derived(s, 0, 0, TACH_PART_SELF, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_counts(s, NULL) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_buckets(s, 0, 0, NULL, 1) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_buckets(s, 0, 0, NULL, 0) > 0, "asks how many there are");
	CHECK(tach_report_format(NULL) == TACH_FORMAT_TEXT);
	tach_snapshot_free(s);
}

int main(void)
{
	CASE(json_is_strict);
	CASE(json_depth_is_bounded);
	CASE(json_values);
	CASE(widths_are_respected);
	CASE(colour_is_asked_for);
	CASE(no_locale_changes_numbers);
	CASE(loaded_snapshots_have_the_same_values);
	CASE(null_pointers_are_refused);
	return check_done();
}
