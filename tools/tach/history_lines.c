/* SPDX-License-Identifier: MIT */
/* Values of a history, sorted into lines by region, quantity, way of counting and machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/commands.h"
#include "tools/tach/history.h"

static size_t group_of(struct history_lines *l, size_t run)
{
	const struct history_run *of = &l->of->run[run];
	size_t g = 0;

	while (g < l->ngroups &&
	       (strcmp(l->of->run[l->group_run[g]].counted, of->counted) != 0 ||
		strcmp(l->of->run[l->group_run[g]].machine, of->machine) != 0))
		g++;
	if (g == l->ngroups)
		l->group_run[l->ngroups++] = run;
	return g;
}

/* If a commit was measured several times, it is still one position on the axis. */
static size_t commit_of(struct history_lines *l, size_t run)
{
	size_t c = l->ncommits;

	while (c &&
	       strcmp(l->of->run[l->commit_run[c - 1]].commit, l->of->run[run].commit) != 0)
		c--;
	if (c)
		return c - 1;
	l->commit_run[l->ncommits] = run;
	return l->ncommits++;
}

/* Number of a place among those with its name: lines in a file move, but their order stays. */
static unsigned ordinal_of(const struct samples *s, size_t i)
{
	unsigned n = 0;

	for (size_t j = i; j && strcmp(s->list[j - 1]->region, s->list[i]->region) == 0; j--)
		n += strcmp(s->list[j - 1]->quantity, s->list[i]->quantity) == 0;
	return n;
}

static void take_run(struct history_lines *l, size_t run, size_t *n, const char *regions)
{
	const struct samples *s = &l->of->run[run].of;
	size_t group = group_of(l, run), commit = commit_of(l, run);

	for (size_t i = 0; i < s->n; i++) {
		const struct series *of = s->list[i];
		struct history_value *v = &l->value[*n];
		struct series_median is;

		if (regions && !samples_is_listed(regions, of->region))
			continue;
		is = series_median(of);
		*v = (struct history_value){.run = run,
					    .commit = commit,
					    .n = of->n,
					    .median = is.median,
					    .low = is.low,
					    .high = is.high,
					    .of = of,
					    .ordinal = ordinal_of(s, i),
					    .group = group};
		++*n;
	}
}

static int by_name(const struct history_value *x, const struct history_value *y)
{
	int order = strcmp(x->of->region, y->of->region);

	if (!order)
		order = strcmp(x->of->quantity, y->of->quantity);
	return order ? order : (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static int by_line(const void *a, const void *b)
{
	const struct history_value *x = a, *y = b;
	int order = by_name(x, y);

	if (!order)
		order = (x->group > y->group) - (x->group < y->group);
	return order ? order : (x->run > y->run) - (x->run < y->run);
}

/* Returns true if the program repeats these counts exactly: then each difference is a step. */
static int is_exact(const struct history_line *line, const struct history *h)
{
	for (size_t i = 0; i < line->n; i++) {
		const struct history_value *v = &line->value[i];
		const char *counted = h->run[v->run].counted;

		if (v->of->kind != SERIES_EXACT || v->low != v->high ||
		    (v->n < 2 && strncmp(counted, "emulated", 8) != 0 &&
		     strncmp(counted, "exact", 5) != 0))
			return 0;
	}
	return 1;
}

static const char *verdict_of(const struct series *s, double change)
{
	if (strcmp(s->quantity, "ipc") == 0)
		change = -change;
	else if (s->kind == SERIES_METRIC)
		return "changed";
	return tach_change_name(change > 0 ? TACH_CHANGE_WORSE : TACH_CHANGE_BETTER);
}

static int find_changes(struct history_line *line, const struct history *h,
			struct tach__change_bounds *bounds, double least)
{
	struct tach__change_point *point = malloc(line->n * sizeof *point);
	double *x = malloc(line->n * sizeof *x);
	size_t n = 0;
	int code = -1;

	for (size_t i = 0; x && i < line->n; i++)
		x[i] = line->value[i].median;
	if (x && point &&
	    tach__change_points(x, line->n, is_exact(line, h) ? NULL : bounds, point, &n) ==
		    0) {
		line->change = calloc(n + 1, sizeof *line->change);
		code = line->change ? 0 : -1;
	}
	for (size_t i = 0; !code && i < n; i++) {
		double change = point[i].after / point[i].before - 1;

		if (fabs(change) >= least || isnan(change))
			line->change[line->nchanges++] = (struct history_change){
				point[i].at, point[i].before, point[i].after, change,
				verdict_of(line->value->of, change)};
	}
	free(point);
	free(x);
	return code;
}

static int make_lines(struct history_lines *l, size_t n, double least)
{
	struct tach__change_bounds *bounds = calloc(1, sizeof *bounds);
	int code = bounds ? 0 : -1;

	for (size_t from = 0, end; !code && from < n; from = end) {
		struct history_line *line = &l->line[l->n];
		const struct history_value *v = &l->value[from];

		for (end = from + 1; end < n && by_name(&l->value[end], v) == 0 &&
				     l->value[end].group == v->group;)
			end++;
		line->value = v;
		line->n = end - from;
		series_label(v->of, 0, line->label, sizeof line->label - 16);
		if (v->ordinal)
			sprintf(line->label + strlen(line->label), " (%u)", v->ordinal + 1);
		l->apart += l->n && by_name(line[-1].value, v) == 0;
		l->n++;
		code = find_changes(line, l->of, bounds, least);
	}
	free(bounds);
	return code;
}

static int by_newest(const void *a, const void *b)
{
	const struct history_mark *x = a, *y = b;

	if (x->value->run != y->value->run)
		return x->value->run > y->value->run ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int list_marks(struct history_lines *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->line[i].nchanges;
	l->mark = calloc(n + 1, sizeof *l->mark);
	for (size_t i = 0; l->mark && i < l->n; i++)
		for (size_t k = 0; k < l->line[i].nchanges; k++) {
			const struct history_change *c = &l->line[i].change[k];

			l->mark[l->nmarks++] =
				(struct history_mark){&l->line[i], c, &l->line[i].value[c->at]};
		}
	if (l->mark)
		qsort(l->mark, n, sizeof *l->mark, by_newest);
	return l->mark ? 0 : -1;
}

int history_lines(struct history_lines *l, const struct history *h, double least,
		  const char *regions)
{
	size_t n = 0, all = 0;
	int code;

	for (size_t i = 0; i < h->n; i++)
		all += h->run[i].of.n;
	*l = (struct history_lines){.of = h};
	l->value = calloc(all + 1, sizeof *l->value);
	l->line = calloc(all + 1, sizeof *l->line);
	l->group_run = calloc(h->n + 1, sizeof *l->group_run);
	l->commit_run = calloc(h->n + 1, sizeof *l->commit_run);
	code = l->value && l->line && l->group_run && l->commit_run ? 0 : -1;
	for (size_t i = 0; !code && i < h->n; i++)
		take_run(l, i, &n, regions);
	if (!code) {
		qsort(l->value, n, sizeof *l->value, by_line);
		code = make_lines(l, n, least) || list_marks(l);
	}
	if (code)
		fprintf(stderr, HISTORY_WHO ": out of memory\n");
	return code;
}

void history_lines_free(struct history_lines *l)
{
	for (size_t i = 0; l->line && i < l->n; i++)
		free(l->line[i].change);
	free(l->mark);
	free(l->value);
	free(l->line);
	free(l->group_run);
	free(l->commit_run);
	*l = (struct history_lines){0};
}
