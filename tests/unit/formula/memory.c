/* SPDX-License-Identifier: MIT */
/* Formulas while every allocation fails once, one after the other. */
#include <string.h>
#include <tach/formula.h>
#include "tests/allocations.h"
#include "tests/check.h"

static const char *text;
static enum tach_formula_kind kind;

static int formula_job(void)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *f = NULL;
	int code;

	opt.kind = kind;
	code = tach_formula_compile(text, &opt, &f, &err);
	CHECK(code == 0 || (code == TACH_ERR_NOMEM && err.code == code && !f &&
			    strcmp(err.text, "out of memory") == 0),
	      "%d: %s", code, err.text);
	/*
	 * An error of folding has no position. No allocation belongs to the first character,
	 * unless the text has only one.
	 */
	CHECK(err.line == 0 && (err.column != 1 || kind == TACH_FORMULA_POSTFIX || !text[2]),
	      "%d:%d: %s", err.line, err.column, err.text);
	tach_formula_free(f);
	return code;
}

/* Parts parsed before the error are freed too. */
static int wrong_job(void)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *f = NULL;
	int code;

	opt.kind = kind;
	code = tach_formula_compile(text, &opt, &f, NULL);
	CHECK(!f && code < 0, "%s", text);
	return code == TACH_ERR_NOMEM ? code : 0;
}

static void formulas(void)
{
	static const char *const good[] = {
		"N0",
		"7",
		"N0 / N1",
		"N0 * N1",
		"(N0 * 1000 - max(N1, N2)) / (N3 + 1) > 2 ? N0 / N1 : -N2 * N3",
		("N0*N1 + N2*N3 - (N4*N5 < N6 ? N7*N8 : 2*N9 + 3*N10 - 4*N11) + "
		 "min(N12/N13, N14/N15, N16/N17, N18) * (N19 - N20 - N21 - N22 - N23)"),
	};
	static const char *const wrong[] = {"N0 +", "N0 * (N1", "min(N0, N1",
					    "x",    "N0 ? N1",	"N0 $"};

	kind = TACH_FORMULA_INFIX;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		text = good[i];
		exhaust(formula_job);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		text = wrong[i];
		exhaust(wrong_job);
	}
}

static void postfix_formulas(void)
{
	kind = TACH_FORMULA_POSTFIX;
	text = "N0|N1|*|N2|N3|+|max|N4|neg|-|";
	exhaust(formula_job);
	text = "N0|N1|N2|+";
	exhaust(wrong_job);
}

int main(void)
{
	CASE(formulas);
	CASE(postfix_formulas);
	return check_done();
}
