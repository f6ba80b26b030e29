/* SPDX-License-Identifier: MIT */
/*
 * Handles "topdown" among the metrics of a set. It stands for the tree of metrics that shows
 * how a machine used its issue slots. The tree is as deep as the counters of one pinned set
 * allow. A machine may have two such trees. The presets topdown_* use separate events and are
 * exact. The vendor's tree uses PERF_METRICS on Intel. If both have the same depth, the presets
 * are used.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tach/page.h>
#include <tach/pmu.h>
#include "core/base/error.h"
#include "core/derived/derived.h"
#include "core/set/set.h"

#define WORD "topdown"

enum { NODES_MAX = 256, USUAL_LEVEL = 2, LEVEL_MAX = 6, TREES = 2 };

/* ---- the word ---- */

/* Reads the next metric, without surrounding blanks. Returns 0 at the end. */
static int next_part(const char **at, const char **part, size_t *length)
{
	size_t n = strcspn(*at, ";\n");

	if (!**at)
		return 0;
	*part = *at;
	*length = n;
	*at += n + (*at + n != strchr(*at, '\0'));
	while (*length && isspace((unsigned char)**part))
		++*part, --*length;
	while (*length && isspace((unsigned char)(*part)[*length - 1]))
		--*length;
	return 1;
}

/* Returns 1 for "topdown" alone, or with a colon and a number. topdown:slots is an event. */
static int is_word(const char *part, size_t length)
{
	size_t n = strlen(WORD);

	return length >= n && strncmp(part, WORD, n) == 0 &&
	       (length == n || (length > n + 1 && part[n] == ':' &&
				strspn(part + n + 1, "0123456789") >= length - n - 1));
}

/* Returns the first part that is_word accepts, or NULL. */
static const char *find_word(const char *metrics, size_t *length)
{
	const char *part;

	while (metrics && next_part(&metrics, &part, length))
		if (is_word(part, *length))
			return part;
	return NULL;
}

int tach__topdown_is_asked(const char *metrics)
{
	size_t length;

	return find_word(metrics, &length) != NULL;
}

/* Returns the level after the colon; 0: the default depth; -1: an error. */
static int level_of(const char *word, size_t length)
{
	size_t n = strlen(WORD);

	if (length == n)
		return 0;
	return length == n + 2 && word[n + 1] >= '1' && word[n + 1] <= '0' + LEVEL_MAX
		       ? word[n + 1] - '0'
		       : -1;
}

/* ---- the machine's metrics ---- */

struct tree {
	int n, deepest;
	int refused; /* 1: metrics that need PERF_METRICS are left out; -1: not known yet */
	struct tach_derived_info node[NODES_MAX];
};

static struct tree *new_tree(void)
{
	struct tree *t = malloc(sizeof *t);

	if (t)
		t->refused = -1;
	return t;
}

/* Returns 1 for a metric of the first level. Vendors' names exist with and without a prefix. */
static int is_root(const char *name, int ours)
{
	static const char *const words[] = {"frontend_bound",
					    "backend_bound",
					    "bad_speculation",
					    "retiring",
					    "smt_contention",
					    "retired_fraction",
					    "slots_lost_misspeculation_fraction"};

	if (ours)
		return 1;
	if (strncasecmp(name, "tma_", 4) == 0)
		name += 4;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(name, words[i]) == 0)
			return 1;
	return 0;
}

static int has_event(const struct tree *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcasecmp(t->node[i].name, name) == 0)
			return 1;
	return 0;
}

static int is_refused(struct tree *t, int pmu, const char *name)
{
	if (t->refused < 0)
		t->refused = tach__perf_metrics_refused(pmu);
	return t->refused && tach__perf_metrics_used(pmu, name);
}

/* Adds the metrics of one level of the tree. The levels above must be in the tree already. */
static void add_level(struct tree *t, int pmu, int ours, int level)
{
	struct tach_derived *d = tach_derived_default();
	int n = d ? tach_derived_count(d, pmu) : 0;

	for (int i = 0; i < n && t->n < NODES_MAX; i++) {
		struct tach_derived_info info = {.size = sizeof info};

		if (tach_derived_at(d, pmu, i, &info) != 0 || info.level != level ||
		    (strncmp(info.name, "topdown_", 8) == 0) != ours ||
		    !(level == 1 ? is_root(info.name, ours) : has_event(t, info.parent)))
			continue;
		if (is_refused(t, pmu, info.name))
			continue;
		t->node[t->n++] = info;
		t->deepest = level;
	}
}

static void find_tree(struct tree *t, int pmu, int ours, int deepest)
{
	*t = (struct tree){.refused = t->refused};
	for (int level = 1; level <= deepest && t->deepest == level - 1; level++)
		add_level(t, pmu, ours, level);
}

/* ---- the set ---- */

/* Returns the metrics with blanks in place of the word "topdown", and with the tree's names at
 * the end. So columns stay right. */
static char *metrics_text(const char *metrics, const struct tree *t)
{
	size_t size = strlen(metrics) + 1, length;
	const char *word;
	char *text, *to;

	for (int i = 0; i < t->n; i++)
		size += strlen(t->node[i].name) + 1;
	text = malloc(size);
	if (!text)
		return NULL;
	to = stpcpy(text, metrics);
	while ((word = find_word(text, &length)))
		memset(text + (word - text), ' ', length);
	for (int i = 0; i < t->n; i++)
		to += sprintf(to, ";%s", t->node[i].name);
	return text;
}

int tach__topdown_spelled(const char *metrics, int pmu, int limit, int *level, char **out)
{
	size_t length;
	const char *word = find_word(metrics, &length);
	int asked = word ? level_of(word, length) : -1;
	struct tree *t;

	*level = 0;
	if (!word) {
		*out = strdup(metrics);
		return *out ? 0 : TACH_ERR_NOMEM;
	}
	t = new_tree();
	if (!t)
		return TACH_ERR_NOMEM;
	asked = asked ? asked : USUAL_LEVEL;
	for (int l = asked < limit ? asked : limit; l >= 1 && !*level; l--)
		for (int ours = TREES; ours-- > 0 && !*level;) {
			find_tree(t, tach__derived_pmu(pmu), ours, l);
			if (t->deepest == l)
				*level = l;
		}
	*out = *level ? metrics_text(metrics, t) : NULL;
	free(t);
	return *out ? 0 : *level ? TACH_ERR_NOMEM : TACH_ERR_NOTSUPP;
}

struct attempt {
	struct tach_set **out;
	const struct tach_set_options *opt;
	uint32_t flags;
	const char *word;
	size_t length;
	struct tach_error err; /* code of the last failure */
};

/* Adds slots in front of the events, because PERF_METRICS counts only in a group that slots
 * lead. */
static int with_slots(const struct attempt *a, struct tach_set_options *opt,
		      struct tach_error *err)
{
	static const char slots[] = "TOPDOWN:SLOTS";
	size_t n = opt->events ? strlen(opt->events) : 0;
	char *events = malloc(sizeof slots + 1 + n);
	int code;

	if (!events)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	sprintf(events, "%s%s%s", slots, n ? "," : "", n ? opt->events : "");
	opt->events = events;
	code = tach__set_make(a->out, opt, a->flags, err);
	free(events);
	return code;
}

static int try_tree(struct attempt *a, const struct tree *t)
{
	struct tach_set_options opt = *a->opt;
	struct tach_error err = TACH_ERROR_INIT;
	char *text = metrics_text(opt.metrics, t);
	int code;

	if (!text)
		return tach__error(&a->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	opt.metrics = text;
	code = tach__set_make(a->out, &opt, a->flags, &err);
	if (code == TACH_ERR_FEATCOMB)
		code = with_slots(a, &opt, &err);
	/* If the column is after the caller's text, report the column of "topdown" instead. */
	if (code && err.column > (int)strlen(a->opt->metrics) + 1)
		err.column = (int)(a->word - a->opt->metrics) + 1;
	if (code)
		a->err = err;
	free(text);
	return code;
}

/* Returns 1 if another tree may work after this error. */
static int can_try_next(int code)
{
	return code == TACH_ERR_NOCOUNTER || code == TACH_ERR_NOASSIGN ||
	       code == TACH_ERR_TOOMANY || code == TACH_ERR_FEATCOMB ||
	       code == TACH_ERR_NOTSUPP || code == TACH_ERR_NOTFOUND;
}

/* Tries trees from the deepest on, and uses the first that fits. Returns 0 and *level, or a
 * code. If there are no trees, *level is 0. */
static int first_that_fits(struct attempt *a, struct tree *t, int deepest, int *level)
{
	int pmu = tach__derived_pmu(a->opt->pmu), code = TACH_ERR_NOTSUPP;

	*level = 0;
	for (int l = deepest; l >= 1; l--)
		for (int ours = TREES; ours-- > 0;) {
			find_tree(t, pmu, ours, l);
			if (t->deepest != l)
				continue;
			*level = l;
			code = try_tree(a, t);
			if (code == 0 || !can_try_next(code))
				return code;
		}
	return code;
}

static int fail(const struct attempt *a, int code, int level, struct tach_error *err)
{
	struct tach_pmu_info info = {.size = sizeof info};
	int pmu = tach__derived_pmu(a->opt->pmu), column = a->err.column;
	int known = pmu >= 0 && tach_pmu_describe(pmu, &info) == 0;

	if (!column)
		column = (int)(a->word - a->opt->metrics) + 1;
	if (level && can_try_next(code))
		return tach__error(err, code, 0, column,
				   "topdown: not even its first level can be counted at once "
				   "(%s): %.150s",
				   known ? info.name : "?", a->err.text);
	if (level)
		return tach__error(err, code, 0, column, "%s", a->err.text);
	if (known)
		return tach__error(err, code, 0, column,
				   "topdown: %s (%.60s) has no events for its issue slots",
				   info.name, info.description);
	return tach__error(err, code, 0, column,
			   "topdown: this processor is unknown or cannot be identified; name "
			   "it with TACH_PMU=NAME");
}

int tach__topdown_make(struct tach_set **out, const struct tach_set_options *opt,
		       uint32_t flags, struct tach_error *err)
{
	struct attempt a = {out, opt, flags, NULL, 0, TACH_ERROR_INIT};
	int asked, level, code, refused;
	struct tree *t;
	char why[140];

	a.word = find_word(opt->metrics, &a.length);
	asked = level_of(a.word, a.length);
	if (asked < 0)
		return tach__error(err, TACH_ERR_SYNTAX, 0, (int)(a.word - opt->metrics) + 1,
				   "topdown:N needs a level from 1 to %d after the colon",
				   LEVEL_MAX);
	t = new_tree();
	if (!t)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	code = first_that_fits(&a, t, asked ? asked : USUAL_LEVEL, &level);
	refused = t->refused > 0;
	free(t);
	if (code)
		return fail(&a, code, level, err);
	if (asked > level || (refused && level < USUAL_LEVEL && !asked)) {
		snprintf(why, sizeof why,
			 "topdown: level %d is what can be counted at once here, not level "
			 "%d%s",
			 level, asked ? asked : USUAL_LEVEL,
			 refused ? ": the kernel or its host gives no PERF_METRICS" : "");
		tach__set_miss(*out, "topdown", why);
	}
	return 0;
}
