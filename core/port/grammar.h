/* SPDX-License-Identifier: MIT */
/*
 * The grammar of event strings, independent of the words in them. Splitting copies no text: all
 * parts point into the string. Quoted text is literal:
 *
 *     string = [ pmu "::" ] event { sep attr } [ "," ignored ]
 *     sep    = ":" | "."
 *     attr   = name [ "=" value ]
 *     string = device "/" term { "," term } "/" [ modifiers ]
 */
#ifndef TACH_CORE_PORT_GRAMMAR_H
#define TACH_CORE_PORT_GRAMMAR_H

#include <stddef.h>
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tables/tables.h"

/* Maximum number of marks in a correct string. Marks are the places of special characters, so
 * that the string is scanned once. */
#define TACH__MARKS_MAX 256

/* The remaining attributes: `at` is the separator before the next one. */
struct tach__attrs {
	const char *at, *end;
	const char *base;      /* marks are relative to this */
	const uint16_t *marks; /* the mark of the separator `at`; NULL: unknown */
};

struct tach__string {
	const char *start;     /* start of the whole string, for columns */
	const char *end;       /* end of the first event: NUL or comma */
	struct tach__text pmu; /* text NULL: no prefix */
	struct tach__text event;
	struct tach__attrs attrs;
	const char *terms; /* for device/terms/: the first term, and pmu is the device;
			      otherwise NULL */
	uint16_t marks[TACH__MARKS_MAX];
};

struct tach__term {
	struct tach__text name, value;
	int has_value;
};

/* Returns TACH_ERR_SYNTAX for a space, TACH_ERR_TOOMANY if the string is longer than any
 * correct one, else 0. */
int tach__string_split(struct tach__string *out, const char *string, struct tach_error *err);
static inline int tach__is_separator(const char *at)
{
	return *at == ':' || *at == '.';
}

/* Finds the end of the next attribute and its first '=', without marks. */
const char *tach__attrs_scan(const struct tach__attrs *list, const char **equal);

/* Gets the next attribute. Returns 0 at the end. */
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

/* Returns the attributes in a text that has the form of an alias: "A:B:c=1". */
struct tach__attrs tach__attrs_of(const char *text);
/* Returns the attributes that begin at `separator`, which may be the end. */
static inline struct tach__attrs tach__attrs_from(const char *separator, const char *end)
{
	return (struct tach__attrs){separator, end, NULL, NULL};
}

static inline int tach__column(const char *string, const char *at)
{
	return (int)(at - string) + 1;
}

#endif
