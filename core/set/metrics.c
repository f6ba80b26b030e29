/* SPDX-License-Identifier: MIT */
/* Adds metrics to a set: formulas over its members. A metric may add members. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include "core/base/error.h"
#include "core/set/set.h"

struct tach__span tach__trimmed(struct tach__span t)
{
	while (t.length && isspace((unsigned char)*t.at))
		t.at++, t.length--, t.column++;
	while (t.length && isspace((unsigned char)t.at[t.length - 1]))
		t.length--;
	return t;
}

char *tach__formula_text(const struct tach_formula *f)
{
	int length = tach_formula_print(f, TACH_FORMULA_INFIX, NULL, 0);
	char *text = malloc((size_t)length + 1);

	if (text)
		tach_formula_print(f, TACH_FORMULA_INFIX, text, (size_t)length + 1);
	return text;
}

int tach__set_check_name(const struct tach__making *m, struct tach__span name)
{
	if (name.length != 4 || memcmp(name.at, "time", 4) != 0)
		return 0;
	return tach__error(
		m->err, TACH_ERR_INVAL, 0, name.column,
		"'time' is the name of every region's time in reports: use another name");
}

int tach__set_find_metric(const struct tach_set *set, struct tach__span name)
{
	for (int i = 0; i < set->nmetrics; i++)
		if (strlen(set->metric[i].name) == name.length &&
		    memcmp(set->metric[i].name, name.at, name.length) == 0)
			return i;
	return -1;
}

/* Refuses a metric name that is also the name of an event. */
static int check_metric_name(const struct tach__making *m, struct tach__span name)
{
	if (tach__set_find(m->set, name.at, name.length) >= 0)
		return tach__error(m->err, TACH_ERR_INVAL, 0, name.column,
				   "'%.*s' names an event and a metric", (int)name.length,
				   name.at);
	return tach__set_check_name(m, name);
}

int tach__set_metric_keep(struct tach__making *m, struct tach__span name,
			  struct tach_formula *formula)
{
	struct tach_set *set = m->set;
	struct tach__metric *it = &set->metric[set->nmetrics];
	int code = check_metric_name(m, name);

	if (code) {
		tach_formula_free(formula);
		return code;
	}
	if (set->nmetrics == TACH__METRICS_MAX) {
		tach_formula_free(formula);
		return tach__error(m->err, TACH_ERR_TOOMANY, 0, name.column,
				   "a set holds %d metrics at most", TACH__METRICS_MAX);
	}
	it->name = strndup(name.at, name.length);
	it->formula = formula;
	it->text = tach__formula_text(formula);
	set->nmetrics++;
	return it->name && it->text
		       ? 0
		       : tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
}

struct tach__place tach__metric_place(int pmu, const char *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *d = tach_derived_default();

	if (!d || tach_derived_find(d, pmu, name, &info) != 0)
		return (struct tach__place){0};
	return (struct tach__place){
		info.level,
		info.scale,
		info.unit,
		info.parent,
		info.threshold,
		*info.short_description ? info.short_description : info.long_description};
}

enum { PARTS_MAX = 16 };

/* The names that a formula uses, while it is compiled. */
struct asking {
	struct tach__making *m;
	int left_out; /* 1: the formula uses a name that this machine cannot count */
	/*
	 * The error for the longest name at one place that was an event but could not be added.
	 * Shorter names are tried after it.
	 */
	int code;
	struct tach__span failed;
	struct tach__span unknown; /* the longest name at the last place, if it is unknown */
	int nparts; /* number of derived events in the formula; kept until it is compiled */
	struct tach__span name[PARTS_MAX];
	struct tach_formula *part[PARTS_MAX];
};

/* Numbers from PARTS_MAX on are the set's own metrics. */
static const struct tach_formula *get_part(void *context, int i)
{
	const struct asking *a = context;

	return i < PARTS_MAX ? a->part[i] : a->m->set->metric[i - PARTS_MAX].formula;
}

/* Returns the number of a metric or derived event that was named before, or -1. */
static int named_before(const struct asking *a, struct tach__span name)
{
	int metric = tach__set_find_metric(a->m->set, name);

	if (metric >= 0)
		return PARTS_MAX + metric;
	for (int i = 0; i < a->nparts; i++)
		if (a->name[i].length == name.length &&
		    memcmp(a->name[i].at, name.at, name.length) == 0)
			return i;
	return -1;
}

static int leave_out(struct asking *a)
{
	a->left_out = 1;
	return 0;
}

/* Most calls fail, because all beginnings of a name are tried. So errors get no text here. */
static int take_name(struct asking *a, struct tach__span name, struct tach_error *err)
{
	struct tach_error *outer = a->m->err;
	struct tach__span none = {name.at, 0, 1};
	struct tach_formula *formula;
	int member = tach__set_find(a->m->set, name.at, name.length), before;

	if (member >= 0)
		return member;
	before = named_before(a, name);
	if (before >= 0)
		return TACH_FORMULA_PART + before;
	if (tach__set_was_left_out(a->m, name.at, name.length))
		return leave_out(a);
	a->m->err = err;
	member = tach__set_event(a->m, name, none, &formula);
	a->m->err = outer;
	if (member == TACH__LEFT_OUT)
		return leave_out(a);
	if (member != TACH__DERIVED)
		return member;
	if (a->nparts == PARTS_MAX) {
		tach_formula_free(formula);
		return tach__error(err, TACH_ERR_TOOMANY, 0, 0,
				   "a metric names %d derived events at most", PARTS_MAX);
	}
	a->name[a->nparts] = name;
	a->part[a->nparts] = formula;
	return TACH_FORMULA_PART + a->nparts++;
}

static int resolve_name(void *context, const char *name, size_t length)
{
	struct asking *a = context;
	struct tach__span span = {name, length, 1};
	int found = take_name(a, span, NULL);

	if (a->failed.at != name)
		a->code = 0;
	if (found < 0 && found != TACH_ERR_NOTFOUND && !a->code) {
		a->code = found;
		a->failed = span;
	}
	if (found == TACH_ERR_NOTFOUND && a->unknown.at != name)
		a->unknown = span;
	return found;
}

/* Reports an error of the formula. `at`: the offset of `text` in the caller's metrics. */
static int explain_error(struct asking *a, const char *text, int at, int code,
			 const struct tach_error *err)
{
	struct tach_error why = TACH_ERROR_INIT;
	int column = a->code ? (int)(a->failed.at - text) + 1 : 0;

	/* If the formula's error is within the failed name, the error of that name is the
	 * cause. */
	if (a->code && err->column >= column && err->column < column + (int)a->failed.length) {
		code = a->code;
		if (take_name(a, a->failed, &why) >= 0) /* succeeded this time */
			tach__error(&why, code, 0, 0, "%s", tach_strerror(code));
		why.column = err->column;
		err = &why;
	}
	return tach__error(a->m->err, code, 0, err->column ? at + err->column : 0, "%s",
			   err->text);
}

/* Compiles a metric. `text` is NUL-terminated; `at` is its offset in the caller's metrics. */
static int compile(struct tach__making *m, struct tach__span name, const char *text, int at)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct asking asking = {.m = m};
	static const struct tach__span none;
	struct tach_formula *formula = NULL;
	int count = m->set->count, code;

	opt.resolve = resolve_name;
	opt.part = get_part;
	opt.context = &asking;
	/* Refuse N<number>: numbers of members are internal. */
	opt.noperands = 0;
	code = tach_formula_compile(text, &opt, &formula, &err);
	if (code == TACH_ERR_NOTFOUND && !asking.code && m->set->flags & TACH_SET_OPTIONAL) {
		asking.left_out = 1;
		tach__set_called(m, asking.unknown, none, &formula);
		code = 0;
	} else if (code) {
		code = explain_error(&asking, text, at, code, &err);
	}
	while (asking.nparts)
		tach_formula_free(asking.part[--asking.nparts]);
	if (code)
		return code;
	if (asking.left_out) {
		tach_formula_free(formula);
		tach__set_forget(m, count);
		return 0;
	}
	return tach__set_metric_keep(m, name, formula);
}

/* Returns 1 for the name of a preset, a derived event or an event, without a formula. For
 * example "ipc" or "4K_Aliasing". */
static int is_name(struct tach__span part)
{
	int letters = 0;

	for (size_t i = 0; i < part.length; i++)
		if (!isalnum((unsigned char)part.at[i]) && !strchr("_.:-", part.at[i]))
			return 0;
		else
			letters |= isalpha((unsigned char)part.at[i]);
	return letters;
}

/* Adds a metric by its name. An event becomes a member, and gets no metric. */
static int add_named(struct tach__making *m, struct tach__span name)
{
	struct tach__span none = {name.at, 0, name.column};
	struct tach_formula *formula = NULL;
	int member = tach__set_find(m->set, name.at, name.length);

	if (member >= 0)
		m->listed |= 1u << member;
	if (member >= 0 || tach__set_was_left_out(m, name.at, name.length))
		return 0;
	member = tach__set_called(m, name, none, &formula);
	if (member == TACH__DERIVED) {
		int code = tach__set_metric_keep(m, name, formula);

		if (!code) {
			struct tach__metric *it = &m->set->metric[m->set->nmetrics - 1];

			it->node = tach__metric_place(m->opt->pmu, it->name);
		}
		return code;
	}
	if (member >= 0 && member < TACH_COUNTERS_MAX)
		m->listed |= 1u << member;
	return member < 0 ? member : 0;
}

static int add_metric(struct tach__making *m, struct tach__span part)
{
	const char *sign = memchr(part.at, '=', part.length);
	struct tach__span name = {part.at, 0, part.column};
	char *text;
	int code;

	if (!sign && tach__set_find_metric(m->set, part) >= 0)
		return 0;
	if (!sign && is_name(part))
		return add_named(m, part);
	if (!sign)
		return tach__error(
			m->err, TACH_ERR_SYNTAX, 0, part.column,
			"expected 'name = formula' or a preset's name; ';' separates "
			"metrics");
	name.length = (size_t)(sign - part.at);
	name = tach__trimmed(name);
	if (name.length == 0)
		return tach__error(m->err, TACH_ERR_SYNTAX, 0, part.column,
				   "a name is missing before '='");
	if (tach__set_find_metric(m->set, name) >= 0)
		return tach__error(m->err, TACH_ERR_INVAL, 0, name.column,
				   "'%.*s' names two metrics", (int)name.length, name.at);
	text = strndup(sign + 1, part.length - (size_t)(sign + 1 - part.at));
	if (!text)
		return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	code = compile(m, name, text, part.column + (int)(sign - part.at));
	free(text);
	return code;
}

/*
 * Semicolons separate metrics. After a name without a formula, a comma does so, too: "ipc, cpi;
 * x = a / b".
 */
static size_t metric_length(const char *at)
{
	size_t blanks = strspn(at, " \t"), length = strcspn(at + blanks, " \t,;\n=");
	struct tach__span name = {at + blanks, length, 0};

	length += blanks;
	if (is_name(name) && at[length + strspn(at + length, " \t")] == ',')
		return length + strspn(at + length, " \t");
	return strcspn(at, ";\n");
}

int tach__set_metrics(struct tach__making *m)
{
	const char *all = m->opt->metrics, *at = all;

	while (at && *at) {
		struct tach__span part = {at, metric_length(at), (int)(at - all) + 1};
		int code;

		at += part.length;
		at += *at != '\0';
		part = tach__trimmed(part);
		if (part.length == 0)
			continue;
		code = add_metric(m, part);
		if (code)
			return code;
	}
	return 0;
}

int tach__renumber(char *to, const char *text, const int *map, int n)
{
	for (const char *at = text; *at;) {
		char *end;
		long number;

		if (*at != 'N' || !isdigit((unsigned char)at[1])) {
			*to++ = *at++;
			continue;
		}
		number = strtol(at + 1, &end, 10);
		if (number >= n - 1)
			return 0;
		to += sprintf(to, "N%d", map[number + 1] - 1);
		at = end;
	}
	*to = '\0';
	return 1;
}

char *tach__metric_renumber(struct tach__arena *arena, const char *text, const int *map, int n)
{
	char *copy = tach__arena_get(arena, TACH__RENUMBERED(text));

	return copy && tach__renumber(copy, text, map, n) ? copy : NULL;
}
