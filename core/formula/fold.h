/* SPDX-License-Identifier: MIT */
/* The result of fold.c, and the input of code.c: a fraction of two linear forms for each node.
 */
#ifndef TACH_CORE_FORMULA_FOLD_H
#define TACH_CORE_FORMULA_FOLD_H

#include "core/formula/formula.h"

/*
 * A linear form while folding: factors for every operand, then elapsed_ns, then the constant.
 * exact: every number that went into it, and every result, is an integer below 2^53.
 */
struct tach__wide {
	double *factor;
	bool exact;
};

struct tach__fraction {
	struct tach__wide num, den;
	bool is;  /* this node is a fraction at all */
	bool one; /* the denominator is 1 */
};

struct tach__fold {
	struct tach_formula *f;
	struct tach_error *err;
	struct tach__fraction *of; /* one a node */
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

/* A constant; a fraction of two constants has become one, too. */
bool tach__fold_number(const struct tach__fold *s, const struct tach__fraction *x,
		       double *value);

/* ---- code.c ---- */
/* The one form that the formula is. */
void tach__code_whole(struct tach__fold *s, const struct tach__fraction *root);
/* Bytecode for all of it. */
void tach__code_program(struct tach__fold *s);

#endif
