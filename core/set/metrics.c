/* SPDX-License-Identifier: MIT */
/* Metrics of a set: formulas over its members, which they may add. */
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
	return tach__error(m->err, TACH_ERR_INVAL, 0, name.column,
			   "'time' is what a report calls every region's time: give this "
			   "another name");
}

int tach__set_metric_keep(struct tach__making *m, struct tach__span name,
			  struct tach_formula *formula)
{
	struct tach_set *set = m->set;
	struct tach__metric *it = &set->metric[set->nmetrics];
	int code = tach__set_check_name(m, name);

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

/* What compiling a formula asks for, and what came of it. */
struct asking {
	struct tach__making *m;
	int left_out; /* a name that this machine cannot count */
	/*
	 * The error of the first name that was an event and could not join; shorter names are
	 * tried after it.
	 */
	int code;
	struct tach_error err;
	int nparts; /* derived events that were named, until the formula is compiled */
	struct tach_formula *part[PARTS_MAX];
};

static const struct tach_formula *part(void *context, int i)
{
	return ((const struct asking *)context)->part[i];
}

static int resolve(void *context, const char *name, size_t length)
{
	struct asking *a = context;
	struct tach__span event = {name, length, 1}, none = {name, 0, 1};
	struct tach_error *outer = a->m->err, err = TACH_ERROR_INIT;
	int member = tach__set_find(a->m->set, name, length);

	if (member >= 0)
		return member;
	if (tach__set_was_left_out(a->m, name, length)) {
		a->left_out = 1;
		return 0;
	}
	if (a->nparts == PARTS_MAX)
		return a->code = tach__error(&a->err, TACH_ERR_TOOMANY, 0, 0,
					     "a metric names %d derived events at most",
					     PARTS_MAX);
	a->m->err = &err;
	member = tach__set_event(a->m, event, none, &a->part[a->nparts]);
	a->m->err = outer;
	if (member == TACH__LEFT_OUT) {
		a->left_out = 1;
		return 0;
	}
	if (member == TACH__DERIVED)
		return TACH_FORMULA_PART + a->nparts++;
	if (member < 0 && member != TACH_ERR_NOTFOUND && !a->code) {
		a->code = member;
		a->err = err;
	}
	return member;
}

/* `text` is NUL-terminated and stands `at` bytes into the caller's metrics. */
static int compile(struct tach__making *m, struct tach__span name, const char *text, int at)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct asking asking = {.m = m, .err = TACH_ERROR_INIT};
	struct tach_formula *formula;
	int code;

	opt.resolve = resolve;
	opt.part = part;
	opt.context = &asking;
	/* N<number> would be a member by its number, which is internal. */
	opt.noperands = 0;
	code = tach_formula_compile(text, &opt, &formula, &err);
	while (asking.nparts)
		tach_formula_free(asking.part[--asking.nparts]);
	if (code && asking.code)
		return tach__error(m->err, asking.code, 0, at + err.column, "%s",
				   asking.err.text);
	if (code)
		return tach__error(m->err, code, 0, err.column ? at + err.column : 0, "%s",
				   err.text);
	if (asking.left_out) {
		tach_formula_free(formula);
		return 0;
	}
	return tach__set_metric_keep(m, name, formula);
}

static int is_taken(const struct tach__making *m, struct tach__span name)
{
	for (int i = 0; i < m->set->nmetrics; i++)
		if (strlen(m->set->metric[i].name) == name.length &&
		    strncmp(m->set->metric[i].name, name.at, name.length) == 0)
			return 1;
	return 0;
}

/* "ipc", "4K_Aliasing", a preset's or a derived event's name alone, or an event's. */
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

/* What is an event itself is a member and needs no metric of its name. */
static int add_named(struct tach__making *m, struct tach__span name)
{
	struct tach__span none = {name.at, 0, name.column};
	struct tach_formula *formula = NULL;
	int member;

	if (tach__set_find(m->set, name.at, name.length) >= 0 ||
	    tach__set_was_left_out(m, name.at, name.length))
		return 0;
	member = tach__set_event(m, name, none, &formula);
	if (member == TACH__DERIVED) {
		int code = tach__set_metric_keep(m, name, formula);

		if (!code) {
			struct tach__metric *it = &m->set->metric[m->set->nmetrics - 1];

			it->node = tach__metric_place(m->opt->pmu, it->name);
		}
		return code;
	}
	return member >= 0 || member == TACH__LEFT_OUT ? 0 : member;
}

static int add_metric(struct tach__making *m, struct tach__span part)
{
	const char *sign = memchr(part.at, '=', part.length);
	struct tach__span name = {part.at, 0, part.column};
	char *text;
	int code;

	if (!sign && is_taken(m, part))
		return 0;
	if (!sign && is_name(part))
		return add_named(m, part);
	if (!sign)
		return tach__error(m->err, TACH_ERR_SYNTAX, 0, part.column,
				   "expected 'name = formula', or a preset's name");
	name.length = (size_t)(sign - part.at);
	name = tach__trimmed(name);
	if (name.length == 0)
		return tach__error(m->err, TACH_ERR_SYNTAX, 0, part.column,
				   "a name is missing before '='");
	if (is_taken(m, name))
		return tach__error(m->err, TACH_ERR_INVAL, 0, name.column,
				   "'%.*s' names two metrics", (int)name.length, name.at);
	text = strndup(sign + 1, part.length - (size_t)(sign + 1 - part.at));
	if (!text)
		return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	code = compile(m, name, text, part.column + (int)(sign - part.at));
	free(text);
	return code;
}

int tach__set_metrics(struct tach__making *m)
{
	const char *all = m->opt->metrics, *at = all;

	while (at && *at) {
		struct tach__span part = {at, strcspn(at, ";\n"), (int)(at - all) + 1};
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
