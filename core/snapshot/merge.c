/* SPDX-License-Identifier: MIT */
/* Merges several snapshots: adds up regions of the same name and place, and computes metrics
 * again from the sums. If some snapshots lack a quantity, it is flagged LOST. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/snapshot/merge.h"
#include "core/snapshot/operands.h"
#include "core/snapshot/passes.h"

/* ---- names ---- */

static int find_metric(const struct tach__plain *s, const char *name)
{
	for (int m = 0; m < s->nmetrics; m++)
		if (strcmp(s->metric[m].name, name) == 0)
			return m;
	return -1;
}

static int map_quantities(struct tach__merge *m, struct tach_error *err)
{
	struct tach__plain *s = m->plain;

	if (m->passes && tach__passes_quantities(m) != 0)
		return TACH_ERR_NOMEM;
	for (int i = 0; i < m->n; i++)
		for (int q = 0; q < tach_snapshot_nquantities(m->list[i]); q++) {
			const char *given = tach_snapshot_quantity(m->list[i], q);
			const char *name =
				m->passes ? tach__passes_name(m->passes, given) : given;
			int at = tach__plain_quantity(s, name);
			int operand = tach__plain_is_operand(&m->list[i]->plain, q);

			if (at < 0 && s->nquantities == TACH__PLAIN_QUANTITIES_MAX)
				return tach__error(err, TACH_ERR_TOOMANY, 0, 0,
						   "together they have more than %d quantities",
						   TACH__PLAIN_QUANTITIES_MAX);
			if (at < 0) {
				at = s->nquantities++;
				s->quantity[at] = tach__arena_copy(&s->arena, name);
				if (!s->quantity[at])
					return TACH_ERR_NOMEM;
				tach__plain_mark_operand(s, at, operand);
			} else if (!operand && !m->passes) {
				tach__plain_mark_operand(s, at, 0);
			}
			m->map[i][q] = at;
		}
	return 0;
}

int tach__merge_place(struct tach__plain *s, struct tach__place *to,
		      const struct tach__place *from)
{
	const char **text[] = {&to->unit, &to->parent, &to->threshold, &to->description};

	*to = *from;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		if (*text[i] && !(*text[i] = tach__arena_copy(&s->arena, *text[i])))
			return TACH_ERR_NOMEM;
	return 0;
}

/* Copies a metric of snapshot i. */
static int copy_metric(struct tach__merge *m, int i, const struct tach__plain_metric *from)
{
	struct tach__plain *s = m->plain;
	struct tach__plain_metric *to = &s->metric[s->nmetrics++];

	to->name = tach__arena_copy(&s->arena, from->name);
	if (from->text)
		to->text = tach__metric_renumber(&s->arena, from->text, m->map[i],
						 tach_snapshot_nquantities(m->list[i]));
	if (!to->name || !to->text != !from->text)
		return TACH_ERR_NOMEM;
	return tach__merge_place(s, &to->node, &from->node);
}

static int gather_metrics(struct tach__merge *m, struct tach_error *err)
{
	struct tach__plain *s = m->plain;

	if (m->passes)
		return tach__passes_metrics(m);
	for (int i = 0; i < m->n; i++)
		for (int k = 0; k < tach_snapshot_nmetrics(m->list[i]); k++) {
			const struct tach__plain_metric *from = &m->list[i]->plain.metric[k];
			int code;

			if (find_metric(s, from->name) >= 0)
				continue;
			if (s->nmetrics == TACH__PLAIN_METRICS_MAX)
				return tach__error(err, TACH_ERR_TOOMANY, 0, 0,
						   "together they have more than %d metrics",
						   TACH__PLAIN_METRICS_MAX);
			code = copy_metric(m, i, from);
			if (code)
				return code;
		}
	return 0;
}

/* ---- regions ---- */

static int by_place(const void *a, const void *b)
{
	const struct tach__source *x = a, *y = b;

	return tach__place_order(&x->info, &y->info);
}

static int gather_regions(struct tach__merge *m)
{
	size_t n = 0;

	for (int i = 0; i < m->n; i++)
		n += (size_t)tach_snapshot_nregions(m->list[i]);
	m->source = calloc(n + 1, sizeof *m->source);
	if (!m->source)
		return TACH_ERR_NOMEM;
	for (int i = 0; i < m->n; i++)
		for (int r = 0; r < tach_snapshot_nregions(m->list[i]); r++) {
			struct tach__source *s = &m->source[m->nsources++];

			*s = (struct tach__source){.snapshot = m->list[i],
						   .map = m->map[i],
						   .region = r,
						   .number = i};
			tach_snapshot_region(m->list[i], r, &s->info);
		}
	qsort(m->source, m->nsources, sizeof *m->source, by_place);
	for (size_t i = 0; i < m->nsources; i++)
		m->plain->nregions += i == 0 || by_place(&m->source[i - 1], &m->source[i]) != 0;
	return 0;
}

static void add_info(struct tach_region_info *to, const struct tach_region_info *from)
{
	to->entries += from->entries;
	to->calls += from->calls;
	to->outermost += from->outermost;
	to->skipped += from->skipped;
	to->excluded += from->excluded;
	to->lost += from->lost;
	to->nested += from->nested;
	to->threads += from->threads;
	to->overlapping |= from->overlapping;
	for (int i = 0; i < 6; i++)
		to->provenance[i] += from->provenance[i];
}

/* Returns the fraction of the entries in which a value was counted. share 0 means all
 * entries. */
static double part_of(const struct tach_value *v)
{
	return v->share ? v->share / 1e6 : 1;
}

/* Adds a value over `entries` entries to a sum over `had` entries. */
static void add_value(struct tach_value *sum, const struct tach_value *v, double entries,
		      double had)
{
	double part = part_of(sum) * had + part_of(v) * entries;

	if ((sum->share || v->share) && had + entries > 0)
		sum->share = (uint32_t)fmax(1, 1e6 * part / (had + entries) + 0.5);
	sum->value += v->value;
	sum->raw += v->raw;
	sum->overhead += v->overhead;
	sum->error += v->error;
	sum->flags |= v->flags & ~(uint32_t)TACH_FLAG_SMALL;
}

/* Adds a region of a report that lacks a quantity: the provenance counts its entries as
 * lost. */
static void add_lacking(struct tach_region_info *to, const struct tach_region_info *from)
{
	uint64_t lost = from->provenance[5];

	to->provenance[5] += from->calls > lost ? from->calls - lost : 0;
}

static int add_source(struct tach__merge *m, int region, const struct tach__source *from)
{
	struct tach__plain *s = m->plain;
	struct tach__plain_region *to = &s->region[region];
	double entries = (double)from->info.entries, had = (double)to->info.entries;
	char seen[TACH__PLAIN_QUANTITIES_MAX] = {0};
	int code = 0, lacking = 0;

	for (int q = 0; q < tach_snapshot_nquantities(from->snapshot); q++) {
		int at = from->map[q];

		seen[at] = 1;
		for (int part = 0; part < 2; part++) {
			struct tach_value *sum = &to->value[part][at], v;

			tach_snapshot_value(from->snapshot, from->region, q,
					    (enum tach_part)part, &v);
			add_value(sum, &v, entries, had);
		}
		code = code ? code : tach__merge_buckets(m, &to->histogram[at], from, q);
	}
	for (int q = 0; q < s->nquantities; q++)
		if (!seen[q]) {
			to->value[0][q].flags |= TACH_FLAG_LOST;
			to->value[1][q].flags |= TACH_FLAG_LOST;
			lacking |= !tach__merge_is_shared(m, q);
		}
	add_info(&to->info, &from->info);
	if (lacking)
		add_lacking(&to->info, &from->info);
	return code ? code
		    : tach__plain_worst_add(s, region, &from->snapshot->plain, from->region,
					    from->map);
}

static void finish_region(struct tach__plain *s, int region, int passes)
{
	for (int part = 0; part < 2; part++) {
		struct tach_value *v = s->region[region].value[part];

		for (int q = 0; q < s->nquantities; q++)
			tach__value_judge(&v[q]);
		for (int m = 0; m < s->nmetrics; m++)
			tach__plain_derive(s, region, m, (enum tach_part)part);
		/* If a pass is not used, metrics over its quantities get no value. */
		for (int m = s->nquantities; passes && m < s->nquantities + s->nmetrics; m++)
			if (v[m].flags & TACH_FLAG_LOST)
				v[m].value = v[m].raw = NAN;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct tach__plain_region *x = a, *y = b;
	double p = x->value[0][TACH_QUANTITY_TIME].value;
	double q = y->value[0][TACH_QUANTITY_TIME].value;
	int order = (p < q) - (p > q);

	return order ? order : tach__place_order(&x->info, &y->info);
}

/* Counts the sources from `at` on that are the same region. */
static size_t count_same(const struct tach__merge *m, size_t at)
{
	size_t n = 1;

	while (at + n < m->nsources && by_place(&m->source[at], &m->source[at + n]) == 0)
		n++;
	return n;
}

static int begin_region(struct tach__plain *s, int region, const struct tach_region_info *info)
{
	struct tach_region_info *to = &s->region[region].info;
	int code = tach__plain_allocate_region(s, region);

	to->name = tach__arena_copy(&s->arena, info->name);
	to->file = tach__arena_copy(&s->arena, info->file);
	to->function = tach__arena_copy(&s->arena, info->function);
	to->of = tach__arena_copy(&s->arena, info->of);
	to->task = tach__arena_copy(&s->arena, info->task);
	to->tag = tach__arena_copy(&s->arena, info->tag);
	to->thread = tach__arena_copy(&s->arena, info->thread);
	to->line = info->line;
	to->fenced = info->fenced;
	if (!to->of || !to->task || !to->tag || !to->thread)
		code = TACH_ERR_NOMEM;
	return code || !to->name || !to->file || !to->function ? TACH_ERR_NOMEM : 0;
}

static const struct tach__plain_region *plain_of(const struct tach__source *source)
{
	return &source->snapshot->plain.region[source->region];
}

static int add_regions(struct tach__merge *m)
{
	struct tach__plain *s = m->plain;
	int *of = calloc(m->nsources + 1, sizeof *of); /* the region of each source */
	int region = 0, code = of ? 0 : TACH_ERR_NOMEM;

	for (size_t i = 0, n; i < m->nsources && !code; i += n, region++) {
		n = count_same(m, i);
		for (size_t k = 0; k < n; k++)
			of[i + k] = region;
		code = begin_region(s, region, &m->source[i].info);
		s->region[region].rank = plain_of(&m->source[i])->rank;
		s->region[region].repeats = plain_of(&m->source[i])->repeats;
		if (!code && m->passes)
			code = tach__passes_region(m, region, &m->source[i], n);
		for (size_t k = 0; k < n && !code && !m->passes; k++)
			code = add_source(m, region, &m->source[i + k]);
		if (!code && m->n == 1 && n == 1 && !m->passes)
			code = tach__merge_samples(s, region, &m->source[i]);
	}
	for (int r = 0; r < s->nregions && !code; r++)
		finish_region(s, r, m->passes != NULL);
	if (!code) {
		tach__parents_merge(m, of);
		tach__parents_number(s);
		qsort(s->region, (size_t)s->nregions, sizeof *s->region, by_time);
		tach__parents_follow(s);
	}
	free(of);
	return code;
}

/* ---- the whole ---- */

static void add_counts(struct tach__merge *m)
{
	struct tach_snapshot *s = m->whole;

	for (int i = 0; i < m->n; i++) {
		struct tach_counts c = {.size = sizeof c};

		tach_snapshot_counts(m->list[i], &c);
		s->threads += c.threads;
		s->refused += c.refused;
		s->lost += c.lost;
		s->stale += c.stale;
		s->unopened += c.unopened;
		s->missing_processes += c.missing_processes;
		s->missing_threads += c.missing_threads;
		s->reports += c.reports;
		s->rank = i && s->rank != m->list[i]->rank ? 0 : m->list[i]->rank;
		s->clock_hz = s->clock_hz > 0 ? s->clock_hz : c.clock_hz;
		s->clock_flags |= m->list[i]->clock_flags;
		s->clock_error = fmax(s->clock_error, m->list[i]->clock_error);
		s->generation = m->n == 1 ? m->list[i]->generation : 0;
		tach__snapshot_note(s, tach_snapshot_missing(m->list[i]));
		tach__origin_add(&s->origin, &m->list[i]->origin);
	}
	if (m->passes)
		tach__passes_counts(m);
}

static int merge_sources(struct tach__merge *m, struct tach_error *err)
{
	struct tach__plain *s = m->plain;
	int code = gather_regions(m);

	if (code)
		return code;
	/* Allocates room for the names of all snapshots. Equal names share an element. */
	s->nquantities = TACH__PLAIN_QUANTITIES_MAX;
	for (int i = 0; i < m->n; i++)
		s->nmetrics += tach_snapshot_nmetrics(m->list[i]);
	if (m->passes)
		s->nmetrics = m->passes->nmetrics;
	code = tach__plain_allocate(s);
	s->nquantities = s->nmetrics = 0;
	if (code || (code = map_quantities(m, err)))
		return code;
	code = gather_metrics(m, err);
	if (code)
		return code;
	add_counts(m);
	code = tach__plain_compile(s, err);
	return code ? code : add_regions(m);
}

int tach__merge(struct tach_snapshot **out, struct tach__merge *m, struct tach_error *err)
{
	int code = TACH_ERR_NOMEM, bad = !out || m->n < 1 || !m->list;

	for (int i = 0; i < m->n && !bad; i++)
		bad = !m->list[i];
	if (bad)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "a snapshot is missing");
	*out = NULL;
	m->whole = tach__pages(sizeof *m->whole);
	m->map = calloc((size_t)m->n, sizeof *m->map);
	if (m->whole && m->map) {
		m->plain = &m->whole->plain;
		code = merge_sources(m, err);
	}
	free(m->map);
	free(m->source);
	if (code == 0) {
		*out = m->whole;
		return 0;
	}
	tach_snapshot_free(m->whole);
	return code == TACH_ERR_NOMEM ? tach__error(err, code, 0, 0, "out of memory") : code;
}

int tach_snapshot_merge(const struct tach_snapshot *const *list, int n,
			struct tach_snapshot **out, struct tach_error *err)
{
	struct tach__merge m = {.list = list, .n = n};

	return tach__merge(out, &m, err);
}
