/* SPDX-License-Identifier: MIT */
/*
 * The tree of a formula to what is evaluated: each node that is linear in the operands, or a
 * quotient of two such, becomes one form; what lies above the forms becomes bytecode.
 *
 * Rewriting keeps values (up to rounding) and the set of divisions by zero: c / (a / b) stays
 * as it is, because it divides by zero where b is 0 and c * b / a does not.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/formula/formula.h"

/*
 * A linear form while folding: factors for every operand, then elapsed_ns, then the constant.
 * exact: every number that went into it, and every result, is an integer below 2^53.
 */
struct wide {
	double *factor;
	bool exact;
};

struct fraction {
	struct wide num, den;
	bool is;  /* this node is a fraction at all */
	bool one; /* the denominator is 1 */
};

struct fold {
	struct tach_formula *f;
	struct tach_error *err;
	struct fraction *of; /* one a node */
	double *factors;
	struct tach__insn *code;
	unsigned ncode;
	unsigned width; /* noperands + 2 */
	unsigned nterms;
	int depth;
};

static bool integer(double x)
{
	return x == trunc(x) && fabs(x) < 9007199254740992.0;
}

static double *constant(const struct fold *s, const struct wide *w)
{
	return &w->factor[s->width - 1];
}

static bool is_constant(const struct fold *s, const struct wide *w)
{
	for (unsigned i = 0; i + 1 < s->width; i++)
		if (w->factor[i] != 0)
			return false;
	return true;
}

/* out = a + sign * b, out and a may be the same. */
static void add(const struct fold *s, struct wide *out, const struct wide *a, double sign,
		const struct wide *b)
{
	out->exact = a->exact && b->exact;
	for (unsigned i = 0; i < s->width; i++) {
		out->factor[i] = a->factor[i] + sign * b->factor[i];
		out->exact = out->exact && integer(out->factor[i]);
	}
}

static void scale(const struct fold *s, struct wide *out, const struct wide *a, double c,
		  bool c_exact)
{
	out->exact = a->exact && c_exact;
	for (unsigned i = 0; i < s->width; i++) {
		double x = c != 0 && a->factor[i] != 0 ? c * a->factor[i] : 0;

		/* A product too small to be precise must not turn into a division by 0. */
		out->factor[i] = x != 0 || c == 0 || a->factor[i] == 0
					 ? (x != 0 && fabs(x) < DBL_MIN ? NAN : x)
					 : NAN;
		out->exact = out->exact && integer(out->factor[i]);
	}
}

static void copy(const struct fold *s, struct wide *out, const struct wide *a)
{
	memcpy(out->factor, a->factor, s->width * sizeof *a->factor);
	out->exact = a->exact;
}

static bool same(const struct fold *s, const struct wide *a, const struct wide *b)
{
	return a->exact == b->exact &&
	       !memcmp(a->factor, b->factor, s->width * sizeof *a->factor);
}

/* A constant; after reduce() a fraction of two constants is one, too. */
static bool number_of(const struct fold *s, const struct fraction *x, double *value)
{
	if (!x->is || !x->one || !is_constant(s, &x->num))
		return false;
	*value = *constant(s, &x->num);
	return true;
}

static bool divides(const struct fold *s, const struct wide *w, double d)
{
	for (unsigned i = 0; i < s->width; i++)
		if (!integer(w->factor[i] / d))
			return false;
	return true;
}

/*
 * A constant denominator goes away where dividing now changes no bit of the result: between
 * constants, by a power of two, or without remainder. An integer form that would stop being one
 * keeps its denominator, for the sake of exact evaluation.
 */
static void reduce(const struct fold *s, struct fraction *x)
{
	double d = *constant(s, &x->den);
	bool whole = x->num.exact && x->den.exact;
	int exponent;

	x->one = false;
	if (!is_constant(s, &x->den) || d == 0)
		return;
	if (!is_constant(s, &x->num) && !(whole && divides(s, &x->num, d)) &&
	    (whole || fabs(frexp(d, &exponent)) != 0.5))
		return;
	for (unsigned i = 0; i < s->width; i++)
		x->num.factor[i] /= d;
	x->num.exact = whole && divides(s, &x->num, 1);
	*constant(s, &x->den) = 1;
	x->den.exact = true;
	x->one = true;
}

static bool finite_all(const struct fold *s, const struct wide *w)
{
	for (unsigned i = 0; i < s->width; i++)
		if (!isfinite(w->factor[i]))
			return false;
	return true;
}

static bool fold_leaf(const struct fold *s, const struct tach__node *n, struct fraction *out)
{
	out->num.exact = true;
	switch (n->op) {
	case TACH__F_ARG:
		out->num.factor[n->arg] = 1;
		return true;
	case TACH__F_ELAPSED:
		out->num.factor[s->width - 2] = 1;
		out->num.exact = false;
		return true;
	default:
		*constant(s, &out->num) = n->value;
		out->num.exact = integer(n->value);
		return true;
	}
}

/* p/q + r/s: over a common denominator; or one of q and s is a constant and moves over. */
static bool fold_sum(const struct fold *s, const struct fraction *a, double sign,
		     const struct fraction *b, struct fraction *out)
{
	bool q = is_constant(s, &a->den), r = is_constant(s, &b->den);
	double c;

	if (same(s, &a->den, &b->den)) {
		add(s, &out->num, &a->num, sign, &b->num);
		copy(s, &out->den, &a->den);
		return true;
	}
	if (q && r) {
		double p = *constant(s, &a->den);

		c = *constant(s, &b->den);
		scale(s, &out->num, &a->num, c, b->den.exact);
		scale(s, &out->den, &b->num, p, a->den.exact); /* for a moment */
		add(s, &out->num, &out->num, sign, &out->den);
		scale(s, &out->den, &a->den, c, b->den.exact);
		return p != 0 && c != 0;
	}
	if (number_of(s, b, &c)) { /* p/q + c = (p + c q) / q */
		scale(s, &out->num, &a->den, c, b->num.exact);
		add(s, &out->num, &a->num, sign, &out->num);
		copy(s, &out->den, &a->den);
		return true;
	}
	if (number_of(s, a, &c)) {
		scale(s, &out->num, &b->den, c, a->num.exact);
		add(s, &out->num, &out->num, sign, &b->num);
		copy(s, &out->den, &b->den);
		return true;
	}
	return false;
}

static bool fold_product(const struct fold *s, const struct fraction *a,
			 const struct fraction *b, struct fraction *out)
{
	double c;

	if (number_of(s, a, &c)) {
		const struct fraction *swap = a;

		a = b;
		b = swap;
	} else if (!number_of(s, b, &c)) {
		return false;
	}
	scale(s, &out->num, &a->num, c, b->num.exact);
	copy(s, &out->den, &a->den);
	return true;
}

/* (p/q) / (r/s) = (p s) / (q r), where s is a constant but 0 and q or r is one. */
static bool fold_quotient(const struct fold *s, const struct fraction *a,
			  const struct fraction *b, struct fraction *out)
{
	double d = *constant(s, &b->den), c;

	if (!is_constant(s, &b->den) || d == 0)
		return false;
	scale(s, &out->num, &a->num, d, b->den.exact);
	if (is_constant(s, &a->den) && *constant(s, &a->den) != 0) {
		scale(s, &out->den, &b->num, *constant(s, &a->den), a->den.exact);
		return true;
	}
	c = *constant(s, &b->num);
	if (!is_constant(s, &b->num) || c == 0)
		return false;
	scale(s, &out->den, &a->den, c, b->num.exact);
	return true;
}

static bool fold_node(const struct fold *s, const struct tach__node *n, struct fraction *out)
{
	const struct fraction *a = &s->of[n->kid[0]], *b = &s->of[n->kid[1]];
	struct wide *num = &out->num;

	if (n->op <= TACH__F_ELAPSED)
		return fold_leaf(s, n, out);
	if (!a->is || (n->op != TACH__F_NEG && !b->is))
		return false;
	switch (n->op) {
	case TACH__F_NEG:
		scale(s, num, &a->num, -1, true);
		copy(s, &out->den, &a->den);
		return true;
	case TACH__F_ADD:
		return fold_sum(s, a, 1, b, out);
	case TACH__F_SUB:
		return fold_sum(s, a, -1, b, out);
	case TACH__F_MUL:
		return fold_product(s, a, b, out);
	case TACH__F_DIV:
		return fold_quotient(s, a, b, out);
	default:
		return false;
	}
}

/* A constant denominator of 0, and overflow, are left to be met when evaluated. */
static void fold_one(const struct fold *s, unsigned i)
{
	struct fraction *out = &s->of[i];
	double *mine = s->factors + (size_t)i * 2 * s->width;

	out->num = (struct wide){mine, false};
	out->den = (struct wide){mine + s->width, true};
	*constant(s, &out->den) = 1;
	out->is = fold_node(s, &s->f->node[i], out);
	if (out->is)
		reduce(s, out);
	out->is = out->is && finite_all(s, &out->num) && finite_all(s, &out->den);
}

/* ---- forms and code ---- */

static struct tach__linear linear(struct fold *s, const struct wide *w)
{
	struct tach__linear l = {.term = s->f->term + s->nterms,
				 .exact = w->exact,
				 .elapsed = w->factor[s->width - 2],
				 .constant = *constant(s, w)};

	for (unsigned i = 0; i + 2 < s->width; i++)
		if (w->factor[i] != 0)
			s->f->term[s->nterms++] = (struct tach__term){w->factor[i], i};
	l.count = (uint32_t)(s->f->term + s->nterms - l.term);
	return l;
}

static struct tach__form form(struct fold *s, const struct fraction *x)
{
	struct tach__form out;

	out.num = linear(s, &x->num);
	out.den = linear(s, &x->den);
	return out;
}

static struct tach__insn *put(struct fold *s, enum tach__op op, int grow)
{
	s->code[s->ncode].op = op;
	s->depth += grow;
	if (s->depth - 1 > (int)s->f->stack)
		s->f->stack = (uint32_t)(s->depth - 1);
	return &s->code[s->ncode++];
}

/* A new topmost value; there may be one to save. */
static struct tach__insn *put_new(struct fold *s, enum tach__op saving, enum tach__op first)
{
	return put(s, s->depth ? saving : first, 1);
}

static void put_form(struct fold *s, const struct fraction *x)
{
	struct tach__form *to = &s->f->form[s->f->nforms++];

	*to = form(s, x);
	if (x->one)
		put_new(s, TACH__F_DOT, TACH__F_DOT0)->of.form = to;
	else
		put_new(s, TACH__F_QUOT, TACH__F_QUOT0)->of.form = to;
}

static void emit(struct fold *s, unsigned i);

/*
 * kid0 kid1 JUMP-UNLESS else; then...; JUMP end; else: ... end: both ends one value deeper. A
 * comparison uses up the topmost value: where others wait, both branches fetch one first.
 */
static void emit_choice(struct fold *s, const struct tach__node *n)
{
	const struct tach__node *c = &s->f->node[n->kid[0]];
	struct tach__insn *unless, *jump;

	emit(s, c->kid[0]);
	emit(s, c->kid[1]);
	unless = put(s, (enum tach__op)c->op, -2);
	if (s->depth)
		put(s, TACH__F_POP, 0);
	emit(s, n->kid[1]);
	jump = put(s, TACH__F_JUMP, -1);
	unless->arg = (uint32_t)(&s->code[s->ncode] - unless);
	if (s->depth)
		put(s, TACH__F_POP, 0);
	emit(s, n->kid[2]);
	jump->arg = (uint32_t)(&s->code[s->ncode] - jump);
}

/* Operators with a count or a number for one side take it along. */
static const struct {
	enum tach__op arg, num, arg_first, num_first;
} fused[] = {
	[TACH__F_ADD] = {TACH__F_ADD_ARG, TACH__F_ADD_NUM, TACH__F_ADD_ARG, TACH__F_ADD_NUM},
	[TACH__F_SUB] = {TACH__F_SUB_ARG, TACH__F_SUB_NUM, TACH__F_FROM_ARG, TACH__F_FROM_NUM},
	[TACH__F_MUL] = {TACH__F_MUL_ARG, TACH__F_MUL_NUM, TACH__F_MUL_ARG, TACH__F_MUL_NUM},
	[TACH__F_DIV] = {TACH__F_DIV_ARG, TACH__F_DIV_NUM, TACH__F_OVER_ARG, TACH__F_OVER_NUM},
};

static bool take_along(struct fold *s, unsigned kid, enum tach__op arg, enum tach__op num)
{
	const struct tach__node *n = &s->f->node[kid];
	double value;

	if (n->op == TACH__F_ARG) {
		put(s, arg, 0)->arg = n->arg;
		return true;
	}
	if (!number_of(s, &s->of[kid], &value) || (num == TACH__F_DIV_NUM && value == 0))
		return false;
	put(s, num, 0)->of.value = value;
	return true;
}

static bool simple(const struct fold *s, unsigned kid)
{
	double value;

	return s->f->node[kid].op == TACH__F_ARG || number_of(s, &s->of[kid], &value);
}

static void emit_binary(struct fold *s, const struct tach__node *n)
{
	unsigned left = n->kid[0], right = n->kid[1];

	if (n->op <= TACH__F_DIV && simple(s, left) && !simple(s, right)) {
		emit(s, right);
		take_along(s, left, fused[n->op].arg_first, fused[n->op].num_first);
		return;
	}
	emit(s, left);
	if (n->op <= TACH__F_DIV && take_along(s, right, fused[n->op].arg, fused[n->op].num))
		return;
	emit(s, right);
	put(s, (enum tach__op)n->op, -1);
}

/*
 * A sum of counts, some of them negative but the first, is as short step by step: the same
 * additions in the same order, without factors.
 */
static bool emit_sum(struct fold *s, const struct fraction *x)
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

static void emit(struct fold *s, unsigned i)
{
	const struct tach__node *n = &s->f->node[i];
	const struct fraction *x = &s->of[i];
	double value;

	if (number_of(s, x, &value))
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
		emit(s, n->kid[0]), put(s, TACH__F_NEG, 0);
	else
		emit_binary(s, n);
}

/* Sizes: no more forms than nodes, no more terms in a form than leaves below it, and of
 * instructions at most 4 a node (a choice: comparison, jump, twice POP). */
static int allocate(struct fold *s)
{
	struct tach_formula *f = s->f;
	size_t n = f->nnodes;

	s->width = (unsigned)f->noperands + 2;
	s->of = calloc(n, sizeof *s->of);
	s->factors = calloc(n * 2 * s->width, sizeof *s->factors);
	s->code = calloc(4 * n + 3, sizeof *s->code);
	f->form = calloc(n, sizeof *f->form);
	f->term = calloc(2 * n + 2, sizeof *f->term);
	if (s->of && s->factors && s->code && f->form && f->term)
		return 0;
	return tach__error(s->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
}

/* A formula that is one form: its terms, the numerator's first. */
static void put_whole(struct fold *s, const struct tach__form *form)
{
	const struct tach__linear *const parts[] = {&form->num, &form->den};

	for (int p = 0; p < 2; p++)
		for (uint32_t k = 0; k < parts[p]->count; k++) {
			struct tach__insn *i = put(s, TACH__F_TERM, 0);

			i->of.value = parts[p]->term[k].factor;
			i->arg = parts[p]->term[k].arg;
		}
}

static int build(struct fold *s)
{
	struct tach_formula *f = s->f;
	const struct fraction *root = &s->of[f->root];
	double value;

	for (unsigned i = 0; i < f->nnodes; i++)
		fold_one(s, i);
	if (root->is) {
		f->shape = !root->one			? TACH_SHAPE_QUOTIENT
			   : number_of(s, root, &value) ? TACH_SHAPE_CONSTANT
							: TACH_SHAPE_LINEAR;
		f->form[f->nforms++] = form(s, root);
		put_whole(s, f->form);
		return 0;
	}
	f->shape = TACH_SHAPE_PROGRAM;
	emit(s, f->root);
	put(s, TACH__F_END, 0);
	if (f->stack > TACH__F_STACK)
		return tach__error(
			s->err, TACH_ERR_TOOMANY, 0, 0,
			"the formula keeps %u values waiting at once; %d are possible",
			f->stack, TACH__F_STACK);
	return 0;
}

static int take_code(struct fold *s)
{
	size_t size = s->ncode * sizeof *s->code;
	struct tach_formula *f = realloc(s->f, sizeof *f + size);

	if (!f)
		return tach__error(s->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	s->f = f;
	f->ncode = s->ncode;
	memcpy(f->code, s->code, size);
	return 0;
}

int tach__formula_fold(struct tach_formula **f, struct tach_error *err)
{
	struct fold s = {.f = *f, .err = err};
	int rc = allocate(&s);

	if (!rc)
		rc = build(&s);
	if (!rc)
		rc = take_code(&s);
	*f = s.f;
	free(s.of);
	free(s.factors);
	free(s.code);
	return rc;
}
