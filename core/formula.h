/* SPDX-License-Identifier: MIT */
/*
 * The inside of a compiled formula. Text becomes a tree (formula_parse.c), the tree's linear
 * parts fold to dot products and the rest to bytecode (formula_fold.c); formula_eval.c runs
 * either, formula_print.c writes the tree back.
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
	TACH__F_LT, /* comparisons exist only as the first kid of COND */
	TACH__F_LE,
	TACH__F_GT,
	TACH__F_GE,
	TACH__F_EQ,
	TACH__F_NE,
	TACH__F_COND, /* kid[0] ? kid[1] : kid[2] */
	/* Bytecode only: */
	TACH__F_DOT,  /* push form[arg].num */
	TACH__F_QUOT, /* push form[arg].num / form[arg].den */
	TACH__F_JUMP, /* go on at arg */
};

#define TACH__F_NODES_MAX 2048
#define TACH__F_DEPTH_MAX 200 /* of the tree, and of parentheses: bounds every recursion */
#define TACH__F_STACK	  64

struct tach__node {
	uint8_t op;
	uint8_t depth;
	uint16_t kid[3];
	uint32_t arg;
	double value; /* NUM, MAX_HZ, TSC_HZ */
};

struct tach__term {
	double factor;
	uint32_t arg;
};

/* factor . n + elapsed * elapsed_ns + constant. exact: integers below 2^53 throughout. */
struct tach__linear {
	const struct tach__term *term;
	uint32_t count;
	bool exact;
	double elapsed, constant;
};

struct tach__form {
	struct tach__linear num, den;
};

/* One instruction. A comparison pops two and goes to arg unless it holds. */
struct tach__insn {
	uint32_t op;
	uint32_t arg;
	double value;
};

struct tach_formula {
	/* The evaluator for this shape; first, because evaluation begins with it. */
	double (*run)(const struct tach_formula *, const uint64_t *, double, uint32_t *);
	struct tach__form top; /* CONSTANT, LINEAR, QUOTIENT */
	struct tach__form *form;
	struct tach__insn *code;
	struct tach__node *node; /* children before parents */
	struct tach__term *term;
	uint32_t ncode, nforms, nnodes, root;
	uint32_t stack; /* the depth the code needs */
	enum tach_formula_shape shape;
	uint32_t flags; /* TACH_CLOCK */
	int noperands;
	uint64_t uses;
};

/* Text to nodes. The caller frees f->node on success; on error it is NULL. */
int tach__formula_parse(struct tach_formula *f, const char *text,
			const struct tach_formula_options *opt, struct tach_error *err);
/* Nodes to top, form and code. */
int tach__formula_fold(struct tach_formula *f, struct tach_error *err);
/* Chooses run. */
void tach__formula_choose(struct tach_formula *f);

static inline bool tach__formula_holds(uint32_t op, double a, double b)
{
	switch (op) {
	case TACH__F_LT:
		return a < b;
	case TACH__F_LE:
		return a <= b;
	case TACH__F_GT:
		return a > b;
	case TACH__F_GE:
		return a >= b;
	case TACH__F_EQ:
		return a == b;
	default:
		return a != b;
	}
}

/* What `max_hz` and `tsc_hz` stand for here: Hz or 0 when unknown; flags: TACH_CLOCK. */
double tach__max_hz(uint32_t *flags);
double tach__tsc_hz(uint32_t *flags);

/* Text <-> double in the C locale, whatever the process uses. */
double tach__number_parse(const char *text, size_t length);
int tach__number_print(double value, char *text, size_t size);

#endif
