/* SPDX-License-Identifier: MIT */
/* Combines rows that are divided by thread: one row for all threads, and rows that show how
 * threads differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/snapshot/plain.h"
#include "core/snapshot/snapshot.h"
#include "core/snapshot/teams.h"

/* ---- names ---- */

/* Renames a region. `each`: the row is the row of one thread. */
static int rename_region(struct tach__plain *p, struct tach__plain_region *region, int each,
			 tach__rename rename, void *context)
{
	struct tach_region_info *info = &region->info;
	struct tach__renamed to = {info->of, info->file, info->function, info->line, 0};
	int changed = rename(context, &to);
	size_t size;
	char *name;

	region->spread = to.spread;
	if (changed) {
		to.name = tach__arena_copy(&p->arena, to.name);
		to.file = tach__arena_copy(&p->arena, to.file);
		to.function = tach__arena_copy(&p->arena, to.function);
		if (!to.name || !to.file || !to.function)
			return TACH_ERR_NOMEM;
	}
	info->name = info->of = to.name;
	if (each && *info->thread) {
		size = strlen(to.name) + strlen(info->thread) + sizeof " [thread ]";
		name = tach__arena_get(&p->arena, size);
		if (!name)
			return TACH_ERR_NOMEM;
		snprintf(name, size, "%s [thread %s]", to.name, info->thread);
		info->name = name;
	}
	info->file = to.file;
	info->function = to.function;
	info->line = to.line;
	return 0;
}

/* ---- the rows of one region ---- */

/* The rows of the threads of one region, in the divided snapshot. */
struct threads {
	const struct tach__plain_region **row;
	int n;
};

static int by_place(const void *a, const void *b)
{
	const struct tach__plain_region *x = *(const struct tach__plain_region *const *)a;
	const struct tach__plain_region *y = *(const struct tach__plain_region *const *)b;

	return tach__place_order(&x->info, &y->info);
}

/* Finds the rows of the region's threads. `all` is sorted by place. */
static struct threads threads_of(const struct tach__plain_region **all, int n,
				 const struct tach__plain_region *region)
{
	struct threads t = {NULL, 0};
	const struct tach__plain_region **found =
		bsearch(&region, all, (size_t)n, sizeof *all, by_place);

	if (!found)
		return t;
	while (found > all && by_place(found - 1, &region) == 0)
		found--;
	t.row = found;
	while (found + t.n < all + n && by_place(found + t.n, &region) == 0)
		t.n++;
	return t;
}

static int by_value(const void *a, const void *b)
{
	double x = (*(const struct tach_value *const *)a)->value;
	double y = (*(const struct tach_value *const *)b)->value;

	return (x > y) - (x < y);
}

enum { LEAST, MEDIAN, MOST, SPREAD };
static const char *const words[] = {" [least]", " [median]", " [most]"};

/* Leaves out values that are NaN, which metrics may have. */
static struct tach_value pick_value(const struct tach_value **sorted, const struct threads *t,
				    int part, int q, int which)
{
	int n = 0;

	for (int i = 0; i < t->n; i++)
		if (!isnan(t->row[i]->value[part][q].value))
			sorted[n++] = &t->row[i]->value[part][q];
	if (!n)
		return (struct tach_value){.value = NAN, .raw = NAN};
	qsort(sorted, (size_t)n, sizeof *sorted, by_value);
	return *sorted[which == LEAST ? 0 : which == MEDIAN ? (n - 1) / 2 : n - 1];
}

static int by_calls(const void *a, const void *b)
{
	const struct tach__plain_region *x = *(const struct tach__plain_region *const *)a;
	const struct tach__plain_region *y = *(const struct tach__plain_region *const *)b;

	return (x->info.calls > y->info.calls) - (x->info.calls < y->info.calls);
}

static int spread_row(struct tach__plain *p, int at, const struct tach__plain_region *sum,
		      const struct threads *t, int which)
{
	struct tach__plain_region *to = &p->region[at];
	const struct tach_value **sorted = calloc((size_t)t->n, sizeof(*sorted));
	size_t size = strlen(sum->info.name) + sizeof " [median]";
	char *name = tach__arena_get(&p->arena, size);
	const struct tach__plain_region *calls;

	*to = (struct tach__plain_region){.info = sum->info, .repeats = 1};
	if (!sorted || !name || tach__plain_allocate_region(p, at) != 0) {
		free(sorted);
		return TACH_ERR_NOMEM;
	}
	snprintf(name, size, "%s%s", sum->info.name, words[which]);
	to->info.name = to->info.of = name;
	qsort(t->row, (size_t)t->n, sizeof(*t->row), by_calls);
	calls = t->row[which == LEAST ? 0 : which == MEDIAN ? (t->n - 1) / 2 : t->n - 1];
	to->info.entries = calls->info.entries;
	to->info.calls = calls->info.calls;
	to->info.outermost = calls->info.outermost;
	for (int part = 0; part < 2; part++) {
		for (int q = 0; q < p->nquantities + p->nmetrics - 1; q++)
			to->value[part][q] = pick_value(sorted, t, part, q, which);
		to->value[part][p->nquantities + p->nmetrics - 1] =
			(struct tach_value){.value = NAN, .raw = NAN};
	}
	free(sorted);
	return 0;
}

/* Copies a row and adds one more metric. */
static int copy_row(struct tach__plain *p, int at, const struct tach__plain_region *from,
		    double imbalance)
{
	struct tach__plain_region *to = &p->region[at];
	size_t old = (size_t)(p->nquantities + p->nmetrics - 1);

	*to = *from;
	for (int part = 0; part < 2; part++) {
		to->value[part] =
			tach__arena_get(&p->arena, (old + 1) * sizeof *to->value[part]);
		if (!to->value[part])
			return TACH_ERR_NOMEM;
		memcpy(to->value[part], from->value[part], old * sizeof *to->value[part]);
		to->value[part][old] = (struct tach_value){.value = part ? NAN : imbalance,
							   .raw = part ? NAN : imbalance};
	}
	return 0;
}

/* Returns the imbalance of self times, which exclude waits in barriers. */
static double imbalance_of(const struct threads *t)
{
	double most = 0, sum = 0;

	for (int i = 0; i < t->n; i++) {
		double time = t->row[i]->value[TACH_PART_SELF][TACH_QUANTITY_TIME].value;

		sum += time;
		most = time > most ? time : most;
	}
	return t->n > 1 && sum > 0 ? most / (sum / t->n) : NAN;
}

/* ---- all regions ---- */

static int add_metric(struct tach__plain *p)
{
	size_t n = (size_t)p->nmetrics;
	struct tach__plain_metric *metric =
		tach__arena_get(&p->arena, (n + 1) * sizeof *metric);

	if (!metric)
		return TACH_ERR_NOMEM;
	memcpy(metric, p->metric, n * sizeof *metric);
	metric[n] = (struct tach__plain_metric){.name = "imbalance"};
	p->metric = metric;
	p->nmetrics++;
	return 0;
}

/* `p` has one row for each region. `all` has the rows of threads. */
static int add_spread(struct tach__plain *p, const struct tach__plain_region **all, int n)
{
	struct tach__plain_region *old = p->region;
	int nold = p->nregions, to = 0, code;
	int *place = calloc((size_t)nold + 1, sizeof *place);

	p->region = tach__arena_get(&p->arena,
				    ((size_t)nold * (1 + SPREAD) + 1) * sizeof *p->region);
	code = p->region && place ? add_metric(p) : TACH_ERR_NOMEM;
	for (int r = 0; r < nold && !code; r++) {
		struct threads t = threads_of(all, n, &old[r]);

		place[r] = to;
		code = copy_row(p, to++, &old[r], imbalance_of(&t));
		for (int which = 0; which < SPREAD && t.n > 1 && t.row[0]->spread && !code;
		     which++)
			code = spread_row(p, to++, &old[r], &t, which);
	}
	p->nregions = code ? 0 : to;
	for (int r = 0; r < p->nregions; r++)
		if (p->region[r].info.parent >= 0)
			p->region[r].info.parent = place[p->region[r].info.parent];
	free(place);
	return code;
}

int tach__snapshot_teams(struct tach_snapshot *s, int spread, tach__rename rename,
			 void *context, struct tach_snapshot **out, struct tach_error *err)
{
	const struct tach_snapshot *one = s;
	const struct tach__plain_region **all;
	int n = 0, code = 0;

	*out = NULL;
	all = calloc((size_t)s->plain.nregions + 1, sizeof(*all));
	for (int r = 0; r < s->plain.nregions && all && !code; r++) {
		struct tach__plain_region *region = &s->plain.region[r];

		if (*region->info.thread)
			all[n++] = region;
		code = rename_region(&s->plain, region, !spread, rename, context);
		if (spread)
			region->info.thread = "";
	}
	if (!all || code) {
		free(all);
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	qsort(all, (size_t)n, sizeof(*all), by_place);
	code = tach_snapshot_merge(&one, 1, out, err);
	if (!code && spread && (code = add_spread(&(*out)->plain, all, n))) {
		tach_snapshot_free(*out);
		*out = NULL;
		tach__error(err, code, 0, 0, "out of memory");
	}
	free(all);
	return code;
}
