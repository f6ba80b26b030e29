/* SPDX-License-Identifier: MIT */
/* The ranks of a parallel job: rows for all, rows for each, and their imbalance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/snapshot/plain.h"
#include "core/snapshot/ranks.h"
#include "core/snapshot/snapshot.h"

/* A region of one rank, or of all ranks. */
struct row {
	struct tach_region_info info; /* the region before it was renamed */
	int rank;		      /* -1: all ranks */
	double time;
	const char *name; /* the new name */
	double imbalance; /* imbalance of the ranks; NaN if unknown */
	double order;	  /* the region's time of all ranks, for sorting */
};

/* For each place, the row of all ranks comes first. */
static int by_place_and_rank(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = tach__place_order(&x->info, &y->info);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_new_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : tach__file_order(&x->info, &y->info);
}

int tach__snapshot_rank(const struct tach_snapshot *s)
{
	return s->rank - 1;
}

/* ---- rows ---- */

static void take_rows(struct row **to, const struct tach_snapshot *s, int rank)
{
	for (int r = 0; r < s->plain.nregions; r++) {
		const struct tach__plain_region *from = &s->plain.region[r];

		*(*to)++ = (struct row){.info = from->info,
					.rank = rank,
					.time = from->value[0][TACH_QUANTITY_TIME].value,
					.name = from->info.name};
	}
}

/* Renames regions in the list's snapshots and in `rows`. Both have the same order. */
static int rename_all(struct row *rows, struct tach_snapshot *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		struct tach__plain *p = &list[i]->plain;

		for (int r = 0; r < p->nregions; r++, rows++) {
			size_t size = strlen(rows->name) + sizeof " [rank 2147483647]";
			char *name = tach__arena_get(&p->arena, size);

			if (!name)
				return TACH_ERR_NOMEM;
			snprintf(name, size, "%s [rank %d]", rows->name, rows->rank);
			rows->name = p->region[r].info.name = name;
		}
	}
	return 0;
}

/* Rows are sorted by place, the row of all ranks first. Sets each region's imbalance and its
 * sort key. */
static void compare_ranks(struct row *rows, size_t n, int ranks)
{
	for (size_t i = 0, end; i < n; i = end) {
		double most = 0, sum = 0;

		for (end = i; end < n && tach__place_order(&rows[i].info, &rows[end].info) == 0;
		     end++) {
			rows[end].order = rows[i].time;
			rows[end].imbalance = NAN;
			if (rows[end].rank < 0)
				continue;
			sum += rows[end].time;
			most = rows[end].time > most ? rows[end].time : most;
		}
		if (sum > 0)
			rows[i].imbalance = most / (sum / ranks);
	}
}

/* ---- the metric ---- */

static int add_metric_cell(struct tach__plain *p, struct tach__plain_region *r, double value)
{
	int n = p->nquantities + p->nmetrics;

	for (int part = 0; part < 2; part++) {
		struct tach_value *more =
			tach__arena_get(&p->arena, (size_t)(n + 1) * sizeof *more);

		if (!more)
			return TACH_ERR_NOMEM;
		memcpy(more, r->value[part], (size_t)n * sizeof *more);
		more[n] = (struct tach_value){.value = part ? NAN : value,
					      .raw = part ? NAN : value};
		r->value[part] = more;
	}
	return 0;
}

struct ordered {
	struct tach__plain_region region;
	const struct row *row;
};

static int by_time_and_rank(const void *a, const void *b)
{
	const struct row *x = ((const struct ordered *)a)->row;
	const struct row *y = ((const struct ordered *)b)->row;

	if (x->order != y->order)
		return x->order < y->order ? 1 : -1;
	return by_place_and_rank(x, y);
}

/* Sorts the regions of p and adds the metric. `rows` has a row for each region, sorted by
 * name. */
static int finish(struct tach__plain *p, const struct row *rows, size_t n)
{
	struct ordered *all = calloc((size_t)p->nregions + 1, sizeof *all);
	struct tach__plain_metric *metric =
		tach__arena_get(&p->arena, (size_t)(p->nmetrics + 1) * sizeof *metric);
	int code = all && metric ? 0 : TACH_ERR_NOMEM;

	tach__parents_number(p);
	for (int r = 0; r < p->nregions && !code; r++) {
		struct row like = {.info = p->region[r].info, .name = p->region[r].info.name};

		all[r].region = p->region[r];
		all[r].row = bsearch(&like, rows, n, sizeof *rows, by_new_name);
		all[r].region.rank = 1 + all[r].row->rank;
		code = add_metric_cell(p, &all[r].region, all[r].row->imbalance);
	}
	if (!code) {
		qsort(all, (size_t)p->nregions, sizeof *all, by_time_and_rank);
		for (int r = 0; r < p->nregions; r++)
			p->region[r] = all[r].region;
		tach__parents_follow(p);
		memcpy(metric, p->metric, (size_t)p->nmetrics * sizeof *metric);
		metric[p->nmetrics] = (struct tach__plain_metric){.name = "imbalance"};
		p->metric = metric;
		p->nmetrics++;
	}
	free(all);
	return code;
}

/* Takes the counts from the merged snapshot, because the sum with all ranks is twice as
 * large. */
static void take_counts(struct tach_snapshot *to, const struct tach_snapshot *whole)
{
	to->threads = whole->threads;
	to->refused = whole->refused;
	to->lost = whole->lost;
	to->stale = whole->stale;
	to->unopened = whole->unopened;
	to->reports = whole->reports;
	to->rank = 0;
}

static int join_ranks(struct tach_snapshot *const *list, int n,
		      const struct tach_snapshot *whole, struct row *rows, size_t nrows,
		      struct tach_snapshot **out, struct tach_error *err)
{
	const struct tach_snapshot **all = calloc((size_t)n + 1, sizeof *all);
	int code = all ? rename_all(rows + whole->plain.nregions, list, n) : TACH_ERR_NOMEM;

	if (!code) {
		all[0] = whole;
		for (int i = 0; i < n; i++)
			all[i + 1] = list[i];
		code = tach_snapshot_merge(all, n + 1, out, err);
	}
	free(all);
	if (code)
		return code;
	take_counts(*out, whole);
	qsort(rows, nrows, sizeof *rows, by_place_and_rank);
	compare_ranks(rows, nrows, n);
	qsort(rows, nrows, sizeof *rows, by_new_name);
	code = finish(&(*out)->plain, rows, nrows);
	if (code) {
		tach_snapshot_free(*out);
		*out = NULL;
	}
	return code;
}

int tach__snapshot_ranks(struct tach_snapshot *const *list, int n,
			 const struct tach_snapshot *whole, struct tach_snapshot **out,
			 struct tach_error *err)
{
	size_t nrows = (size_t)whole->plain.nregions;
	struct row *rows, *to;
	int code;

	*out = NULL;
	for (int i = 0; i < n; i++)
		nrows += (size_t)list[i]->plain.nregions;
	rows = to = calloc(nrows + 1, sizeof *rows);
	if (!rows)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	take_rows(&to, whole, -1);
	for (int i = 0; i < n; i++)
		take_rows(&to, list[i], list[i]->rank - 1);
	code = join_ranks(list, n, whole, rows, nrows, out, err);
	free(rows);
	return code == TACH_ERR_NOMEM ? tach__error(err, code, 0, 0, "out of memory") : code;
}
