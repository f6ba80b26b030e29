/* SPDX-License-Identifier: MIT */
/* Derived values: infix or postfix text compiled once, evaluated without allocation. */
#ifndef TACH_FORMULA_H
#define TACH_FORMULA_H

#include <tach/error.h>
#include <tach/flags.h>

struct tach_formula; /* immutable once compiled; any number of threads may evaluate it */

enum tach_formula_kind {
	TACH_FORMULA_INFIX,   /* N0-(N1+(N2*5)), ipc-style names where a resolver knows them */
	TACH_FORMULA_POSTFIX, /* N0|N1|N2|5|*|+|-| */
};

/*
 * Gives the operand number of a name that is not N<number>, or a negative tach_code. Names are
 * not terminated: use `length`.
 */
typedef int (*tach_formula_resolve)(void *context, const char *name, size_t length);

struct tach_formula_options {
	uint32_t size;
	enum tach_formula_kind kind;
	int noperands;		      /* N0 .. N<noperands-1> exist; -1 = as many as are used */
	tach_formula_resolve resolve; /* NULL: only N<number> and the named constants */
	void *context;
	double max_hz; /* value of `max_hz` and '#'; 0 = ask the system */
	double tsc_hz; /* value of `tsc_hz`; 0 = ask the system */
};

TACH_BEGIN_DECLS

TACH_API int tach_formula_compile(struct tach_formula **out, const char *text,
				  const struct tach_formula_options *opt,
				  struct tach_error *err);
TACH_API void tach_formula_free(struct tach_formula *f); /* NULL is fine */
/* How many operands evaluation reads: 1 + the highest N used, 0 for a constant. */
TACH_API int tach_formula_noperands(const struct tach_formula *f);

/*
 * n[0..noperands-1] are counts; elapsed_ns is the value of the constant of that name. *flags
 * is or-ed with TACH_DIVZERO when a division by zero made the result NaN, and with operand
 * flags by the caller. Async-signal-safe, no allocation, no lock, no system call.
 */
TACH_API double tach_formula_eval(const struct tach_formula *f, const uint64_t *n,
				  double elapsed_ns, uint32_t *flags);

TACH_END_DECLS
#endif
