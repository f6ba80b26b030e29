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
#ifndef TACH_CORE_GRAMMAR_H
#define TACH_CORE_GRAMMAR_H

#include <stddef.h>
#include "core/error.h"
#include "core/search.h"

struct tach__text {
	const char *text;
	size_t length;
};

struct tach__string {
	const char *start;     /* of the whole string, for columns */
	const char *end;       /* of its first event: NUL or comma */
	struct tach__text pmu; /* text NULL: no prefix */
	struct tach__text event;
	const char *attrs; /* the separator behind the event, or end */
	int slash;	   /* device/terms/: pmu is the device, attrs the first term */
};

struct tach__term {
	struct tach__text name, value;
	int has_value;
};

/* TACH_ERR_SYNTAX when a blank or a control character stands anywhere, else 0. */
int tach__string_split(struct tach__string *out, const char *string, struct tach_error *err);
/* The attribute that starts at the separator *at; moves *at behind it. 0 when there is none. */
int tach__string_next(const char **at, const char *end, struct tach__term *out);

/* strtoull's numbers, base 0, within the span alone; 0 if it is malformed or too large. */
int tach__text_number(const struct tach__text *span, unsigned long long *out);
int tach__text_equal(const struct tach__text *span, const char *name); /* case ignored */

static inline int tach__column(const char *string, const char *at)
{
	return (int)(at - string) + 1;
}

#endif
