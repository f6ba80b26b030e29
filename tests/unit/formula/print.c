/* SPDX-License-Identifier: MIT */
/* Formulas are printed: every operator, with parentheses only where needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/formula.h>
#include "tests/check.h"

static struct tach_formula *compile(const char *text)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *f = NULL;

	opt.max_hz = 3e9;
	opt.tsc_hz = 2e9;
	CHECK(tach_formula_compile(text, &opt, &f, &err) == 0, "%s: %s", text, err.text);
	return f;
}

static void prints(const char *text, enum tach_formula_kind kind, const char *want)
{
	struct tach_formula *f = compile(text);
	char is[400];

	if (!f)
		return;
	CHECK(tach_formula_print(f, kind, is, sizeof is) == (int)strlen(want) &&
		      strcmp(is, want) == 0,
	      "%s: %s, not %s", text, is, want);
	tach_formula_free(f);
}

/* In this spelling, omitting any parentheses would give another formula. */
static void only_parentheses_that_are_needed(void)
{
	static const char *const same[] = {
		"N0 - N1 - N2",
		"N0 - (N1 - N2)",
		"N0 + (N1 + N2)",
		"N0 + N1 - N2",
		"N0 - N1 + N2",
		"N0 - (N1 + N2)",
		"N0 * N1 * N2",
		"N0 / N1 * N2",
		"N0 * N1 / N2",
		"N0 * (N1 / N2)",
		"N0 / (N1 * N2)",
		"N0 / (N1 / N2)",
		"N0 * N1 + N2 * N3",
		"N0 * N1 - N2 / N3",
		"(N0 + N1) * (N2 - N3)",
		"(N0 - N1) / (N2 + N3)",
		"-N0 * N1",
		"-(N0 * N1)",
		"-(-N0)",
		"-(N0 + N1)",
		"N0 - -N1",
		"-3 * N0",
		"N0 * -3",
		"N0 / -3",
		"N0 - -3",
		"-(-3 * N0)",
		"min(N0 + N1, N2 > N3 ? 1 : 2)",
		"max(-N0, N1 * N2) * 2",
		"-min(N0, N1)",
		"-max_hz",
		"-tsc_hz * elapsed_ns",
		"-elapsed_ns / max_hz",
		"N0 * (N1 > N2 ? 1 : 2)",
		"N0 > N1 ? N2 : N3 > N4 ? 5 : 6",
		"N0 > N1 ? (N2 > N3 ? 4 : 5) : 6",
		"(N0 > N1 ? N2 : N3) > N4 ? 5 : 6",
		"N0 > (N1 > N2 ? 3 : 4) ? 5 : 6",
		"-(N0 > N1 ? N2 : N3)",
		"N0 > N1 ? N2 + 1 : N3 - 1",
	};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		prints(same[i], TACH_FORMULA_INFIX, same[i]);
}

/* Sums on either side of a comparison need no parentheses. */
static void every_operator(void)
{
	static const struct {
		const char *infix, *postfix;
	} of[] = {
		{"N0 + 1 < N1 + 2 ? 3 : 4", "N0|1|+|N1|2|+|<|3|4|?:|"},
		{"N0 + 1 <= N1 + 2 ? 3 : 4", "N0|1|+|N1|2|+|<=|3|4|?:|"},
		{"N0 + 1 > N1 + 2 ? 3 : 4", "N0|1|+|N1|2|+|>|3|4|?:|"},
		{"N0 + 1 >= N1 + 2 ? 3 : 4", "N0|1|+|N1|2|+|>=|3|4|?:|"},
		{"N0 + 1 == N1 + 2 ? 3 : 4", "N0|1|+|N1|2|+|==|3|4|?:|"},
		{"N0 + 1 != N1 + 2 ? 3 : 4", "N0|1|+|N1|2|+|!=|3|4|?:|"},
		{"min(N0, 1) + max(N1, 2)", "N0|1|min|N1|2|max|+|"},
		{"N0 - N1 * N2 / 3", "N0|N1|N2|*|3|/|-|"},
		{"-N0", "N0|neg|"},
		{"max_hz", "#|"},
		{"tsc_hz + elapsed_ns", "tsc_hz|elapsed_ns|+|"},
		{"N191", "N191|"},
		{"0.1", "0.1|"},
		{"-0.5", "-0.5|"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		prints(of[i].infix, TACH_FORMULA_INFIX, of[i].infix);
		prints(of[i].infix, TACH_FORMULA_POSTFIX, of[i].postfix);
	}
	/* Conditions without a comparison, and values that are comparisons. */
	prints("N0 ? N1 : 2", TACH_FORMULA_INFIX, "N0 != 0 ? N1 : 2");
	prints("N0 < N1", TACH_FORMULA_INFIX, "N0 < N1 ? 1 : 0");
	prints("!N0", TACH_FORMULA_INFIX, "N0 != 0 ? 0 : 1");
	prints("N0 & N1", TACH_FORMULA_INFIX, "N0 != 0 ? (N1 != 0 ? 1 : 0) : 0");
	prints("N0 | N1 < 2", TACH_FORMULA_INFIX, "N0 != 0 ? 1 : N1 < 2 ? 1 : 0");
	prints("tsc", TACH_FORMULA_INFIX, "tsc_hz * elapsed_ns / 1000000000");
}

/* As snprintf does. */
static void cut_to_size(void)
{
	struct tach_formula *f = compile("N0 + N1");

	for (size_t room = 0; f && room <= 9; room++) {
		char is[12] = "###########";
		size_t most = room ? room - 1 : 0;

		most = most < 7 ? most : 7;
		CHECK(tach_formula_print(f, TACH_FORMULA_INFIX, is, room) == 7 &&
			      memcmp(is, "N0 + N1", most) == 0 &&
			      is[most] == (room ? '\0' : '#') && is[most + 1] == '#',
		      "in %zu: %s", room, is);
	}
	tach_formula_free(f);
}

int main(void)
{
	CASE(only_parentheses_that_are_needed);
	CASE(every_operator);
	CASE(cut_to_size);
	return check_done();
}
