/* SPDX-License-Identifier: MIT */
/* Converts folded nodes to forms and bytecode. */
#include <math.h>
#include "core/formula/fold.h"

static struct tach__linear make_linear(struct tach__fold *s, const struct tach__wide *w)
{
	struct tach__linear l = {.term = s->f->term + s->nterms,
				 .elapsed = w->factor[s->width - 2],
				 .constant = *tach__fold_constant(s, w)};

	for (unsigned i = 0; i + 2 < s->width; i++)
		if (w->factor[i] != 0)
			s->f->term[s->nterms++] = (struct tach__term){w->factor[i], i};
	l.count = (uint32_t)(s->f->term + s->nterms - l.term);
	return l;
}

static struct tach__form make_form(struct tach__fold *s, const struct tach__fraction *x)
{
	struct tach__form out;

	out.num = make_linear(s, &x->num);
	out.den = make_linear(s, &x->den);
	return out;
}

static struct tach__insn *put(struct tach__fold *s, enum tach__op op, int grow)
{
	s->code[s->ncode].op = op;
	s->depth += grow;
	if (s->depth - 1 > (int)s->f->stack)
		s->f->stack = (uint32_t)(s->depth - 1);
	return &s->code[s->ncode++];
}

/* Starts a new topmost value; an earlier topmost value may have to be saved. */
static struct tach__insn *put_new(struct tach__fold *s, enum tach__op saving,
				  enum tach__op first)
{
	return put(s, s->depth ? saving : first, 1);
}

static void put_form(struct tach__fold *s, const struct tach__fraction *x)
{
	struct tach__form *to = &s->f->form[s->f->nforms++];

	*to = make_form(s, x);
	if (x->one)
		put_new(s, TACH__F_DOT, TACH__F_DOT0)->of.form = to;
	else
		put_new(s, TACH__F_QUOT, TACH__F_QUOT0)->of.form = to;
}

static void emit_node(struct tach__fold *s, unsigned i);

/*
 * kid0 kid1 JUMP-UNLESS else; then...; JUMP end; else: ... end: both ends one value deeper. A
 * comparison consumes the topmost value: if other values are pending, both branches fetch one
 * first.
 */
static void emit_choice(struct tach__fold *s, const struct tach__node *n)
{
	const struct tach__node *c = &s->f->node[n->kid[0]];
	struct tach__insn *unless, *jump;

	emit_node(s, c->kid[0]);
	emit_node(s, c->kid[1]);
	unless = put(s, (enum tach__op)c->op, -2);
	if (s->depth)
		put(s, TACH__F_POP, 0);
	emit_node(s, n->kid[1]);
	jump = put(s, TACH__F_JUMP, -1);
	unless->arg = (uint32_t)(&s->code[s->ncode] - unless);
	if (s->depth)
		put(s, TACH__F_POP, 0);
	emit_node(s, n->kid[2]);
	jump->arg = (uint32_t)(&s->code[s->ncode] - jump);
}

/* Operators that include a count or a number as one operand. */
static const struct {
	enum tach__op arg, num, arg_first, num_first;
} fused[] = {
	[TACH__F_ADD] = {TACH__F_ADD_ARG, TACH__F_ADD_NUM, TACH__F_ADD_ARG, TACH__F_ADD_NUM},
	[TACH__F_SUB] = {TACH__F_SUB_ARG, TACH__F_SUB_NUM, TACH__F_FROM_ARG, TACH__F_FROM_NUM},
	[TACH__F_MUL] = {TACH__F_MUL_ARG, TACH__F_MUL_NUM, TACH__F_MUL_ARG, TACH__F_MUL_NUM},
	[TACH__F_DIV] = {TACH__F_DIV_ARG, TACH__F_DIV_NUM, TACH__F_OVER_ARG, TACH__F_OVER_NUM},
};

static bool take_along(struct tach__fold *s, unsigned kid, enum tach__op arg, enum tach__op num)
{
	const struct tach__node *n = &s->f->node[kid];
	double value;

	if (n->op == TACH__F_ARG) {
		put(s, arg, 0)->arg = n->arg;
		return true;
	}
	if (!tach__fold_number(s, &s->of[kid], &value) ||
	    (num == TACH__F_DIV_NUM && value == 0))
		return false;
	put(s, num, 0)->of.value = value;
	return true;
}

static bool is_simple(const struct tach__fold *s, unsigned kid)
{
	double value;

	return s->f->node[kid].op == TACH__F_ARG || tach__fold_number(s, &s->of[kid], &value);
}

/*
 * Returns true if the right side is evaluated first, because the left side is a count or a
 * number that an instruction can include.
 */
static bool is_right_first(const struct tach__fold *s, const struct tach__node *n)
{
	return n->op <= TACH__F_DIV && is_simple(s, n->kid[0]) && !is_simple(s, n->kid[1]);
}

/* The left side is the topmost value. */
static void emit_right(struct tach__fold *s, const struct tach__node *n)
{
	unsigned right = n->kid[1];

	if (n->op <= TACH__F_DIV && take_along(s, right, fused[n->op].arg, fused[n->op].num))
		return;
	emit_node(s, right);
	put(s, (enum tach__op)n->op, -1);
}

/*
 * A sum of counts, some of which (except the first) may be negative, is as short step by step:
 * the same additions in the same order, without factors.
 */
static bool emit_sum(struct tach__fold *s, const struct tach__fraction *x)
{
	const double *factor = x->num.factor;
	unsigned first = 0;

	while (first + 2 < s->width && factor[first] == 0)
		first++;
	if (!x->one || first + 2 >= s->width || factor[first] != 1)
		return false;
	for (unsigned i = first; i < s->width; i++)
		if (factor[i] != 0 && (fabs(factor[i]) != 1 || i + 2 >= s->width))
			return false;
	put_new(s, TACH__F_ARG, TACH__F_ARG0)->arg = first;
	for (unsigned i = first + 1; i + 2 < s->width; i++)
		if (factor[i] != 0)
			put(s, factor[i] > 0 ? TACH__F_ADD_ARG : TACH__F_SUB_ARG, 0)->arg = i;
	return true;
}

static void emit_one(struct tach__fold *s, unsigned i)
{
	const struct tach__node *n = &s->f->node[i];
	const struct tach__fraction *x = &s->of[i];
	double value;

	if (tach__fold_number(s, x, &value))
		put_new(s, TACH__F_NUM, TACH__F_NUM0)->of.value = value;
	else if (n->op == TACH__F_ELAPSED)
		put_new(s, TACH__F_ELAPSED, TACH__F_ELAPSED0);
	else if (x->is && emit_sum(s, x))
		return;
	else if (x->is)
		put_form(s, x);
	else if (n->op == TACH__F_COND)
		emit_choice(s, n);
	else if (n->op == TACH__F_NEG)
		emit_node(s, n->kid[0]), put(s, TACH__F_NEG, 0);
	else /* turned */
		emit_node(s, n->kid[1]), take_along(s, n->kid[0], fused[n->op].arg_first,
						    fused[n->op].num_first);
}

static void emit_node(struct tach__fold *s, unsigned i)
{
	const struct tach__node *node = s->f->node;
	unsigned at = i;

	while (tach__f_is_chain(&node[at]) && !s->of[at].is && !is_right_first(s, &node[at]))
		at = node[at].kid[0];
	emit_one(s, at);
	while (at != i) {
		at = node[at].up;
		emit_right(s, &node[at]);
	}
}

/* Writes a formula that is a single form: its terms, the numerator's first. */
void tach__code_whole(struct tach__fold *s, const struct tach__fraction *root)
{
	struct tach__form *whole = &s->f->form[s->f->nforms++];
	const struct tach__linear *const parts[] = {&whole->num, &whole->den};

	*whole = make_form(s, root);
	for (int p = 0; p < 2; p++)
		for (uint32_t k = 0; k < parts[p]->count; k++) {
			struct tach__insn *i = put(s, TACH__F_TERM, 0);

			i->of.value = parts[p]->term[k].factor;
			i->arg = parts[p]->term[k].arg;
		}
}

void tach__code_program(struct tach__fold *s)
{
	emit_node(s, s->f->root);
	put(s, TACH__F_END, 0);
}
