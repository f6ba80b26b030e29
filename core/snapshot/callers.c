/* SPDX-License-Identifier: MIT */
/* Rows of functions with their callers. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/snapshot/callers.h"
#include "core/snapshot/plain.h"
#include "core/snapshot/snapshot.h"
#include "core/snapshot/teams.h"

const char *tach__callers_id(const char *name)
{
	const char *at = strrchr(name, '<');

	if (!at || at == name || at[-1] != ' ' || !at[1] ||
	    at[1 + strspn(at + 1, "0123456789abcdef")] != '\0')
		return NULL;
	return at - 1;
}

/* ---- sums ---- */

struct sums {
	const char *kind;
	char *name; /* of the last region */
};

static int rename_sum(void *context, struct tach__renamed *to)
{
	struct sums *sums = context;
	const char *id = tach__callers_id(to->name);
	int n = id ? (int)(id - to->name) : (int)strlen(to->name);

	if (strncmp(to->name, sums->kind, strlen(sums->kind)) != 0)
		return 0;
	free(sums->name);
	if (asprintf(&sums->name, "%.*s%s", n, to->name, TACH__ALL_CALLERS) < 0) {
		sums->name = NULL;
		return 0;
	}
	to->name = sums->name;
	return 1;
}

static int is_sum(const struct tach_region_info *info)
{
	size_t n = strlen(info->of), suffix = strlen(TACH__ALL_CALLERS);

	return n > suffix && strcmp(info->of + n - suffix, TACH__ALL_CALLERS) == 0;
}

static int copy_row(struct tach__plain *to, const struct tach__plain_region *from,
		    uint64_t threads)
{
	struct tach__plain_region *row = &to->region[to->nregions];
	struct tach_region_info *info = &row->info;
	size_t n = (size_t)(to->nquantities + to->nmetrics);

	*row = (struct tach__plain_region){.info = from->info, .repeats = 1};
	if (tach__plain_allocate_region(to, to->nregions) != 0)
		return TACH_ERR_NOMEM;
	for (int part = 0; part < 2; part++)
		memcpy(row->value[part], from->value[part], n * sizeof *row->value[part]);
	info->parent = -1;
	/* A thread may be in several of the rows. */
	if (info->threads > threads)
		info->threads = threads;
	info->name = tach__arena_copy(&to->arena, info->name);
	info->file = tach__arena_copy(&to->arena, info->file);
	info->function = tach__arena_copy(&to->arena, info->function);
	info->of = tach__arena_copy(&to->arena, info->of);
	info->task = tach__arena_copy(&to->arena, info->task);
	info->tag = tach__arena_copy(&to->arena, info->tag);
	info->thread = tach__arena_copy(&to->arena, info->thread);
	to->nregions++;
	return info->name && info->file && info->function && info->of && info->task &&
			       info->tag && info->thread
		       ? 0
		       : TACH_ERR_NOMEM;
}

static int by_self_time(const void *a, const void *b)
{
	const struct tach__plain_region *x = a, *y = b;
	double p = x->value[TACH_PART_SELF][TACH_QUANTITY_TIME].value;
	double q = y->value[TACH_PART_SELF][TACH_QUANTITY_TIME].value;

	return p != q ? (p < q) - (p > q) : tach__place_order(&x->info, &y->info);
}

static int add_rows(struct tach_snapshot *s, const struct tach__plain *sums)
{
	struct tach__plain *p = &s->plain;
	struct tach__plain_region *all = tach__arena_get(
		&p->arena, ((size_t)p->nregions + (size_t)sums->nregions + 1) * sizeof *all);
	int code = 0;

	if (!all)
		return TACH_ERR_NOMEM;
	memcpy(all, p->region, (size_t)p->nregions * sizeof *all);
	p->region = all;
	qsort(sums->region, (size_t)sums->nregions, sizeof *sums->region, by_self_time);
	for (int r = 0; r < sums->nregions && !code; r++)
		if (is_sum(&sums->region[r].info))
			code = copy_row(p, &sums->region[r], s->threads);
	return code;
}

int tach__snapshot_sum_callers(struct tach_snapshot *s, const char *kind,
			       struct tach_error *err)
{
	const struct tach_snapshot *one = s;
	struct tach_snapshot *copy = NULL, *flat = NULL;
	struct sums sums = {kind, NULL};
	int code = tach_snapshot_merge(&one, 1, &copy, err);

	if (!code)
		code = tach__snapshot_teams(copy, 0, rename_sum, &sums, &flat, err);
	if (!code && add_rows(s, &flat->plain) != 0)
		code = tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	tach_snapshot_free(copy);
	tach_snapshot_free(flat);
	free(sums.name);
	return code;
}

/* ---- names ---- */

#define OTHERS " <0"

enum { MOST_CALLERS = 16 };

struct named {
	struct tach__plain_region *region;
	const char *name;
	int callers, more; /* more: another row has this name */
};

struct text {
	char *at;
	size_t size;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The caller's function, without its place. */
static const char *name_of(const struct tach_region_info *info)
{
	if (*info->function)
		return info->function;
	return strncmp(info->of, "function ", 9) == 0 ? info->of + 9 : info->of;
}

/* Returns "NAME < CALLER < CALLER ..." with that number of callers, and what follows `of` in
 * the old name. Parents still have their old names. */
static char *make_name(struct tach__plain *p, const struct tach__plain_region *region,
		       int callers)
{
	const struct tach_region_info *info = &region->info, *up = info;
	const char *id = tach__callers_id(info->of);
	struct text text = {NULL, 0};
	char *name = NULL;
	FILE *to = open_memstream(&text.at, &text.size);

	if (!to)
		return NULL;
	fprintf(to, "%.*s", (int)(id - info->of), info->of);
	for (int i = 0; i < callers && id; i++) {
		if (strcmp(id, OTHERS) == 0 || up->parent < 0) {
			fprintf(to, " < (other callers)");
			break;
		}
		up = &p->region[up->parent].info;
		id = tach__callers_id(up->of);
		fprintf(to, " < %.*s", (int)(id && !*up->function ? id - name_of(up) : INT_MAX),
			name_of(up));
	}
	fprintf(to, "%s", info->name + strlen(info->of));
	if (fclose(to) == 0)
		name = tach__arena_copy(&p->arena, text.at);
	free(text.at);
	return name;
}

/* One more caller for each of the rows that have one name. */
static int extend_names(struct tach__plain *p, struct named *all, size_t n)
{
	int more = 0;

	qsort(all, n, sizeof *all, by_name);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && by_name(&all[i], &all[end]) == 0; end++)
			;
		for (size_t k = i; k < end && end - i > 1; k++)
			more |= all[k].more = tach__callers_id(all[k].region->info.of) != NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].more) {
			all[i].more = 0;
			all[i].name = make_name(p, all[i].region, ++all[i].callers);
			if (!all[i].name)
				return TACH_ERR_NOMEM;
		}
	return more;
}

int tach__snapshot_name_callers(struct tach_snapshot *s, struct tach_error *err)
{
	struct tach__plain *p = &s->plain;
	size_t n = (size_t)p->nregions;
	struct named *all = calloc(n + 1, sizeof *all);
	int code = all ? 0 : TACH_ERR_NOMEM;

	for (size_t r = 0; r < n && !code; r++) {
		const char *id = tach__callers_id(p->region[r].info.of);

		all[r] = (struct named){.region = &p->region[r],
					.name = p->region[r].info.name,
					.callers = id && strcmp(id, OTHERS) == 0};
		if (id)
			all[r].name = make_name(p, &p->region[r], all[r].callers);
		code = all[r].name ? 0 : TACH_ERR_NOMEM;
	}
	/* A place in the source may have two functions, so names may remain equal. */
	for (int more = 1, i = 0; i < MOST_CALLERS && more > 0 && !code; i++)
		more = extend_names(p, all, n), code = more < 0 ? more : 0;
	for (size_t i = 0; i < n && !code; i++) {
		struct tach_region_info *info = &all[i].region->info;

		if (tach__callers_id(info->of))
			info->name = all[i].name;
	}
	/* `of` last: it has the callers of other rows. */
	for (size_t i = 0; i < n && !code; i++)
		if (tach__callers_id(all[i].region->info.of))
			all[i].region->info.of = all[i].region->info.name;
	free(all);
	return code ? tach__error(err, code, 0, 0, "out of memory") : 0;
}
