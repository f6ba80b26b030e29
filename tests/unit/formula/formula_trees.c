/* SPDX-License-Identifier: MIT */
/*
 * Random formulas, compared with the test's own evaluator, which walks the tree from which the
 * text was written. If no part can be folded, the results are equal in every bit; if folding
 * changes the order, they differ by at most one unit in the last place per operation.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach/formula.h>
#include "tests/check.h"
#include "tests/random.h"

enum op { NUM, ARG, ELAPSED, HZ, NEG, ADD, SUB, MUL, DIV, MIN, MAX, COND };

struct tree {
	enum op op;
	const char *compare; /* COND: kid[2] compare kid[3] ? kid[0] : kid[1] */
	double number;
	int arg;
	struct tree *kid[4];
};

static const int arity[] = {0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 4};
static const char *const compares[] = {"<", "<=", ">", ">=", "==", "!="};

#define OPERANDS 6
#ifndef TREES
#define TREES 10000
#endif
#define HZ_VALUE 2.5e9

static struct tree *leaf(int plain)
{
	struct tree *t = calloc(1, sizeof *t);
	static const double numbers[] = {0,    1,   2,	 3,    4,    0.5, 10,
					 1000, 0.1, 1e6, 7.25, 1e-3, 512};

	t->op = random_below(3) ? ARG : NUM;
	if (!plain && !random_below(12))
		t->op = random_below(2) ? ELAPSED : HZ;
	t->arg = (int)random_below(OPERANDS);
	t->number = numbers[random_below(sizeof numbers / sizeof *numbers)];
	return t;
}

/* Products of two operands are not linear, so formulas with them do not fold. */
static struct tree *product(void)
{
	struct tree *t = calloc(1, sizeof *t);

	t->op = MUL;
	for (int i = 0; i < 2; i++) {
		t->kid[i] = calloc(1, sizeof *t);
		t->kid[i]->op = ARG;
		t->kid[i]->arg = (int)random_below(OPERANDS);
	}
	return t;
}

static struct tree *grow(int depth, int unfoldable)
{
	struct tree *t;

	if (depth == 0 || !random_below(5))
		return unfoldable ? product() : leaf(0);
	t = calloc(1, sizeof *t);
	do
		t->op = (enum op)(NEG + random_below(COND - NEG + 1));
	while (t->op == COND && random_below(2));
	t->compare = compares[random_below(6)];
	for (int i = 0; i < arity[t->op]; i++)
		t->kid[i] = grow(depth - 1, unfoldable);
	return t;
}

static void cut(struct tree *t)
{
	for (int i = 0; i < arity[t->op]; i++)
		cut(t->kid[i]);
	free(t);
}

/* ---- text ---- */

struct text {
	char at[1 << 16];
	size_t length;
};

static void put(struct text *x, const char *word)
{
	size_t n = strlen(word);

	if (x->length + n < sizeof x->at) {
		memcpy(x->at + x->length, word, n + 1);
		x->length += n;
	}
}

static void put_leaf(struct text *x, const struct tree *t)
{
	char word[40];

	if (t->op == ARG)
		snprintf(word, sizeof word, "N%d", t->arg);
	else if (t->op == NUM)
		snprintf(word, sizeof word, "%.17g", t->number);
	else
		snprintf(word, sizeof word, "%s", t->op == ELAPSED ? "elapsed_ns" : "max_hz");
	put(x, word);
}

static const char *const signs[] = {
	[ADD] = "+", [SUB] = "-", [MUL] = "*", [DIV] = "/", [MIN] = "min", [MAX] = "max"};

/* Precedence of operators; leaves and calls never need parentheses. */
static int binding(enum op op)
{
	switch (op) {
	case COND:
		return 0;
	case ADD:
	case SUB:
		return 2;
	case MUL:
	case DIV:
		return 3;
	case NEG:
		return 4;
	default:
		return 5;
	}
}

static void infix(struct text *x, const struct tree *t, int level);

static void infix_bare(struct text *x, const struct tree *t)
{
	const char *blank = random_below(2) ? " " : "";
	int level = binding(t->op);

	if (t->op < NEG) {
		put_leaf(x, t);
	} else if (t->op == MIN || t->op == MAX) {
		put(x, signs[t->op]);
		put(x, "(");
		infix(x, t->kid[0], 0);
		put(x, ",");
		infix(x, t->kid[1], 0);
		put(x, ")");
	} else if (t->op == NEG) {
		put(x, "-");
		infix(x, t->kid[0], level);
	} else if (t->op == COND) { /* comparisons have lower precedence than sums */
		infix(x, t->kid[2], 2);
		put(x, t->compare);
		infix(x, t->kid[3], 2);
		put(x, "?");
		infix(x, t->kid[0], 0);
		put(x, ":");
		infix(x, t->kid[1], 0);
	} else {
		infix(x, t->kid[0], level);
		put(x, blank);
		put(x, signs[t->op]);
		put(x, blank);
		infix(x, t->kid[1], level + 1);
	}
}

/*
 * Adds parentheses where an operator has a lower precedence than required, and at random
 * places.
 */
static void infix(struct text *x, const struct tree *t, int level)
{
	int inside = binding(t->op) < level || !random_below(4);

	if (inside)
		put(x, "(");
	infix_bare(x, t);
	if (inside)
		put(x, ")");
}

static void postfix(struct text *x, const struct tree *t)
{
	if (t->op < NEG) {
		put_leaf(x, t);
	} else if (t->op == COND) {
		postfix(x, t->kid[2]);
		postfix(x, t->kid[3]);
		put(x, t->compare);
		put(x, "|");
		postfix(x, t->kid[0]);
		postfix(x, t->kid[1]);
		put(x, "?:");
	} else {
		for (int i = 0; i < arity[t->op]; i++)
			postfix(x, t->kid[i]);
		put(x, t->op == NEG ? "neg" : signs[t->op]);
	}
	put(x, "|");
}

/* ---- the test's own evaluation ---- */

/*
 * A value with the data that bound the error of any other order of the same operations: size
 * adds magnitudes if values might cancel, factor is the amplification by divisions, ops counts
 * roundings. loose: a comparison was decided by less than that error.
 */
struct value {
	double v, size, factor;
	int ops, divzero, loose;
};

static double bound(struct value a)
{
	return a.ops * DBL_EPSILON * a.size * a.factor;
}

static int compare(const char *how, double a, double b)
{
	if (!strcmp(how, "<"))
		return a < b;
	if (!strcmp(how, "<="))
		return a <= b;
	if (!strcmp(how, ">"))
		return a > b;
	if (!strcmp(how, ">="))
		return a >= b;
	return strcmp(how, "==") == 0 ? a == b : a != b;
}

static struct value walk(const struct tree *t, const uint64_t *n, double elapsed)
{
	struct value a = {0, 0, 1, 0, 0, 0}, b = a, r = a;

	if (t->op < NEG) {
		r.v = t->op == NUM	 ? t->number
		      : t->op == ARG	 ? (double)(int64_t)n[t->arg]
		      : t->op == ELAPSED ? elapsed
					 : HZ_VALUE;
		r.size = fabs(r.v);
		r.ops = 1; /* a count above 2^53 is itself rounded */
		return r;
	}
	if (t->op == COND) {
		a = walk(t->kid[2], n, elapsed);
		b = walk(t->kid[3], n, elapsed);
		r = walk(t->kid[!compare(t->compare, a.v, b.v)], n, elapsed);
		r.divzero |= a.divzero | b.divzero;
		r.loose |= a.loose | b.loose | !(fabs(a.v - b.v) > bound(a) + bound(b));
		r.ops += a.ops + b.ops;
		return r;
	}
	a = walk(t->kid[0], n, elapsed);
	if (t->op != NEG)
		b = walk(t->kid[1], n, elapsed);
	r.ops = a.ops + b.ops + 1;
	r.divzero = a.divzero | b.divzero;
	r.loose = a.loose | b.loose;
	r.factor = a.factor * b.factor;
	r.size = a.size + b.size;
	switch (t->op) {
	case NEG:
		r.v = -a.v;
		break;
	case ADD:
		r.v = a.v + b.v;
		break;
	case SUB:
		r.v = a.v - b.v;
		break;
	case MUL:
		r.v = a.v * b.v;
		r.size = a.size * b.size;
		break;
	case DIV:
		r.v = b.v == 0 ? NAN : a.v / b.v;
		r.divzero |= b.v == 0;
		r.loose |= fabs(b.v) <= bound(b) && b.v != 0;
		r.loose |= b.v == 0 && b.size != 0; /* cancelled to 0 in this order, but perhaps
						       not in another order */
		r.size = a.size / fabs(b.v);
		r.factor *= b.size / fabs(b.v);
		break;
	default:
		r.v = isnan(a.v) || (t->op == MIN ? a.v < b.v : a.v > b.v) ? a.v : b.v;
	}
	if (isnan(r.v)) { /* NaN stays NaN in any order */
		r.size = 0;
		r.factor = 1;
	}
	return r;
}

/* ---- comparing ---- */

static int same_bits(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static struct tach_formula *compile(const char *text, enum tach_formula_kind kind)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *f = NULL;

	opt.kind = kind;
	opt.max_hz = HZ_VALUE;
	if (tach_formula_compile(text, &opt, &f, &err) && err.code != TACH_ERR_TOOMANY)
		CHECK(0, "%s: column %d: %s", text, err.column, err.text);
	return f;
}

static void fill(uint64_t *n)
{
	for (int i = 0; i < OPERANDS; i++) {
		n[i] = random_below(1u << 31);
		if (!random_below(6))
			n[i] = random_below(3);
		if (!random_below(12))
			n[i] = n[i] << 31 | random_below(1u << 31);
		if (!random_below(20))
			n[i] = (uint64_t)0 - n[i];
	}
}

/* The printed text of either notation compiles to the same bits. */
static void round_trip(const struct tach_formula *f, const uint64_t *n, double elapsed,
		       double value)
{
	static char text[1 << 17], again[1 << 17];

	for (int kind = 0; kind < 2; kind++) {
		struct tach_formula *g;
		double v;

		tach_formula_print(f, (enum tach_formula_kind)kind, text, sizeof text);
		g = compile(text, (enum tach_formula_kind)kind);
		if (!g)
			continue; /* parentheses may be deeper than in the text that was
				     compiled */
		v = tach_formula_eval(g, n, elapsed, NULL);
		CHECK(same_bits(v, value), "%s: %.17g, not %.17g", text, v, value);
		tach_formula_print(g, (enum tach_formula_kind)kind, again, sizeof again);
		CHECK(!strcmp(text, again), "%s printed again is %s", text, again);
		tach_formula_free(g);
	}
}

static void check_one_tree(const struct tree *t, int exact, long *compared)
{
	static struct text x[2];
	struct tach_formula *f[2];
	uint64_t n[OPERANDS];

	x[0].length = x[1].length = 0;
	infix(&x[0], t, 0);
	postfix(&x[1], t);
	f[0] = compile(x[0].at, TACH_FORMULA_INFIX);
	f[1] = compile(x[1].at, TACH_FORMULA_POSTFIX);
	for (int i = 0; i < 8 && f[0] && f[1]; i++) {
		double elapsed = random_below(1000000), got[2];
		uint32_t flags[2] = {0, 0};
		struct value want;

		fill(n);
		want = walk(t, n, elapsed);
		for (int k = 0; k < 2; k++)
			got[k] = tach_formula_eval(f[k], n, elapsed, &flags[k]);
		CHECK(same_bits(got[0], got[1]) && flags[0] == flags[1],
		      "%s: infix %.17g, postfix %.17g", x[0].at, got[0], got[1]);
		if (i == 0)
			round_trip(f[0], n, elapsed, got[0]);
		if (exact) {
			CHECK(same_bits(got[0], want.v), "%s: %.17g, not %.17g", x[0].at,
			      got[0], want.v);
		} else {
			/* On overflow and after cancelling to 0, orders may differ. */
			if (want.loose || !isfinite(want.size * want.factor))
				continue;
			CHECK(same_bits(got[0], want.v) || fabs(got[0] - want.v) <= bound(want),
			      "%s: %.17g, not %.17g", x[0].at, got[0], want.v);
		}
		CHECK(flags[0] == (want.divzero ? TACH_FLAG_DIVZERO : 0), "%s: flags %x",
		      x[0].at, flags[0]);
		++*compared;
	}
	tach_formula_free(f[0]);
	tach_formula_free(f[1]);
}

static void trees(int unfoldable)
{
	const char *count = getenv("TACH_TEST_TREES");
	int n = count ? atoi(count) : TREES;
	long compared = 0;

	for (int i = 0; i < n; i++) {
		struct tree *t = grow(2 + (int)random_below(5), unfoldable);

		check_one_tree(t, unfoldable, &compared);
		cut(t);
	}
	printf("# %d trees, %ld values compared\n", n, compared);
	CHECK(compared > n, "%ld values compared", compared);
}

static void bit_equal_where_nothing_folds(void)
{
	trees(1);
}

static void within_an_ulp_per_operation(void)
{
	trees(0);
}

int main(void)
{
	CASE(bit_equal_where_nothing_folds);
	CASE(within_an_ulp_per_operation);
	return check_done();
}
