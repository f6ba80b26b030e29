/* SPDX-License-Identifier: MIT */
/* Texts that are formulas, up to their limits, and the whole message for texts that are not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/formula/formula.h"
#include "tests/check.h"

static struct tach_formula_options opt; /* set anew by `start` */
static struct tach_error err;

static void start(enum tach_formula_kind kind)
{
	opt = (struct tach_formula_options)TACH_FORMULA_OPTIONS_INIT;
	opt.kind = kind;
	opt.max_hz = 3e9;
	opt.tsc_hz = 2e9;
	err = (struct tach_error){.size = sizeof err, .line = 7, .column = 7};
}

static struct tach_formula *compile(const char *text)
{
	struct tach_formula *f = NULL;

	CHECK(tach_formula_compile(text, &opt, &f, &err) == 0 && f, "%s: %d: %s", text,
	      err.column, err.text);
	return f;
}

static void refused(const char *text, int code, int column, const char *sentence)
{
	struct tach_formula *f = NULL;
	int is = tach_formula_compile(text, &opt, &f, &err);

	CHECK(is == code && err.code == code && !f && err.line == 0 && err.column == column,
	      "%.200s: %d at %d:%d: %s", text, is, err.line, err.column, err.text);
	CHECK(strcmp(err.text, sentence) == 0, "%.200s: %s, not %s", text, err.text, sentence);
}

/* ---- values ---- */

static void accepted_texts_have_their_value(void)
{
	static const struct {
		const char *text;
		enum tach_formula_kind kind;
		double value; /* of N0 = 10, N1 = 4, N2 = 0 and 500 ns */
	} of[] = {
		{"+N0", TACH_FORMULA_INFIX, 10},
		{"- +N0", TACH_FORMULA_INFIX, -10},
		{"+-+N0", TACH_FORMULA_INFIX, -10},
		{"--N0", TACH_FORMULA_INFIX, 10},
		{"!!N0", TACH_FORMULA_INFIX, 1},
		{"N0*-N1", TACH_FORMULA_INFIX, -40},
		{" \t\r\nN0\t+\r1\n ", TACH_FORMULA_INFIX, 11},
		{"1e2+1E+2+1e-2", TACH_FORMULA_INFIX, 200.01},
		{".5+5.+0.25", TACH_FORMULA_INFIX, 5.75},
		{"min\t\r\n (N0,N1)", TACH_FORMULA_INFIX, 4},
		{"max(N0,N1,3 , 11)", TACH_FORMULA_INFIX, 11},
		{"'N0' + \"N1\"", TACH_FORMULA_INFIX, 14},
		{"#", TACH_FORMULA_INFIX, 3e9},
		{"# / tsc_hz", TACH_FORMULA_INFIX, 1.5},
		{"tsc", TACH_FORMULA_INFIX, 1000},
		{"tsc", TACH_FORMULA_POSTFIX, 1000},
		{"elapsed_ns", TACH_FORMULA_INFIX, 500},
		{"time", TACH_FORMULA_INFIX, 500},
		{"time|2|*|", TACH_FORMULA_POSTFIX, 1000},
		{"N2&N0", TACH_FORMULA_INFIX, 0},
		{"N0&N2", TACH_FORMULA_INFIX, 0},
		{"N0&&N1", TACH_FORMULA_INFIX, 1},
		{"N2|N2", TACH_FORMULA_INFIX, 0},
		{"N2|N0", TACH_FORMULA_INFIX, 1},
		{"N0||N2", TACH_FORMULA_INFIX, 1},
		{"N0>N1>=N2?1:2 ", TACH_FORMULA_INFIX, NAN},
		{"N2 ? 1 : N0 ? 2 : 3", TACH_FORMULA_INFIX, 2},
		{"N0 ? N2 ? 1 : 2 : 3", TACH_FORMULA_INFIX, 2},
		{"N0|-3|+|", TACH_FORMULA_POSTFIX, 7},
		{"N0|+3|+|", TACH_FORMULA_POSTFIX, 13},
		{"-.5e1|", TACH_FORMULA_POSTFIX, -5},
		{"||N0|", TACH_FORMULA_POSTFIX, 10},
		{"N0||", TACH_FORMULA_POSTFIX, 10},
		{"\tN0\r|\nN1 |max", TACH_FORMULA_POSTFIX, 10},
		{"N0|neg|", TACH_FORMULA_POSTFIX, -10},
		{"N2|not|N0|and|N2|or|", TACH_FORMULA_POSTFIX, 1},
		{"N0|N1|<|1|2|?:|", TACH_FORMULA_POSTFIX, 2},
		{"N0|N1|<=|", TACH_FORMULA_POSTFIX, 0},
		{"N0|N1|>|", TACH_FORMULA_POSTFIX, 1},
		{"N0|N1|>=|", TACH_FORMULA_POSTFIX, 1},
		{"N0|N1|==|", TACH_FORMULA_POSTFIX, 0},
		{"N0|N1|!=|", TACH_FORMULA_POSTFIX, 1},
		{"N0|N1|min|N0|N1|/|-|", TACH_FORMULA_POSTFIX, 1.5},
		{"#|tsc_hz|/|", TACH_FORMULA_POSTFIX, 1.5},
	};
	static const uint64_t n[] = {10, 4, 0};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach_formula *f;

		start(of[i].kind);
		if (isnan(of[i].value)) {
			refused(of[i].text, TACH_ERR_SYNTAX, 6,
				"an operator expected before '>'");
			continue;
		}
		f = compile(of[i].text);
		CHECK(f && tach_formula_eval(f, n, 500, NULL) == of[i].value, "%s: %.17g",
		      of[i].text, f ? tach_formula_eval(f, n, 500, NULL) : 0);
		tach_formula_free(f);
	}
}

/* ---- sentences ---- */

static void infix_errors(void)
{
	static const char operand[] = "an operand expected before '$'";
	static const struct {
		const char *text;
		int code, column;
		const char *sentence;
	} of[] = {
		{"", TACH_ERR_SYNTAX, 1, "the formula is empty"},
		{"  ", TACH_ERR_SYNTAX, 3, "the formula is empty"},
		{"$", TACH_ERR_SYNTAX, 1, operand},
		{"($)", TACH_ERR_SYNTAX, 2, operand},
		{"-$", TACH_ERR_SYNTAX, 2, operand},
		{"+$", TACH_ERR_SYNTAX, 2, operand},
		{"!$", TACH_ERR_SYNTAX, 2, operand},
		{"N0*$", TACH_ERR_SYNTAX, 4, operand},
		{"N0/ $", TACH_ERR_SYNTAX, 5, operand},
		{"N0+$", TACH_ERR_SYNTAX, 4, operand},
		{"N0 - $", TACH_ERR_SYNTAX, 6, operand},
		{"N0<$", TACH_ERR_SYNTAX, 4, operand},
		{"N0<=$", TACH_ERR_SYNTAX, 5, operand},
		{"N0&$", TACH_ERR_SYNTAX, 4, operand},
		{"N0||$", TACH_ERR_SYNTAX, 5, operand},
		{"N0?$:1", TACH_ERR_SYNTAX, 4, operand},
		{"N0?1:$", TACH_ERR_SYNTAX, 6, operand},
		{"N0?1$", TACH_ERR_SYNTAX, 5, "':' expected before '$'"},
		{"$?1:2", TACH_ERR_SYNTAX, 1, operand},
		{"min($,1)", TACH_ERR_SYNTAX, 5, operand},
		{"min(1,$)", TACH_ERR_SYNTAX, 7, operand},
		{"min(1)", TACH_ERR_SYNTAX, 6, "',' expected before ')'"},
		{"min(1", TACH_ERR_SYNTAX, 6, "',' expected before the end"},
		{"max(1,2$", TACH_ERR_SYNTAX, 8, "',' or ')' expected before '$'"},
		{"N0 $", TACH_ERR_SYNTAX, 4, "an operator expected before '$'"},
		{"N0 !", TACH_ERR_SYNTAX, 4, "an operator expected before '!'"},
		{"N0 ~", TACH_ERR_SYNTAX, 4, "an operator expected before '~'"},
		{"N0 \x7f", TACH_ERR_SYNTAX, 4, "an operator expected before byte 0x7f"},
		{"N0 \x01", TACH_ERR_SYNTAX, 4, "an operator expected before byte 0x01"},
		{"N0 \xff", TACH_ERR_SYNTAX, 4, "an operator expected before byte 0xff"},
		{" (N0", TACH_ERR_SYNTAX, 5, "the '(' in column 2 is never closed"},
		{"(N0 $", TACH_ERR_SYNTAX, 5,
		 "an operator or ')' expected; the '(' is in column 1"},
		{".", TACH_ERR_SYNTAX, 1, "a number or a name expected before '.'"},
		{".e1", TACH_ERR_SYNTAX, 1, "a number or a name expected before '.'"},
		{"1e", TACH_ERR_SYNTAX, 2, "an operator expected after the number"},
		{"1e+", TACH_ERR_SYNTAX, 2, "an operator expected after the number"},
		{"1.2.", TACH_ERR_SYNTAX, 4, "an operator expected after the number"},
		{"1_", TACH_ERR_SYNTAX, 2, "an operator expected after the number"},
		{"2*1e400", TACH_ERR_SYNTAX, 3, "the number 1e400 is too large for a double"},
		{" \"N0", TACH_ERR_SYNTAX, 2, "the quote is never closed"},
		{"'N0\"", TACH_ERR_SYNTAX, 1, "the quote is never closed"},
		{"N192", TACH_ERR_TOOMANY, 1, "operands go from N0 to N191 at most"},
		{"1+N100000", TACH_ERR_TOOMANY, 3, "operands go from N0 to N191 at most"},
		{"N99999999999999999999999", TACH_ERR_TOOMANY, 1,
		 "operands go from N0 to N191 at most"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		start(TACH_FORMULA_INFIX);
		refused(of[i].text, of[i].code, of[i].column, of[i].sentence);
	}
}

static void postfix_errors(void)
{
	static const struct {
		const char *text;
		int code, column;
		const char *sentence;
	} of[] = {
		{"", TACH_ERR_SYNTAX, 1, "the formula is empty"},
		{"|", TACH_ERR_SYNTAX, 1, "the formula is empty"},
		{"N0| |N1|+|", TACH_ERR_SYNTAX, 5,
		 "an operand or operator expected between the bars"},
		{"N0|N1|", TACH_ERR_SYNTAX, 7,
		 "2 values are left at the end; an operator is missing"},
		{"+|", TACH_ERR_SYNTAX, 1, "'+' takes 2 values, but 0 stand before it"},
		{"N0|+|", TACH_ERR_SYNTAX, 4, "'+' takes 2 values, but 1 stands before it"},
		{"neg|", TACH_ERR_SYNTAX, 1, "'neg' takes 1 value, but 0 stand before it"},
		{"N0|N1|?:|", TACH_ERR_SYNTAX, 7, "'?:' takes 3 values, but 2 stand before it"},
		{"not|", TACH_ERR_SYNTAX, 1, "'not' takes 1 value, but 0 stand before it"},
		{"N0|or|", TACH_ERR_SYNTAX, 4, "'or' takes 2 values, but 1 stands before it"},
		{"N0| -3x |+|", TACH_ERR_SYNTAX, 7, "'|' expected after the number"},
		{"N0|3 4|+|", TACH_ERR_SYNTAX, 5, "'|' expected after the number"},
		{"N0|-1e400|+|", TACH_ERR_SYNTAX, 5,
		 "the number 1e400 is too large for a double"},
		{"N0| N192 |+|", TACH_ERR_TOOMANY, 5, "operands go from N0 to N191 at most"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		start(TACH_FORMULA_POSTFIX);
		refused(of[i].text, of[i].code, of[i].column, of[i].sentence);
	}
}

/* ---- names ---- */

static int said(void *context, const char *name, size_t length)
{
	if (length == 4 && memcmp(name, "last", 4) == 0)
		return TACH_FORMULA_OPERANDS_MAX - 1;
	if (length == 4 && memcmp(name, "over", 4) == 0)
		return TACH_FORMULA_OPERANDS_MAX;
	return length == 4 && memcmp(name, "part", 4) == 0 ? TACH_FORMULA_PART + *(int *)context
							   : TACH_ERR_NOTFOUND;
}

static void unknown_names(void)
{
	static const char *const of[] = {"N", "Nx", "N1x", "n0", "mi", "maxi", "a.b:c=d-e@f"};
	static const char which[] = "; operands are N0, N1, ..., constants max_hz, tsc_hz, "
				    "time";
	char text[200], sentence[300];

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		for (int kind = 0; kind < 2; kind++) {
			start((enum tach_formula_kind)kind);
			snprintf(text, sizeof text, kind ? "1|%s|+|" : "1+%s", of[i]);
			snprintf(sentence, sizeof sentence, "unknown name '%s'%s", of[i],
				 which);
			refused(text, TACH_ERR_NOTFOUND, 3, sentence);
			opt.resolve = said;
			snprintf(sentence, sizeof sentence, "unknown name '%s'", of[i]);
			refused(text, TACH_ERR_NOTFOUND, 3, sentence);
		}
	/*
	 * A name ends before characters that would join names; a message shows 100 characters
	 * of a long name.
	 */
	start(TACH_FORMULA_INFIX);
	opt.resolve = said;
	refused("x:=- 1", TACH_ERR_NOTFOUND, 1, "unknown name 'x'");
	refused("''", TACH_ERR_NOTFOUND, 2, "unknown name ''");
	refused("1 + min", TACH_ERR_NOTFOUND, 5, "unknown name 'min'");
	refused("max * (2)", TACH_ERR_NOTFOUND, 1, "unknown name 'max'");
	for (int n = 99; n <= 102; n++) {
		memset(text, 'x', (size_t)n);
		text[n] = '\0';
		snprintf(sentence, sizeof sentence, "unknown name '%.100s'", text);
		refused(text, TACH_ERR_NOTFOUND, 1, sentence);
	}
	start(TACH_FORMULA_INFIX);
	refused("1+smt", TACH_ERR_NOTFOUND, 3,
		"unknown name 'smt'; operands are N0, N1, ..., constants max_hz, tsc_hz, "
		"time");
}

static void operands_that_exist(void)
{
	struct tach_formula *f;

	start(TACH_FORMULA_INFIX);
	for (opt.noperands = 0; opt.noperands <= 2; opt.noperands++)
		refused("1+N2", TACH_ERR_SYNTAX, 3,
			opt.noperands == 0   ? "there is no N2 here"
			: opt.noperands == 1 ? "there is no N2: only N0 exists"
					     : "there is no N2: only N0 to N1 exist");
	for (opt.noperands = -1; opt.noperands <= TACH_FORMULA_OPERANDS_MAX;
	     opt.noperands += TACH_FORMULA_OPERANDS_MAX + 1) {
		f = compile("N191");
		CHECK(f && tach_formula_uses(f, 191) && !tach_formula_uses(f, 190) &&
		      !tach_formula_uses(f, 192));
		tach_formula_free(f);
	}
	start(TACH_FORMULA_INFIX);
	opt.resolve = said;
	f = compile("last");
	CHECK(f && tach_formula_uses(f, 191));
	tach_formula_free(f);
	refused("1 + over", TACH_ERR_TOOMANY, 5, "operands go from N0 to N191 at most");
}

/* ---- formulas in formulas ---- */

static struct tach_formula *parts[2]; /* the second part may be NULL */

static const struct tach_formula *part(void *context, int i)
{
	(void)context;
	return parts[i];
}

static void names_insert_whole_formulas(void)
{
	uint64_t n[130] = {6, 3};
	struct tach_formula *f;
	int which = 0;

	start(TACH_FORMULA_INFIX);
	parts[0] = compile("N1 > 5 ? -N0 : max(N129, max_hz) + tsc_hz - elapsed_ns * 2");
	parts[0]->flags = TACH_FLAG_CLOCK; /* as on a system with an estimated clock */
	opt.resolve = said;
	opt.context = &which;
	refused("N0 + part", TACH_ERR_TOOMANY, 6, "operands go from N0 to N191 at most");
	opt.part = part;
	f = compile("N0 + part");
	if (f) {
		uint32_t flags[130] = {0};

		/* The number of nodes is the sum of both parts, plus the addition. */
		CHECK(f->nnodes == parts[0]->nnodes + 2 && f->noperands == 130, "%u, %d",
		      f->nnodes, f->noperands);
		CHECK(tach_formula_uses(f, 0) && tach_formula_uses(f, 1) &&
		      tach_formula_uses(f, 129) && !tach_formula_uses(f, 2));
		CHECK(tach_formula_eval(f, n, 10, NULL) == 6 + 3e9 + 2e9 - 20);
		n[1] = 6;
		CHECK(tach_formula_eval(f, n, 10, NULL) == 0);
		flags[129] = TACH_FLAG_LOST;
		flags[2] = TACH_FLAG_SCALED;
		CHECK(tach_formula_flags(f, flags) == (TACH_FLAG_CLOCK | TACH_FLAG_LOST));
		CHECK(tach_formula_flags(f, NULL) == TACH_FLAG_CLOCK);
	}
	tach_formula_free(f);
	/* The sum needs fewer operands than the maximum. */
	f = compile("N150 + part");
	CHECK(f && f->noperands == 151);
	tach_formula_free(f);
	which = 1;
	refused("N0 + part", TACH_ERR_INVAL, 6, "a name has no formula");
	tach_formula_free(parts[0]);
}

/* ---- limits ---- */

static char text[100000];

static void repeat(const char *what, int times)
{
	for (int i = 0; i < times; i++)
		strcat(text, what);
}

static void nesting_is_limited(void)
{
	static const char deep[] = "the formula is nested more than 200 levels deep";
	uint64_t n[] = {3};
	struct tach_formula *f;

	for (int more = 0; more < 2; more++) {
		start(TACH_FORMULA_INFIX);
		*text = '\0';
		repeat("(", 199 + more);
		repeat("N0", 1);
		repeat(")", 199 + more);
		if (more)
			refused(text, TACH_ERR_TOOMANY, 201, deep);
		else
			tach_formula_free(compile(text));
		/* Signs nest too; they form one level. */
		*text = '\0';
		repeat("-", 198 + 2 * more);
		repeat("N0", 1);
		if (more)
			refused(text, TACH_ERR_TOOMANY, 200, deep);
		else
			tach_formula_free(compile(text));
		/* The maximum depth of the tree; a count is the first level. */
		start(TACH_FORMULA_POSTFIX);
		strcpy(text, "N0|");
		repeat("neg|", 199 + more);
		if (more)
			refused(text, TACH_ERR_TOOMANY, 4 + 4 * 199, deep);
		else
			tach_formula_free(compile(text));
	}
	/* Terms next to each other do not increase the depth. */
	start(TACH_FORMULA_INFIX);
	strcpy(text, "0");
	repeat("+(-N0)", 150);
	f = compile(text);
	CHECK(f && tach_formula_eval(f, n, 0, NULL) == -450);
	tach_formula_free(f);
	strcpy(text, "0");
	repeat("--N0", 150);
	f = compile(text);
	CHECK(f && tach_formula_eval(f, n, 0, NULL) == 450);
	tach_formula_free(f);
}

/* Writes a sum of 2^levels counts, added in pairs. */
static void balanced(int levels)
{
	if (levels == 0) {
		strcat(text, "N0|");
		return;
	}
	balanced(levels - 1);
	balanced(levels - 1);
	strcat(text, "+|");
}

static void nodes_are_limited(void)
{
	uint64_t n[] = {3};
	struct tach_formula *f;

	/* 4096 counts and 4095 sums of them. */
	start(TACH_FORMULA_POSTFIX);
	*text = '\0';
	balanced(12);
	strcat(text, "neg|");
	f = compile(text);
	CHECK(f && f->nnodes == 8192 && tach_formula_eval(f, n, 0, NULL) == -3 * 4096);
	tach_formula_free(f);
	strcat(text, "neg|");
	refused(text, TACH_ERR_TOOMANY, (int)strlen(text) - 3,
		"the formula has more than 8192 operators and operands");
}

/* At most 64 values may be pending; the first pending value is the first product. */
static void waiting_is_limited(void)
{
	uint64_t n[] = {3, 1};
	struct tach_formula *f;

	for (int more = 0; more < 2; more++) {
		start(TACH_FORMULA_INFIX);
		*text = '\0';
		repeat("N0*N1-(", 64 + more);
		repeat("N0*N0", 1);
		repeat(")", 64 + more);
		if (more) {
			refused(text, TACH_ERR_TOOMANY, 0,
				"the formula keeps 65 values at the same time; 64 are "
				"possible");
			continue;
		}
		f = compile(text);
		CHECK(f && tach_formula_eval(f, n, 0, NULL) == 9);
		tach_formula_free(f);
	}
}

static void arguments(void)
{
	static const char kinds[] = "no such kind, or noperands outside -1 .. 192";
	struct tach_formula *f = NULL;

	start(TACH_FORMULA_INFIX);
	CHECK(tach_formula_compile("1", &opt, NULL, &err) == TACH_ERR_INVAL && err.line == 0 &&
	      err.column == 0 && strcmp(err.text, "no formula given") == 0);
	CHECK(tach_formula_compile(NULL, &opt, &f, &err) == TACH_ERR_INVAL && !f);
	opt.noperands = -2;
	refused("1", TACH_ERR_INVAL, 0, kinds);
	opt.noperands = TACH_FORMULA_OPERANDS_MAX + 1;
	refused("1", TACH_ERR_INVAL, 0, kinds);
	start((enum tach_formula_kind)(TACH_FORMULA_POSTFIX + 1));
	refused("1", TACH_ERR_INVAL, 0, kinds);
}

int main(void)
{
	CASE(accepted_texts_have_their_value);
	CASE(infix_errors);
	CASE(postfix_errors);
	CASE(unknown_names);
	CASE(operands_that_exist);
	CASE(names_insert_whole_formulas);
	CASE(nesting_is_limited);
	CASE(nodes_are_limited);
	CASE(waiting_is_limited);
	CASE(arguments);
	return check_done();
}
