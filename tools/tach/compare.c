/* SPDX-License-Identifier: MIT */
/* Matches the series of two sides, and judges each pair. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/change/change.h"
#include "tools/tach/commands.h"
#include "tools/tach/compare.h"

/* ---- places: match regions by name, then by order, then by place ---- */

struct place {
	const char *region, *file;
	unsigned line;
	const struct place *other; /* NULL: missing on the other side */
};

struct places {
	struct place *list; /* sorted by region, file, line */
	size_t n;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->region, y->region);

	if (!order)
		order = strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int open_places(struct places *p, const struct samples *s)
{
	size_t n = 0;

	p->list = calloc(s->n + 1, sizeof *p->list);
	if (!p->list)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		p->list[i] = (struct place){s->list[i]->region, s->list[i]->file,
					    s->list[i]->line, NULL};
	qsort(p->list, s->n, sizeof *p->list, by_place);
	for (size_t i = 0; i < s->n; i++)
		if (!n || by_place(&p->list[n - 1], &p->list[i]) != 0)
			p->list[n++] = p->list[i];
	p->n = n;
	return 0;
}

/* Number of consecutive places from `from` on with the same name. */
static size_t count_alike(const struct places *p, size_t from)
{
	size_t n = 1;

	while (from + n < p->n && strcmp(p->list[from].region, p->list[from + n].region) == 0)
		n++;
	return n;
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static void join_places(struct place *x, struct place *y)
{
	x->other = y;
	y->other = x;
}

/*
 * Matches places with one name. If both sides have the same number, match them by order,
 * because lines move. Otherwise match equal places first, and the rest by order.
 */
static void match_alike(struct place *x, size_t nx, struct place *y, size_t ny)
{
	size_t j = 0;

	for (size_t i = 0; nx != ny && i < nx; i++)
		for (size_t k = 0; k < ny; k++)
			if (!x[i].other && !y[k].other && x[i].line == y[k].line &&
			    strcmp(base_name(x[i].file), base_name(y[k].file)) == 0)
				join_places(&x[i], &y[k]);
	for (size_t i = 0; i < nx; i++) {
		while (j < ny && y[j].other)
			j++;
		if (!x[i].other && j < ny)
			join_places(&x[i], &y[j]);
	}
}

static void match_places(struct places *old, struct places *now)
{
	size_t i = 0, j = 0;

	while (i < old->n && j < now->n) {
		size_t nx = count_alike(old, i), ny = count_alike(now, j);
		int order = strcmp(old->list[i].region, now->list[j].region);

		if (order == 0)
			match_alike(&old->list[i], nx, &now->list[j], ny);
		i += order <= 0 ? nx : 0;
		j += order >= 0 ? ny : 0;
	}
}

/*
 * Finds the same quantity at the matching place. Returns NULL if the other side does not have
 * it.
 */
static const struct series *find_other(const struct places *mine, const struct samples *other,
				       const struct series *of)
{
	struct place wanted = {of->region, of->file, of->line, NULL};
	const struct place *at =
		bsearch(&wanted, mine->list, mine->n, sizeof *mine->list, by_place);
	struct series like = *of;

	if (!at || !at->other)
		return NULL;
	like.file = (char *)at->other->file;
	like.line = at->other->line;
	return samples_find(other, &like);
}

/* ---- what is compared ---- */

/*
 * If there are no rules, every quantity that has a direction is judged. Returns 0 if the line
 * is not shown.
 */
static int find_rule(const struct compare_options *o, const struct series *s,
		     struct compare_line *l)
{
	const struct compare_rule *rule = compare_rule(o, s->quantity);

	if (rule)
		l->rule = *rule;
	if (o->nrules)
		return rule != NULL;
	l->rule.less = strcmp(s->quantity, "ipc") == 0;
	l->rule.bound = s->kind == SERIES_TIME || s->kind == SERIES_METRIC ? TACH__BOUND_TIME
									   : TACH__BOUND_COUNT;
	if (s->kind == SERIES_METRIC && !l->rule.less)
		l->verdict = COMPARE_UNJUDGED;
	return 1;
}

static void add_line(struct comparison *c, const struct series *old, const struct series *now)
{
	const struct series *s = old ? old : now;
	struct compare_line l = {
		.old = old, .now = now, .is = {.size = sizeof l.is, .old = NAN, .now = NAN}};

	if ((c->options->regions && !samples_is_listed(c->options->regions, s->region)) ||
	    !find_rule(c->options, s, &l))
		return;
	l.twin = (old && old->twin) || (now && now->twin);
	l.is.change = NAN;
	l.is.low = -INFINITY;
	l.is.high = INFINITY;
	if (!old || !now)
		l.verdict = old ? COMPARE_GONE : COMPARE_NEW;
	c->judged += old && now && l.verdict != COMPARE_UNJUDGED;
	c->line[c->n++] = l;
}

static int list_lines(struct comparison *c, const struct places *old, const struct places *now)
{
	c->line = calloc(c->old->n + c->now->n + 1, sizeof *c->line);
	if (!c->line)
		return -1;
	for (size_t i = 0; i < c->old->n; i++)
		add_line(c, c->old->list[i], find_other(old, c->now, c->old->list[i]));
	for (size_t i = 0; i < c->now->n; i++)
		if (!find_other(now, c->old, c->now->list[i]))
			add_line(c, NULL, c->now->list[i]);
	return 0;
}

/* ---- the decision ---- */

static int judge_line(struct comparison *c, struct compare_line *l)
{
	const struct compare_options *o = c->options;
	struct tach_change_rule rule = {.size = sizeof rule, .bound = l->rule.bound};
	struct tach_error err = TACH_ERROR_INIT;
	static const double none[1];

	rule.alpha = o->alpha / (double)(c->judged ? c->judged : 1);
	rule.flags =
		(l->rule.less ? TACH_CHANGE_LESS : 0) | (o->in_turns ? TACH_CHANGE_TURNS : 0);
	if (l->old && l->now && l->old->kind == SERIES_EXACT && l->now->kind == SERIES_EXACT)
		rule.flags |= TACH_CHANGE_EXACT;
	if (tach_change_judge(l->old ? l->old->value : none, l->old ? l->old->n : 0,
			      l->now ? l->now->value : none, l->now ? l->now->n : 0, &rule,
			      &l->is, &err) != 0) {
		fprintf(stderr, "%s: %s\n", o->who, err.text);
		return EXIT_USAGE;
	}
	if (l->old && l->now && l->verdict != COMPARE_UNJUDGED)
		l->verdict = (enum compare_verdict)l->is.verdict;
	c->count[l->verdict]++;
	return 0;
}

/* A series that only one side has still shows its median. */
static int judge_all(struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct compare_line *l = &c->line[i], one = *l;
		int code;

		if (!l->old || !l->now) {
			struct tach_change_rule rule = {.size = sizeof rule};
			const struct series *s = compare_series(l);

			c->count[l->verdict]++;
			if (tach_change_judge(s->value, s->n, s->value, s->n, &rule, &one.is,
					      NULL) != 0)
				return EXIT_USAGE;
			*(l->old ? &l->is.old : &l->is.now) = one.is.old;
			continue;
		}
		code = judge_line(c, l);
		if (code)
			return code;
	}
	return 0;
}

/* ---- requested but missing ---- */

static int has_region(const struct samples *s, const char *name, size_t length)
{
	for (size_t i = 0; i < s->n; i++)
		if (strlen(s->list[i]->region) == length &&
		    memcmp(s->list[i]->region, name, length) == 0)
			return 1;
	return 0;
}

static int check_regions(const struct comparison *c)
{
	const char *at = c->options->regions;

	for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t n = strcspn(at, ",");

		if (has_region(c->old, at, n) || has_region(c->now, at, n))
			continue;
		fprintf(stderr, "%s: --region %.*s: neither side has such a region\n",
			c->options->who, (int)n, at);
		return EXIT_USAGE;
	}
	return 0;
}

static int uses_rule(const struct comparison *c, const struct samples *s,
		     const struct compare_rule *rule)
{
	for (size_t i = 0; i < s->n; i++)
		if (compare_rule(c->options, s->list[i]->quantity) == rule)
			return 1;
	return 0;
}

/* A rule that matches nothing would always pass. */
static int check_rules(const struct comparison *c)
{
	for (size_t i = 0; i < c->options->nrules && (c->old->n || c->now->n); i++) {
		const struct compare_rule *rule = &c->options->rule[i];

		if (uses_rule(c, c->old, rule) || uses_rule(c, c->now, rule))
			continue;
		fprintf(stderr,
			"%s: --fail-if '%s': no quantity of that name was measured%s%s\n",
			c->options->who, rule->quantity, *c->now->missing ? ": " : "",
			c->now->missing);
		return *c->now->missing ? EXIT_UNKNOWN : EXIT_USAGE;
	}
	return 0;
}

int compare(struct comparison *c, const struct compare_options *o, struct samples *old,
	    struct samples *now)
{
	struct places x = {0}, y = {0};
	int code;

	c->options = o;
	c->old = old;
	c->now = now;
	code = check_regions(c);
	if (!code && !(o->allow & COMPARE_ALLOW_NOTHING))
		code = check_rules(c);
	if (code)
		return code;
	samples_mark_twins(old);
	samples_mark_twins(now);
	code = EXIT_USAGE;
	if (open_places(&x, old) == 0 && open_places(&y, now) == 0) {
		match_places(&x, &y);
		if (list_lines(c, &x, &y) == 0)
			code = judge_all(c);
	}
	free(x.list);
	free(y.list);
	return code;
}

void compare_free(struct comparison *c)
{
	free(c->line);
	c->line = NULL;
}

int compare_status(const struct comparison *c)
{
	unsigned allow = c->options->allow;

	if (c->count[COMPARE_WORSE])
		return EXIT_NO;
	if ((c->count[COMPARE_UNKNOWN] && !(allow & COMPARE_ALLOW_UNKNOWN)) ||
	    (c->count[COMPARE_GONE] && !(allow & COMPARE_ALLOW_GONE)) ||
	    (!c->judged && !(allow & COMPARE_ALLOW_NOTHING)))
		return EXIT_UNKNOWN;
	return EXIT_DONE;
}

const struct series *compare_series(const struct compare_line *l)
{
	return l->now ? l->now : l->old;
}

static const char *const alone[] = {"new", "gone", "not judged"};

const char *compare_name(const struct compare_line *l)
{
	return l->verdict < COMPARE_NEW ? tach_change_name((enum tach_change)l->verdict)
					: alone[l->verdict - COMPARE_NEW];
}

void compare_text(const struct compare_line *l, char *to, size_t size)
{
	if (l->verdict >= COMPARE_NEW)
		snprintf(to, size, "%s", alone[l->verdict - COMPARE_NEW]);
	else
		tach_change_text(&l->is, to, size);
}
