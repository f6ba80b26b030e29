/* SPDX-License-Identifier: MIT */
/* tach derived check: errors in a definition file and in its definitions. */
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "tools/tach/commands.h"
#include "tools/tach/derived.h"

/* The result of one definition on its PMUs. */
struct outcome {
	const char *name;
	int line, tried, good, cycle, untried;
	char pmu[32], why[256]; /* the first refusal, or the cycle of names */
};

struct outcomes {
	struct outcome *of;
	size_t n, room;
	/* for each line, the position in `of` of its definition, from 1 */
	size_t *at_line, lines;
	size_t tried; /* bytes of formulas and events */
	int untried;  /* definitions that were not tried on each of their PMUs */
};

/* After this many bytes, each definition is tried on one PMU only. */
enum { TRIED_MAX = 8 << 20 };

static int make_room(struct outcomes *all, size_t line)
{
	if (all->n == all->room) {
		size_t room = all->room ? 2 * all->room : 64;
		struct outcome *more = realloc(all->of, room * sizeof *more);

		if (!more)
			return 0;
		all->of = more;
		all->room = room;
	}
	if (line >= all->lines) {
		size_t lines = 2 * line + 64;
		size_t *more = realloc(all->at_line, lines * sizeof *more);

		if (!more)
			return 0;
		memset(more + all->lines, 0, (lines - all->lines) * sizeof *more);
		all->at_line = more;
		all->lines = lines;
	}
	return 1;
}

static struct outcome *outcome_of(struct outcomes *all, const struct tach_derived_info *info)
{
	size_t line = (size_t)info->line;

	if (line < all->lines && all->at_line[line])
		return &all->of[all->at_line[line] - 1];
	if (!make_room(all, line))
		return NULL;
	all->of[all->n] = (struct outcome){.name = info->name, .line = info->line};
	all->at_line[line] = ++all->n;
	return &all->of[all->n - 1];
}

static void try_on(struct tach_derived *d, int pmu, struct outcome *o)
{
	struct tach_pmu_info info = {.size = sizeof info};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_expansion *x = NULL;
	int rc = tach_derived_expand(d, pmu, o->name, &x, &err);

	o->tried++;
	o->good += !rc;
	tach_expansion_free(x);
	if (!rc || o->cycle || (*o->why && rc != TACH_ERR_CYCLE))
		return;
	o->cycle = rc == TACH_ERR_CYCLE;
	tach_pmu_describe(pmu, &info);
	snprintf(o->pmu, sizeof o->pmu, "%s", info.name);
	snprintf(o->why, sizeof o->why, "%s", err.text);
}

/* Adds the cost of a definition. Returns 0 if one PMU was tried and the limit is reached. */
static int may_try(struct outcomes *all, struct outcome *o,
		   const struct tach_derived_info *info)
{
	if (o->tried && all->tried >= TRIED_MAX) {
		all->untried += !o->untried;
		o->untried = 1;
		return 0;
	}
	all->tried += strlen(info->formula ? info->formula : "") + (size_t)info->nevents * 16;
	return 1;
}

static int by_line(const void *a, const void *b)
{
	return ((const struct outcome *)a)->line - ((const struct outcome *)b)->line;
}

/*
 * Expands every definition of `file`, on all PMUs or on one; all->of has the order of the
 * lines.
 */
static void try_all(struct tach_derived *d, const char *file, int only, struct outcomes *all)
{
	for (int pmu = 0; pmu < tach_pmu_count(); pmu++) {
		int n = only >= 0 && pmu != only ? 0 : tach_derived_count(d, pmu);

		for (int i = 0; i < n; i++) {
			struct tach_derived_info info = {.size = sizeof info};
			struct outcome *o;

			if (tach_derived_at(d, pmu, i, &info) || strcmp(info.file, file) != 0)
				continue;
			o = outcome_of(all, &info);
			if (o && may_try(all, o, &info))
				try_on(d, pmu, o);
		}
	}
	if (all->n)
		qsort(all->of, all->n, sizeof *all->of, by_line);
}

/*
 * Definitions that refer to themselves are an error of the file. An event that no PMU has may
 * be a typo or belong to a future PMU.
 */
int derived_check_uses(const char *file, int only)
{
	struct tach_derived_options opt = {.size = sizeof opt,
					   .flags = TACH_DERIVED_PRESETS | TACH_DERIVED_USER,
					   .max_hz = 1};
	struct outcomes all = {0};
	struct tach_derived *d;
	int errors = 0;

	if (tach_derived_create(&opt, &d, NULL) < 0)
		return 0;
	if (tach_derived_load(d, file, NULL) >= 0)
		try_all(d, file, only, &all);
	for (size_t i = 0; i < all.n; i++) {
		const struct outcome *o = &all.of[i];

		errors += o->cycle;
		if (o->cycle)
			fprintf(stderr, "%s:%d: error: %s\n", file, o->line, o->why);
		else if (!o->good)
			fprintf(stderr, "%s:%d: warning: left out %s %s: %s\n", file, o->line,
				o->tried > 1 && !o->untried
					? "on every PMU that it is for, as on"
					: "on",
				o->pmu, o->why);
	}
	if (all.untried)
		fprintf(stderr,
			"%s: note: %d definitions were not tried on every PMU: the file is "
			"too large for that; name one with --pmu\n",
			file, all.untried);
	free(all.of);
	free(all.at_line);
	tach_derived_free(d);
	return errors;
}
