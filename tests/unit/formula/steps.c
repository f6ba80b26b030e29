/* SPDX-License-Identifier: MIT */
/*
 * Every function that can run a formula: those unrolled for a number of terms, and each pair of
 * operators that runs as one instruction, inside a formula and at its end.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tach/formula.h>
#include "tests/check.h"
#include "tests/guarded.h"

enum { COUNTS = 8 };
static const uint64_t n[COUNTS] = {7, 3, 20, 11, 2, 13, 5, 17};
#define ELAPSED 19

static double eval(const char *text)
{
	struct tach_formula *f = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	double v = -1e9;

	CHECK(tach_formula_compile(text, NULL, &f, &err) == 0, "%s: %s", text, err.text);
	if (f)
		v = tach_formula_eval(f, n, ELAPSED, NULL);
	tach_formula_free(f);
	return v;
}

/* ---- one form ---- */

/*
 * Writes "first*N<at> + 4*N<at + 1> + 5*N<at + 2> ..." with that number of terms; returns its
 * value.
 */
static double sum(char *text, int at, int terms, int first)
{
	double value = 0;

	*text = '\0';
	for (int k = 0; k < terms; k++) {
		int factor = k ? 3 + k : first;

		sprintf(text + strlen(text), "%s%d*N%d", k ? " + " : "", factor, at + k);
		value += factor * (double)n[at + k];
	}
	return value;
}

static void forms_of_every_length(void)
{
	/* Besides counts: nothing, a number, or a time. */
	static const struct {
		const char *text;
		double value;
	} beside[] = {{"", 0}, {" + 6", 6}, {" + 2*elapsed_ns", 2 * ELAPSED}};

	for (int p = 1; p <= 5; p++)
		for (int q = 0; q <= 3; q++)
			for (int which = 0; which < 4; which++)
				for (int above = 0; above < 3; above++)
					for (int below = 0; below < (q ? 3 : 1); below++) {
						char text[400], num[100], den[100];
						double a = sum(num, 0, p, which & 1 ? 1 : 2),
						       b = sum(den, 5, q, which & 2 ? 1 : 2), v;

						a += beside[above].value;
						b += beside[below].value;
						snprintf(text, sizeof text,
							 q ? "(%s%s) / (%s%s)" : "%s%s", num,
							 beside[above].text, den,
							 beside[below].text);
						v = eval(text);
						CHECK(v == (q ? a / b : a), "%s: %.17g", text,
						      v);
					}
}

/* ---- programs ---- */

static const char signs[] = "+-*/";

static double apply(char sign, double a, double b)
{
	switch (sign) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		return a / b;
	}
}

/* Writes the k-th operation of a count and a number, with each sign. */
static double along(char *text, int k, int count, double number, double left)
{
	char sign = signs[k % 4];

	if (k < 4)
		sprintf(text + strlen(text), " %c N%d)", sign, count);
	else
		sprintf(text + strlen(text), " %c %g)", sign, number);
	return apply(sign, left, k < 4 ? (double)n[count] : number);
}

/*
 * A product cannot be folded, and neither can a formula that contains one. Up to three
 * operators in a row: after a count, at the end, and before another; the second of two may be
 * the target of a choice.
 */
static void pairs_of_operators(void)
{
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++) {
			char inner[100] = "", text[400];
			double product = (double)n[0] * (double)n[1], one, two, v;

			one = along(inner, i, 2, 1.5, product);
			snprintf(text, sizeof text, "(N0 * N1%s", inner);
			v = eval(text);
			CHECK(v == one, "%s: %.17g", text, v);
			two = along(inner, j, 3, 2.5, one);
			snprintf(text, sizeof text, "((N0 * N1%s", inner);
			v = eval(text);
			CHECK(v == two, "%s: %.17g", text, v);
			snprintf(text, sizeof text, "min(((N0 * N1%s, 1e9)", inner);
			v = eval(text);
			CHECK(v == two, "%s: %.17g", text, v);
			snprintf(text, sizeof text, "1 + elapsed_ns * ((N0 * N1%s", inner);
			v = eval(text);
			CHECK(v == 1 + ELAPSED * two, "%s: %.17g", text, v);
			for (int k = 0; k < 2; k++) {
				double top = k ? (double)n[0] : ELAPSED * (double)n[4];

				*inner = '\0';
				one = along(inner, i, 2, 1.5, top);
				two = along(inner, j, 3, 2.5, one);
				snprintf(text, sizeof text,
					 "(((N%d > N4 ? N0 : elapsed_ns * N4)%s", k ? 0 : 4,
					 inner);
				v = eval(text);
				CHECK(v == two, "%s: %.17g", text, v);
			}
		}
}

static void other_operators_and_operands(void)
{
	static const struct {
		const char *text;
		double value; /* of 7 3 20 11 2 13 5 17, and 19 ns */
	} of[] = {
		{"elapsed_ns * N0", 133},
		{"elapsed_ns * elapsed_ns", 361},
		{"elapsed_ns * elapsed_ns * N0", 2527},
		{"N0*N1 + N2*N3", 241},
		{"N0*N1 - N2*N3", -199},
		{"(N0*N1) * (N2*N3)", 4620},
		{"(N2*N3) / (N4*N6)", 22},
		{"N2 - N0*N1", -1},
		{"5 - N0*N1", -16},
		{"2 * N2 * N3 / (N4*N6)", 44},
		{"N2 / (N4*N6)", 2},
		{"5 / (N4*N6)", 0.5},
		{"-(N0*N1)", -21},
		{"min(N0*N1, N2)", 20},
		{"min(N2, N0*N1)", 20},
		{"max(N0*N1, N2)", 21},
		{"max(N2, N0*N1)", 21},
		{"min(2*N0, 15)", 14},
		{"max(15, 2*N0)", 15},
		{"max(3, N2/N4)", 10},
		{"min(3, elapsed_ns)", 3},
		{"max(elapsed_ns, elapsed_ns + N0)", 26},
		{"max(3, N0)", 7},
		{"N0*N1 - (N2 > N3 ? N4 : N5)", 19},
		{"N0*N1 - (N2 < N3 ? N4 : N5)", 8},
		{"N0*N1 - (N2 < N3 ? 2*N4 + 1 : 2*N5 + 1)", -6},
		{"N0 <= 7 ? 1 : 2", 1},
		{"N0 >= 7 ? 1 : 2", 1},
		{"N0 < 7 ? 1 : 2", 2},
		{"N0 > 7 ? 1 : 2", 2},
		{"N0 == 7 ? 1 : 2", 1},
		{"N0 != 7 ? 1 : 2", 2},
		{"N0 <= 6 ? 1 : 2", 2},
		{"N0 >= 8 ? 1 : 2", 2},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		CHECK(eval(of[i].text) == of[i].value, "%s: %.17g, not %g", of[i].text,
		      eval(of[i].text), of[i].value);
}

/* ---- not a number ---- */

/* If an operand is NaN, the result is NaN; comparisons with NaN are false, except !=. */
static void no_number_stays_none(void)
{
	static const char *const none[] = {"min(N0/0, N1)", "min(N1, N0/0)", "max(N0/0, N1)",
					   "max(N1, N0/0)", "N0/0 + 1"};
	static const char *const texts[] = {"N0/0 < N1",  "N0/0 <= N1", "N0/0 > N1",
					    "N0/0 >= N1", "N0/0 == N1", "N0/0 != N1"};

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(isnan(eval(none[i])), "%s", none[i]);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		CHECK(eval(texts[i]) == (i == 5), "%s", texts[i]);
}

/* ---- operands ---- */

/* Arrays of counts, flags and errors end at inaccessible memory. */
static void reads_end_at_the_last_operand(void)
{
	struct guarded g;
	static const char *const texts[] = {"N0 + 2*N1", "N0 * N1", "N1 / N0", "min(N0, N1)",
					    "N1 > N0 ? N1 : N0"};

	if (guarded_map(&g, 16) != 0)
		SKIP("no memory");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const uint64_t *counts = memcpy(g.end - 16, n, 16);
		double error[2] = {0.5, 0.25}, bar;
		uint32_t flags[2] = {1, 2};
		struct tach_formula *f = NULL;

		CHECK(tach_formula_compile(texts[i], NULL, &f, NULL) == 0);
		CHECK(tach_formula_eval(f, counts, 0, NULL) ==
		      tach_formula_eval_error(f, n, memcpy(g.end - 16, error, 16), 0, &bar,
					      NULL));
		CHECK(bar > 0 && tach_formula_flags(f, memcpy(g.end - 8, flags, 8)) == 3);
		CHECK(!tach_formula_uses(f, TACH_FORMULA_OPERANDS_MAX) &&
		      tach_formula_uses(f, 1));
		tach_formula_free(f);
	}
	munmap(g.at, g.size);
}

int main(void)
{
	CASE(forms_of_every_length);
	CASE(pairs_of_operators);
	CASE(other_operators_and_operands);
	CASE(no_number_stays_none);
	CASE(reads_end_at_the_last_operand);
	return check_done();
}
