/* SPDX-License-Identifier: MIT */
/* A formula's tree back to text, infix or postfix. */
#include <stdio.h>
#include <string.h>
#include "core/base/number.h"
#include "core/formula/formula.h"

struct out {
	const struct tach_formula *f;
	char *text;
	size_t size, length;
};

static void put(struct out *o, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++)
		if (o->length + i + 1 < o->size)
			o->text[o->length + i] = word[i];
	o->length += n;
}

static const struct {
	const char *infix, *postfix;
	int precedence, kids;
} operators[] = {
	[TACH__F_MAX_HZ] = {"max_hz", "#", 9, 0},
	[TACH__F_TSC_HZ] = {"tsc_hz", "tsc_hz", 9, 0},
	[TACH__F_ELAPSED] = {"elapsed_ns", "elapsed_ns", 9, 0},
	[TACH__F_NEG] = {"-", "neg", 5, 1},
	[TACH__F_ADD] = {" + ", "+", 3, 2},
	[TACH__F_SUB] = {" - ", "-", 3, 2},
	[TACH__F_MUL] = {" * ", "*", 4, 2},
	[TACH__F_DIV] = {" / ", "/", 4, 2},
	[TACH__F_MIN] = {"min", "min", 9, 2},
	[TACH__F_MAX] = {"max", "max", 9, 2},
	[TACH__F_LT] = {" < ", "<", 2, 2},
	[TACH__F_LE] = {" <= ", "<=", 2, 2},
	[TACH__F_GT] = {" > ", ">", 2, 2},
	[TACH__F_GE] = {" >= ", ">=", 2, 2},
	[TACH__F_EQ] = {" == ", "==", 2, 2},
	[TACH__F_NE] = {" != ", "!=", 2, 2},
	[TACH__F_COND] = {"", "?:", 1, 3},
};

static void put_leaf(struct out *o, const struct tach__node *n, bool postfix)
{
	char word[40];

	if (n->op == TACH__F_NUM)
		tach__number_print(n->value, word, sizeof word);
	else if (n->op == TACH__F_ARG)
		snprintf(word, sizeof word, "N%u", n->arg);
	else
		snprintf(word, sizeof word, "%s",
			 postfix ? operators[n->op].postfix : operators[n->op].infix);
	put(o, word);
}

static void print_postfix(struct out *o, unsigned i);

/* Writes the kids from number `first` on, and the operator. */
static void postfix_rest(struct out *o, const struct tach__node *n, int first)
{
	for (int k = first; k < operators[n->op].kids; k++)
		print_postfix(o, n->kid[k]);
	put(o, operators[n->op].postfix);
	put(o, "|");
}

static void print_postfix(struct out *o, unsigned i)
{
	const struct tach__node *node = o->f->node;
	unsigned at = i;

	while (tach__f_is_chain(&node[at]))
		at = node[at].kid[0];
	if (node[at].op <= TACH__F_ELAPSED) {
		put_leaf(o, &node[at], true);
		put(o, "|");
	} else {
		postfix_rest(o, &node[at], 0);
	}
	while (at != i) {
		at = node[at].up;
		postfix_rest(o, &node[at], 1);
	}
}

static int precedence(const struct tach__node *n)
{
	if (n->op == TACH__F_NUM)
		return n->value < 0 ? operators[TACH__F_NEG].precedence : 9;
	return n->op == TACH__F_ARG ? 9 : operators[n->op].precedence;
}

static void print_infix(struct out *o, unsigned i);

/* Adds parentheses if the operator has a lower precedence than its place needs. */
static void print_kid(struct out *o, unsigned i, int least)
{
	bool loose = precedence(&o->f->node[i]) < least;

	if (loose)
		put(o, "(");
	print_infix(o, i);
	if (loose)
		put(o, ")");
}

static void infix_one(struct out *o, unsigned i)
{
	const struct tach__node *n = &o->f->node[i];
	int p = precedence(n);

	switch (n->op) {
	case TACH__F_NUM:
	case TACH__F_ARG:
	case TACH__F_MAX_HZ:
	case TACH__F_TSC_HZ:
	case TACH__F_ELAPSED:
		put_leaf(o, n, false);
		return;
	case TACH__F_NEG:
		put(o, "-");
		print_kid(o, n->kid[0], p + 1);
		return;
	case TACH__F_COND:
		print_kid(o, n->kid[0], p + 1);
		put(o, " ? ");
		print_kid(o, n->kid[1], p + 1);
		put(o, " : ");
		print_kid(o, n->kid[2], p);
		return;
	default: /* comparisons */
		print_kid(o, n->kid[0], p);
		put(o, operators[n->op].infix);
		print_kid(o, n->kid[1], p + 1);
	}
}

static bool is_function(const struct tach__node *n)
{
	return n->op == TACH__F_MIN || n->op == TACH__F_MAX;
}

/* Returns true if the first kid of an operator of a chain needs parentheses. */
static bool needs_parentheses(const struct out *o, const struct tach__node *n)
{
	return !is_function(n) && precedence(&o->f->node[n->kid[0]]) < precedence(n);
}

/* Prints everything after the first kid. */
static void infix_rest(struct out *o, const struct tach__node *n)
{
	if (needs_parentheses(o, n))
		put(o, ")");
	if (is_function(n)) {
		put(o, ", ");
		print_infix(o, n->kid[1]);
		put(o, ")");
		return;
	}
	put(o, operators[n->op].infix);
	print_kid(o, n->kid[1], precedence(n) + 1);
}

/* Operators of a chain are left-associative. */
static void print_infix(struct out *o, unsigned i)
{
	const struct tach__node *node = o->f->node;
	unsigned at = i;

	while (tach__f_is_chain(&node[at])) {
		if (is_function(&node[at]))
			put(o, operators[node[at].op].infix), put(o, "(");
		else if (needs_parentheses(o, &node[at]))
			put(o, "(");
		at = node[at].kid[0];
	}
	infix_one(o, at);
	while (at != i) {
		at = node[at].up;
		infix_rest(o, &node[at]);
	}
}

int tach_formula_print(const struct tach_formula *f, enum tach_formula_kind kind, char *text,
		       size_t size)
{
	struct out o = {f, text, size, 0};

	if (kind == TACH_FORMULA_POSTFIX)
		print_postfix(&o, f->root);
	else
		print_infix(&o, f->root);
	if (size)
		text[o.length < size ? o.length : size - 1] = 0;
	return (int)o.length;
}
