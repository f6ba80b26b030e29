/* SPDX-License-Identifier: MIT */
/* Reads lists of events, in the forms that people and perf write. */
#ifndef TACH_CORE_SET_LIST_H
#define TACH_CORE_SET_LIST_H

#include "core/base/text.h"

/* The unread rest of a list. */
struct tach__list {
	struct tach__span rest;
	struct tach__span modifiers; /* modifiers after the closing braces of the open groups */
	const char *close;	     /* the '}' of the open group; NULL: no group is open */
};

/* One event of a list. */
struct tach__listed {
	struct tach__span whole, label, event; /* label length 0: no label */
	struct tach__span
		modifiers; /* modifiers after the braces of the event's group: u in {a,b}:u */
};

struct tach__list tach__list_of(const char *events);
/*
 * Reads the next event of a list, and its label. A label is a word before '=', or the value of
 * name= between slashes. In an event string, ':', '.' or '/' comes before any '=', so the two
 * differ. Commas between slashes belong to the event. A brace without a partner stays in the
 * event. Returns 0 at the end of the list.
 */
int tach__list_next(struct tach__list *list, struct tach__listed *item);
/* Returns the event with the modifiers of its braces; free() it. NULL: out of memory. */
char *tach__list_string(const struct tach__listed *item);
/* Returns the same list without braces, for callers that write parts of it; free() it. NULL:
 * out of memory. */
char *tach__list_flat(const char *events);

#endif
