/* SPDX-License-Identifier: MIT */
/* Errors through every operator, computed by hand with partial derivatives. */
#include <math.h>
#include <string.h>
#include <tach/formula.h>
#include "tests/check.h"

/* N0 = 10, N1 = 4, N2 = 5, N3 = 0; 8 ns. Each subset of these errors has another sum. */
static const uint64_t n[] = {10, 4, 5, 0};
static const double error[] = {1, -0.25, 0.0625, 16};
#define E0 1.0
#define E1 0.25
#define E2 0.0625
#define E3 16.0

static void of_every_operator(void)
{
	static const struct {
		const char *text;
		double value, error;
	} of[] = {
		{"N0 + N1*N2", 30, E0 + 5 * E1 + 4 * E2},
		{"N1*N2 + N0*N0", 120, 20 * E0 + 5 * E1 + 4 * E2},
		{"N1*N2 - N0*N0", -80, 20 * E0 + 5 * E1 + 4 * E2},
		{"N0 + N0*N1", 50, 5 * E0 + 10 * E1},
		{"N0*N1 + N0", 50, 5 * E0 + 10 * E1},
		{"N0 - N0*N1", -30, 3 * E0 + 10 * E1},
		{"N0*N1 - N0", 30, 3 * E0 + 10 * E1},
		{"-(N0*N1)", -40, 4 * E0 + 10 * E1},
		{"N0/N1", 2.5, E0 / 4 + 10.0 / 16 * E1},
		{"N0*N1/(N1 + 4)", 5, 0.5 * E0 + (10.0 / 8 - 40.0 / 64) * E1},
		{"N0 * elapsed_ns", 80, 8 * E0},
		{"elapsed_ns + N0*N1", 48, 4 * E0 + 10 * E1},
		{"3 * N0*N1", 120, 12 * E0 + 30 * E1},
		/*
		 * The result has the error of the chosen operand; if both are equal, of the
		 * second.
		 */
		{"min(N0, N1)", 4, E1},
		{"min(N1, N0)", 4, E1},
		{"max(N0, N1)", 10, E0},
		{"max(N1, N0)", 10, E0},
		{"min(N0, 2*N2)", 10, 2 * E2},
		{"max(N0, 2*N2)", 10, 2 * E2},
		/*
		 * A condition compares values only, without their errors: sums, differences,
		 * products and so on.
		 */
		{"N0 + N1 > 13 ? N0 : N2", 10, E0},
		{"N0 - N1 < 7 ? N0 : N2", 10, E0},
		{"N0 * N1 > 39 ? N0 : N2", 10, E0},
		{"N0 / N1 > 2 ? N0 : N2", 10, E0},
		{"-N0 < 0 ? N0 : N2", 10, E0},
		{"elapsed_ns > 7 ? N0 : N2", 10, E0},
		{"elapsed_ns < 9 ? N0 : N2", 10, E0},
		/* The count is less, equal and greater. */
		{"N1 < N2 ? N0 : N2", 10, E0},
		{"N1 < 4 ? N0 : N2", 5, E2},
		{"N2 < N1 ? N0 : N2", 5, E2},
		{"N1 <= N2 ? N0 : N2", 10, E0},
		{"N1 <= 4 ? N0 : N2", 10, E0},
		{"N2 <= N1 ? N0 : N2", 5, E2},
		{"N1 > N2 ? N0 : N2", 5, E2},
		{"N1 > 4 ? N0 : N2", 5, E2},
		{"N2 > N1 ? N0 : N2", 10, E0},
		{"N1 >= N2 ? N0 : N2", 5, E2},
		{"N1 >= 4 ? N0 : N2", 10, E0},
		{"N2 >= N1 ? N0 : N2", 10, E0},
		{"N1 == N2 ? N0 : N2", 5, E2},
		{"N1 == 4 ? N0 : N2", 10, E0},
		{"N1 != N2 ? N0 : N2", 10, E0},
		{"N1 != 4 ? N0 : N2", 5, E2},
		/* The minimum of a value and NaN is NaN, and NaN is never greater. */
		{"min(N0/N3, 1) > 0 ? N0 : N2", 5, E2},
		{"max(N0/N3, 1) > 0 ? N0 : N2", 5, E2},
		{"N0/N3 > 0 ? N0 : N2", 5, E2},
		{"0*N3 + N0", 10, E0},
		{"N0 / (N3 - N3 + 2)", 5, 0.5 * E0},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_formula *f = NULL;
		double bar = -1, v;

		CHECK(tach_formula_compile(of[i].text, NULL, &f, &err) == 0, "%s: %s",
		      of[i].text, err.text);
		if (!f)
			continue;
		v = tach_formula_eval_error(f, n, error, 8, &bar, NULL);
		CHECK(v == of[i].value && fabs(bar - of[i].error) < 1e-12,
		      "%s: %g +- %g, not %g +- %g", of[i].text, v, bar, of[i].value,
		      of[i].error);
		CHECK(tach_formula_eval_error(f, n, NULL, 8, &bar, NULL) == v && bar == 0);
		CHECK(tach_formula_eval_error(f, n, error, 8, NULL, NULL) == v);
		tach_formula_free(f);
	}
}

/* A missing value has no error; an exact operand adds no error, in any formula. */
static void missing_values_and_exact_operands(void)
{
	static const double exact[] = {0, 0, 0, 0};
	struct tach_formula *f = NULL;
	uint32_t flags = 0;
	double bar = 0;

	CHECK(tach_formula_compile("N0/N3", NULL, &f, NULL) == 0);
	CHECK(isnan(tach_formula_eval_error(f, n, error, 8, &bar, &flags)) && isnan(bar) &&
		      flags == TACH_FLAG_DIVZERO,
	      "%g %x", bar, flags);
	tach_formula_free(f);
	f = NULL;
	CHECK(tach_formula_compile("N0*N0*1e300*1e300", NULL, &f, NULL) == 0);
	CHECK(isinf(tach_formula_eval_error(f, n, exact, 8, &bar, NULL)) && bar == 0, "%g",
	      bar);
	tach_formula_free(f);
}

int main(void)
{
	CASE(of_every_operator);
	CASE(missing_values_and_exact_operands);
	return check_done();
}
