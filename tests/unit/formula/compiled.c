/* SPDX-License-Identifier: MIT */
/*
 * Compiled formulas: their forms and factors, and their sequence of instructions. The value
 * alone does not show whether a formula was folded.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/formula/formula.h"
#include "tests/check.h"

static struct tach_formula *compile(const char *text)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *f = NULL;

	CHECK(tach_formula_compile(text, &opt, &f, &err) == 0, "%s: %s", text, err.text);
	return f;
}

/* ---- forms ---- */

static char *put_linear(char *to, const struct tach__linear *l)
{
	for (uint32_t k = 0; k < l->count; k++)
		to += sprintf(to, "%.17g*N%u ", l->term[k].factor, l->term[k].arg);
	if (l->elapsed != 0)
		to += sprintf(to, "%.17g*t ", l->elapsed);
	return to + sprintf(to, "%.17g", l->constant);
}

/*
 * Returns "numerator / denominator" if the formula is a single form; otherwise the number of
 * forms, and a program.
 */
static const char *form(const char *text)
{
	static char out[1024];
	struct tach_formula *f = compile(text);
	char *to = out;

	if (f && f->shape == TACH_SHAPE_PROGRAM) {
		sprintf(out, "program of %u", f->nforms);
	} else if (f) {
		to = put_linear(to, &f->form->num);
		to += sprintf(to, " / ");
		put_linear(to, &f->form->den);
	}
	tach_formula_free(f);
	return out;
}

static void forms(void)
{
	static const struct {
		const char *text, *form;
	} of[] = {
		{"N1", "1*N1 0 / 1"},
		{"7", "7 / 1"},
		{"elapsed_ns", "1*t 0 / 1"},
		{"-(N0 - 3*N1 + elapsed_ns - 4)", "-1*N0 3*N1 -1*t 4 / 1"},
		/* Constants are folded, even if precision is lost. */
		{"10 / 4", "2.5 / 1"},
		{"1 / 3", "0.33333333333333331 / 1"},
		{"0.1 / 3 + 1", "1.0333333333333334 / 1"},
		/*
		 * Divides by a common divisor of all factors, or by a power of two if the
		 * result is exact.
		 */
		{"(4*N0 + 6*N1) / 2", "2*N0 3*N1 0 / 1"},
		{"(4*N0 + 6*N1 + 2) / 2", "2*N0 3*N1 1 / 1"},
		{"(4*N0 + 6*N1 + 1) / 2", "4*N0 6*N1 1 / 2"},
		{"(4*N0 + 5*N1) / 2", "4*N0 5*N1 0 / 2"},
		{"(9*N0 + 6*N1) / 3", "3*N0 2*N1 0 / 1"},
		{"(9*N0 + 6*N1) / -3", "-3*N0 -2*N1 -0 / 1"},
		{"(4*N0 + elapsed_ns) / 2", "2*N0 0.5*t 0 / 1"},
		{"(0.5*N0 + N1) / 2", "0.25*N0 0.5*N1 0 / 1"},
		{"(0.5*N0 + N1) / 0.25", "2*N0 4*N1 0 / 1"},
		{"(0.5*N0 + N1) / 3", "0.5*N0 1*N1 0 / 3"},
		{"(0.5*N0 + 3*N1) / 6", "0.5*N0 3*N1 0 / 6"},
		{"N0 / 0.5", "2*N0 0 / 1"},
		{"N0 / 0", "1*N0 0 / 0"},
		{"7 / 0", "7 / 0"},
		/* A factor that is no longer an integer is not treated as one. */
		{"(0.5*N0 + 0.5*N0 + N1) / 3", "1*N0 1*N1 0 / 3"},
		{"(4*(0.5*N0)) / 2", "1*N0 0 / 1"},
		{"(N0 * 9007199254740992) / 4", "2251799813685248*N0 0 / 1"},
		{"(N0 * 9007199254740991 + N1) / 2", "9007199254740991*N0 1*N1 0 / 2"},
		{"(N0 * 9007199254740991 + N0) / 2", "4503599627370496*N0 0 / 1"},
		{"(N0 * 4503599627370496 * 2 + N1) / 2", "4503599627370496*N0 0.5*N1 0 / 1"},
		{"(N0 * 9007199254740990 + N0 * 6) / 3", "9007199254740996*N0 0 / 3"},
		{"N0 * 9007199254740991 / 3 + N0 * 5 / 3", "9007199254740996*N0 0 / 3"},
		{"3 * (N0 * 3002399751580332) / 3", "9007199254740996*N0 0 / 3"},
		{"(0.5*N0 + 0.5*N0 + (2*N0 + 3*N1)) / 3", "3*N0 3*N1 0 / 3"},
		{"(2*N0 + 3*N1 + (0.5*N0 + 0.5*N0)) / 3", "3*N0 3*N1 0 / 3"},
		{"3 * (0.5*N0 + 0.5*N0) / 3", "3*N0 0 / 3"},
		{"(0.5 + 0.5) * (3*N0) / 3", "3*N0 0 / 3"},
		{"(3*N0) / (1.5 + 1.5)", "3*N0 0 / 3"},
		{"(6*N0) / (3*N1) / (1/3)", "6*N0 0 / 1*N1 0"},
		/*
		 * Sums: with one denominator, with two numbers as denominators, with a number.
		 */
		{"N0/N1 + N2/N1", "1*N0 1*N2 0 / 1*N1 0"},
		{"N0/N1 - N2/N1", "1*N0 -1*N2 0 / 1*N1 0"},
		{"N0/3 + N1/7", "7*N0 3*N1 0 / 21"},
		{"N0/3 - N1/7", "7*N0 -3*N1 0 / 21"},
		{"N0/N1 + 3", "1*N0 3*N1 0 / 1*N1 0"},
		{"N0/N1 - 3", "1*N0 -3*N1 0 / 1*N1 0"},
		{"3 + N0/N1", "1*N0 3*N1 0 / 1*N1 0"},
		{"3 - N0/N1", "-1*N0 3*N1 0 / 1*N1 0"},
		{"N0/(N1 + 2) + 3", "1*N0 3*N1 6 / 1*N1 2"},
		{"N0/N1 + N2/N3", "program of 2"},
		{"N0/N1 + N2", "program of 1"},
		{"N0/0 + N1/3", "program of 2"},
		{"N0/3 + N1/0", "program of 2"},
		{"N0/N1 + N2/3", "program of 2"},
		/* Products with a number on either side. */
		{"3 * (N0/N1)", "3*N0 0 / 1*N1 0"},
		{"(N0/N1) * 3", "3*N0 0 / 1*N1 0"},
		{"0 * N0", "0 / 1"},
		{"0 * N0 + N1", "1*N1 0 / 1"},
		{"N0 * N1", "program of 0"},
		{"(N0 + 2*N1) * N2", "program of 1"},
		/* Quotients. */
		{"N0/N1/3", "1*N0 0 / 3*N1 0"},
		{"N0/(N1/3)", "3*N0 0 / 1*N1 0"},
		{"(N0/3)/N1", "1*N0 0 / 3*N1 0"},
		{"(N0/3)/(N1/7)", "7*N0 0 / 3*N1 0"},
		{"(N0/N1)/(6/4)", "1*N0 0 / 1.5*N1 0"},
		{"N0/N1/N2", "program of 1"},
		{"N0/N1/0", "program of 1"},
		{"N0/0/3", "1*N0 0 / 0"},
		{"N0/0/N1", "program of 1"},
		{"N0/(N1/N2)", "program of 1"},
		{"N0/(N1/0)", "program of 1"},
		{"1/(2/(N0/3))", "program of 1"},
		/* Values too large or too small for a double are computed at run time. */
		{"1e300 * (1e300 * N0)", "program of 1"},
		{"1e-300 * (1e-300 * N0)", "program of 1"},
		{"1e-300 * (1e-10 * N0)", "program of 1"},
		{"2.2250738585072014e-308 * N0", "2.2250738585072014e-308*N0 0 / 1"},
		{"0.5 * (2.2250738585072014e-308 * N0)", "program of 1"},
		{"0 * (1e-300 * N0)", "0 / 1"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		const char *is = form(of[i].text);

		CHECK(strcmp(is, of[i].form) == 0, "%s: %s, not %s", of[i].text, is,
		      of[i].form);
	}
}

/* ---- instructions ---- */

enum what { NOTHING, ARG, VALUE };

static const struct {
	const char *name;
	enum what what;
} ops[TACH__F_NOPS] = {
	[TACH__F_NUM] = {"num", VALUE},
	[TACH__F_NUM0] = {"num0", VALUE},
	[TACH__F_ARG] = {"arg", ARG},
	[TACH__F_ARG0] = {"arg0", ARG},
	[TACH__F_ELAPSED] = {"t", NOTHING},
	[TACH__F_ELAPSED0] = {"t0", NOTHING},
	[TACH__F_DOT] = {"dot", NOTHING},
	[TACH__F_DOT0] = {"dot0", NOTHING},
	[TACH__F_QUOT] = {"quot", NOTHING},
	[TACH__F_QUOT0] = {"quot0", NOTHING},
	[TACH__F_NEG] = {"neg", NOTHING},
	[TACH__F_POP] = {"pop", NOTHING},
	[TACH__F_ADD] = {"add", NOTHING},
	[TACH__F_SUB] = {"sub", NOTHING},
	[TACH__F_MUL] = {"mul", NOTHING},
	[TACH__F_DIV] = {"div", NOTHING},
	[TACH__F_MIN] = {"min", NOTHING},
	[TACH__F_MAX] = {"max", NOTHING},
	[TACH__F_LT] = {"lt", ARG},
	[TACH__F_LE] = {"le", ARG},
	[TACH__F_GT] = {"gt", ARG},
	[TACH__F_GE] = {"ge", ARG},
	[TACH__F_EQ] = {"eq", ARG},
	[TACH__F_NE] = {"ne", ARG},
	[TACH__F_ADD_ARG] = {"add_arg", ARG},
	[TACH__F_SUB_ARG] = {"sub_arg", ARG},
	[TACH__F_MUL_ARG] = {"mul_arg", ARG},
	[TACH__F_DIV_ARG] = {"div_arg", ARG},
	[TACH__F_ADD_NUM] = {"add_num", VALUE},
	[TACH__F_SUB_NUM] = {"sub_num", VALUE},
	[TACH__F_MUL_NUM] = {"mul_num", VALUE},
	[TACH__F_DIV_NUM] = {"div_num", VALUE},
	[TACH__F_FROM_ARG] = {"from_arg", ARG},
	[TACH__F_OVER_ARG] = {"over_arg", ARG},
	[TACH__F_FROM_NUM] = {"from_num", VALUE},
	[TACH__F_OVER_NUM] = {"over_num", VALUE},
	[TACH__F_JUMP] = {"jump", ARG},
	[TACH__F_END] = {"end", NOTHING},
	[TACH__F_TERM] = {"term", VALUE},
};

static const char *code(const char *text, uint32_t *stack)
{
	static char out[1024];
	struct tach_formula *f = compile(text);
	char *to = out;

	*out = '\0';
	for (uint32_t i = 0; f && i < f->ncode; i++) {
		const struct tach__insn *c = &f->code[i];

		to += sprintf(to, "%s%s", i ? " " : "", ops[c->op].name);
		if (ops[c->op].what == ARG)
			to += sprintf(to, " %u", c->arg);
		if (ops[c->op].what == VALUE)
			to += sprintf(to, " %g", c->of.value);
		if (c->op == TACH__F_TERM)
			to += sprintf(to, "*N%u", c->arg);
	}
	*stack = f ? f->stack : 0;
	tach_formula_free(f);
	return out;
}

static void instructions(void)
{
	static const struct {
		const char *text;
		uint32_t stack;
		const char *code;
	} of[] = {
		/* One form: the list of its terms. */
		{"2*N0 - N1 + 5", 0, "term 2*N0 term -1*N1"},
		{"(N0 + 3*N2) / (N1 - N3)", 0, "term 1*N0 term 3*N2 term 1*N1 term -1*N3"},
		/* Sums of counts are computed step by step, all other sums as a dot product. */
		{"min(N0 - N1 + N3, 3)", 1, "arg0 0 sub_arg 1 add_arg 3 num 3 min end"},
		{"min(N1 + N2, 3)", 1, "arg0 1 add_arg 2 num 3 min end"},
		{"max(3, N1 - N0)", 1, "num0 3 dot max end"},
		{"max(3, N1)", 1, "num0 3 arg 1 max end"},
		{"min(N0 + 1, 3)", 1, "dot0 num 3 min end"},
		{"min(N0 - 2*N1, 3)", 1, "dot0 num 3 min end"},
		{"min(2*N0, 3)", 1, "dot0 num 3 min end"},
		{"min(2*elapsed_ns, 3)", 1, "dot0 num 3 min end"},
		{"min(N0 + elapsed_ns, 3)", 1, "dot0 num 3 min end"},
		{"min(N0 / N1, N2 / N3)", 1, "quot0 quot min end"},
		{"min((N0 + N1) / N2, 3)", 1, "quot0 num 3 min end"},
		{"min(elapsed_ns, elapsed_ns)", 1, "t0 t min end"},
		/*
		 * An operator takes a count or a number as its second operand, on either side.
		 */
		{"N0 * N1", 0, "arg0 0 mul_arg 1 end"},
		{"N0*N1 + N2", 0, "arg0 0 mul_arg 1 add_arg 2 end"},
		{"N0*N1 - N2", 0, "arg0 0 mul_arg 1 sub_arg 2 end"},
		{"N0*N1 / N2", 0, "arg0 0 mul_arg 1 div_arg 2 end"},
		{"N0*N1 + 5", 0, "arg0 0 mul_arg 1 add_num 5 end"},
		{"N0*N1 - 5", 0, "arg0 0 mul_arg 1 sub_num 5 end"},
		{"N0*N1 * 5", 0, "arg0 0 mul_arg 1 mul_num 5 end"},
		{"N0*N1 / 5", 0, "arg0 0 mul_arg 1 div_num 5 end"},
		{"N0*N1 / 0", 1, "arg0 0 mul_arg 1 num 0 div end"},
		{"N2 + N0*N1", 0, "arg0 0 mul_arg 1 add_arg 2 end"},
		{"N2 - N0*N1", 0, "arg0 0 mul_arg 1 from_arg 2 end"},
		{"N2 * (N0*N1)", 0, "arg0 0 mul_arg 1 mul_arg 2 end"},
		{"N2 / (N0*N1)", 0, "arg0 0 mul_arg 1 over_arg 2 end"},
		{"5 + N0*N1", 0, "arg0 0 mul_arg 1 add_num 5 end"},
		{"5 - N0*N1", 0, "arg0 0 mul_arg 1 from_num 5 end"},
		{"5 * (N0*N1)", 0, "arg0 0 mul_arg 1 mul_num 5 end"},
		{"5 / (N0*N1)", 0, "arg0 0 mul_arg 1 over_num 5 end"},
		{"min(N2, N0*N1)", 1, "arg0 2 arg 0 mul_arg 1 min end"},
		{"N0 * elapsed_ns", 0, "t0 mul_arg 0 end"},
		{"elapsed_ns * N0", 0, "t0 mul_arg 0 end"},
		{"N0*N1 - N2*N3", 1, "arg0 0 mul_arg 1 arg 2 mul_arg 3 sub end"},
		{"-(N0*N1)", 0, "arg0 0 mul_arg 1 neg end"},
		/* Choices while no value is pending, and while one is. */
		{"N0 < N1 ? N2 : 3", 1, "arg0 0 arg 1 lt 3 arg0 2 jump 2 num0 3 end"},
		{"N0*N1 - (N0 < N1 ? N2 : 3)", 2,
		 "arg0 0 mul_arg 1 arg 0 arg 1 lt 4 pop arg 2 jump 3 pop num 3 sub end"},
		{"N0 >= (N1 != 2 ? 3 : 4) ? 5 : 6", 2,
		 "arg0 0 arg 1 num 2 ne 4 pop num 3 jump 3 pop num 4 ge 3 num0 5 jump 2 "
		 "num0 6 end"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		uint32_t stack;
		const char *is = code(of[i].text, &stack);

		CHECK(strcmp(is, of[i].code) == 0 && stack == of[i].stack,
		      "%s: %s and %u, not %s and %u", of[i].text, is, stack, of[i].code,
		      of[i].stack);
	}
}

/* ---- functions ---- */

static tach__entry *entry(const char *text)
{
	struct tach_formula *f = compile(text);
	tach__entry *is = f ? f->unflagged : NULL;

	tach_formula_free(f);
	return is;
}

/*
 * A quotient of at most four counts by at most two has its own function; all other quotients
 * share one.
 */
static void sums_have_functions_of_their_own(void)
{
	static const char *const above[] = {"2*N0", "2*N0 + N1", "2*N0 + N1 + N2",
					    "2*N0 + N1 + N2 + N3", "2*N0 + N1 + N2 + N3 + N4"};
	static const char *const below[] = {NULL, "2*N5", "2*N5 + N6", "2*N5 + N6 + N7"};
	tach__entry *sum = entry("N0 + 1"), *quotient = entry("(N0 + 1) / N1"),
		    *seen[8 * 12] = {sum, quotient};
	int nseen = 2;

	CHECK(entry("N0 + elapsed_ns") == sum && entry("7") == sum &&
	      entry("N0 / (N1 + 1)") == quotient && entry("N0 / elapsed_ns") == quotient);
	for (int p = 0; p < 5; p++)
		for (int q = 0; q < 4; q++)
			for (int ones = 0; ones < (q ? 4 : 2); ones++) {
				char text[100];
				tach__entry *is;
				int known = 0;

				snprintf(text, sizeof text, q ? "(%s) / (%s)" : "%s",
					 above[p] + 2 * (ones & 1),
					 q ? below[q] + (ones & 2) : "");
				is = entry(text);
				if (p == 4 || q == 3) {
					CHECK(is == (q ? quotient : sum), "%s", text);
					continue;
				}
				for (int i = 0; i < nseen; i++)
					known |= seen[i] == is;
				CHECK(!known, "%s", text);
				seen[nseen++] = is;
			}
}

/*
 * Returns the instruction for the k-th step with a count or a number, if another instruction
 * follows.
 */
static tach__step *step(int k, const char *more)
{
	static const char *const along[] = {"+ N2", "- N2", "* N2", "/ N2",
					    "+ 3",  "- 3",  "* 3",  "/ 3"};
	struct tach_formula *f;
	tach__step *is;
	char text[100];

	snprintf(text, sizeof text, "min((N0*N1 %s)%s, 1e9)", along[k], more);
	f = compile(text);
	/* The third instruction, after arg0 and mul_arg. */
	is = f ? f->code[2].step : NULL;
	tach_formula_free(f);
	return is;
}

/* Two operators in a row run as one instruction; a count and the next operator do too. */
static void pairs_run_as_one(void)
{
	static const char *const more[] = {" - 2 + N3", "",	" + N3", " - N3", " * N3",
					   " / N3",	" + 2", " - 2",	 " * 2",  " / 2"};
	tach__step *seen[8 * 9];
	int nseen = 0;

	for (int k = 0; k < 8; k++)
		for (int m = 1; m < 10; m++) {
			tach__step *is = step(k, more[m]);

			for (int i = 0; i < nseen; i++)
				CHECK(is != seen[i], "%d%s", k, more[m]);
			seen[nseen++] = is;
		}
	CHECK(step(1, more[0]) == step(1, " - 2"), "the third is the next one's");
	CHECK(entry("N0 * N1") != entry("N0 * N1 * N2 / (N3 * elapsed_ns)"));
	CHECK(entry("(N0 + N1) * N2") != entry("elapsed_ns * N1"));
	CHECK(entry("N0 * N1") == entry("N0 * N1 - N2") &&
	      entry("N0 * N1") != entry("elapsed_ns * N1"));
}

int main(void)
{
	CASE(forms);
	CASE(instructions);
	CASE(sums_have_functions_of_their_own);
	CASE(pairs_run_as_one);
	return check_done();
}
