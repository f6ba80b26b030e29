/* SPDX-License-Identifier: MIT */
/*
 * The shape of an event string, before anything is known about its words:
 *
 *	string = [ pmu "::" ] event { sep attr } [ "," ignored ]	sep = ":" | "."
 *	attr   = name [ "=" value ]
 *	string = device "/" term { "," term } "/" [ modifiers ]
 *
 * Nothing is copied: the parts point into the string.
 */
#ifndef TACH_CORE_PORT_GRAMMAR_H
#define TACH_CORE_PORT_GRAMMAR_H

#include <stddef.h>
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tables/tables.h"

/*
 * Where the special characters of a string are, so that it is read once. No correct string has
 * more of them.
 */
#define TACH__MARKS_MAX 256

/* Attributes still to come: at is the separator in front of the next. */
struct tach__attrs {
	const char *at, *end;
	const char *base;      /* marks count from here */
	const uint16_t *marks; /* that of the separator at, or NULL: not known */
};

struct tach__string {
	const char *start;     /* of the whole string, for columns */
	const char *end;       /* of its first event: NUL or comma */
	struct tach__text pmu; /* text NULL: no prefix */
	struct tach__text event;
	struct tach__attrs attrs;
	const char *terms; /* device/terms/: the first term, and pmu is the device; else NULL */
	uint16_t marks[TACH__MARKS_MAX];
};

struct tach__term {
	struct tach__text name, value;
	int has_value;
};

/*
 * TACH_ERR_SYNTAX where there is a blank, TACH_ERR_TOOMANY where the string is longer than any
 * correct one, else 0.
 */
int tach__string_split(struct tach__string *out, const char *string, struct tach_error *err);
static inline int tach__is_separator(const char *at)
{
	return *at == ':' || *at == '.';
}

/* Where the next attribute ends, and its first '=', character by character. */
const char *tach__attrs_scan(const struct tach__attrs *list, const char **equal);

/* The next attribute; 0 when there is none. */
static inline int tach__attrs_next(struct tach__attrs *list, struct tach__term *out)
{
	const char *name = list->at + 1, *equal = NULL, *at;

	if (list->at >= list->end)
		return 0;
	if (list->marks) {
		at = list->base + *++list->marks;
		for (; *at == '='; at = list->base + *++list->marks)
			equal = equal ? equal : at;
	} else {
		at = tach__attrs_scan(list, &equal);
	}
	list->at = at;
	out->has_value = equal != NULL;
	if (!equal)
		equal = at;
	out->name = (struct tach__text){name, (size_t)(equal - name)};
	out->value.text = equal + out->has_value;
	out->value.length = (size_t)(at - out->value.text);
	return 1;
}

/* Attributes as an alias holds them: "A:B:c=1". */
struct tach__attrs tach__attrs_of(const char *text);
/* Those from a separator (or the end) on. */
static inline struct tach__attrs tach__attrs_from(const char *separator, const char *end)
{
	return (struct tach__attrs){separator, end, NULL, NULL};
}

static inline int tach__column(const char *string, const char *at)
{
	return (int)(at - string) + 1;
}

#endif
