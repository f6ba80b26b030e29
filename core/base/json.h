/* SPDX-License-Identifier: MIT */
/* JSON values (RFC 8259) and the strict reader that makes them. */
#ifndef TACH_CORE_BASE_JSON_H
#define TACH_CORE_BASE_JSON_H

#include <tach/error.h>
#include "core/base/arena.h"

enum tach__json_type {
	TACH__JSON_NULL,
	TACH__JSON_FALSE,
	TACH__JSON_TRUE,
	TACH__JSON_NUMBER,
	TACH__JSON_STRING,
	TACH__JSON_ARRAY,
	TACH__JSON_OBJECT,
};

struct tach__json {
	enum tach__json_type type;
	int line, column; /* position where the value begins; columns are bytes */
	const char *key;  /* the name of a member of an object */
	const char *text; /* of a string */
	double number;
	struct tach__json *kid, *next; /* first child; next sibling */
};

/*
 * Reads text as one value, which is stored in the arena. Refuses, with line and column:
 * everything outside RFC 8259's grammar (comments, trailing commas, ...), text that is not
 * UTF-8, lone surrogates, NUL in a string, more than 64 levels. If several members have the
 * same name, the first one is found.
 */
int tach__json_read(struct tach__json **out, struct tach__arena *arena, const char *text,
		    size_t length, struct tach_error *err);
/* Returns NULL if there is no such member. */
const struct tach__json *tach__json_member(const struct tach__json *object, const char *key);
int tach__json_is_true(const struct tach__json *object, const char *key);

#endif
