/* SPDX-License-Identifier: MIT */
/*
 * Any text is a formula: it compiles, or fails with a position in the text. A compiled formula
 * can be printed and compiled again to the same values, and all ways of evaluation agree. The
 * first byte chooses the notation and whether names are known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach/formula.h>

static void insist(int holds)
{
	if (!holds)
		abort();
}

static int resolve(void *context, const char *name, size_t length)
{
	(void)context;
	(void)name;
	return length % 3 ? (int)(length % TACH_FORMULA_OPERANDS_MAX) : TACH_ERR_NOTFOUND;
}

static int same(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static const uint64_t n[TACH_FORMULA_OPERANDS_MAX] = {7, 0, 1u << 20, (uint64_t)-3, 1ull << 60};

static void evaluate(const struct tach_formula *f)
{
	static const double error[TACH_FORMULA_OPERANDS_MAX] = {1, 2};
	double value = tach_formula_eval(f, n, 5, NULL), bar;

	insist(same(tach_formula_eval_error(f, n, error, 5, &bar, NULL), value));
}

static void again(const struct tach_formula *f, enum tach_formula_kind kind)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	int length = tach_formula_print(f, kind, NULL, 0);
	char *text = malloc((size_t)length + 1);
	struct tach_formula *g;

	insist(text && tach_formula_print(f, kind, text, (size_t)length + 1) == length);
	opt.kind = kind;
	opt.max_hz = 3e9;
	opt.tsc_hz = 2e9;
	/* Printing adds parentheses that the tree does not need; they count as levels. */
	if (tach_formula_compile(text, &opt, &g, NULL) == 0) {
		insist(same(tach_formula_eval(g, n, 5, NULL),
			    tach_formula_eval(f, n, 5, NULL)));
		tach_formula_free(g);
	} else {
		insist(kind == TACH_FORMULA_INFIX && length > 200);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *f;
	char *text;

	if (!size || !(text = malloc(size)))
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	opt.kind = data[0] & 1 ? TACH_FORMULA_POSTFIX : TACH_FORMULA_INFIX;
	opt.resolve = data[0] & 2 ? resolve : NULL;
	opt.noperands = data[0] & 4 ? 3 : -1;
	opt.max_hz = 3e9;
	opt.tsc_hz = 2e9;
	if (tach_formula_compile(text, &opt, &f, &err)) {
		insist(err.text[0] && err.column >= 0 &&
		       (size_t)err.column <= strlen(text) + 1);
	} else {
		evaluate(f);
		again(f, TACH_FORMULA_INFIX);
		again(f, TACH_FORMULA_POSTFIX);
		tach_formula_free(f);
	}
	free(text);
	return 0;
}
