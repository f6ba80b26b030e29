/* SPDX-License-Identifier: MIT */
/*
 * JSON is read and written: what RFC 8259 permits and forbids, the position of an error, and no
 * read beyond the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/base/arena.h"
#include "core/base/flags.h"
#include "core/base/json.h"
#include "core/base/json_out.h"
#include "core/base/sort.h"
#include "tests/check.h"
#include "tests/heap.h"
#include "tests/unit/base/edge.h"

static char written[1 << 15];
static size_t nwritten;

static int keep(void *context, const char *text, size_t length)
{
	(void)context;
	if (nwritten + length >= sizeof written)
		return TACH_ERR_NOMEM;
	memcpy(written + nwritten, text, length);
	nwritten += length;
	written[nwritten] = '\0';
	return 0;
}

static void write_value(struct tach__json_out *json, const struct tach__json *v)
{
	switch (v->type) {
	case TACH__JSON_NULL:
		tach__json_null(json, v->key);
		break;
	case TACH__JSON_FALSE:
	case TACH__JSON_TRUE:
		tach__json_bool(json, v->key, v->type == TACH__JSON_TRUE);
		break;
	case TACH__JSON_NUMBER:
		tach__json_number(json, v->key, v->number);
		break;
	case TACH__JSON_STRING:
		tach__json_string(json, v->key, v->text);
		break;
	default:
		if (v->type == TACH__JSON_OBJECT)
			tach__json_object(json, v->key);
		else
			tach__json_array(json, v->key);
		for (v = v->kid; v; v = v->next)
			write_value(json, v);
		tach__json_end(json);
	}
}

/* Reads JSON and writes it again; if it is refused, returns the error's position. */
static const char *again(const char *text, enum tach__json_style style, struct tach_error *err)
{
	struct tach__arena arena = {0};
	struct tach__json *value = NULL;
	struct tach__json_out json;
	size_t n = strlen(text);
	struct tach__out out;

	*err = (struct tach_error)TACH_ERROR_INIT;
	nwritten = 0;
	written[0] = '\0';
	if (tach__json_read(&value, &arena, at_the_edge(text, n), n, err) == 0) {
		tach__out_open(&out, keep, NULL);
		tach__json_begin(&json, &out, style);
		write_value(&json, value);
		tach__out_flush(&out);
	}
	tach__arena_free(&arena);
	return written;
}

static void what_is_json(void)
{
	static const struct {
		const char *text, *compact;
	} cases[] = {
		{"null", NULL},
		{" true ", "true"},
		{"\t\r\nfalse\n", "false"},
		{"0", NULL},
		{"-0.5e+1", "-5"},
		{"1E2", "100"},
		{"1e-2", "0.01"},
		{"12.50", "12.5"},
		{"9007199254740993", "9007199254740992"},
		{"\"\"", NULL},
		{"\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\te\"",
		 "\"a\\\"b\\\\c/d\\u0008\\u000c\\u000a\\u000d\\u0009e\""},
		{"\"\\u0041\\u00e9\\u4E00\\uD83D\\ude00\\uabCD\"",
		 "\"A\xc3\xa9\xe4\xb8\x80\xf0\x9f\x98\x80\xea\xaf\x8d\""},
		{"\"\\udbff\\udfff\\ud800\\udc00\\ud7ff\\ue000\"",
		 "\"\xf4\x8f\xbf\xbf\xf0\x90\x80\x80\xed\x9f\xbf\xee\x80\x80\""},
		{"\"\xc3\xa9\xe4\xb8\x80<\x7f\"", "\"\xc3\xa9\xe4\xb8\x80\\u003c\\u007f\""},
		{"[]", NULL},
		{"[ ]", "[]"},
		{"{ }", "{}"},
		{"[1 , 2,3 ]", "[1,2,3]"},
		{"[[],[[]],{}]", NULL},
		{"{\"a\":1}", NULL},
		{" { \"a\" : [ 1 , { \"b\" : null , \"c\" : \"d\" } ] , \"e\" : {} } ",
		 "{\"a\":[1,{\"b\":null,\"c\":\"d\"}],\"e\":{}}"},
		{"{\"a\":1,\"a\":2}", NULL},
	};
	struct tach_error err;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *expected = cases[i].compact ? cases[i].compact : cases[i].text;

		again(cases[i].text, TACH__JSON_COMPACT, &err);
		CHECK(strcmp(written, expected) == 0, "%s: %s (%d:%d: %s)", cases[i].text,
		      written, err.line, err.column, err.text);
	}
	again("{\"a\":[1,2,{}],\"b\":3}", TACH__JSON_SPACED, &err);
	CHECK(strcmp(written, "{\"a\": [1, 2, {}], \"b\": 3}") == 0, "%s", written);
}

static void invalid_json_is_refused(void)
{
	static const struct {
		const char *text;
		int line, column;
		const char *why;
	} cases[] = {
		{"", 1, 1, "ends too soon"},
		{" \n ", 2, 2, "ends too soon"},
		{"nul", 1, 1, "expected a value"},
		{"True", 1, 1, "expected a value"},
		{"nullx", 1, 5, "more text"},
		{"1 2", 1, 3, "more text"},
		{"01", 1, 2, "more text"},
		{"-", 1, 2, "expected a value"},
		{"-a", 1, 2, "expected a value"},
		{"+1", 1, 1, "expected a value"},
		{".5", 1, 1, "expected a value"},
		{"1.", 1, 3, "decimal point"},
		{"1.e5", 1, 3, "decimal point"},
		{"1e", 1, 3, "exponent"},
		{"1e+", 1, 4, "exponent"},
		{"1e-+2", 1, 4, "exponent"},
		{"1e999", 1, 6, "beyond"},
		{"/", 1, 1, "expected a value"},
		{":", 1, 1, "expected a value"},
		{"\"", 1, 2, "without an end"},
		{"\"a\\\"", 1, 2, "without an end"},
		{"\"a\\", 1, 2, "without an end"},
		{"\"\\x\"", 1, 3, "no such escape"},
		{"\"\\u12g4\"", 1, 6, "four hexadecimal"},
		{"\"\\u123\"", 1, 7, "four hexadecimal"},
		{"\"\\u0000\"", 1, 8, "NUL"},
		{"\"\\ud800\"", 1, 8, "second half"},
		{"\"\\ud800\\n\"", 1, 9, "second half"},
		{"\"\\ud800\\ud800\"", 1, 14, "second half"},
		{"\"\\ud800\\ue000\"", 1, 14, "second half"},
		{"\"\\ud800\\udbff\"", 1, 14, "second half"},
		{"\"\\udbff\\u0041\"", 1, 14, "second half"},
		{"\"\\udc00\"", 1, 8, "half a surrogate"},
		{"\"\\udfff\"", 1, 8, "half a surrogate"},
		{"\"a\nb\"", 1, 3, "control character"},
		{"\"\x1f\"", 1, 2, "control character"},
		{"\"\xff\"", 1, 2, "UTF-8"},
		{"\"ab\xc3\"", 1, 4, "UTF-8"},
		{"[", 1, 2, "ends too soon"},
		{"[1", 1, 3, "expected ',' or ']'"},
		{"[1,", 1, 4, "ends too soon"},
		{"[1,]", 1, 4, "expected a value"},
		{"[1 2]", 1, 4, "expected ',' or ']'"},
		{"[1}", 1, 3, "expected ',' or ']'"},
		{"]", 1, 1, "expected a value"},
		{"{", 1, 2, "name in quotes"},
		{"{\"a\"", 1, 5, "expected ':'"},
		{"{\"a\" 1}", 1, 6, "expected ':'"},
		{"{\"a\":", 1, 6, "ends too soon"},
		{"{\"a\":1", 1, 7, "expected ',' or '}'"},
		{"{\"a\":1]", 1, 7, "expected ',' or '}'"},
		{"{\"a\":1,}", 1, 8, "name in quotes"},
		{"{a:1}", 1, 2, "name in quotes"},
		{"{\"\\q\":1}", 1, 4, "no such escape"},
		{"[1,\n 2,\n\n  x]", 4, 3, "expected a value"},
		{"[1] // no comments", 1, 5, "more text"},
	};
	struct tach_error err;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		again(cases[i].text, TACH__JSON_COMPACT, &err);
		CHECK(err.code == TACH_ERR_SYNTAX && err.line == cases[i].line &&
			      err.column == cases[i].column && strstr(err.text, cases[i].why),
		      "%s: %d:%d: %s", cases[i].text, err.line, err.column, err.text);
	}
}

/* A byte of 0 does not end the text, and is no digit, escape or blank. */
static void a_byte_of_0(void)
{
	static const char texts[][10] = {"\"\\u004\0\"", "\"\\\0\"", "\0",    " \0",
					 "1\0",		 "\"\0\"",   "nul\0", "[\0]"};
	static const int lengths[] = {8, 4, 1, 2, 2, 3, 4, 3};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach__arena arena = {0};
		struct tach__json *v;
		size_t n = (size_t)lengths[i];

		CHECK(tach__json_read(&v, &arena, at_the_edge(texts[i], n), n, &err) ==
			      TACH_ERR_SYNTAX,
		      "%zu", i);
		tach__arena_free(&arena);
	}
}

static void nesting_is_limited(void)
{
	char text[400];
	struct tach_error err;

	for (int depth = 63; depth <= 65; depth++) {
		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		text[2 * depth] = '\0';
		CHECK((strcmp(again(text, TACH__JSON_COMPACT, &err), text) == 0) ==
			      (depth <= 64),
		      "%d", depth);
		CHECK(depth <= 64 || strstr(err.text, "deeply"), "%s", err.text);
	}
	/* An array may have any number of values. */
	strcpy(text, "[");
	for (int i = 0; i < 70; i++)
		strcat(text, i % 2 ? "{}," : "[],");
	strcat(text, "0]");
	CHECK(strcmp(again(text, TACH__JSON_COMPACT, &err), text) == 0, "%s", err.text);
	for (int n = 99; n <= 101; n++) {
		memset(text, '1', (size_t)n);
		text[n] = '\0';
		again(text, TACH__JSON_COMPACT, &err);
		CHECK((err.code == 0) == (n <= 100), "%d: %s", n, err.text);
		CHECK(n <= 100 || (err.column == n + 1 && strstr(err.text, "100")));
	}
}

static void places_and_members(void)
{
	static const char text[] = "{\"a\": 1,\n \"b\":\n  [true, \"x\"], \"a\": 2}";
	struct tach__arena arena = {0};
	struct tach__json *v = NULL;
	const struct tach__json *a, *b;

	CHECK(tach__json_read(&v, &arena, text, strlen(text), NULL) == 0);
	a = tach__json_member(v, "a");
	b = tach__json_member(v, "b");
	CHECK(a && a->number == 1 && a->line == 1 && a->column == 7);
	CHECK(b && b->line == 3 && b->column == 3 && b->kid->type == TACH__JSON_TRUE);
	CHECK(b && b->kid->next->column == 10 && !b->kid->next->next);
	CHECK(!tach__json_member(v, "c") && b && !tach__json_member(b, "a"));
	CHECK(v->line == 1 && v->column == 1 && !v->next);
	tach__arena_free(&arena);
}

static void lines(void)
{
	struct tach__json_out json;
	struct tach__out out;

	nwritten = 0;
	tach__out_open(&out, keep, NULL);
	tach__json_begin(&json, &out, TACH__JSON_SPACED);
	tach__json_object(&json, NULL);
	tach__json_line(&json, 2);
	tach__json_unsigned(&json, "u", UINT64_MAX);
	tach__json_int(&json, "i", -7);
	tach__json_line(&json, 0);
	tach__json_hex(&json, "h", 0xabcdef0123456789u);
	tach__json_array(&json, "n");
	tach__json_number(&json, NULL, 0.1);
	tach__json_number(&json, NULL, 1.0 / 0.0);
	tach__json_line(&json, 1);
	tach__json_end(&json);
	tach__json_line(&json, 0);
	tach__json_end(&json);
	tach__out_flush(&out);
	CHECK(strcmp(written, "{\n  \"u\": 18446744073709551615, \"i\": -7,\n"
			      "\"h\": \"0xabcdef0123456789\", \"n\": [0.1, null\n ]\n}") == 0,
	      "%s", written);
}

static void flags_by_their_names(void)
{
	static const struct {
		uint32_t flags;
		const char *list, *json;
	} cases[] = {
		{0, "", "{\"flags\":[]}"},
		{TACH_FLAG_RESCHEDULED, "rescheduled", "{\"flags\":[\"rescheduled\"]}"},
		{TACH_FLAG_INCOMPLETE | TACH_FLAG_LOST, "incomplete, lost",
		 "{\"flags\":[\"incomplete\",\"lost\"]}"},
		{TACH_FLAG_SYSCALL | TACH_FLAG_SCALED | TACH_FLAG_MIXED,
		 "syscall, scaled, mixed", "{\"flags\":[\"syscall\",\"scaled\",\"mixed\"]}"},
		{TACH_FLAG_CLOCK | TACH_FLAG_DIVZERO | TACH_FLAG_STALE | TACH_FLAG_SMALL,
		 "clock-estimate, division-by-zero, stale, small",
		 "{\"flags\":[\"clock-estimate\",\"division-by-zero\",\"stale\",\"small\"]}"},
		{TACH_FLAG_CORRECTED | TACH_FLAG_EMULATED | TACH_FLAG_SHARED,
		 "corrected, emulated, shared",
		 "{\"flags\":[\"corrected\",\"emulated\",\"shared\"]}"},
	};
	struct tach__json_out json;
	struct tach__out out;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		nwritten = 0;
		written[0] = '\0';
		tach__out_open(&out, keep, NULL);
		tach__out_flags(&out, cases[i].flags, ", ");
		tach__out_flush(&out);
		CHECK(strcmp(written, cases[i].list) == 0, "%s", written);
		nwritten = 0;
		tach__out_open(&out, keep, NULL);
		tach__json_begin(&json, &out, TACH__JSON_COMPACT);
		tach__json_object(&json, NULL);
		tach__json_flags(&json, cases[i].flags);
		tach__json_end(&json);
		tach__out_flush(&out);
		CHECK(strcmp(written, cases[i].json) == 0, "%s", written);
	}
}

/* ---- output ---- */

static int pieces, refuse;

static int piecewise(void *context, const char *text, size_t length)
{
	pieces++;
	if (refuse)
		return -refuse;
	return keep(context, text, length);
}

static void pieces_of_a_buffer(void)
{
	struct tach__out out;
	char row[101];

	memset(row, 'r', 100);
	row[100] = '\0';
	nwritten = 0;
	pieces = 0;
	tach__out_open(&out, piecewise, NULL);
	CHECK(tach__out_flush(&out) == 0 && pieces == 0);
	for (int i = 0; i < 99; i++)
		i % 2 ? tach__out(&out, "%s", row) : tach__out_bytes(&out, row, 100);
	CHECK(tach__out_flush(&out) == 0 && nwritten == 9900 && out.used == 0);
	CHECK(strspn(written, "r") == 9900 && pieces == 3, "%d", pieces);
	/* For each function, the text fills the buffer exactly. */
	for (int way = 0; way < 2; way++)
		for (size_t n = sizeof out.buffer - 2; n <= sizeof out.buffer + 1; n++) {
			static char long_row[sizeof out.buffer + 2];

			for (size_t i = 0; i < n; i++)
				long_row[i] = (char)('a' + i % 19);
			long_row[n] = '\0';
			nwritten = 0;
			tach__out_text(&out, "ab");
			if (way == 0)
				tach__out_text(&out, long_row);
			else if (n < sizeof out.buffer)
				tach__out(&out, "%s", long_row);
			else
				break;
			CHECK(tach__out_flush(&out) == 0);
			CHECK(nwritten == n + 2 && memcmp(written + 2, long_row, n) == 0, "%zu",
			      n);
		}
	/* After an error nothing more is written, and the error stays. */
	refuse = 5;
	pieces = 0;
	tach__out_text(&out, "a");
	CHECK(tach__out_flush(&out) == -5 && pieces == 1 && out.used == 0);
	refuse = 0;
	tach__out_text(&out, "b");
	CHECK(tach__out_flush(&out) == -5 && pieces == 1);
}

static void cells_of_csv(void)
{
	static const struct {
		const char *text, *cell;
	} cases[] = {{"", "\"\""},
		     {"a,b", "\"a,b\""},
		     {"a\"b", "\"a\"\"b\""},
		     {"=1", "\"'=1\""},
		     {"+", "\"'+\""},
		     {"-x", "\"'-x\""},
		     {"@a", "\"'@a\""},
		     {"a=", "\"a=\""},
		     {"\tb", "\"'\tb\""},
		     {"a\nb\tc", "\"a\nb\tc\""},
		     {"a\rb", "\"a\xef\xbf\xbd"
			      "b\""},
		     {"a\xff", "\"a\xef\xbf\xbd\""},
		     {"\xc3\xa9", "\"\xc3\xa9\""}};
	struct tach__out out;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		nwritten = 0;
		tach__out_open(&out, keep, NULL);
		tach__out_csv_string(&out, cases[i].text);
		tach__out_flush(&out);
		CHECK(strcmp(written, cases[i].cell) == 0, "%s: %s", cases[i].text, written);
	}
}

/* ---- storage ---- */

static void pieces_of_an_arena(void)
{
	struct tach__arena arena = {0};
	unsigned char *before = NULL;
	size_t size_before = 0;

	for (size_t size = 1; size < 40000; size += size < 100 ? 1 : 997) {
		unsigned char *at = tach__arena_get(&arena, size);

		CHECK(at && (uintptr_t)at % _Alignof(max_align_t) == 0, "%zu", size);
		for (size_t i = 0; i < size; i++)
			CHECK(at[i] == 0, "%zu of %zu", i, size);
		memset(at, 0xee, size);
		for (size_t i = 0; i < size_before; i++)
			CHECK(before[i] == 0xee, "%zu of %zu", i, size_before);
		before = at;
		size_before = size;
	}
	CHECK(strcmp(tach__arena_copy(&arena, at_the_edge("text", 5)), "text") == 0);
	CHECK(*tach__arena_copy(&arena, "") == '\0');
	CHECK(!tach__arena_get(&arena, SIZE_MAX) && !tach__arena_get(&arena, SIZE_MAX / 2 + 1));
	tach__arena_free(&arena);
	CHECK(!arena.blocks && arena.used == 0 && arena.size == 0);
	tach__arena_free(&arena);
}

static void nothing_is_kept(void)
{
	size_t before = 0;

	if (!HEAP_IS_KNOWN)
		SKIP(HEAP_SKIP);
	for (int round = 0; round < 20; round++) {
		struct tach__arena arena = {0};

		/* The allocator caches some blocks of each size. */
		if (round == 10)
			before = heap_in_use();
		for (int i = 0; i < 9; i++)
			tach__arena_get(&arena, 9000);
		tach__arena_free(&arena);
	}
	CHECK(heap_in_use() == before, "%zu bytes, were %zu", heap_in_use(), before);
}

/* Small allocations share a block, up to its last byte; a large one has its own block. */
static void whole_blocks(void)
{
	struct tach__arena arena = {0};
	char *at = tach__arena_get(&arena, 1);
	size_t step = arena.used;

	CHECK(step == sizeof(max_align_t) && arena.size == 16384);
	for (size_t n = 2; n <= 16384 / step; n++) {
		char *next = tach__arena_get(&arena, n % 2 ? step : 1);

		CHECK(next == at + step && arena.used == n * step);
		at = next;
	}
	CHECK(arena.used == 16384 && arena.size == 16384);
	tach__arena_get(&arena, 1);
	CHECK(arena.used == step && arena.size == 16384);
	tach__arena_get(&arena, 16384);
	CHECK(arena.used == 16384 && arena.size == 16384);
	tach__arena_get(&arena, 16384 + 1);
	CHECK(arena.used == 16384 + step && arena.size == 16384 + step);
	tach__arena_free(&arena);
}

static int compares;

static int by_first(const void *a, const void *b)
{
	const unsigned char *x = a, *y = b;

	compares++;
	return (x[0] > y[0]) - (x[0] < y[0]);
}

static void sorting_in_place(void)
{
	for (size_t n = 0; n <= 200; n++) {
		unsigned char list[202][3];

		for (size_t i = 0; i < n; i++) {
			list[i + 1][0] = (unsigned char)(i * 89 % (n % 3 ? 211 : 7));
			list[i + 1][1] = (unsigned char)(list[i + 1][0] + 1);
			list[i + 1][2] = (unsigned char)(list[i + 1][0] + 2);
		}
		memset(list[0], 0xff, 3);
		memset(list[n + 1], 0, 3);
		compares = 0;
		tach__heapsort(list + 1, n, 3, by_first);
		for (size_t i = 1; i < n; i++)
			CHECK(list[i][0] <= list[i + 1][0], "%zu of %zu", i, n);
		for (size_t i = 1; i <= n; i++)
			CHECK(list[i][1] == (unsigned char)(list[i][0] + 1) &&
			      list[i][2] == (unsigned char)(list[i][0] + 2));
		CHECK(list[0][0] == 0xff && list[n + 1][0] == 0);
		CHECK((size_t)compares <= 20 * n, "%d of %zu", compares, n);
	}
}

int main(void)
{
	CASE(what_is_json);
	CASE(invalid_json_is_refused);
	CASE(a_byte_of_0);
	CASE(nesting_is_limited);
	CASE(places_and_members);
	CASE(lines);
	CASE(flags_by_their_names);
	CASE(pieces_of_a_buffer);
	CASE(cells_of_csv);
	CASE(pieces_of_an_arena);
	CASE(nothing_is_kept);
	CASE(whole_blocks);
	CASE(sorting_in_place);
	return check_done();
}
