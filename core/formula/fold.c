/* SPDX-License-Identifier: MIT */
/*
 * Converts the tree of a formula to code. Each node that is linear in the operands, or a
 * quotient of two such nodes, becomes one form; code.c makes bytecode of the nodes above the
 * forms. Rewriting keeps values (up to rounding) and the set of divisions by zero: c / (a / b)
 * is not rewritten, because it divides by zero if b is 0, and c * b / a does not.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/formula/fold.h"

static bool is_integer(double x)
{
	return x == trunc(x) && fabs(x) < 9007199254740992.0;
}

static bool is_constant(const struct tach__fold *s, const struct tach__wide *w)
{
	for (unsigned i = 0; i + 1 < s->width; i++)
		if (w->factor[i] != 0)
			return false;
	return true;
}

/* out = a + sign * b, out and a may be the same. */
static void add_wide(const struct tach__fold *s, struct tach__wide *out,
		     const struct tach__wide *a, double sign, const struct tach__wide *b)
{
	out->exact = a->exact && b->exact;
	for (unsigned i = 0; i < s->width; i++) {
		out->factor[i] = a->factor[i] + sign * b->factor[i];
		out->exact = out->exact && is_integer(out->factor[i]);
	}
}

static void scale_wide(const struct tach__fold *s, struct tach__wide *out,
		       const struct tach__wide *a, double c, bool c_exact)
{
	out->exact = a->exact && c_exact;
	for (unsigned i = 0; i < s->width; i++) {
		double x = c != 0 && a->factor[i] != 0 ? c * a->factor[i] : 0;

		/* A product that is too small to be precise must not cause a division by 0. */
		out->factor[i] = x != 0 || c == 0 || a->factor[i] == 0
					 ? (x != 0 && fabs(x) < DBL_MIN ? NAN : x)
					 : NAN;
		out->exact = out->exact && is_integer(out->factor[i]);
	}
}

static void copy_wide(const struct tach__fold *s, struct tach__wide *out,
		      const struct tach__wide *a)
{
	memcpy(out->factor, a->factor, s->width * sizeof *a->factor);
	out->exact = a->exact;
}

static bool are_equal(const struct tach__fold *s, const struct tach__wide *a,
		      const struct tach__wide *b)
{
	return a->exact == b->exact &&
	       !memcmp(a->factor, b->factor, s->width * sizeof *a->factor);
}

/* Returns true for a constant; after reduce() a fraction of two constants is a constant too. */
bool tach__fold_number(const struct tach__fold *s, const struct tach__fraction *x,
		       double *value)
{
	if (!x->is || !x->one || !is_constant(s, &x->num))
		return false;
	*value = *tach__fold_constant(s, &x->num);
	return true;
}

static bool divides(const struct tach__fold *s, const struct tach__wide *w, double d)
{
	for (unsigned i = 0; i < s->width; i++)
		if (!is_integer(w->factor[i] / d))
			return false;
	return true;
}

/*
 * Divides by a constant denominator if this changes no bit of the result: between constants, by
 * a power of two, or without remainder. If all terms are integers and the division would give
 * fractions, the denominator stays.
 */
static void reduce_fraction(const struct tach__fold *s, struct tach__fraction *x)
{
	double d = *tach__fold_constant(s, &x->den);
	bool whole = x->num.exact && x->den.exact;
	int exponent;

	if (!is_constant(s, &x->den) || d == 0)
		return;
	if (!is_constant(s, &x->num) && !(whole && divides(s, &x->num, d)) &&
	    (whole || fabs(frexp(d, &exponent)) != 0.5))
		return;
	for (unsigned i = 0; i < s->width; i++)
		x->num.factor[i] /= d;
	x->num.exact = whole && divides(s, &x->num, 1);
	*tach__fold_constant(s, &x->den) = 1;
	x->den.exact = true;
	x->one = true;
}

static bool finite_all(const struct tach__fold *s, const struct tach__wide *w)
{
	for (unsigned i = 0; i < s->width; i++)
		if (!isfinite(w->factor[i]))
			return false;
	return true;
}

/*
 * Returns true if the fraction overflows, or loses a product that is too small, only if the
 * original formula does. (p + 1e300 q) / q is infinite for values for which p / q + 1e300 is
 * finite.
 */
static bool is_bounded(const struct tach__fold *s, const struct tach__fraction *x)
{
	const double least = 1e-200, most = 1e200;

	for (unsigned i = 0; i < s->width && !x->one; i++) {
		double num = fabs(x->num.factor[i]), den = fabs(x->den.factor[i]);

		if ((num != 0 && (num < least || num > most)) ||
		    (den != 0 && (den < least || den > most)))
			return false;
	}
	return true;
}

static bool fold_leaf(const struct tach__fold *s, const struct tach__node *n,
		      struct tach__fraction *out)
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
		*tach__fold_constant(s, &out->num) = n->value;
		out->num.exact = is_integer(n->value);
		return true;
	}
}

/* p/q + r/s: over a common denominator; or one of q and s is a constant and moves over. */
static bool fold_sum(const struct tach__fold *s, const struct tach__fraction *a, double sign,
		     const struct tach__fraction *b, struct tach__fraction *out)
{
	bool q = is_constant(s, &a->den), r = is_constant(s, &b->den);
	double c;

	if (are_equal(s, &a->den, &b->den)) {
		add_wide(s, &out->num, &a->num, sign, &b->num);
		copy_wide(s, &out->den, &a->den);
		return true;
	}
	if (q && r) {
		double p = *tach__fold_constant(s, &a->den);

		c = *tach__fold_constant(s, &b->den);
		scale_wide(s, &out->num, &a->num, c, b->den.exact);
		scale_wide(s, &out->den, &b->num, p, a->den.exact); /* for a moment */
		add_wide(s, &out->num, &out->num, sign, &out->den);
		scale_wide(s, &out->den, &a->den, c, b->den.exact);
		return p != 0 && c != 0;
	}
	if (tach__fold_number(s, b, &c)) { /* p/q + c = (p + c q) / q */
		scale_wide(s, &out->num, &a->den, c, b->num.exact);
		add_wide(s, &out->num, &a->num, sign, &out->num);
		copy_wide(s, &out->den, &a->den);
		return true;
	}
	if (tach__fold_number(s, a, &c)) {
		scale_wide(s, &out->num, &b->den, c, a->num.exact);
		add_wide(s, &out->num, &out->num, sign, &b->num);
		copy_wide(s, &out->den, &b->den);
		return true;
	}
	return false;
}

static bool fold_product(const struct tach__fold *s, const struct tach__fraction *a,
			 const struct tach__fraction *b, struct tach__fraction *out)
{
	double c;

	if (tach__fold_number(s, a, &c)) {
		const struct tach__fraction *swap = a;

		a = b;
		b = swap;
	} else if (!tach__fold_number(s, b, &c)) {
		return false;
	}
	scale_wide(s, &out->num, &a->num, c, b->num.exact);
	copy_wide(s, &out->den, &a->den);
	return true;
}

/* (p/q) / (r/s) = (p s) / (q r), where s is a constant but 0 and q or r is one. */
static bool fold_quotient(const struct tach__fold *s, const struct tach__fraction *a,
			  const struct tach__fraction *b, struct tach__fraction *out)
{
	double d = *tach__fold_constant(s, &b->den), c;

	if (!is_constant(s, &b->den) || d == 0)
		return false;
	scale_wide(s, &out->num, &a->num, d, b->den.exact);
	if (is_constant(s, &a->den) && *tach__fold_constant(s, &a->den) != 0) {
		scale_wide(s, &out->den, &b->num, *tach__fold_constant(s, &a->den),
			   a->den.exact);
		return true;
	}
	c = *tach__fold_constant(s, &b->num);
	if (!is_constant(s, &b->num) || c == 0)
		return false;
	scale_wide(s, &out->den, &a->den, c, b->num.exact);
	return true;
}

static bool fold_node(const struct tach__fold *s, const struct tach__node *n,
		      struct tach__fraction *out)
{
	const struct tach__fraction *a = &s->of[n->kid[0]], *b = &s->of[n->kid[1]];
	struct tach__wide *num = &out->num;

	if (n->op <= TACH__F_ELAPSED)
		return fold_leaf(s, n, out);
	if (!a->is || (n->op != TACH__F_NEG && !b->is))
		return false;
	switch (n->op) {
	case TACH__F_NEG:
		scale_wide(s, num, &a->num, -1, true);
		copy_wide(s, &out->den, &a->den);
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

/* A constant denominator of 0, and overflow, are found when the formula is evaluated. */
static void fold_one(const struct tach__fold *s, unsigned i)
{
	struct tach__fraction *out = &s->of[i];
	double *mine = s->factors + (size_t)i * 2 * s->width;

	out->num = (struct tach__wide){mine, false};
	out->den = (struct tach__wide){mine + s->width, true};
	*tach__fold_constant(s, &out->den) = 1;
	out->is = fold_node(s, &s->f->node[i], out);
	if (out->is)
		reduce_fraction(s, out);
	out->is = out->is && finite_all(s, &out->num) && finite_all(s, &out->den) &&
		  is_bounded(s, out);
}

/* Allocates for the largest case: a form for each node, a term for each leaf, and 4
 * instructions for each node (a choice: comparison, jump, POP twice). */
static int allocate_fold(struct tach__fold *s)
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

static int build_formula(struct tach__fold *s)
{
	struct tach_formula *f = s->f;
	const struct tach__fraction *root = &s->of[f->root];
	double value;

	for (unsigned i = 0; i < f->nnodes; i++)
		fold_one(s, i);
	if (root->is) {
		f->shape = !root->one				? TACH_SHAPE_QUOTIENT
			   : tach__fold_number(s, root, &value) ? TACH_SHAPE_CONSTANT
								: TACH_SHAPE_LINEAR;
		tach__code_whole(s, root);
		return 0;
	}
	f->shape = TACH_SHAPE_PROGRAM;
	tach__code_program(s);
	if (f->stack > TACH__F_STACK)
		return tach__error(
			s->err, TACH_ERR_TOOMANY, 0, 0,
			"the formula keeps %u values at the same time; %d are possible",
			f->stack, TACH__F_STACK);
	return 0;
}

static int take_code(struct tach__fold *s)
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
	struct tach__fold s = {.f = *f, .err = err};
	int rc = allocate_fold(&s);

	if (!rc)
		rc = build_formula(&s);
	if (!rc)
		rc = take_code(&s);
	*f = s.f;
	free(s.of);
	free(s.factors);
	free(s.code);
	return rc;
}
