/* SPDX-License-Identifier: MIT */
/*
 * Evaluation. Dot products run in kernels unrolled for their number of terms, chosen when the
 * formula is compiled; the rest runs as bytecode. Counts are signed: see the public header.
 */
#include <math.h>
#include "core/formula.h"

#define ALWAYS static inline __attribute__((always_inline))

/* Terms add up in operand order and the constant comes last: every evaluator agrees on bits. */
ALWAYS double dot(const struct tach__linear *l, const uint64_t *n, double elapsed,
		  uint32_t count, bool with_elapsed)
{
	const struct tach__term *t = l->term;
	double sum = count ? t->factor * (double)(int64_t)n[t->arg] : 0;

	for (uint32_t i = 1; i < count; i++)
		sum += t[i].factor * (double)(int64_t)n[t[i].arg];
	if (with_elapsed && l->elapsed != 0)
		sum += l->elapsed * elapsed;
	return sum + l->constant;
}

static double linear(const struct tach__linear *l, const uint64_t *n, double elapsed)
{
	return dot(l, n, elapsed, l->count, true);
}

ALWAYS double divide(double a, double b, uint32_t *flags)
{
	if (TACH_UNLIKELY(b == 0)) {
		*flags |= TACH_DIVZERO;
		return NAN;
	}
	return a / b;
}

/* Which of two; NaN if one of them is. */
ALWAYS double smaller(double a, double b)
{
	return isnan(a) || a < b ? a : b;
}

ALWAYS double larger(double a, double b)
{
	return isnan(a) || a > b ? a : b;
}

static double run_code(const struct tach_formula *f, const uint64_t *n, double elapsed,
		       uint32_t *flags)
{
	double stack[TACH__F_STACK + 1], *top = stack; /* stack[0] stays unused */
	const struct tach__insn *code = f->code, *end = code + f->ncode, *i = code;

	while (i < end) {
		const struct tach__form *form;

		switch (i->op) {
		case TACH__F_NUM:
			*++top = i->value;
			break;
		case TACH__F_ARG:
			*++top = (double)(int64_t)n[i->arg];
			break;
		case TACH__F_ELAPSED:
			*++top = elapsed;
			break;
		case TACH__F_DOT:
			*++top = linear(&f->form[i->arg].num, n, elapsed);
			break;
		case TACH__F_QUOT:
			form = &f->form[i->arg];
			*++top = divide(linear(&form->num, n, elapsed),
					linear(&form->den, n, elapsed), flags);
			break;
		case TACH__F_NEG:
			*top = -*top;
			break;
		case TACH__F_ADD:
			top--;
			top[0] += top[1];
			break;
		case TACH__F_SUB:
			top--;
			top[0] -= top[1];
			break;
		case TACH__F_MUL:
			top--;
			top[0] *= top[1];
			break;
		case TACH__F_DIV:
			top--;
			top[0] = divide(top[0], top[1], flags);
			break;
		case TACH__F_MIN:
			top--;
			top[0] = smaller(top[0], top[1]);
			break;
		case TACH__F_MAX:
			top--;
			top[0] = larger(top[0], top[1]);
			break;
		case TACH__F_JUMP:
			i = code + i->arg;
			continue;
		default:
			top -= 2;
			if (!tach__formula_holds(i->op, top[1], top[2])) {
				i = code + i->arg;
				continue;
			}
		}
		i++;
	}
	return *top;
}

/* ---- kernels ---- */

static double run_linear(const struct tach_formula *f, const uint64_t *n, double elapsed,
			 uint32_t *flags)
{
	(void)flags;
	return linear(&f->top.num, n, elapsed);
}

static double run_quotient(const struct tach_formula *f, const uint64_t *n, double elapsed,
			   uint32_t *flags)
{
	return divide(linear(&f->top.num, n, elapsed), linear(&f->top.den, n, elapsed), flags);
}

#define LINEAR(p)                                                                              \
	static double linear_##p(const struct tach_formula *f, const uint64_t *n,              \
				 double elapsed, uint32_t *flags)                              \
	{                                                                                      \
		(void)flags;                                                                   \
		return dot(&f->top.num, n, elapsed, p, false);                                 \
	}
#define QUOTIENT(p, q)                                                                         \
	static double quotient_##p##_##q(const struct tach_formula *f, const uint64_t *n,      \
					 double elapsed, uint32_t *flags)                      \
	{                                                                                      \
		return divide(dot(&f->top.num, n, elapsed, p, false),                          \
			      dot(&f->top.den, n, elapsed, q, false), flags);                  \
	}
LINEAR(1)
LINEAR(2)
LINEAR(3)
LINEAR(4)
QUOTIENT(1, 1)
QUOTIENT(2, 1)
QUOTIENT(3, 1)
QUOTIENT(4, 1)
QUOTIENT(1, 2)
QUOTIENT(2, 2)
QUOTIENT(3, 2)
QUOTIENT(4, 2)

typedef double run(const struct tach_formula *, const uint64_t *, double, uint32_t *);

static run *choose(const struct tach_formula *f)
{
	static run *const linears[] = {linear_1, linear_2, linear_3, linear_4};
	static run *const quotients[][4] = {
		{quotient_1_1, quotient_2_1, quotient_3_1, quotient_4_1},
		{quotient_1_2, quotient_2_2, quotient_3_2, quotient_4_2},
	};
	const struct tach__linear *num = &f->top.num, *den = &f->top.den;
	bool plain = num->elapsed == 0 && den->elapsed == 0 && num->count - 1 < 4;

	if (f->shape == TACH_FORMULA_PROGRAM)
		return run_code;
	if (f->shape != TACH_FORMULA_QUOTIENT)
		return plain ? linears[num->count - 1] : run_linear;
	return plain && den->count - 1 < 2 ? quotients[den->count - 1][num->count - 1]
					   : run_quotient;
}

void tach__formula_choose(struct tach_formula *f)
{
	f->run = choose(f);
}

double tach_formula_eval(const struct tach_formula *f, const uint64_t *n, double elapsed_ns,
			 uint32_t *flags)
{
	uint32_t unwanted;

	if (!flags)
		flags = &unwanted;
	*flags |= f->flags;
	return f->run(f, n, elapsed_ns, flags);
}

int tach_formula_eval_batch(const struct tach_formula *f, const struct tach_formula_batch *b)
{
	uint64_t n[TACH_FORMULA_OPERANDS_MAX];
	uint32_t flags;

	if (!f || !b || (b->size && b->size < sizeof *b) || !b->out ||
	    (!b->n && f->noperands && b->count))
		return TACH_ERR_INVAL;
	for (size_t s = 0; s < b->count; s++) {
		const uint64_t *sample = b->n ? b->n + s * b->sample_stride : n;

		flags = f->flags;
		if (b->operand_stride != 1 && f->noperands) {
			for (uint64_t left = f->uses; left; left &= left - 1) {
				int i = __builtin_ctzll(left);

				n[i] = sample[(size_t)i * b->operand_stride];
			}
			sample = n;
		}
		b->out[s] = f->run(f, sample, b->elapsed_ns ? b->elapsed_ns[s] : 0, &flags);
		if (b->flags)
			b->flags[s] |= flags;
	}
	return 0;
}

/* ---- integers ---- */

static bool exact(const struct tach__linear *l)
{
	return l->exact && l->elapsed == 0;
}

static tach_int128 dot_int(const struct tach__linear *l, const uint64_t *n)
{
	tach_int128 sum = (int64_t)l->constant;

	for (uint32_t i = 0; i < l->count; i++)
		sum += (tach_int128)(int64_t)l->term[i].factor * (int64_t)n[l->term[i].arg];
	return sum;
}

static int round_int(double value, tach_int128 *out)
{
	const tach_int128 max = (tach_int128)(~(__extension__(unsigned __int128) 0) >> 1);

	*out = 0;
	if (isnan(value))
		return TACH_ERR_RANGE;
	if (fabs(value) < 0x1p127) {
		*out = (tach_int128)value;
		return 0;
	}
	*out = value < 0 ? -max - 1 : max;
	return TACH_ERR_RANGE;
}

int tach_formula_eval_int(const struct tach_formula *f, const uint64_t *n, double elapsed_ns,
			  tach_int128 *out, uint32_t *flags)
{
	uint32_t unwanted = 0;
	tach_int128 den;

	if (!flags)
		flags = &unwanted;
	if (f->shape == TACH_FORMULA_PROGRAM || !exact(&f->top.num) || !exact(&f->top.den))
		return round_int(tach_formula_eval(f, n, elapsed_ns, flags), out);
	*flags |= f->flags;
	*out = dot_int(&f->top.num, n);
	if (f->shape != TACH_FORMULA_QUOTIENT)
		return 1;
	den = dot_int(&f->top.den, n);
	if (den == 0) {
		*flags |= TACH_DIVZERO;
		*out = 0;
		return TACH_ERR_RANGE;
	}
	*out /= den;
	return 1;
}
