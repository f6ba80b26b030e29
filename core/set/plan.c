/* SPDX-License-Identifier: MIT */
/*
 * Plans for counting in turns: in passes of a program, or in one process. Makes a set for each
 * event and each metric, to find out which events it needs. An event that several of them need
 * is counted once. Metrics are formulas over the events of all passes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include "core/base/error.h"
#include "core/derived/derived.h"
#include "core/set/list.h"
#include "core/set/set.h"

enum { DEEPEST = 6 };
#define NO_TREE                                                                                \
	"topdown: there are no events for issue slots, or topdown:N has "                      \
	"no level from 1 to 6"

struct planning {
	struct tach__plan *plan;
	const char *events, *metrics;
	char *labelled; /* the events that have labels, which metrics may use */
	struct tach_error err;
};

static int fail(struct planning *p, int code, int column, const char *text)
{
	return tach__error(&p->err, code, 0, column, "%s", text);
}

/* ---- what is counted ---- */

/* Adds a member's event; string NULL: its name is the event. Returns its number or a code. */
static int add_event(struct planning *p, const struct tach_set *set, int member,
		     const char *string)
{
	const struct perf_event_attr *attr = tach_set_attr(set, member);
	const char *name = tach_set_name(set, member);
	struct tach__plan *plan = p->plan;
	int n = plan->whole.nevents;

	for (int i = 0; i < n; i++) {
		int named = strcmp(plan->event[i], name) == 0,
		    alike = tach__set_same_attr(&plan->attr[i], attr);

		if (alike && (named || !string))
			return i;
		if (named)
			return fail(p, TACH_ERR_INVAL, 0, "one name for two events");
	}
	if (n == TACH__PLAN_EVENTS)
		return fail(p, TACH_ERR_TOOMANY, 0, "more events than passes are planned for");
	plan->attr[n] = *attr;
	plan->operand[n] = 1;
	plan->event[n] = tach__arena_copy(&plan->arena, name);
	plan->string[n] = tach__arena_copy(&plan->arena, string ? string : name);
	if (!plan->event[n] || !plan->string[n])
		return fail(p, TACH_ERR_NOMEM, 0, "out of memory");
	return plan->whole.nevents++;
}

static int add_metric(struct planning *p, const struct tach__metric *from, const int *map,
		      int n)
{
	struct tach__plan *plan = p->plan;
	struct tach__passes_metric *to = &plan->metric[plan->whole.nmetrics];

	for (int i = 0; i < plan->whole.nmetrics; i++)
		if (strcmp(plan->metric[i].name, from->name) == 0)
			return 0;
	if (plan->whole.nmetrics == TACH__PLAN_METRICS)
		return fail(p, TACH_ERR_TOOMANY, 0, "too many metrics");
	to->name = tach__arena_copy(&plan->arena, from->name);
	to->text = tach__metric_renumber(&plan->arena, from->text, map, n);
	to->node = from->node;
	if (!to->name || !to->text)
		return fail(p, TACH_ERR_NOMEM, 0, "out of memory");
	plan->whole.nmetrics++;
	return 0;
}

/* Makes a set that may be too large for the counters, because passes divide it. */
static int set_of(struct tach_set **set, const char *events, const char *metrics,
		  struct tach_error *err)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	opt.events = events;
	opt.metrics = metrics;
	opt.flags = TACH_SET_MULTIPLEX;
	return tach_set_create(&opt, set, err);
}

/* Adds a set's events. string: the first member's event if it has a label; otherwise NULL. */
static int add_set(struct planning *p, const char *events, const char *metrics,
		   const char *string)
{
	int map[TACH_COUNTERS_MAX + 1] = {0}, code;
	struct tach_set *set;

	code = set_of(&set, events, metrics, &p->err);
	if (code)
		return code;
	for (int i = 0; i < set->count && code >= 0; i++) {
		code = add_event(p, set, i, string && set->nmetrics == 0 ? string : NULL);
		map[i + 1] = code + 1;
		if (code >= 0 && set->nmetrics == 0)
			p->plan->operand[code] = 0;
	}
	for (int i = 0; i < set->nmetrics && code >= 0; i++)
		code = add_metric(p, &set->metric[i], map, set->count + 1);
	tach_set_free(set);
	return code < 0 ? code : 0;
}

static int add_one(struct planning *p, const char *event)
{
	struct tach_set *set;
	int code = set_of(&set, event, NULL, &p->err);

	if (code)
		return code;
	code = add_event(p, set, 0, NULL);
	tach_set_free(set);
	return code;
}

/* Adds the metric of that name, which has more events than a set can have. */
static int add_wide(struct planning *p, const char *name)
{
	struct tach__metric metric = {.node = tach__metric_place(-1, name)};
	int map[TACH_FORMULA_OPERANDS_MAX + 1] = {0}, code;
	struct tach_expansion *x;

	code = tach_derived_expand(tach_derived_default(), tach__derived_pmu(-1), name, &x,
				   &p->err);
	if (code)
		return code;
	for (int i = 0; i < tach_expansion_count(x) && code >= 0; i++) {
		code = add_one(p, tach_expansion_event(x, i));
		map[i + 1] = code + 1;
	}
	metric.name = strdup(name);
	metric.text = tach__formula_text(tach_expansion_formula(x));
	if (!metric.name || !metric.text)
		code = fail(p, TACH_ERR_NOMEM, 0, "out of memory");
	if (code >= 0)
		code = add_metric(p, &metric, map, tach_expansion_count(x) + 1);
	free(metric.name);
	free(metric.text);
	tach_expansion_free(x);
	return code < 0 ? code : 0;
}

/* ---- lists ---- */

/* Returns a list that contains only this event; NULL: out of memory. */
static char *text_of(const struct tach__listed *item, const char *string)
{
	char *text;

	/* If the name is between slashes, the string contains it already. */
	if (item->label.at != item->whole.at || !item->label.length)
		return strdup(string);
	return asprintf(&text, "%.*s=%s", (int)item->label.length, item->label.at, string) < 0
		       ? NULL
		       : text;
}

/* Keeps an event with a label for all sets of metrics: they may use the label. */
static int keep_label(struct planning *p, const char *text)
{
	size_t n = p->labelled ? strlen(p->labelled) : 0;
	char *more = realloc(p->labelled, n + strlen(text) + 2);

	if (!more)
		return fail(p, TACH_ERR_NOMEM, 0, "out of memory");
	p->labelled = more;
	sprintf(more + n, "%s%s", n ? "," : "", text);
	return 0;
}

static int add_events(struct planning *p)
{
	struct tach__list list = tach__list_of(p->events);
	struct tach__listed item;
	int code = 0;

	while (!code && tach__list_next(&list, &item)) {
		char *string = tach__list_string(&item);
		char *text = string ? text_of(&item, string) : NULL;

		code = text ? add_set(p, text, NULL, string)
			    : fail(p, TACH_ERR_NOMEM, 0, "out of memory");
		if (code && p->err.column)
			p->err.column += item.whole.column - 1;
		if (!code && item.label.length)
			code = keep_label(p, text);
		free(string);
		free(text);
	}
	return code;
}

/* asked: bytes of the text that the caller wrote. Errors in the rest, a tree, are noted. */
static int add_metrics(struct planning *p, const char *text, size_t asked)
{
	struct tach__plan *plan = p->plan;

	for (const char *at = text; *at;) {
		size_t n = strcspn(at, ";\n");
		struct tach__span whole = tach__trimmed((struct tach__span){at, n, 1});
		int events = plan->whole.nevents;
		char *part = strndup(whole.at, whole.length);
		int code = part ? add_set(p, p->labelled, part, NULL)
				: fail(p, TACH_ERR_NOMEM, 0, "out of memory");

		if (code == TACH_ERR_TOOMANY && !strchr(part, '=') &&
		    plan->whole.nevents < TACH__PLAN_EVENTS) {
			plan->whole.nevents = events;
			code = add_wide(p, part);
		}
		if (code && code != TACH_ERR_NOMEM && (size_t)(at - text) >= asked) {
			int full = plan->whole.nevents == TACH__PLAN_EVENTS;

			plan->whole.nevents = events;
			snprintf(plan->note, sizeof plan->note, "%.60s: %.120s", part,
				 p->err.text);
			code = full ? TACH_ERR_NOASSIGN : 0;
		}
		free(part);
		if (code && p->err.column)
			p->err.column += (int)(whole.at - text);
		if (code)
			return code;
		at += n + (at[n] != '\0');
	}
	return 0;
}

/* Adds the tree down to a level whose events have room, and the other metrics. */
static int add_all_metrics(struct planning *p)
{
	struct tach__passes_whole before = p->plan->whole;
	int level = DEEPEST + 1, code, asked = 0;

	do {
		char *text;

		code = tach__topdown_spelled(p->metrics, -1, level - 1, &level, &text);
		p->plan->whole = before;
		if (code)
			return fail(p, code, 0,
				    code == TACH_ERR_NOMEM ? "out of memory" : NO_TREE);
		asked = asked ? asked : level;
		code = add_metrics(p, text, level ? strlen(p->metrics) : strlen(text));
		free(text);
	} while (code == TACH_ERR_NOASSIGN && level > 1);
	if (!code && level < asked)
		snprintf(p->plan->note, sizeof p->plan->note,
			 "topdown: level %d is what %d events tell, not level %d", level,
			 TACH__PLAN_EVENTS, asked);
	return code;
}

/* ---- passes ---- */

/* Finds the number of the event that all passes count, by its attr, or -1. */
static int find_repeated(struct tach__plan *plan)
{
	struct tach_set *set;
	int found = -1;

	if (set_of(&set, plan->whole.repeated, NULL, NULL) != 0)
		return -1;
	for (int i = 0; i < plan->whole.nevents; i++)
		if (tach__set_same_attr(&plan->attr[i], tach_set_attr(set, 0)))
			found = i;
	tach_set_free(set);
	return found;
}

/* Returns all events as one list. Slots come first: they lead a group. NULL: no memory. */
static char *list_of(const struct tach__plan *plan)
{
	size_t size = 1;
	char *list, *to;

	for (int i = 0; i < plan->whole.nevents; i++)
		size += strlen(plan->string[i]) + 16;
	list = to = malloc(size);
	if (!list)
		return NULL;
	*to = '\0';
	for (int slots = 1; slots >= 0; slots--)
		for (int i = 0; i < plan->whole.nevents; i++) {
			if (tach__is_slots(&plan->attr[i]) != slots)
				continue;
			if (i == plan->whole.repeats)
				to += sprintf(to, "%s,", plan->whole.repeated);
			else
				to += sprintf(to, "m%d=%s,", i, plan->string[i]);
		}
	return list;
}

static int divide_events(struct planning *p)
{
	struct tach__plan *plan = p->plan;
	char *list;
	int code;

	plan->whole.repeats = find_repeated(plan);
	list = list_of(plan);
	if (!list)
		return fail(p, TACH_ERR_NOMEM, 0, "out of memory");
	code = tach__passes_plan(&plan->passes, list, 0, 0, &p->err);
	free(list);
	return code;
}

static int make_plan(struct planning *p)
{
	int code = 0;

	if (p->events)
		code = add_events(p);
	if (!code && p->metrics)
		code = add_all_metrics(p);
	/* If the caller named no event, show the operands. */
	if (!memchr(p->plan->operand, 0, (size_t)p->plan->whole.nevents))
		memset(p->plan->operand, 0, sizeof p->plan->operand);
	if (!code)
		code = divide_events(p);
	/* The list has fields of PERF_METRICS without their slots event: add it. */
	if (code == TACH_ERR_FEATCOMB)
		code = add_set(p, "TOPDOWN:SLOTS", NULL, NULL);
	if (!code && !p->plan->passes)
		code = divide_events(p);
	free(p->labelled);
	return code;
}

int tach__plan_make(struct tach__plan *plan, const char *events, const char *metrics,
		    struct tach_error *err)
{
	struct planning p = {
		.plan = plan, .events = events, .metrics = metrics, .err = TACH_ERROR_INIT};
	int code;

	*plan = (struct tach__plan){.whole = {.event = plan->event,
					      .operand = plan->operand,
					      .metric = plan->metric,
					      .repeated = TACH__PASSES_REPEATED,
					      .repeats = -1}};
	code = make_plan(&p);
	if (!code)
		return 0;
	tach__plan_free(plan);
	return tach__error(err, code, p.err.line, p.err.column, "%s", p.err.text);
}

int tach__plan_compile(struct tach__plan *plan, struct tach_error *err)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	int code = 0;

	opt.noperands = plan->whole.nevents;
	for (int m = 0; m < plan->whole.nmetrics && !code; m++)
		code = tach_formula_compile(plan->metric[m].text, &opt,
					    &plan->metric[m].formula, err);
	return code;
}

void tach__plan_free(struct tach__plan *plan)
{
	for (int m = 0; m < plan->whole.nmetrics; m++)
		tach_formula_free(plan->metric[m].formula);
	free(plan->passes);
	tach__arena_free(&plan->arena);
	plan->passes = NULL;
	plan->arena = (struct tach__arena){0};
}

int tach__plan_event(const struct tach__passes_whole *whole, const char *name)
{
	char *end;
	long i;

	if (whole->repeats >= 0 && strcmp(name, whole->repeated) == 0)
		return whole->repeats;
	if (*name != 'm' || !isdigit((unsigned char)name[1]))
		return -1;
	i = strtol(name + 1, &end, 10);
	return *end == '\0' && i < whole->nevents ? (int)i : -1;
}
