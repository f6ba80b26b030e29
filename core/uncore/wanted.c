/* SPDX-License-Identifier: MIT */
/* Finds the events of boxes that metrics use, so that they can be opened. */
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include "core/derived/derived.h"
#include "core/set/set.h"
#include "core/uncore/uncore.h"

struct wanted {
	char *list;
	const char *have; /* events that are in the list already */
	int no_memory;
};

static int has_event(const char *events, const char *event)
{
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;

	while (tach__list_next(&list, &item))
		if (item.event.length == strlen(event) && !item.label.length &&
		    strncmp(item.event.at, event, item.event.length) == 0)
			return 1;
	return 0;
}

static void add_wanted(struct wanted *w, const char *event)
{
	size_t length = strlen(w->list);
	char *longer;

	if (has_event(w->have, event) || has_event(w->list, event))
		return;
	longer = realloc(w->list, length + strlen(event) + 2);
	if (!longer) {
		w->no_memory = 1;
		return;
	}
	w->list = longer;
	if (length)
		strcat(longer, ",");
	strcat(longer, event);
}

/* If the name is a derived event, adds its boxes and returns 1. */
static int add_named(struct wanted *w, const char *name, size_t length)
{
	struct tach_expansion *x;
	int code = tach__derived_lookup(-1, name, length, &x, NULL);

	w->no_memory |= code == TACH_ERR_NOMEM;
	if (code != 1)
		return 0;
	for (int i = 0; i < tach_expansion_count(x); i++)
		if (tach__expansion_is_box(x, i))
			add_wanted(w, tach_expansion_event(x, i));
	tach_expansion_free(x);
	return 1;
}

/* Accepts other names, which are checked when the set is made. */
static int accept_name(void *context, const char *name, size_t length)
{
	struct tach_event event = {.size = sizeof event};
	char string[TACH_EVENT_NAME_MAX];

	if (add_named(context, name, length))
		return 0;
	if (length >= sizeof string)
		return TACH_ERR_NOTFOUND;
	memcpy(string, name, length);
	string[length] = '\0';
	return tach_event_encode(string, NULL, &event, NULL) ? TACH_ERR_NOTFOUND : 0;
}

static void add_formula(struct wanted *w, const char *text, size_t length)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *formula = NULL;
	char *own = strndup(text, length);

	opt.resolve = accept_name;
	opt.context = w;
	w->no_memory |= !own;
	if (own && tach_formula_compile(own, &opt, &formula, NULL) == 0)
		tach_formula_free(formula);
	free(own);
}

char *tach__uncore_wanted(const char *metrics, const char *events)
{
	struct wanted w = {calloc(1, 1), events, 0};

	if (!w.list)
		return NULL;
	for (const char *at = metrics ? metrics : ""; *at;) {
		struct tach__span part = {at, strcspn(at, ";\n"), 1};
		const char *sign;

		at += part.length;
		at += *at != '\0';
		part = tach__trimmed(part);
		sign = memchr(part.at, '=', part.length);
		if (!sign)
			add_named(&w, part.at, part.length);
		else
			add_formula(&w, sign + 1, part.length - (size_t)(sign + 1 - part.at));
	}
	if (!w.no_memory)
		return w.list;
	free(w.list);
	return NULL;
}

int tach__uncore_is_metric(const char *name, size_t length)
{
	struct wanted w = {calloc(1, 1), "", 0};
	int is;

	if (!w.list)
		return 0;
	add_named(&w, name, length);
	is = *w.list != '\0';
	free(w.list);
	return is;
}
