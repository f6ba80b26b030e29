/* SPDX-License-Identifier: MIT */
/* Divides lists of events into events. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/set/list.h"

static int is_separator(char c)
{
	return c == ',' || c == ';' || isspace((unsigned char)c);
}

struct tach__list tach__list_of(const char *events)
{
	if (!events)
		events = "";
	return (struct tach__list){{events, strlen(events), 1}, {0}, NULL};
}

static const char *end_of(const struct tach__list *list)
{
	return list->rest.at + list->rest.length;
}

static void advance_to(struct tach__list *list, const char *to)
{
	list->rest.column += (int)(to - list->rest.at);
	list->rest.length -= (size_t)(to - list->rest.at);
	list->rest.at = to;
}

/* Returns the '}' that closes the '{' at the beginning of the list, or NULL. perf's groups
 * contain no groups. */
static const char *find_closing(const struct tach__list *list)
{
	const char *end = end_of(list), *at = list->rest.at + 1;

	while (at < end && *at != '}' && *at != '{')
		at++;
	return at < end && *at == '}' ? at : NULL;
}

/* {a,b}:u is a:u,b:u: a set is one group, so braces only carry modifiers. */
static void open_group(struct tach__list *list, const char *close)
{
	const char *end = end_of(list), *at = close + 1, *from = at;

	if (at < end && *at == ':')
		from = ++at;
	while (at < end && !is_separator(*at))
		at++;
	list->close = close;
	list->modifiers = (struct tach__span){from, (size_t)(at - from), 0};
	advance_to(list, list->rest.at + 1);
}

static void close_group(struct tach__list *list)
{
	const struct tach__span *m = &list->modifiers;

	advance_to(list, m->at + m->length);
	list->close = NULL;
	list->modifiers.length = 0;
}

static void skip_to_event(struct tach__list *list)
{
	for (;;) {
		const char *end = end_of(list), *at = list->rest.at, *close;

		while (at < end && is_separator(*at))
			at++;
		advance_to(list, at);
		if (at < end && at == list->close)
			close_group(list);
		else if (at < end && *at == '{' && !list->close && (close = find_closing(list)))
			open_group(list, close);
		else
			return;
	}
}

/* Returns the value of name= between slashes, which is perf's form of a label. Quotes are not
 * part of the name. */
static struct tach__span label_of(struct tach__span event)
{
	const char *end = event.at + event.length, *stop;
	const char *at = memchr(event.at, '/', event.length);

	while (at && ++at < end && *at != '/') {
		if (end - at > 5 && strncmp(at, "name=", 5) == 0) {
			int quoted = at[5] == '\'';

			at += 5 + quoted;
			for (stop = at; stop < end && !strchr(quoted ? "'" : ",/", *stop);)
				stop++;
			return (struct tach__span){at, (size_t)(stop - at),
						   event.column + (int)(at - event.at)};
		}
		while (at < end && *at != ',' && *at != '/')
			at++;
		if (at == end || *at == '/')
			break;
	}
	return (struct tach__span){event.at, 0, event.column};
}

/* Terms between slashes may contain commas. A quoted name there may also contain blanks. */
static int ends_event(char c, int in_terms, int in_quotes)
{
	return is_separator(c) && !(in_terms && (c == ',' || in_quotes));
}

int tach__list_next(struct tach__list *list, struct tach__listed *item)
{
	const char *end, *at;
	struct tach__span *label = &item->label, *event = &item->event;
	int slashes = 0, quotes = 0;

	skip_to_event(list);
	at = list->rest.at;
	end = list->close ? list->close : end_of(list);
	*label = *event = item->whole = (struct tach__span){at, 0, list->rest.column};
	item->modifiers = list->modifiers;
	for (; at < end && !ends_event(*at, slashes % 2, quotes % 2); at++) {
		quotes += slashes % 2 && *at == '\'' &&
			  (quotes % 2 || memchr(at + 1, '\'', (size_t)(end - at) - 1));
		slashes += *at == '/' && quotes % 2 == 0;
		if (*at == '=' && label->length == 0 && slashes == 0 &&
		    strcspn(event->at, ":./=") == (size_t)(at - event->at)) {
			label->at = event->at;
			label->length = (size_t)(at - event->at);
			event->column += (int)(at + 1 - event->at);
			event->at = at + 1;
		}
	}
	event->length = (size_t)(at - event->at);
	item->whole.length = (size_t)(at - item->whole.at);
	/* An empty label before '=' stays empty; the caller reports it. */
	if (!label->length && *label->at != '=')
		*label = label_of(*event);
	advance_to(list, at);
	return item->whole.length > 0;
}

char *tach__list_string(const struct tach__listed *item)
{
	const struct tach__span *e = &item->event, *m = &item->modifiers;
	char *string = malloc(e->length + m->length + 2);

	if (string)
		sprintf(string, "%.*s%s%.*s", (int)e->length, e->at, m->length ? ":" : "",
			(int)m->length, m->at);
	return string;
}

char *tach__list_flat(const char *events)
{
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;
	size_t size = 1;
	char *flat, *to;

	/* Without braces the list is copied, so that columns of errors stay right. */
	if (!strchr(events, '{'))
		return strdup(events);
	while (tach__list_next(&list, &item))
		size += item.whole.length + item.modifiers.length + 2;
	flat = to = malloc(size);
	if (!flat)
		return NULL;
	*to = '\0';
	for (list = tach__list_of(events); tach__list_next(&list, &item);)
		to += sprintf(to, "%s%.*s%s%.*s", to == flat ? "" : ",", (int)item.whole.length,
			      item.whole.at, item.modifiers.length ? ":" : "",
			      (int)item.modifiers.length, item.modifiers.at);
	return flat;
}
