/* SPDX-License-Identifier: MIT */
/*
 * The inside of a compiled formula. Text becomes a tree (parse.c, infix.c, postfix.c), the
 * tree's linear parts fold to dot products (fold.c) and the rest to bytecode (code.c); steps.c
 * and whole.c run them, print.c writes the tree back.
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
	 * Bytecode only. The topmost value is in a register. An instruction that puts a new
	 * value there saves the old one first; the forms ending in 0 are used when there is no
	 * old one.
	 */
	TACH__F_NUM0,
	TACH__F_ARG0,
	TACH__F_ELAPSED0,
	TACH__F_DOT, /* form.num */
	TACH__F_DOT0,
	TACH__F_QUOT, /* form.num / form.den */
	TACH__F_QUOT0,
	TACH__F_ADD_ARG, /* top + n[arg]; this order is that of steps.c */
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
	TACH__F_POP,  /* the value below becomes the topmost */
	TACH__F_JUMP, /* go on arg instructions ahead */
	TACH__F_END,
	TACH__F_TERM, /* the formula is one form: value * n[arg], see whole.c */
	TACH__F_NOPS
};

#define TACH__F_NODES_MAX 8192
#define TACH__F_DEPTH_MAX                                                                      \
	200 /* depth of the tree, and of parentheses: bounds every recursion */
#define TACH__F_STACK 64

struct tach__node {
	uint8_t op;
	uint8_t depth; /* along a chain, a + b - c * d, the level is the same */
	uint16_t kid[3];
	uint16_t up; /* on the first kid of a binary operator: the operator's number */
	uint32_t arg;
	double value; /* NUM, MAX_HZ, TSC_HZ */
};

/*
 * Operators of a chain: the first kid may belong to the chain too. Functions that walk a tree
 * use a loop for a chain, because only the number of nodes limits its length.
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
 * One instruction: direct threaded code. A step does its work and goes to the next by a tail
 * call, so that everything an evaluation needs stays in registers: where it is, the counts, the
 * time, the flags (NULL: not wanted), where values are saved, the topmost value. A comparison
 * takes two and goes arg ahead unless it holds.
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
	tach__entry *unflagged; /* the same without the formula's own flags */
	uint32_t flags;		/* TACH_FLAG_CLOCK */
	enum tach_shape shape;
	struct tach__form *form;
	struct tach__node *node; /* children before parents */
	struct tach__term *term;
	uint32_t nforms, nnodes, root;
	uint32_t stack; /* the most values saved at once */
	int noperands;
	uint64_t uses[TACH_FORMULA_OPERANDS_MAX / 64];
	uint32_t ncode;
	struct tach__insn code[];
};

/* Text to nodes. The caller frees f->node on success; on error it is NULL. */
int tach__formula_parse(struct tach_formula *f, const char *text,
			const struct tach_formula_options *opt, struct tach_error *err);
/* Nodes to forms and code; the formula grows by its code and moves. */
int tach__formula_fold(struct tach_formula **f, struct tach_error *err);
/* Gives each instruction its step, and the formula its entries. */
void tach__formula_link(struct tach_formula *f);
/* The entries of a formula that is one form. */
void tach__formula_link_whole(struct tach_formula *f);

/* As tach_formula_eval_error, of a time that has an error too. */
double tach__formula_bound(const struct tach_formula *f, const uint64_t *n, const double *error,
			   double elapsed_ns, double elapsed_error, double *result_error,
			   uint32_t *flags);
/* Does the formula use the time? */
int tach__formula_is_timed(const struct tach_formula *f);

#endif
