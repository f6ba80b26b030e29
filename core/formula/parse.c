/* SPDX-License-Identifier: MIT */
/* Formula text to a tree of nodes: what both notations share. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/base/number.h"
#include "core/os/clock.h"
#include "core/os/topology.h"
#include "core/formula/parse.h"

int tach__p_fail(struct tach__parse *p, int code, size_t at, const char *format, ...)
{
	char text[sizeof p->err->text];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	p->code = tach__error(p->err, code, 0, (int)at + 1, "%s", text);
	return TACH__P_FAILED;
}

static int make_node(struct tach__parse *p, enum tach__op op, int kids, const int *kid)
{
	struct tach_formula *f = p->f;
	struct tach__node *n;
	unsigned depth = 0;

	if (f->nnodes == TACH__F_NODES_MAX)
		return tach__p_fail(p, TACH_ERR_TOOMANY, p->at,
				    "the formula has more than %d operators and operands",
				    TACH__F_NODES_MAX);
	if (f->nnodes == p->capacity) {
		unsigned capacity = p->capacity ? 2 * p->capacity : 32;

		n = realloc(f->node, capacity * sizeof *n);
		if (!n)
			return tach__p_fail(p, TACH_ERR_NOMEM, p->at, "out of memory");
		f->node = n;
		p->capacity = capacity;
	}
	n = &f->node[f->nnodes];
	memset(n, 0, sizeof *n);
	n->op = (uint8_t)op;
	for (int i = 0; i < kids; i++) {
		struct tach__node *own = &f->node[kid[i]];
		bool chained = i == 0 && tach__f_is_chain(n) && tach__f_is_chain(own);

		n->kid[i] = (uint16_t)kid[i];
		if (i == 0)
			own->up = (uint16_t)f->nnodes;
		if (own->depth - (chained ? 1u : 0u) > depth)
			depth = own->depth - (chained ? 1u : 0u);
	}
	if (depth >= TACH__F_DEPTH_MAX)
		return tach__p_fail(p, TACH_ERR_TOOMANY, p->at,
				    "the formula is nested more than %d levels deep",
				    TACH__F_DEPTH_MAX);
	n->depth = (uint8_t)(depth + 1);
	return (int)f->nnodes++;
}

int tach__p_leaf(struct tach__parse *p, enum tach__op op)
{
	return make_node(p, op, 0, NULL);
}

static int make_constant(struct tach__parse *p, double value)
{
	int n = tach__p_leaf(p, TACH__F_NUM);

	if (n >= 0)
		p->f->node[n].value = value;
	return n;
}

static bool is_condition(const struct tach__parse *p, int n)
{
	return p->f->node[n].op >= TACH__F_LT && p->f->node[n].op <= TACH__F_NE;
}

static int make_condition(struct tach__parse *p, int n)
{
	int kids[2] = {n};

	if (n < 0 || is_condition(p, n))
		return n;
	kids[1] = make_constant(p, 0);
	return kids[1] < 0 ? kids[1] : make_node(p, TACH__F_NE, 2, kids);
}

/* if ? then : otherwise; any of the three may already be an error. */
static int make_choice(struct tach__parse *p, int if_, int then, int otherwise)
{
	int kids[3] = {if_, then, otherwise};

	for (int i = 0; i < 3; i++)
		if (kids[i] < 0)
			return kids[i];
	return make_node(p, TACH__F_COND, 3, kids);
}

int tach__p_value(struct tach__parse *p, int n)
{
	return n < 0 || !is_condition(p, n)
		       ? n
		       : make_choice(p, n, make_constant(p, 1), make_constant(p, 0));
}

static int make_logic(struct tach__parse *p, int op, const int *kids)
{
	int first = make_condition(p, kids[0]);
	int second = op == TACH__P_NOT ? 0 : tach__p_value(p, make_condition(p, kids[1]));

	if (second < 0)
		return second;
	switch (op) {
	case TACH__P_AND:
		return make_choice(p, first, second, make_constant(p, 0));
	case TACH__P_OR:
		return make_choice(p, first, make_constant(p, 1), second);
	}
	return make_choice(p, first, make_constant(p, 0), make_constant(p, 1));
}

int tach__p_apply(struct tach__parse *p, int op, int n, const int *kids)
{
	int own[3];

	if (op >= TACH__P_AND)
		return make_logic(p, op, kids);
	for (int i = 0; i < n; i++) {
		own[i] = op == TACH__F_COND && i == 0 ? make_condition(p, kids[i])
						      : tach__p_value(p, kids[i]);
		if (own[i] < 0)
			return own[i];
	}
	/* A negated number becomes a negative number, so that printing and reading agree. */
	if (op == TACH__F_NEG && p->f->node[own[0]].op == TACH__F_NUM) {
		p->f->node[own[0]].value = -p->f->node[own[0]].value;
		return own[0];
	}
	return make_node(p, (enum tach__op)op, n, own);
}

size_t tach__p_number_span(const char *text)
{
	size_t n = strspn(text, "0123456789"), digits = n;

	if (text[n] == '.') {
		size_t fraction = strspn(text + n + 1, "0123456789");

		digits += fraction;
		n += 1 + fraction;
	}
	if (!digits)
		return 0;
	if (text[n] == 'e' || text[n] == 'E') {
		size_t sign = text[n + 1] == '+' || text[n + 1] == '-';
		size_t exponent = strspn(text + n + 1 + sign, "0123456789");

		if (exponent)
			n += 1 + sign + exponent;
	}
	return n;
}

int tach__p_number(struct tach__parse *p, size_t at, size_t length)
{
	double value;

	if (length > 100)
		return tach__p_fail(p, TACH_ERR_SYNTAX, at,
				    "a number has more than 100 characters");
	value = tach__number_parse(p->text + at, length);
	if (!isfinite(value))
		return tach__p_fail(p, TACH_ERR_SYNTAX, at,
				    "the number %.*s is too large for a double", (int)length,
				    p->text + at);
	return make_constant(p, value);
}

const char *tach__p_seen(const char *text, char buffer[16])
{
	unsigned char c = (unsigned char)*text;

	if (!c)
		return "the end";
	if (c > ' ' && c < 0x7f)
		snprintf(buffer, 16, "'%c'", c);
	else
		snprintf(buffer, 16, "byte 0x%02x", c);
	return buffer;
}

static int make_operand(struct tach__parse *p, size_t at, long number)
{
	struct tach_formula *f = p->f;
	int n;

	if (number >= TACH_FORMULA_OPERANDS_MAX)
		return tach__p_fail(p, TACH_ERR_TOOMANY, at,
				    "operands go from N0 to N%d at most",
				    TACH_FORMULA_OPERANDS_MAX - 1);
	n = tach__p_leaf(p, TACH__F_ARG);
	if (n < 0)
		return n;
	f->node[n].arg = (uint32_t)number;
	f->uses[number / 64] |= 1ull << number % 64;
	if (number >= f->noperands)
		f->noperands = (int)number + 1;
	return n;
}

/* N<number>: the number, or -1 for any other name. */
static long placeholder_number(const char *name, size_t length)
{
	long number = 0;

	if (length < 2 || name[0] != 'N')
		return -1;
	for (size_t i = 1; i < length; i++) {
		if (name[i] < '0' || name[i] > '9')
			return -1;
		if (number < 100000)
			number = 10 * number + name[i] - '0';
	}
	return number;
}

static int clock_node(struct tach__parse *p, enum tach__op op, size_t at)
{
	bool max = op == TACH__F_MAX_HZ;
	double value = max ? p->opt->max_hz : p->opt->tsc_hz;
	int n;

	if (!(value > 0))
		value = max ? tach__max_hz(&p->f->flags) : tach__tsc_hz(&p->f->flags);
	if (!(value > 0) || !isfinite(value))
		return tach__p_fail(p, TACH_ERR_NOTSUPP, at,
				    "this system does not report %s; give it in the options",
				    max ? "the CPU's maximum clock (max_hz)"
					: "its clock's frequency (tsc_hz)");
	n = tach__p_leaf(p, op);
	if (n >= 0)
		p->f->node[n].value = value;
	return n;
}

int tach__p_max_hz(struct tach__parse *p, size_t at)
{
	return clock_node(p, TACH__F_MAX_HZ, at);
}

/* Ticks of the clock of tsc_hz in the interval. */
static int add_ticks(struct tach__parse *p, size_t at)
{
	int hz = clock_node(p, TACH__F_TSC_HZ, at), kids[2] = {hz};

	if (hz < 0 || (kids[1] = tach__p_leaf(p, TACH__F_ELAPSED)) < 0)
		return TACH__P_FAILED;
	kids[0] = make_node(p, TACH__F_MUL, 2, kids);
	if (kids[0] < 0 || (kids[1] = make_constant(p, 1e9)) < 0)
		return TACH__P_FAILED;
	return make_node(p, TACH__F_DIV, 2, kids);
}

/* A name that the caller or this machine defines, whose number is not a count. */
static int make_parameter(struct tach__parse *p, size_t at, size_t length)
{
	const char *name = p->text + at;
	double value = 0;
	int said = p->opt->parameter ? p->opt->parameter(p->opt->context, name, length, &value)
				     : TACH_ERR_NOTFOUND;

	if (said == TACH_ERR_NOTFOUND)
		said = tach__machine_parameter(name, length, &value);
	if (said == TACH_ERR_NOTFOUND)
		return TACH__P_UNKNOWN;
	if (said || !isfinite(value))
		return tach__p_fail(p, TACH_ERR_NOTSUPP, at,
				    "this system does not report %.*s; give it in the options",
				    (int)length, name);
	return make_constant(p, value);
}

/* Copies another formula's tree; returns its root. */
static int graft_formula(struct tach__parse *p, size_t at, const struct tach_formula *part)
{
	struct tach_formula *f = p->f;
	int base = (int)f->nnodes, n = 0, kids[3];

	if (!part)
		return tach__p_fail(p, TACH_ERR_INVAL, at, "a name has no formula");
	for (uint32_t i = 0; i < part->nnodes && n >= 0; i++) {
		const struct tach__node *from = &part->node[i];
		int count = from->op == TACH__F_COND  ? 3
			    : from->op >= TACH__F_ADD ? 2
			    : from->op == TACH__F_NEG ? 1
						      : 0;

		for (int k = 0; k < count; k++)
			kids[k] = base + from->kid[k];
		n = make_node(p, (enum tach__op)from->op, count, kids);
		if (n >= 0) {
			f->node[n].arg = from->arg;
			f->node[n].value = from->value;
		}
	}
	for (size_t i = 0; i < sizeof f->uses / sizeof *f->uses; i++)
		f->uses[i] |= part->uses[i];
	f->flags |= part->flags;
	if (part->noperands > f->noperands)
		f->noperands = part->noperands;
	return n < 0 ? n : base + (int)part->root;
}

int tach__p_name(struct tach__parse *p, size_t at, size_t length)
{
	const char *name = p->text + at;
	long number = placeholder_number(name, length);
	int slot;

	if (number >= 0) {
		int last = p->opt->noperands - 1;

		if (p->opt->noperands >= 0 && number > last)
			return tach__p_fail(p, TACH_ERR_SYNTAX, at,
					    last > 0 ? "there is no %.*s: only N0 to N%d exist"
					    : last == 0 ? "there is no %.*s: only N0 exists"
							: "there is no %.*s here",
					    (int)length, name, last);
		return make_operand(p, at, number);
	}
	if (tach__p_is(name, length, "max_hz"))
		return clock_node(p, TACH__F_MAX_HZ, at);
	if (tach__p_is(name, length, "tsc_hz"))
		return clock_node(p, TACH__F_TSC_HZ, at);
	if (tach__p_is(name, length, "elapsed_ns"))
		return tach__p_leaf(p, TACH__F_ELAPSED);
	slot = p->opt->resolve ? p->opt->resolve(p->opt->context, name, length)
			       : TACH_ERR_NOTFOUND;
	if (slot < 0 && tach__p_is(name, length, "tsc"))
		return add_ticks(p, at);
	if (slot < 0 && tach__p_is(name, length, "time"))
		return tach__p_leaf(p, TACH__F_ELAPSED);
	if (slot < 0)
		return make_parameter(p, at, length);
	if (slot >= TACH_FORMULA_PART && p->opt->part)
		return graft_formula(p, at,
				     p->opt->part(p->opt->context, slot - TACH_FORMULA_PART));
	return make_operand(p, at, slot);
}

int tach__p_unknown(struct tach__parse *p, size_t at, size_t length)
{
	return tach__p_fail(p, TACH_ERR_NOTFOUND, at, "unknown name '%.*s'%s",
			    length > 100 ? 100 : (int)length, p->text + at,
			    p->opt->resolve
				    ? ""
				    : "; operands are N0, N1, ..., constants max_hz, tsc_hz, "
				      "time");
}

int tach__formula_parse(struct tach_formula *f, const char *text,
			const struct tach_formula_options *opt, struct tach_error *err)
{
	struct tach__parse p = {.f = f, .text = text, .opt = opt, .err = err};
	int root;

	root = opt->kind == TACH_FORMULA_POSTFIX ? tach__p_postfix(&p) : tach__p_infix(&p);
	if (root < 0) {
		free(f->node);
		f->node = NULL;
		return p.code;
	}
	f->root = (uint32_t)root;
	return 0;
}
