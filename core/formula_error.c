/* SPDX-License-Identifier: MIT */
/*
 * Error bars through a formula: forward differentiation, one pass per operand that has an
 * error. Values are computed just as formula_eval.c does, in the same order.
 */
#include <math.h>
#include "core/formula.h"

/* A value and its derivative by the operand of this pass. */
struct dual {
	double v, d;
};

struct pass {
	const uint64_t *n;
	double elapsed;
	uint32_t operand;
	uint32_t *flags;
};

static struct dual dot(const struct pass *p, const struct tach__linear *l)
{
	struct dual sum = {0, 0};

	for (uint32_t i = 0; i < l->count; i++) {
		sum.v += l->term[i].factor * (double)(int64_t)p->n[l->term[i].arg];
		if (l->term[i].arg == p->operand)
			sum.d = l->term[i].factor;
	}
	if (l->elapsed != 0)
		sum.v += l->elapsed * p->elapsed;
	sum.v += l->constant;
	return sum;
}

static struct dual divide(const struct pass *p, struct dual a, struct dual b)
{
	struct dual q;

	if (b.v == 0) {
		*p->flags |= TACH_DIVZERO;
		return (struct dual){NAN, NAN};
	}
	q.v = a.v / b.v;
	q.d = (a.d - q.v * b.d) / b.v;
	return q;
}

static struct dual arithmetic(const struct pass *p, uint32_t op, struct dual a, struct dual b)
{
	switch (op) {
	case TACH__F_ADD:
		return (struct dual){a.v + b.v, a.d + b.d};
	case TACH__F_SUB:
		return (struct dual){a.v - b.v, a.d - b.d};
	case TACH__F_MUL:
		return (struct dual){a.v * b.v, a.d * b.v + a.v * b.d};
	case TACH__F_DIV:
		return divide(p, a, b);
	case TACH__F_MIN:
		return isnan(a.v) || a.v < b.v ? a : b;
	default:
		return isnan(a.v) || a.v > b.v ? a : b;
	}
}

static struct dual leaf(const struct pass *p, const struct tach_formula *f,
			const struct tach__insn *i)
{
	switch (i->op) {
	case TACH__F_NUM:
		return (struct dual){i->value, 0};
	case TACH__F_ARG:
		return (struct dual){(double)(int64_t)p->n[i->arg], i->arg == p->operand};
	case TACH__F_ELAPSED:
		return (struct dual){p->elapsed, 0};
	case TACH__F_DOT:
		return dot(p, &f->form[i->arg].num);
	default:
		return divide(p, dot(p, &f->form[i->arg].num), dot(p, &f->form[i->arg].den));
	}
}

static struct dual code(const struct pass *p, const struct tach_formula *f)
{
	struct dual stack[TACH__F_STACK + 1], *top = stack;

	for (uint32_t at = 0; at < f->ncode; at++) {
		const struct tach__insn *i = &f->code[at];

		if (i->op <= TACH__F_ELAPSED || i->op == TACH__F_DOT || i->op == TACH__F_QUOT) {
			*++top = leaf(p, f, i);
		} else if (i->op == TACH__F_NEG) {
			*top = (struct dual){-top->v, -top->d};
		} else if (i->op == TACH__F_JUMP) {
			at = i->arg - 1;
		} else if (i->op >= TACH__F_LT && i->op <= TACH__F_NE) {
			top -= 2;
			if (!tach__formula_holds(i->op, top[1].v, top[2].v))
				at = i->arg - 1;
		} else {
			top--;
			top[0] = arithmetic(p, i->op, top[0], top[1]);
		}
	}
	return *top;
}

static struct dual run(const struct pass *p, const struct tach_formula *f)
{
	struct dual num;

	if (f->shape == TACH_FORMULA_PROGRAM)
		return code(p, f);
	num = dot(p, &f->top.num);
	return f->shape == TACH_FORMULA_QUOTIENT ? divide(p, num, dot(p, &f->top.den)) : num;
}

double tach_formula_eval_error(const struct tach_formula *f, const uint64_t *n,
			       const double *error, double elapsed_ns, double *result_error,
			       uint32_t *flags)
{
	uint32_t unwanted = 0;
	struct pass p = {n, elapsed_ns, 0, flags ? flags : &unwanted};
	double sum = 0, value = tach_formula_eval(f, n, elapsed_ns, p.flags);

	for (uint64_t left = f->uses; left && error; left &= left - 1) {
		p.operand = (uint32_t)__builtin_ctzll(left);
		if (error[p.operand] != 0)
			sum += fabs(run(&p, f).d) * fabs(error[p.operand]);
	}
	if (result_error)
		*result_error = isnan(value) ? NAN : sum;
	return value;
}
