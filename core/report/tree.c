/* SPDX-License-Identifier: MIT */
/* Evaluates metrics that form a tree: their order, their thresholds, and one sentence about the
 * next step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "core/report/tree.h"

/* Thresholds for metrics without one. Retiring has a higher threshold, because it is the useful
 * work. */
#define USUAL_THRESHOLD	   0.2
#define RETIRING_THRESHOLD 0.7

const struct tach__place *tach__tree_node(const struct tach__tree *t, int m)
{
	return &t->s->plain.metric[m].node;
}

const char *tach__tree_name(const struct tach__tree *t, int m)
{
	return t->s->plain.metric[m].name;
}

double tach__tree_scale(const struct tach__tree *t, int m)
{
	double scale = tach__tree_node(t, m)->scale;

	return isfinite(scale) && scale > 0 ? scale : 1;
}

const char *tach__tree_unit(const struct tach__tree *t, int m)
{
	const char *unit = tach__tree_node(t, m)->unit;

	return unit && strncmp(unit, "percent", 7) == 0 ? " %" : "";
}

/* Finds the parent of metric m, or -1. A parent must have a lower level, so that no file can
 * define a cycle. */
static int find_parent(const struct tach__tree *t, int m)
{
	const struct tach__place *n = tach__tree_node(t, m);

	for (int k = 0; n->parent && *n->parent && k < t->n; k++)
		if (tach__tree_node(t, k)->level && tach__tree_node(t, k)->level < n->level &&
		    strcasecmp(tach__tree_name(t, k), n->parent) == 0)
			return k;
	return -1;
}

/* ---- thresholds ---- */

/* A metric that is not counted has the value 0 in thresholds. */
static int value_named(void *context, const char *name, size_t length, double *value)
{
	const struct tach__tree *t = context;

	*value = 0;
	for (int m = 0; m < t->n; m++)
		if (strncasecmp(tach__tree_name(t, m), name, length) == 0 &&
		    !tach__tree_name(t, m)[length] && isfinite(t->value[m].value))
			*value = t->value[m].value;
	return 0;
}

static int is_retiring(const char *name)
{
	return strcasestr(name, "retir") != NULL;
}

static int is_above(struct tach__tree *t, int m)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	const char *text = tach__tree_node(t, m)->threshold;
	const struct tach_value *v = &t->value[m];
	double usual =
		is_retiring(tach__tree_name(t, m)) ? RETIRING_THRESHOLD : USUAL_THRESHOLD;
	static const uint64_t none[1];
	struct tach_formula *f;
	uint32_t flags = 0;
	double holds;

	if (isnan(v->value) || v->flags & TACH_FLAG_SMALL)
		return 0;
	opt.noperands = 0;
	opt.parameter = value_named;
	opt.context = t;
	if (!text || !*text || tach_formula_compile(text, &opt, &f, NULL) != 0)
		return v->value > usual;
	holds = tach_formula_eval(f, none, 0, &flags);
	tach_formula_free(f);
	return !isnan(holds) && holds != 0;
}

/* Returns metrics above their threshold first, then larger ones; -1: all were returned. */
int tach__tree_next(const struct tach__tree *t, int parent)
{
	int best = -1;

	for (int m = 0; m < t->n; m++) {
		if (!tach__tree_node(t, m)->level || t->parent[m] != parent || t->shown[m])
			continue;
		if (best < 0 || t->above[m] > t->above[best] ||
		    (t->above[m] == t->above[best] && t->value[m].value > t->value[best].value))
			best = m;
	}
	return best;
}

/* ---- a region ---- */

static int is_measured(const struct tach__tree *t, int region)
{
	struct tach_region_info info = {0};

	tach_snapshot_region(t->s, region, &info);
	return info.calls > 0;
}

static void take_region(struct tach__tree *t, int region)
{
	for (int m = 0; m < t->n; m++)
		tach_snapshot_derived(t->s, region, m, TACH_PART_INCLUSIVE, &t->value[m]);
	for (int m = 0; m < t->n; m++) {
		t->above[m] = tach__tree_node(t, m)->level && is_above(t, m);
		t->shown[m] = 0;
	}
}

const char *tach__tree_region(struct tach__tree *t, int region)
{
	struct tach_region_info info = {0};

	if (!is_measured(t, region))
		return NULL;
	take_region(t, region);
	tach_snapshot_region(t->s, region, &info);
	return *info.name ? info.name : "\"\"";
}

/* ---- the sentence ---- */

/* Returns the region with the most self time, because a change there has the largest effect. */
static int heaviest_region(const struct tach__tree *t)
{
	double most = -1;
	int best = -1;

	for (int r = 0; r < tach_snapshot_nregions(t->s); r++) {
		struct tach_value v;

		tach_snapshot_value(t->s, r, TACH_QUANTITY_TIME, TACH_PART_SELF, &v);
		if (!is_measured(t, r) || !(v.value > most))
			continue;
		most = v.value;
		best = r;
	}
	return best;
}

/* Returns the largest child of `parent` that is above its threshold and is not useful work, or
 * -1. */
static int worst_below(const struct tach__tree *t, int parent)
{
	int best = -1;

	for (int m = 0; m < t->n; m++) {
		if (!tach__tree_node(t, m)->level || t->parent[m] != parent || !t->above[m] ||
		    (tach__tree_node(t, m)->level == 1 && is_retiring(tach__tree_name(t, m))))
			continue;
		if (best < 0 || t->value[m].value > t->value[best].value)
			best = m;
	}
	return best;
}

static void write_share(struct tach__out *out, const struct tach__tree *t, int m)
{
	t->text(out, tach__tree_name(t, m));
	tach__out(out, " (%.1f%s)", t->value[m].value * tach__tree_scale(t, m),
		  tach__tree_unit(t, m));
}

void tach__tree_sentence(struct tach__out *out, struct tach__tree *t)
{
	int region = heaviest_region(t), worst, below, any = 0, depth = 0;
	const char *words;

	if (region < 0)
		return;
	tach__out_text(out, "What to look at next: in ");
	t->text(out, tach__tree_region(t, region));
	for (int m = 0; m < t->n; m++)
		any |= tach__tree_node(t, m)->level && !isnan(t->value[m].value) &&
		       !(t->value[m].flags & TACH_FLAG_LOST);
	worst = any ? worst_below(t, -1) : -1;
	if (worst < 0) {
		tach__out_text(out, any ? ", nothing stands out: no share is above its "
					  "threshold and its error, so fewer instructions will "
					  "help more than faster ones."
					: ", nothing yet: its shares were not counted.");
		return;
	}
	tach__out_text(out, ", ");
	write_share(out, t, worst);
	while (depth++ < TACH__TREE_DEPTH && (below = worst_below(t, worst)) >= 0) {
		tach__out_text(out, ", and in it ");
		write_share(out, t, worst = below);
	}
	words = tach__tree_node(t, worst)->description;
	if (words && *words) {
		tach__out_text(out, ": ");
		t->text(out, words);
	}
	tach__out_text(out, ".");
}

/* ---- the whole ---- */

int tach__tree_has_levels(const struct tach_snapshot *s)
{
	for (int m = 0; m < s->plain.nmetrics; m++)
		if (s->plain.metric[m].node.level)
			return 1;
	return 0;
}

int tach__tree_begin(struct tach__tree *t, struct tach__out *out, const struct tach_snapshot *s,
		     void (*text)(struct tach__out *out, const char *text))
{
	size_t n = (size_t)s->plain.nmetrics;

	*t = (struct tach__tree){.s = s, .text = text, .n = s->plain.nmetrics};
	/* A handler may not do this, because compiling thresholds uses malloc. */
	if (!tach__tree_has_levels(s) || s->plain.nregions == 0 || s->in_handler)
		return 0;
	t->parent = calloc(n, sizeof *t->parent);
	t->value = calloc(n, sizeof *t->value);
	t->above = calloc(n, 1);
	t->shown = calloc(n, 1);
	if (!t->parent || !t->value || !t->above || !t->shown) {
		out->lacking = 1;
		tach__tree_end(t);
		return 0;
	}
	for (int m = 0; m < t->n; m++)
		t->parent[m] = find_parent(t, m);
	return 1;
}

void tach__tree_end(struct tach__tree *t)
{
	free(t->parent);
	free(t->value);
	free(t->above);
	free(t->shown);
}
