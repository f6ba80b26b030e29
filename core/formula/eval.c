/* SPDX-License-Identifier: MIT */
/*
 * Evaluation: one value, many, and exact integers. The work is in formula_steps.c and
 * formula_whole.c.
 */
#include <math.h>
#include "core/formula/formula.h"

double tach_formula_eval(const struct tach_formula *f, const uint64_t *n, double elapsed_ns,
			 uint32_t *flags)
{
	return f->eval(f, n, elapsed_ns, flags);
}

int tach_formula_eval_batch(const struct tach_formula *f, const struct tach_formula_batch *b)
{
	if (!f || !b || (b->size && b->size < sizeof *b) || !b->out ||
	    (!b->n && f->noperands && b->count))
		return TACH_ERR_INVAL;
	if (b->flags && f->flags)
		for (size_t s = 0; s < b->count; s++)
			b->flags[s] |= f->flags;
	f->batch(f, b);
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
	if (f->shape == TACH_SHAPE_PROGRAM || !exact(&f->form->num) || !exact(&f->form->den))
		return round_int(tach_formula_eval(f, n, elapsed_ns, flags), out);
	*flags |= f->flags;
	*out = dot_int(&f->form->num, n);
	if (f->shape != TACH_SHAPE_QUOTIENT)
		return 1;
	den = dot_int(&f->form->den, n);
	if (den == 0) {
		*flags |= TACH_FLAG_DIVZERO;
		*out = 0;
		return TACH_ERR_RANGE;
	}
	*out /= den;
	return 1;
}
