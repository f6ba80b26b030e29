/* SPDX-License-Identifier: MIT */
/* The arithmetic that all ways of evaluating a formula share, so that results are equal in each
 * bit. */
#ifndef TACH_CORE_FORMULA_MATH_H
#define TACH_CORE_FORMULA_MATH_H

#include <math.h>
#include <string.h>
#include "core/formula/formula.h"

#define TACH__ALWAYS static inline __attribute__((always_inline))

/* Counts are signed: see the public header. */
#define TACH__COUNT(n, arg) ((double)(int64_t)(n)[arg])

/* Returns 1 for plus or minus zero: no bit other than the sign is set. This takes one
 * instruction less than b == 0. */
TACH__ALWAYS bool tach__is_zero(double b)
{
	uint64_t bits;

	memcpy(&bits, &b, sizeof bits);
	return bits << 1 == 0;
}

TACH__ALWAYS double tach__divide(double a, double b, uint32_t *flags)
{
	if (TACH_UNLIKELY(tach__is_zero(b))) {
		if (flags)
			*flags |= TACH_FLAG_DIVZERO;
		return NAN;
	}
	return a / b;
}

/* Terms add up in operand order and the constant comes last. */
static inline double tach__linear(const struct tach__linear *l, const uint64_t *n,
				  double elapsed)
{
	double total = 0;

	for (uint32_t k = 0; k < l->count; k++)
		total += l->term[k].factor * TACH__COUNT(n, l->term[k].arg);
	if (l->elapsed != 0)
		total += l->elapsed * elapsed;
	return total + l->constant;
}

static inline double tach__quotient(const struct tach__form *f, const uint64_t *n,
				    double elapsed, uint32_t *flags)
{
	return tach__divide(tach__linear(&f->num, n, elapsed),
			    tach__linear(&f->den, n, elapsed), flags);
}

#endif
