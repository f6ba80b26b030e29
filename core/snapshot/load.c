/* SPDX-License-Identifier: MIT */
/* Reads a JSON report back into a snapshot; core/report/json.c defines the format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/flags.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/snapshot/plain.h"
#include "core/snapshot/snapshot.h"

#define BOUND_MAX 1e100 /* the sum of two bounds is still finite */
enum { VERSION = 1, BUCKETS_MAX = 1 << 20, LEVELS_MAX = 64 };

struct load {
	struct tach_snapshot *snapshot;
	struct tach__plain *plain;
	struct tach_error *err;
	int code; /* the first error; later calls do nothing */
};

static void fail(struct load *l, const struct tach__json *at, const char *format,
		 const char *what)
{
	if (l->code)
		return;
	l->code = tach__error(l->err, TACH_ERR_SYNTAX, at->line, at->column, format, what);
}

static void no_memory(struct load *l)
{
	if (!l->code)
		l->code = tach__error(l->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
}

/* Returns the member if it has that type, otherwise reports an error and returns zeros. */
static const struct tach__json *want(struct load *l, const struct tach__json *object,
				     const char *key, enum tach__json_type type)
{
	static const struct tach__json nothing = {.text = ""};
	static const char *const names[] = {
		[TACH__JSON_NUMBER] = "'%s' is not a number",
		[TACH__JSON_STRING] = "'%s' is not a string",
		[TACH__JSON_ARRAY] = "'%s' is not an array",
		[TACH__JSON_OBJECT] = "'%s' is not an object",
	};
	const struct tach__json *found = tach__json_member(object, key);

	if (found && found->type == type)
		return found;
	if (found)
		fail(l, found, names[type], key);
	else
		fail(l, object, "not a report of tach: '%s' is missing", key);
	return &nothing;
}

static double number(struct load *l, const struct tach__json *object, const char *key)
{
	return want(l, object, key, TACH__JSON_NUMBER)->number;
}

static uint64_t read_count(struct load *l, const struct tach__json *object, const char *key)
{
	const struct tach__json *v = want(l, object, key, TACH__JSON_NUMBER);

	if (v->number >= 0 && v->number < 0x1p64)
		return (uint64_t)v->number;
	fail(l, v, "'%s' is not a count", key);
	return 0;
}

static const char *text(struct load *l, const struct tach__json *object, const char *key)
{
	const char *copy = tach__arena_copy(&l->plain->arena,
					    want(l, object, key, TACH__JSON_STRING)->text);

	if (!copy)
		no_memory(l);
	return copy ? copy : "";
}

static int length(const struct tach__json *array)
{
	int n = 0;

	for (const struct tach__json *k = array->kid; k; k = k->next)
		n++;
	return n;
}

/* ---- regions ---- */

/* null is the result of a division by zero. */
static double value_number(struct load *l, const struct tach__json *object, const char *key)
{
	const struct tach__json *v = tach__json_member(object, key);

	return v && v->type == TACH__JSON_NULL ? NAN : number(l, object, key);
}

static void load_value(struct load *l, const struct tach__json *part, const char *name,
		       struct tach_value *v)
{
	const struct tach__json *from = want(l, part, name, TACH__JSON_OBJECT), *word;

	if (l->code)
		return;
	v->value = value_number(l, from, "value");
	v->raw = value_number(l, from, "raw");
	v->overhead = number(l, from, "overhead");
	v->error = number(l, from, "error");
	if (tach__json_member(from, "share"))
		v->share = (uint32_t)fmin(fmax(1e6 * number(l, from, "share") + 0.5, 0), 1e6);
	for (word = want(l, from, "flags", TACH__JSON_ARRAY)->kid; word; word = word->next)
		v->flags |= tach__flag_named(word->text);
}

static int is_bucket(const struct tach__json *low)
{
	const struct tach__json *high = low->next, *count = high->next;

	return low->type == TACH__JSON_NUMBER && high->type == TACH__JSON_NUMBER &&
	       count->type == TACH__JSON_NUMBER && low->number >= 0 &&
	       high->number >= low->number && high->number < BOUND_MAX && count->number >= 0 &&
	       count->number < 0x1p64;
}

/* [[low, high, count], ...] */
static void load_histogram(struct load *l, const struct tach__json *from,
			   struct tach__plain_buckets *to)
{
	int n = length(from);

	to->at = n < BUCKETS_MAX ? tach__arena_get(&l->plain->arena, (size_t)n * sizeof *to->at)
				 : NULL;
	if (!to->at)
		no_memory(l);
	for (const struct tach__json *b = from->kid; b && !l->code; b = b->next) {
		const struct tach__json *k = b->kid;
		struct tach_bucket *bucket = &to->at[to->count++];

		if (b->type != TACH__JSON_ARRAY || length(b) != 3 || !is_bucket(k)) {
			fail(l, b, "%s", "a bucket is [low, high, count]");
			return;
		}
		bucket->low = k->number;
		bucket->high = k->next->number;
		bucket->count = (uint64_t)k->next->next->number;
	}
}

/* [{at, tag, thread, ..., values}, ...] */
static void load_worst_one(struct load *l, const struct tach__json *from,
			   struct tach__plain_worst *to)
{
	const struct tach__json *values = want(l, from, "values", TACH__JSON_OBJECT), *word;
	struct tach__plain *s = l->plain;

	to->info.size = sizeof to->info;
	to->info.at = number(l, from, "at");
	to->info.tag = strtoull(want(l, from, "tag", TACH__JSON_STRING)->text, NULL, 0);
	to->info.thread = (int)(read_count(l, from, "thread") & INT32_MAX);
	to->info.thread_name = text(l, from, "thread_name");
	to->info.parent = text(l, from, "parent");
	for (word = want(l, from, "flags", TACH__JSON_ARRAY)->kid; word; word = word->next)
		to->info.flags |= tach__flag_named(word->text);
	to->value = tach__arena_get(&s->arena, (size_t)s->nquantities * sizeof *to->value);
	if (!to->value)
		no_memory(l);
	for (int q = 0; q < s->nquantities && !l->code; q++)
		to->value[q] = value_number(l, values, s->quantity[q]);
}

static void load_worst(struct load *l, const struct tach__json *from,
		       struct tach__plain_region *to)
{
	const struct tach__json *all = tach__json_member(from, "worst");
	int n = all && l->plain->worst ? length(all) : 0;

	if (!n)
		return;
	to->worst = tach__arena_get(&l->plain->arena, (size_t)n * sizeof *to->worst);
	if (!to->worst)
		no_memory(l);
	for (const struct tach__json *w = all->kid; w && !l->code; w = w->next)
		load_worst_one(l, w, &to->worst[to->nworst++]);
}

static void load_info(struct load *l, const struct tach__json *from,
		      struct tach_region_info *info)
{
	const struct tach__json *how = want(l, from, "provenance", TACH__JSON_OBJECT);

	info->name = text(l, from, "name");
	info->file = text(l, from, "file");
	info->function = text(l, from, "function");
	info->of = text(l, from, tach__json_member(from, "of") ? "of" : "name");
	info->task = tach__json_member(from, "task") ? text(l, from, "task") : "";
	info->tag = tach__json_member(from, "tag") ? text(l, from, "tag") : "";
	info->thread = tach__json_member(from, "thread") ? text(l, from, "thread") : "";
	info->line = (uint32_t)read_count(l, from, "line");
	info->fenced = tach__json_is_true(from, "fenced");
	info->entries = read_count(l, from, "entries");
	info->calls = read_count(l, from, "calls");
	info->outermost = read_count(l, from, "outermost");
	info->skipped = read_count(l, from, "skipped");
	info->excluded = read_count(l, from, "excluded");
	if (tach__json_member(from, "lost")) /* missing in version 0.1 */
		info->lost = read_count(l, from, "lost");
	info->nested = read_count(l, from, "nested");
	info->threads = (uint32_t)read_count(l, from, "threads");
	if (tach__json_member(from, "overlapping")) /* since 0.2 */
		info->overlapping = read_count(l, from, "overlapping") != 0;
	info->parent = tach__json_member(from, "parent")
			       ? (int)(read_count(l, from, "parent") & INT32_MAX)
			       : -1;
	for (int i = 0; i < 6; i++)
		if (tach__json_member(how, tach__flag_names[i].name))
			info->provenance[i] = read_count(l, how, tach__flag_names[i].name);
}

static void load_region(struct load *l, const struct tach__json *from, int region)
{
	static const char *const parts[] = {"inclusive", "self"};
	const struct tach__json *histograms = tach__json_member(from, "histograms"), *h;
	struct tach__plain *s = l->plain;
	struct tach__plain_region *to = &s->region[region];

	/* Allocate region by region, so that memory stays proportional to the file's size. */
	if (tach__plain_allocate_region(s, region) != 0)
		no_memory(l);
	if (!l->code)
		load_info(l, from, &to->info);
	if (tach__json_member(from, "rank"))
		to->rank = 1 + (int)(read_count(l, from, "rank") & (INT32_MAX >> 1));
	to->repeats = tach__json_is_true(from, "repeats");
	for (int part = 0; part < 2 && !l->code; part++) {
		const struct tach__json *v = want(l, from, parts[part], TACH__JSON_OBJECT);

		for (int q = 0; q < s->nquantities; q++)
			load_value(l, v, s->quantity[q], &to->value[part][q]);
		for (int m = 0; m < s->nmetrics; m++)
			load_value(l, v, s->metric[m].name,
				   &to->value[part][s->nquantities + m]);
	}
	for (int q = 0; histograms && !l->code && q < s->nquantities; q++)
		if ((h = tach__json_member(histograms, s->quantity[q])))
			load_histogram(l, h, &to->histogram[q]);
	if (!l->code)
		load_worst(l, from, to);
}

/* ---- the whole ---- */

static const char *optional_text(struct load *l, const struct tach__json *object,
				 const char *key)
{
	return tach__json_member(object, key) ? text(l, object, key) : NULL;
}

/* Reports of version 0.1 lack these fields. */
static void load_node(struct load *l, const struct tach__json *from, struct tach__place *node)
{
	uint64_t level = tach__json_member(from, "level") ? read_count(l, from, "level") : 0;

	node->level = level < LEVELS_MAX ? (int)level : LEVELS_MAX;
	if (tach__json_member(from, "scale"))
		node->scale = number(l, from, "scale");
	node->unit = optional_text(l, from, "unit");
	node->parent = optional_text(l, from, "parent");
	node->threshold = optional_text(l, from, "threshold");
	node->description = optional_text(l, from, "description");
}

static void load_names(struct load *l, const struct tach__json *quantities,
		       const struct tach__json *metrics)
{
	struct tach__plain *s = l->plain;
	int i = 0;

	for (const struct tach__json *q = quantities->kid; q; q = q->next, i++) {
		s->quantity[i] = text(l, q, "name");
		tach__plain_mark_operand(s, i, tach__json_is_true(q, "operand"));
	}
	i = 0;
	for (const struct tach__json *m = metrics->kid; m; m = m->next, i++) {
		s->metric[i].name = text(l, m, "name");
		if (tach__json_member(m, "formula"))
			s->metric[i].text = text(l, m, "formula");
		load_node(l, m, &s->metric[i].node);
	}
}

static void load_counts(struct load *l, const struct tach__json *from)
{
	const struct tach__json *clock = want(l, from, "clock", TACH__JSON_OBJECT), *missing;
	struct tach_snapshot *s = l->snapshot;

	s->threads = read_count(l, from, "threads");
	s->refused = read_count(l, from, "refused");
	s->lost = read_count(l, from, "lost");
	s->stale = read_count(l, from, "stale");
	s->unopened = (uint32_t)read_count(l, from, "unopened");
	s->reports = tach__json_member(from, "reports")
			     ? (uint32_t)read_count(l, from, "reports")
			     : 1;
	if (tach__json_member(from, "rank"))
		s->rank = 1 + (int)(read_count(l, from, "rank") & (INT32_MAX >> 1));
	snprintf(s->note, sizeof s->note, "%s", text(l, from, "note"));
	tach__origin_load(&s->origin, tach__json_member(from, "origin"));
	s->clock_hz = number(l, clock, "hz");
	if (tach__json_is_true(clock, "estimate"))
		s->clock_flags = TACH_FLAG_CLOCK;
	if (tach__json_member(clock, "error"))
		s->clock_error = number(l, clock, "error");
	missing = tach__json_member(from, "missing");
	if (missing) {
		s->missing_processes = read_count(l, missing, "processes");
		s->missing_threads = read_count(l, missing, "threads");
	}
	if (tach__json_member(from, "generation"))
		s->generation = read_count(l, from, "generation");
}

static void load_version(struct load *l, const struct tach__json *root)
{
	double version = number(l, root, "tach");

	if (l->code || version == VERSION)
		return;
	l->code = tach__error(l->err, TACH_ERR_NOTSUPP, root->line, root->column,
			      "a report of schema version %g; this library reads version %d",
			      version, VERSION);
}

static void load_all(struct load *l, const struct tach__json *root)
{
	const struct tach__json *quantities, *metrics, *regions, *r;
	struct tach__plain *s = l->plain;
	int i = 0;

	load_version(l, root);
	if (l->code)
		return;
	load_counts(l, root);
	quantities = want(l, root, "quantities", TACH__JSON_ARRAY);
	metrics = want(l, root, "metrics", TACH__JSON_ARRAY);
	regions = want(l, root, "regions", TACH__JSON_ARRAY);
	s->nquantities = length(quantities);
	s->nmetrics = length(metrics);
	s->nregions = length(regions);
	if (s->nquantities < 1 || s->nquantities > TACH__PLAIN_QUANTITIES_MAX)
		fail(l, quantities, "%s", "no quantity, or more than 193 of them");
	if (s->nmetrics > TACH__PLAIN_METRICS_MAX)
		fail(l, metrics, "%s", "more than 1024 metrics");
	if (!l->code && tach__plain_allocate(s) != 0)
		no_memory(l);
	if (!l->code)
		load_names(l, quantities, metrics);
	if (!l->code)
		l->code = tach__plain_compile(s, l->err);
	if (!l->code && tach__json_member(root, "worst_by"))
		s->worst = 1 + tach__plain_quantity(s, text(l, root, "worst_by"));
	for (r = regions->kid; r && !l->code; r = r->next)
		load_region(l, r, i++);
	if (!l->code)
		tach__parents_check(s);
}

TACH_STATIC_ASSERT(TACH__PLAIN_QUANTITIES_MAX == 193 && TACH__PLAIN_METRICS_MAX == 1024,
		   "the errors' sentences");

int tach_snapshot_load(const char *json, size_t size, struct tach_snapshot **out,
		       struct tach_error *err)
{
	struct tach__arena arena = {0};
	struct load l = {.err = err};
	struct tach__json *root;

	if (!out || !json)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no text, or nowhere to put it");
	*out = NULL;
	l.snapshot = tach__pages(sizeof *l.snapshot);
	if (l.snapshot) {
		l.plain = &l.snapshot->plain;
		l.code = tach__json_read(&root, &arena, json, size, err);
	} else {
		no_memory(&l);
	}
	if (!l.code)
		load_all(&l, root);
	tach__arena_free(&arena);
	if (l.code)
		tach_snapshot_free(l.snapshot);
	else
		*out = l.snapshot;
	return l.code;
}
