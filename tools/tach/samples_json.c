/* SPDX-License-Identifier: MIT */
/* Reads samples from JSON: reports, verdicts, repeated runs, results of benchmarks. */
#include <stdio.h>
#include <string.h>
#include "core/base/json.h"
#include "core/bench/bench.h"
#include "core/change/change.h"
#include "tools/tach/report.h"
#include "tools/tach/samples.h"

/* ---- results of benchmarks ---- */

static void add_bench(struct samples *s, const struct tach_bench *bench)
{
	s->of = "sample";
	for (int i = 0; i < bench->nseries; i++) {
		const struct tach__bench_series *from = &bench->series[i];
		struct series like = {.region = (char *)tach_bench_name(bench),
				      .file = (char *)"",
				      .quantity = from->name,
				      .kind = SERIES_COUNT};

		if (tach__bench_is_time(from))
			like.kind = SERIES_TIME;
		else if (tach__change_is_repeatable(from->name))
			like.kind = SERIES_EXACT;
		for (uint32_t k = 0; !from->thread && k < from->samples; k++)
			samples_add(s, &like, from->sample[k]);
	}
}

/* Loads lines of tach-bench-1. */
static int load_bench(struct samples *s, const char *text, size_t length, const char *file,
		      const char *who)
{
	struct tach_error err = TACH_ERROR_INIT;
	const char *end = text + length;
	struct tach_bench *bench;

	for (int number = 1; text < end; number++) {
		const char *next = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((next ? next : end) - text);

		if (n && tach_bench_load(text, n, &bench, &err) != 0) {
			fprintf(stderr, "%s: %s:%d:%d: %s\n", who, file, number, err.column,
				err.text);
			return -1;
		}
		if (n) {
			add_bench(s, bench);
			tach_bench_free(bench);
		}
		text += n + 1;
	}
	return 0;
}

const char *samples_text(const struct tach__json *object, const char *key)
{
	const struct tach__json *v = tach__json_member(object, key);

	return v && v->type == TACH__JSON_STRING ? v->text : NULL;
}

/* Loads all benchmarks of a google-benchmark file. */
static int load_google(struct samples *s, const struct tach__json *root, const char *text,
		       size_t length, const char *file, const char *who)
{
	const struct tach__json *list = tach__json_member(root, "benchmarks");
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench;

	for (const struct tach__json *b = list->kid; b; b = b->next) {
		const char *name = samples_text(b, "run_name");
		struct series like = {.file = (char *)"", .quantity = (char *)"time"};
		int code;

		name = name ? name : samples_text(b, "name");
		like.region = (char *)name;
		if (!name || samples_find(s, &like))
			continue;
		code = tach_bench_load_google(text, length, name, &bench, &err);
		/* A benchmark that failed has no time. */
		if (code == TACH_ERR_NOTFOUND)
			continue;
		if (code) {
			fprintf(stderr, "%s: %s: %s\n", who, file, err.text);
			return -1;
		}
		add_bench(s, bench);
		tach_bench_free(bench);
	}
	return 0;
}

/* ---- a verdict of tach gate or tach diff: its new side ---- */

static int load_verdict(struct samples *s, const struct tach__json *root, const char *file,
			const char *who)
{
	const struct tach__json *list = tach__json_member(root, "comparisons");
	const struct tach__json *now = tach__json_member(root, "now");
	const char *how = now ? samples_text(now, "counted") : NULL;

	snprintf(s->how, sizeof s->how, "%s", how ? how : "");
	s->of = "run";
	for (const struct tach__json *one = list ? list->kid : NULL; one; one = one->next) {
		const struct tach__json *value = tach__json_member(one, "new");
		const struct tach__json *line = tach__json_member(one, "line");
		const char *region = samples_text(one, "region"),
			   *unit = samples_text(one, "unit");
		const char *quantity = samples_text(one, "quantity"),
			   *place = samples_text(one, "file");
		struct series like = {.region = (char *)region,
				      .file = (char *)(place ? place : ""),
				      .line = line ? (unsigned)line->number : 0,
				      .quantity = (char *)quantity,
				      .kind = SERIES_METRIC};

		if (!region || !quantity || !unit || !value) {
			fprintf(stderr, "%s: %s:%d:%d: this is no comparison of tach gate\n",
				who, file, one->line, one->column);
			return -1;
		}
		if (value->type != TACH__JSON_NUMBER)
			continue;
		if (strcmp(unit, "ns") == 0)
			like.kind = SERIES_TIME;
		else if (strcmp(unit, "count") == 0)
			like.kind = tach__change_is_repeatable(quantity) ? SERIES_EXACT
									 : SERIES_COUNT;
		samples_add(s, &like, value->number);
	}
	return 0;
}

/* ---- tach run -r ---- */

int samples_take_series(struct samples *s, const struct tach__json *one)
{
	const struct tach__json *values = tach__json_member(one, "values");
	const struct tach__json *times = tach__json_member(one, "times");
	const struct tach__json *line = tach__json_member(one, "line");
	const char *region = samples_text(one, "region"),
		   *quantity = samples_text(one, "quantity");
	const char *file = samples_text(one, "file"), *kind = samples_text(one, "kind");
	const char *command = samples_text(one, "command");
	char both[512];
	double n = times ? times->number : 1;
	struct series like = {.region = (char *)region,
			      .quantity = (char *)quantity,
			      .file = (char *)(file ? file : ""),
			      .line = line ? (unsigned)line->number : 0};

	if (!region || !quantity || !values || !values->kid || !kind ||
	    series_kind(&like, kind) != 0 || !(n >= 1 && n <= 1e6))
		return -1;
	/* If there are several commands, the command is a region too. */
	if (command) {
		int is_command = strcmp(region, "(command)") == 0;

		snprintf(both, sizeof both, "%s%s%s", command, is_command ? "" : ": ",
			 is_command ? "" : region);
		like.region = both;
	}
	for (const struct tach__json *v = values->kid; v; v = v->next)
		for (double i = 0; v->type == TACH__JSON_NUMBER && i < n; i++)
			samples_add(s, &like, v->number);
	return 0;
}

static int load_repeat(struct samples *s, const struct tach__json *root, const char *file,
		       const char *who)
{
	const struct tach__json *list = tach__json_member(root, "series");

	s->of = "run";
	for (const struct tach__json *one = list ? list->kid : NULL; one; one = one->next)
		if (samples_take_series(s, one) != 0) {
			fprintf(stderr, "%s: %s:%d:%d: this is not a series of tach run -r\n",
				who, file, one->line, one->column);
			return -1;
		}
	return 0;
}

/* ---- what it is ---- */

int samples_load_json(struct samples *s, const char *text, size_t length, const char *file,
		      const char *who)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__arena arena = {0};
	struct tach__json *root;
	int code;

	if (length > 10 && memcmp(text, "{\"schema\"", 9) == 0)
		return load_bench(s, text, length, file, who);
	code = tach__json_read(&root, &arena, text, length, &err);
	if (!code && tach__json_member(root, "benchmarks"))
		code = load_google(s, root, text, length, file, who);
	else if (!code && tach__json_member(root, "tach-run-repeat"))
		code = load_repeat(s, root, file, who);
	else if (!code && tach__json_member(root, "results"))
		code = samples_load_hyperfine(s, root, file, who);
	else if (!code && tach__json_member(root, "tach-diff"))
		code = load_verdict(s, root, file, who);
	else {
		struct tach_snapshot *shot;

		code = report_read(&shot, text, length, file, who);
		if (!code) {
			samples_take(s, shot, NULL, NULL);
			tach_snapshot_free(shot);
		}
	}
	tach__arena_free(&arena);
	return code ? -1 : 0;
}
