/* SPDX-License-Identifier: MIT */
/* Functions that the infix and the postfix parser share: nodes, names, numbers, error
 * positions. */
#ifndef TACH_CORE_FORMULA_PARSE_H
#define TACH_CORE_FORMULA_PARSE_H

#include <string.h>
#include "core/formula/formula.h"

struct tach__parse {
	struct tach_formula *f;
	const char *text;
	size_t at;
	const struct tach_formula_options *opt;
	struct tach_error *err;
	int code; /* code of the error that was reported */
	unsigned capacity;
	unsigned nesting;
};

#define TACH__P_FAILED	(-1) /* the error was reported and is in p->code */
#define TACH__P_UNKNOWN (-2) /* an unknown name; no error was reported */

static inline bool tach__p_is(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(name, word, length);
}

/* All of these return a node number or TACH__P_FAILED. */
int tach__p_fail(struct tach__parse *p, int code, size_t at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int tach__p_leaf(struct tach__parse *p, enum tach__op op);
/* Operators that tach__p_apply replaces by others. */
enum tach__p_op { TACH__P_AND = TACH__F_NOPS, TACH__P_OR, TACH__P_NOT };
/*
 * Makes a node for an operator (of either kind) over kids[0 .. n-1]. A comparison can only be
 * the first kid of a ?:. If a value is required, a comparison becomes (a < b ? 1 : 0). If a
 * condition is required, a value v becomes v != 0.
 */
int tach__p_apply(struct tach__parse *p, int op, int n, const int *kids);
/* Converts a node to one that is a value, for the root. */
int tach__p_value(struct tach__parse *p, int node);
int tach__p_max_hz(struct tach__parse *p, size_t at);
/* May also return TACH__P_UNKNOWN. */
int tach__p_name(struct tach__parse *p, size_t at, size_t length);
int tach__p_unknown(struct tach__parse *p, size_t at, size_t length);
int tach__p_number(struct tach__parse *p, size_t at, size_t length);
/* Returns the length of the number at the beginning of text, or 0 if there is no number. */
size_t tach__p_number_span(const char *text);
/* Returns the text for "... before X" at text[at]: the end, a character in quotes, or its code.
 */
const char *tach__p_seen(const char *text, char buffer[16]);

int tach__p_infix(struct tach__parse *p);
int tach__p_postfix(struct tach__parse *p);

#endif
