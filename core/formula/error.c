/* SPDX-License-Identifier: MIT */
/*
 * Error bars through a formula: forward differentiation over its tree, one pass per operand
 * that has an error. The maximum depth of the tree limits the recursion.
 */
#include <math.h>
#include "core/formula/formula.h"

enum { ELAPSED = UINT32_MAX }; /* represents the time among operands */

/* A value and its derivative by the operand of this pass. */
struct dual {
	double v, d;
};

struct pass {
	const struct tach_formula *f;
	const uint64_t *n;
	double elapsed;
	uint32_t operand;
};

static struct dual evaluate_node(const struct pass *p, unsigned i);

static bool is_true(const struct pass *p, const struct tach__node *n)
{
	double a = evaluate_node(p, n->kid[0]).v, b = evaluate_node(p, n->kid[1]).v;

	switch (n->op) {
	case TACH__F_LT:
		return a < b;
	case TACH__F_LE:
		return a <= b;
	case TACH__F_GT:
		return a > b;
	case TACH__F_GE:
		return a >= b;
	case TACH__F_EQ:
		return a == b;
	default:
		return a != b;
	}
}

static struct dual evaluate_binary(enum tach__op op, struct dual a, struct dual b)
{
	double q;

	switch (op) {
	case TACH__F_ADD:
		return (struct dual){a.v + b.v, a.d + b.d};
	case TACH__F_SUB:
		return (struct dual){a.v - b.v, a.d - b.d};
	case TACH__F_MUL:
		return (struct dual){a.v * b.v, a.d * b.v + a.v * b.d};
	case TACH__F_DIV:
		q = b.v != 0 ? a.v / b.v : NAN;
		return (struct dual){q, (a.d - q * b.d) / b.v};
	case TACH__F_MIN:
		return isnan(a.v) || a.v < b.v ? a : b;
	default:
		return isnan(a.v) || a.v > b.v ? a : b;
	}
}

static struct dual walk_one(const struct pass *p, unsigned i)
{
	const struct tach__node *n = &p->f->node[i];
	struct dual x;

	switch (n->op) {
	case TACH__F_NUM:
	case TACH__F_MAX_HZ:
	case TACH__F_TSC_HZ:
		return (struct dual){n->value, 0};
	case TACH__F_ARG:
		return (struct dual){(double)(int64_t)p->n[n->arg], n->arg == p->operand};
	case TACH__F_ELAPSED:
		return (struct dual){p->elapsed, p->operand == ELAPSED};
	case TACH__F_NEG:
		x = evaluate_node(p, n->kid[0]);
		return (struct dual){-x.v, -x.d};
	default: /* COND */
		return evaluate_node(p, n->kid[is_true(p, &p->f->node[n->kid[0]]) ? 1 : 2]);
	}
}

static struct dual evaluate_node(const struct pass *p, unsigned i)
{
	const struct tach__node *node = p->f->node;
	unsigned at = i;
	struct dual x;

	while (tach__f_is_chain(&node[at]))
		at = node[at].kid[0];
	x = walk_one(p, at);
	while (at != i) {
		at = node[at].up;
		x = evaluate_binary((enum tach__op)node[at].op, x,
				    evaluate_node(p, node[at].kid[1]));
	}
	return x;
}

double tach__formula_bound(const struct tach_formula *f, const uint64_t *n, const double *error,
			   double elapsed_ns, double elapsed_error, double *result_error,
			   uint32_t *flags)
{
	struct pass p = {f, n, elapsed_ns, 0};
	double sum = 0, value = tach_formula_eval(f, n, elapsed_ns, flags);

	for (int i = 0; i < f->noperands && error; i++) {
		p.operand = (uint32_t)i;
		if (tach_formula_uses(f, i) && error[i] != 0)
			sum += fabs(evaluate_node(&p, f->root).d) * fabs(error[p.operand]);
	}
	p.operand = ELAPSED;
	if (elapsed_error != 0)
		sum += fabs(evaluate_node(&p, f->root).d) * fabs(elapsed_error);
	if (result_error)
		*result_error = isnan(value) ? NAN : sum;
	return value;
}

double tach_formula_eval_error(const struct tach_formula *f, const uint64_t *n,
			       const double *error, double elapsed_ns, double *result_error,
			       uint32_t *flags)
{
	return tach__formula_bound(f, n, error, elapsed_ns, 0, result_error, flags);
}

int tach__formula_is_timed(const struct tach_formula *f)
{
	for (uint32_t i = 0; i < f->nnodes; i++)
		if (f->node[i].op == TACH__F_ELAPSED)
			return 1;
	return 0;
}
