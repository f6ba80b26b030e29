/* SPDX-License-Identifier: MIT */
/*
 * Derived values: infix or postfix text compiled once, evaluated without allocation.
 *
 * Both notations have the same operands, constants and operators:
 *
 *   Operands	  N0, N1, ... and each name that the caller's resolver knows.
 *   Numbers	  12, 0.25, 1e6, in every locale.
 *   Constants	  max_hz or # (the highest clock rate of the CPU); tsc_hz (the rate of the
 *		  region clock); time or elapsed_ns (nanoseconds); tsc (tsc_hz * time / 1e9).
 *   Parameters	  Values that the caller knows; smt_on (1: a core's other thread may run);
 *		  core_wide (0: counts are for one thread); threads_per_core, cores, cpus,
 *		  cores_per_socket, sockets, dies; slots_per_cycle (arm64: PMMIR_EL1.SLOTS).
 *   Operators	  + - * / and negation; min and max; < <= > >= == != & | ! and ?: .
 *		  A comparison gives 1 or 0. Any other condition is true if it is not 0.
 *		  && means &, and || means |. Postfix text has and, or, not.
 *
 *   Infix	  N0 - (N1 + N2 * 5)	max(N0, N1)	N1 > 0 ? N0 / N1 : 0	-N0
 *   Postfix	  N0|N1|N2|5|*|+|-|	N0|N1|max|	N1|0|>|N0|N1|/|0|?:|	N0|neg|
 *
 * A name in infix text begins with a letter or '_'. It may contain letters, digits and
 * _ @ . : = - and so can be the name of an event. If it can be divided in several ways
 * (branch-misses, a?b:c), the longest known beginning is used. Such a beginning ends before one
 * of . : = - or is the whole name. Blanks around an operator avoid this, and so do quotes:
 * "cpu/event=0x3c/" / 2. In postfix text, all characters between two bars are a name.
 */
#ifndef TACH_FORMULA_H
#define TACH_FORMULA_H

#include <tach/error.h>
#include <tach/flags.h>

struct tach_formula; /* immutable once compiled; any number of threads may evaluate it */

#define TACH_FORMULA_OPERANDS_MAX 192

enum tach_formula_kind {
	TACH_FORMULA_INFIX,   /* N0-(N1+(N2*5)), ipc-style names where a resolver knows them */
	TACH_FORMULA_POSTFIX, /* N0|N1|N2|5|*|+|-| */
};

/* The compiled form of a formula. */
enum tach_shape {
	TACH_SHAPE_CONSTANT,
	TACH_SHAPE_LINEAR,   /* a dot product of operands and constants */
	TACH_SHAPE_QUOTIENT, /* one dot product over another */
	TACH_SHAPE_PROGRAM,  /* bytecode, with dot products for its linear parts */
};

/*
 * Returns the operand number of a name that is not N<number>, 0 .. TACH_FORMULA_OPERANDS_MAX-1,
 * or a negative tach_code. Names are not terminated: use `length`. It may be called for a
 * longer prefix of the text first and, if that is unknown, for a shorter one.
 */
typedef int (*tach_formula_resolve)(void *context, const char *name, size_t length);

struct tach_formula_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	enum tach_formula_kind kind;
	/* N0 .. N<noperands-1> exist; -1 = up to the largest one used */
	int noperands;
	tach_formula_resolve resolve; /* NULL: only N<number> and the named constants */
	void *context;
	double max_hz; /* value of `max_hz` and '#'; 0 = ask the system */
	double tsc_hz; /* value of `tsc_hz`; 0 = ask the system */
	/* Names may also stand for formulas: if resolve returns TACH_FORMULA_PART + i, the
	 * formula part(context, i) is inserted, over the same operands. NULL: none. */
	const struct tach_formula *(*part)(void *context, int i);
	/*
	 * Stores the value of a name that is not an operand, and returns 0 or an error.
	 * TACH_ERR_NOTFOUND: the library looks for the name in the machine's parameters. A
	 * value of NAN means that the name has no value here. NULL: only the machine's.
	 */
	int (*parameter)(void *context, const char *name, size_t length, double *value);
};
#define TACH_FORMULA_OPTIONS_INIT                                                              \
	{                                                                                      \
		sizeof(struct tach_formula_options), TACH_FORMULA_INFIX, -1, TACH__NULL,       \
			TACH__NULL, 0, 0, TACH__NULL, TACH__NULL                               \
	}
#define TACH_FORMULA_PART 0x10000

TACH_BEGIN_DECLS

/*
 * Compiles text. opt NULL = TACH_FORMULA_OPTIONS_INIT. On error *out is unchanged; err has the
 * column (in bytes, from 1) and says what the syntax allows there. TACH_ERR_NOTFOUND: an
 * unknown name; TACH_ERR_NOTSUPP: a clock or parameter that the system does not provide and the
 * options do not set; TACH_ERR_TOOMANY: more than 8,192 operators and operands, or nested too
 * deeply.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_formula_compile(const char *text, const struct tach_formula_options *opt,
				  struct tach_formula **out,
				  struct tach_error *err) TACH_MUST_USE;
/* MT-Safe race:f | AS-Unsafe heap | AC-Unsafe mem | no allocation */
TACH_API void tach_formula_free(struct tach_formula *f); /* NULL is fine */

/* Returns 1 if the formula uses operand i, even multiplied by 0. Returns 0 if there is no
 * operand i. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_formula_uses(const struct tach_formula *f, int i) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API enum tach_shape tach_formula_shape(const struct tach_formula *f) TACH_NONNULL(1);
/*
 * Returns the flags of a result: flags[i] of each operand i that the formula uses, combined
 * with or, and TACH_FLAG_CLOCK if a clock of the formula is an estimate. flags NULL: returns
 * only the formula's own flags.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_formula_flags(const struct tach_formula *f, const uint32_t *flags)
	TACH_NONNULL(1);

/*
 * Evaluates the formula, without a lock and without a system call.
 *
 * n[i] is the count of operand i, as a signed 64-bit number: a difference that went backwards
 * is a small negative number. elapsed_ns is the value of the constant of that name. A division
 * by zero gives NaN, and only such a division adds TACH_FLAG_DIVZERO to *flags. The formula's
 * own flags are added, too. The caller adds the operands' flags (tach_formula_flags). flags may
 * be NULL. min and max of NaN are NaN. A comparison with NaN is false, except !=.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_formula_eval(const struct tach_formula *f, const uint64_t *n,
				  double elapsed_ns, uint32_t *flags) TACH_NONNULL(1);

/*
 * The same with errors: error[i] is the absolute error of n[i], and *result_error becomes the
 * error of the result. This is the sum of |partial derivative| * error over the operands: a
 * bound to first order, for any correlation of the errors. elapsed_ns is regarded as exact.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_formula_eval_error(const struct tach_formula *f, const uint64_t *n,
					const double *error, double elapsed_ns,
					double *result_error, uint32_t *flags) TACH_NONNULL(1);

/*
 * Writes the formula, with N<number> for each operand. Like snprintf: writes at most size bytes
 * with the terminating NUL, and returns the whole length. With the same clocks, the text
 * compiles to a formula that gives the same results, bit for bit.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_formula_print(const struct tach_formula *f, enum tach_formula_kind kind,
				char *text, size_t size);

TACH_END_DECLS
#endif
