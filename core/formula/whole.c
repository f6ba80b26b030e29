/* SPDX-License-Identifier: MIT */
/*
 * The entries of formulas that are one linear form or a quotient of two; nearly all formulas
 * are. Sums of up to 4 counts, each with a factor, alone or divided by a sum of up to 2, have
 * unrolled functions of their own. Their terms are the formula's code, the numerator first. All
 * other formulas use the form.
 */
#include "core/formula/math.h"

#define UNROLLED _Pragma("GCC unroll 8")

#define PARAMETERS                                                                             \
	const struct tach_formula *f, const uint64_t *n, double elapsed, uint32_t *flags

static double evaluate_linear(PARAMETERS)
{
	(void)flags;
	return tach__linear(&f->form->num, n, elapsed);
}

static double evaluate_quotient(PARAMETERS)
{
	return tach__quotient(f->form, n, elapsed, flags);
}

/* one: the first factor is 1, so no multiplication is needed. */
TACH__ALWAYS double sum(const struct tach__insn *t, const uint64_t *n, int terms, bool one)
{
	double total = TACH__COUNT(n, t->arg);

	if (!one)
		total *= t->of.value;
	UNROLLED for (int k = 1; k < terms; k++) total +=
		t[k].of.value * TACH__COUNT(n, t[k].arg);
	return total;
}

#define LINEAR(p, one)                                                                         \
	static double linear_##p##_##one(PARAMETERS)                                           \
	{                                                                                      \
		(void)elapsed, (void)flags;                                                    \
		return sum(f->code, n, p, one);                                                \
	}
#define QUOTIENT(p, q, one, den_one)                                                           \
	static double quotient_##p##_##q##_##one##_##den_one(PARAMETERS)                       \
	{                                                                                      \
		(void)elapsed;                                                                 \
		return tach__divide(sum(f->code, n, p, one), sum(f->code + p, n, q, den_one),  \
				    flags);                                                    \
	}
#define OVER(p, q)                                                                             \
	QUOTIENT(p, q, 0, 0)                                                                   \
	QUOTIENT(p, q, 0, 1)                                                                   \
	QUOTIENT(p, q, 1, 0)                                                                   \
	QUOTIENT(p, q, 1, 1)
#define ALL(p)                                                                                 \
	LINEAR(p, 0)                                                                           \
	LINEAR(p, 1)                                                                           \
	OVER(p, 1)                                                                             \
	OVER(p, 2)
ALL(1)
ALL(2)
ALL(3)
ALL(4)

/* The functions for p terms: without a divisor, and with 1 and 2 terms below. */
static const struct {
	tach__entry *linear[2], *quotient[2][2][2];
} by_terms[] = {
#define ENTRIES_OVER(p, q)                                                                     \
	{                                                                                      \
		{quotient_##p##_##q##_0_0, quotient_##p##_##q##_0_1},                          \
			{quotient_##p##_##q##_1_0, quotient_##p##_##q##_1_1},                  \
	}
#define ENTRIES(p)                                                                             \
	{                                                                                      \
		{linear_##p##_0, linear_##p##_1}, {ENTRIES_OVER(p, 1), ENTRIES_OVER(p, 2)},    \
	}
	ENTRIES(1), ENTRIES(2), ENTRIES(3), ENTRIES(4)};

/* Returns true for a sum of 1 to max counts without other terms. */
static bool counts_only(const struct tach__linear *l, uint32_t max)
{
	return l->elapsed == 0 && l->constant == 0 && l->count - 1 < max;
}

void tach__formula_link_whole(struct tach_formula *f)
{
	const struct tach__linear *num = &f->form->num, *den = &f->form->den;
	bool over = f->shape == TACH_SHAPE_QUOTIENT;
	unsigned p = num->count - 1, q = den->count - 1;

	if (!counts_only(num, 4) || (over && !counts_only(den, 2))) {
		f->unflagged = over ? evaluate_quotient : evaluate_linear;
	} else if (over) {
		f->unflagged =
			by_terms[p].quotient[q][num->term->factor == 1][den->term->factor == 1];
	} else {
		f->unflagged = by_terms[p].linear[num->term->factor == 1];
	}
}
