/* SPDX-License-Identifier: MIT */
/*
 * The parts of a compiled formula. parse.c, infix.c and postfix.c convert text to a tree.
 * fold.c converts the tree's linear parts to dot products, and code.c converts the rest to
 * bytecode. steps.c and whole.c evaluate these. print.c converts the tree to text.
 */
#ifndef TACH_CORE_FORMULA_H
#define TACH_CORE_FORMULA_H

#include <stdbool.h>
#include <tach/formula.h>

enum tach__op {
	TACH__F_NUM, /* value */
	TACH__F_ARG, /* n[arg] */
	TACH__F_MAX_HZ,
	TACH__F_TSC_HZ,
	TACH__F_ELAPSED,
	TACH__F_NEG,
	TACH__F_ADD,
	TACH__F_SUB,
	TACH__F_MUL,
	TACH__F_DIV,
	TACH__F_MIN,
	TACH__F_MAX,
	TACH__F_LT, /* comparisons exist only as the first kid of COND: see core/formula/parse.h
		     */
	TACH__F_LE,
	TACH__F_GT,
	TACH__F_GE,
	TACH__F_EQ,
	TACH__F_NE,
	TACH__F_COND, /* kid[0] ? kid[1] : kid[2] */
	/*
	 * Bytecode only. The topmost value is in a register. An instruction that loads a new
	 * value saves the old one first. If there is no old value, the forms whose names end in
	 * 0 are used.
	 */
	TACH__F_NUM0,
	TACH__F_ARG0,
	TACH__F_ELAPSED0,
	TACH__F_DOT, /* form.num */
	TACH__F_DOT0,
	TACH__F_QUOT, /* form.num / form.den */
	TACH__F_QUOT0,
	TACH__F_ADD_ARG, /* top + n[arg]; steps.c has the same order */
	TACH__F_SUB_ARG,
	TACH__F_MUL_ARG,
	TACH__F_DIV_ARG,
	TACH__F_ADD_NUM, /* top + value */
	TACH__F_SUB_NUM,
	TACH__F_MUL_NUM,
	TACH__F_DIV_NUM,  /* value is not 0 */
	TACH__F_FROM_ARG, /* n[arg] - top */
	TACH__F_OVER_ARG, /* n[arg] / top */
	TACH__F_FROM_NUM,
	TACH__F_OVER_NUM,
	TACH__F_POP,  /* the saved value becomes the topmost */
	TACH__F_JUMP, /* skips to the instruction `arg` ahead */
	TACH__F_END,
	TACH__F_TERM, /* the whole formula is value * n[arg]: see whole.c */
	TACH__F_NOPS
};

#define TACH__F_NODES_MAX 8192
#define TACH__F_DEPTH_MAX                                                                      \
	200 /* maximum depth of the tree and of parentheses, which limits recursion */
#define TACH__F_STACK 64

struct tach__node {
	uint8_t op;
	uint8_t depth; /* the same for all operators of a chain, such as a + b - c * d */
	uint16_t kid[3];
	uint16_t up; /* for the first kid of a binary operator: the operator's number */
	uint32_t arg;
	double value; /* NUM, MAX_HZ, TSC_HZ */
};

/*
 * Returns true for an operator that can be part of a chain. Its first kid may be part of the
 * chain, too. Functions that walk a tree use a loop for a chain, because only the number of
 * nodes limits its length.
 */
static inline bool tach__f_is_chain(const struct tach__node *n)
{
	return n->op >= TACH__F_ADD && n->op <= TACH__F_MAX;
}

struct tach__term {
	double factor;
	uint32_t arg;
};

/* factor . n + elapsed * elapsed_ns + constant */
struct tach__linear {
	const struct tach__term *term;
	uint32_t count;
	double elapsed, constant;
};

struct tach__form {
	struct tach__linear num, den;
};

/*
 * One instruction, as direct threaded code. A step does its work and calls the next step by a
 * tail call, so that all data stays in registers. These are the instruction, the counts, the
 * time, the flags (may be NULL), the place for saved values, and the topmost value. A
 * comparison takes two values. If it is false, it skips to the instruction `arg` ahead.
 */
struct tach__insn;
typedef double tach__step(const struct tach__insn *i, const uint64_t *n, double elapsed,
			  uint32_t *flags, double *saved, double top);
struct tach__insn {
	tach__step *step;
	union {
		double value;
		const struct tach__form *form;
	} of;
	uint32_t arg;
	uint32_t op;
};

/* The entry of a formula, chosen when it is compiled. tach_formula_eval only jumps to it. */
typedef double tach__entry(const struct tach_formula *f, const uint64_t *n, double elapsed,
			   uint32_t *flags);

struct tach_formula {
	tach__entry *eval;
	tach__entry *unflagged; /* as eval, without the formula's own flags */
	uint32_t flags;		/* TACH_FLAG_CLOCK */
	enum tach_shape shape;
	struct tach__form *form;
	struct tach__node *node; /* children before parents */
	struct tach__term *term;
	uint32_t nforms, nnodes, root;
	uint32_t stack; /* maximum number of saved values */
	int noperands;
	uint64_t uses[TACH_FORMULA_OPERANDS_MAX / 64];
	uint32_t ncode;
	struct tach__insn code[];
};

/* Converts text to nodes. On success, the caller frees f->node. On error it is NULL. */
int tach__formula_parse(struct tach_formula *f, const char *text,
			const struct tach_formula_options *opt, struct tach_error *err);
/* Converts nodes to forms and code. The code makes the formula larger, so *f changes. */
int tach__formula_fold(struct tach_formula **f, struct tach_error *err);
/* Sets the step of each instruction, and the entries of the formula. */
void tach__formula_link(struct tach_formula *f);
/* Sets the entries of a formula that is one form. */
void tach__formula_link_whole(struct tach_formula *f);

/* As tach_formula_eval_error, for a time that has an error, too. */
double tach__formula_bound(const struct tach_formula *f, const uint64_t *n, const double *error,
			   double elapsed_ns, double elapsed_error, double *result_error,
			   uint32_t *flags);
/* Returns true if the formula uses the time. */
int tach__formula_is_timed(const struct tach_formula *f);

#endif
