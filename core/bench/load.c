/* SPDX-License-Identifier: MIT */
/* Reads a benchmark's JSON; format.c defines the format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/bench.h"
#include "core/base/error.h"
#include "core/base/json.h"

enum { VALUES_MAX = TACH__BENCH_QUANTITIES_MAX + 64, SAMPLES_MAX = 10000 };

struct load {
	struct tach_bench *bench;
	struct tach_error *err;
	int code; /* code of the first error; all later calls do nothing */
};

/* Returns the member of that type, or NULL after an error. */
static const struct tach__json *want(struct load *l, const struct tach__json *object,
				     const char *key, enum tach__json_type type)
{
	const struct tach__json *found = tach__json_member(object, key);

	if (found && found->type == type)
		return found;
	if (!l->code)
		l->code = tach__error(l->err, TACH_ERR_SYNTAX, object->line, object->column,
				      "not a benchmark's result: '%s' is missing or of another "
				      "type",
				      key);
	return NULL;
}

static double get_number(struct load *l, const struct tach__json *object, const char *key)
{
	const struct tach__json *v = want(l, object, key, TACH__JSON_NUMBER);

	return v ? v->number : 0;
}

/* Reads a whole number from 0 to most. */
static uint64_t get_count(struct load *l, const struct tach__json *object, const char *key,
			  double most)
{
	const struct tach__json *v = want(l, object, key, TACH__JSON_NUMBER);

	if (v && v->number >= 0 && v->number <= most)
		return (uint64_t)v->number;
	if (!l->code)
		l->code = tach__error(l->err, TACH_ERR_SYNTAX, v->line, v->column,
				      "'%s' is not between 0 and %g", key, most);
	return 0;
}

static char *string(struct load *l, const struct tach__json *object, const char *key)
{
	const struct tach__json *v = want(l, object, key, TACH__JSON_STRING);
	char *copy = v ? strdup(v->text) : NULL;

	if (v && !copy)
		l->code = TACH_ERR_NOMEM;
	return copy;
}

/* Reads a text that may be missing, and cuts it to size. */
static void get_optional_text(struct load *l, const struct tach__json *object, const char *key,
			      char *to, size_t size)
{
	const struct tach__json *v =
		tach__json_member(object, key) ? want(l, object, key, TACH__JSON_STRING) : NULL;

	if (v)
		snprintf(to, size, "%s", v->text);
}

static void load_samples(struct load *l, const struct tach__json *from,
			 struct tach__bench_series *s)
{
	const struct tach__json *all = want(l, from, "sample", TACH__JSON_ARRAY);

	if (!all)
		return;
	s->sample = malloc(SAMPLES_MAX * sizeof *s->sample);
	if (!s->sample)
		l->code = TACH_ERR_NOMEM;
	for (const struct tach__json *k = all->kid; k && !l->code; k = k->next) {
		if (k->type != TACH__JSON_NUMBER || s->samples == SAMPLES_MAX) {
			l->code = tach__error(l->err, TACH_ERR_SYNTAX, k->line, k->column,
					      "samples are at most %d numbers", SAMPLES_MAX);
			return;
		}
		s->sample[s->samples++] = k->number;
	}
	if (!l->code && s->samples == 0)
		l->code = tach__error(l->err, TACH_ERR_SYNTAX, all->line, all->column,
				      "there is no sample");
}

static void load_quantity(struct load *l, const struct tach__json *from,
			  struct tach__bench_series *s)
{
	s->name = string(l, from, "name");
	s->empty = get_number(l, from, "empty");
	s->resolution = get_number(l, from, "resolution");
	s->outliers = (uint32_t)get_count(l, from, "outliers", SAMPLES_MAX);
	s->flags = (uint32_t)get_count(l, from, "flags", UINT32_MAX);
	s->pass = (uint32_t)get_count(l, from, "pass", VALUES_MAX);
	if (tach__json_member(from, "thread"))
		s->thread = (uint32_t)get_count(l, from, "thread", TACH__BENCH_THREADS_MAX);
	if (tach__json_member(from, "rate"))
		s->rate = (uint32_t)get_count(l, from, "rate", 1);
	load_samples(l, from, s);
}

static void load_quantities(struct load *l, const struct tach__json *list)
{
	struct tach_bench *b = l->bench;
	int n = 0;

	for (const struct tach__json *v = list->kid; v; v = v->next)
		n++;
	if (n > VALUES_MAX || n == 0) {
		l->code = tach__error(l->err, TACH_ERR_SYNTAX, list->line, list->column,
				      "no value, or more than %d", VALUES_MAX);
		return;
	}
	b->series = calloc((size_t)n, sizeof *b->series);
	if (!b->series)
		l->code = TACH_ERR_NOMEM;
	for (const struct tach__json *v = list->kid; v && !l->code; v = v->next)
		load_quantity(l, v, &b->series[b->nseries++]);
}

static void load_result(struct load *l, const struct tach__json *root)
{
	const struct tach__json *schema = want(l, root, "schema", TACH__JSON_STRING), *list;
	struct tach_bench *b = l->bench;

	if (schema && strcmp(schema->text, "tach-bench-1") != 0)
		l->code = tach__error(l->err, TACH_ERR_NOTSUPP, schema->line, schema->column,
				      "schema '%s', not tach-bench-1", schema->text);
	if (l->code)
		return;
	b->name = string(l, root, "name");
	b->iterations = get_count(l, root, "iterations", 0x1p63);
	b->npasses = (int)get_count(l, root, "passes", VALUES_MAX);
	b->drift = get_number(l, root, "drift");
	b->confidence = get_number(l, root, "confidence");
	if (!l->code && !(b->confidence > 0 && b->confidence < 1))
		l->code = tach__error(l->err, TACH_ERR_SYNTAX, root->line, root->column,
				      "'confidence' is not between 0 and 1");
	if (tach__json_member(root, "unit")) {
		b->unit = string(l, root, "unit");
		b->units = get_number(l, root, "units");
	}
	b->threads = tach__json_member(root, "threads")
			     ? (unsigned)get_count(l, root, "threads", TACH__BENCH_THREADS_MAX)
			     : 1;
	get_optional_text(l, root, "date", b->date, sizeof b->date);
	get_optional_text(l, root, "host", b->host, sizeof b->host);
	get_optional_text(l, root, "machine", b->machine, sizeof b->machine);
	list = want(l, root, "values", TACH__JSON_ARRAY);
	if (list)
		load_quantities(l, list);
}

int tach_bench_load(const char *json, size_t length, struct tach_bench **out,
		    struct tach_error *err)
{
	struct load l = {.err = err};
	struct tach__arena arena = {0};
	struct tach__json *root;

	if (!out || !json)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no text, or nowhere to put it");
	*out = NULL;
	l.bench = calloc(1, sizeof *l.bench);
	l.code = l.bench ? tach__json_read(&root, &arena, json, length, err) : TACH_ERR_NOMEM;
	if (!l.code)
		load_result(&l, root);
	tach__arena_free(&arena);
	if (l.code) {
		tach_bench_free(l.bench);
		return l.code == TACH_ERR_NOMEM
			       ? tach__error(err, l.code, 0, 0, "out of memory")
			       : l.code;
	}
	*out = l.bench;
	return 0;
}
