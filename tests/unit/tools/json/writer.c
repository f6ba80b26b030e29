/* SPDX-License-Identifier: MIT */
/*
 * Prints the library's own JSON with its argument as name: `region` a report, `bench` a
 * benchmark, `items` every kind of item (the argument as key and as value).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tach.h>
#include <tach/bench.h>
#include "core/base/json_out.h"

static int sink(void *context, const char *text, size_t length)
{
	return fwrite(text, 1, length, context) == length ? 0 : -1;
}

static int region(const char *name)
{
	struct tach_report_options opt = {.size = sizeof opt, .format = TACH_FORMAT_JSON};
	struct tach_region_mark mark;
	struct tach_snapshot *s;
	int code;

	tach_region_begin(tach_site_get(name), &mark);
	tach_region_end(&mark);
	if (tach_snapshot_take(&s, NULL) != 0)
		return 1;
	code = tach_report_write(s, &opt, sink, stdout, NULL);
	tach_snapshot_free(s);
	return code;
}

static void body(void *context, uint64_t iterations)
{
	for (uint64_t i = 0; i < iterations; i++)
		__asm__ volatile("" ::"r"(context));
}

static int bench(const char *name)
{
	struct tach_bench_options opt = {.size = sizeof opt,
					 .events = "",
					 .samples = 5,
					 .iterations = 10,
					 .unit = name,
					 .units = 1};
	static char text[1 << 20];
	struct tach_bench *b;

	if (tach_bench_run(name, body, NULL, &opt, &b, NULL) != 0)
		return 1;
	tach_bench_print(b, TACH_BENCH_JSON, text, sizeof text);
	tach_bench_free(b);
	return fputs(text, stdout) < 0;
}

static int items(const char *text)
{
	static const enum tach__json_style styles[] = {TACH__JSON_SPACED, TACH__JSON_COMPACT};
	static struct tach__out out;
	struct tach__json_out json;

	tach__out_open(&out, sink, stdout);
	tach__out_text(&out, "[");
	for (int i = 0; i < 2; i++) {
		tach__out_text(&out, i ? ",\n" : "");
		tach__json_begin(&json, &out, styles[i]);
		tach__json_object(&json, NULL);
		tach__json_string(&json, text, text);
		tach__json_line(&json, 3);
		tach__json_array(&json, "values");
		tach__json_number(&json, NULL, 0.1);
		tach__json_number(&json, NULL, -1.7976931348623157e308);
		tach__json_number(&json, NULL, NAN);
		tach__json_number(&json, NULL, INFINITY);
		tach__json_unsigned(&json, NULL, UINT64_MAX);
		tach__json_int(&json, NULL, -2147483647 - 1);
		tach__json_hex(&json, NULL, UINT64_MAX);
		tach__json_bool(&json, NULL, 4);
		tach__json_bool(&json, NULL, 0);
		tach__json_null(&json, NULL);
		tach__json_end(&json);
		tach__json_array(&json, "deep");
		for (int depth = 0; depth < 50; depth++)
			depth % 2 ? tach__json_array(&json, "in")
				  : tach__json_object(&json, NULL);
		for (int depth = 0; depth < 50; depth++)
			tach__json_end(&json);
		tach__json_line(&json, 0);
		tach__json_end(&json);
		tach__json_object(&json, "empty");
		tach__json_end(&json);
		tach__json_end(&json);
	}
	tach__out_text(&out, "]\n");
	return tach__out_flush(&out);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "region") == 0)
		return region(argv[2]) != 0;
	if (strcmp(argv[1], "bench") == 0)
		return bench(argv[2]) != 0;
	return items(argv[2]) != 0;
}
