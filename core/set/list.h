/* SPDX-License-Identifier: MIT */
/* Lists of events, as people and perf write them. */
#ifndef TACH_CORE_SET_LIST_H
#define TACH_CORE_SET_LIST_H

#include "core/base/text.h"

/* The unread rest of a list. */
struct tach__list {
	struct tach__span rest;
	struct tach__span modifiers; /* modifiers after the closing braces of the open groups */
	const char *close;	     /* their '}'; NULL: none is open */
};

/* One event of a list. */
struct tach__listed {
	struct tach__span whole, label, event; /* label length 0: no label */
	struct tach__span
		modifiers; /* modifiers after the braces of its group: the u of {a,b}:u */
};

struct tach__list tach__list_of(const char *events);
/*
 * Reads the next event of a list, and its label: a word before '=' (an event string has ':' '.'
 * or
 * '/' before any '='), or the value of name= between slashes. Commas between slashes belong to
 * the event. Returns 0 at the end of the list. A brace without a partner stays in the event.
 */
int tach__list_next(struct tach__list *list, struct tach__listed *item);
/* The event with the modifiers of its braces; free() it. NULL: no memory. */
char *tach__list_string(const struct tach__listed *item);
/* The same list without braces, for who writes parts of it; free() it. NULL: no memory. */
char *tach__list_flat(const char *events);

#endif
