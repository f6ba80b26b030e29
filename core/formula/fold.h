/* SPDX-License-Identifier: MIT */
/* The result of fold.c, which is the input of code.c: a fraction of two linear forms for each
 * node. */
#ifndef TACH_CORE_FORMULA_FOLD_H
#define TACH_CORE_FORMULA_FOLD_H

#include "core/formula/formula.h"

/*
 * A linear form while folding: a factor for each operand, then for elapsed_ns, then the
 * constant. exact: all numbers in the computation of the form are integers below 2^53.
 */
struct tach__wide {
	double *factor;
	bool exact;
};

struct tach__fraction {
	struct tach__wide num, den;
	bool is;  /* 1: this node is a fraction */
	bool one; /* 1: the denominator is 1 */
};

struct tach__fold {
	struct tach_formula *f;
	struct tach_error *err;
	struct tach__fraction *of; /* one for each node */
	double *factors;
	struct tach__insn *code;
	unsigned ncode;
	unsigned width; /* noperands + 2 */
	unsigned nterms;
	int depth;
};

static inline double *tach__fold_constant(const struct tach__fold *s,
					  const struct tach__wide *w)
{
	return &w->factor[s->width - 1];
}

/* Returns true and the value if x is a constant. Fractions of two constants were replaced by
 * constants before. */
bool tach__fold_number(const struct tach__fold *s, const struct tach__fraction *x,
		       double *value);

/* ---- code.c ---- */
/* Makes the code of a formula that is one form. */
void tach__code_whole(struct tach__fold *s, const struct tach__fraction *root);
/* Makes the bytecode of any other formula. */
void tach__code_program(struct tach__fold *s);

#endif
