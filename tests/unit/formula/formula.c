/* SPDX-License-Identifier: MIT */
/* Formulas: values, errors with their columns, forms, integers, flags, error bars, printing. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach/formula.h>
#include "core/os/clock.h"
#include "tests/check.h"
#include "tests/heap.h"

static const char *const names[] = {"cycles",  "branch-misses",	    "FOO:BAR:c=1",
				    "skl::EV", "instructions.user", "a",
				    "FOO",     "cpu/event=0x3c/",   "a:b"};

static int resolve(void *context, const char *name, size_t length)
{
	(void)context;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return (int)i;
	return TACH_ERR_NOTFOUND;
}

static struct tach_formula *compile(const char *text, enum tach_formula_kind kind, int named)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *f = NULL;

	opt.kind = kind;
	opt.max_hz = 3e9;
	opt.tsc_hz = 2e9;
	opt.resolve = named ? resolve : NULL;
	CHECK(tach_formula_compile(text, &opt, &f, &err) == 0 && f, "%s: %d: %s", text,
	      err.column, err.text);
	return f;
}

static void values(void)
{
	static const struct {
		const char *text;
		enum tach_formula_kind kind;
		enum tach_shape shape;
		double value; /* with N0 = 10, N1 = 4, N2 = 3, N3 = 0, elapsed 500 */
	} cases[] = {
		{"N0-(N1+(N2*5))", TACH_FORMULA_INFIX, TACH_SHAPE_LINEAR, -9},
		{"N0|N1|N2|5|*|+|-|", TACH_FORMULA_POSTFIX, TACH_SHAPE_LINEAR, -9},
		{"|N0|N1|-", TACH_FORMULA_POSTFIX, TACH_SHAPE_LINEAR, 6},
		{" N0 | N1 |\t- | ", TACH_FORMULA_POSTFIX, TACH_SHAPE_LINEAR, 6},
		{"N0|512|128|/|*|N1|+|", TACH_FORMULA_POSTFIX, TACH_SHAPE_LINEAR, 44},
		{"N0|#|*|N1|/|", TACH_FORMULA_POSTFIX, TACH_SHAPE_QUOTIENT, 7.5e9},
		{"N0|N1|<|1|2|?:|", TACH_FORMULA_POSTFIX, TACH_SHAPE_PROGRAM, 2},
		{"N0|neg|-2|min|", TACH_FORMULA_POSTFIX, TACH_SHAPE_PROGRAM, -10},
		{"N0 * max_hz / N1", TACH_FORMULA_INFIX, TACH_SHAPE_QUOTIENT, 7.5e9},
		{"#/tsc_hz", TACH_FORMULA_INFIX, TACH_SHAPE_CONSTANT, 1.5},
		{"N0 / elapsed_ns * 1e9", TACH_FORMULA_INFIX, TACH_SHAPE_QUOTIENT, 2e7},
		{"1 - N1 / N0", TACH_FORMULA_INFIX, TACH_SHAPE_QUOTIENT, 0.6},
		{"N0/4 + N1/3", TACH_FORMULA_INFIX, TACH_SHAPE_QUOTIENT, 46 / 12.0},
		{"N0 * .25e1 - 2.", TACH_FORMULA_INFIX, TACH_SHAPE_LINEAR, 23},
		{"-N0--N1", TACH_FORMULA_INFIX, TACH_SHAPE_LINEAR, -6},
		{"2-3-4", TACH_FORMULA_INFIX, TACH_SHAPE_CONSTANT, -5},
		{"24/3/4", TACH_FORMULA_INFIX, TACH_SHAPE_CONSTANT, 2},
		{"min(N0, N1, N2) + max (1,N2)", TACH_FORMULA_INFIX, TACH_SHAPE_PROGRAM, 6},
		{"N0 > N1 ? N0 / N1 : 0", TACH_FORMULA_INFIX, TACH_SHAPE_PROGRAM, 2.5},
		{"N3 == 0 ? 7 : N0 / N3", TACH_FORMULA_INFIX, TACH_SHAPE_PROGRAM, 7},
		{"(N0<=N1)?1:N0!=N1?2:3", TACH_FORMULA_INFIX, TACH_SHAPE_PROGRAM, 2},
		{"N0 * N1 / (N2 + 1)", TACH_FORMULA_INFIX, TACH_SHAPE_PROGRAM, 10},
		{"N0 + N0 + 1", TACH_FORMULA_INFIX, TACH_SHAPE_LINEAR, 21},
	};
	static const uint64_t n[] = {10, 4, 3, 0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_formula *f = compile(cases[i].text, cases[i].kind, 0);
		uint32_t flags = 0;
		double v = f ? tach_formula_eval(f, n, 500, &flags) : 0;

		CHECK(f && v == cases[i].value, "%s = %.17g", cases[i].text, v);
		CHECK(f && tach_formula_shape(f) == cases[i].shape, "%s: shape", cases[i].text);
		CHECK(flags == 0, "%s: flags %x", cases[i].text, flags);
		tach_formula_free(f);
	}
}

/* names[i] counts 1 << i. */
static void longest_name(void)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{"branch-misses/cycles", 2},
		{"FOO:BAR:c=1 - cycles", 3},
		{"skl::EV*2", 16},
		{"a-cycles", 31},
		{"a-a", 0},
		{"instructions.user+a", 48},
		{"FOO-a-branch-misses", 30},
		{"\"cpu/event=0x3c/\" / 2", 64},
		{"a:b", 256},
		{"1<2?a :cycles", 32},
		{"1>2?a:cycles", 1},
		{"N0==1?a:b-1", -1},
		{"a==a?2:3", 2},
		{"'FOO'+N1", 66},
		{"max(FOO, a)", 64},
		{"elapsed_ns-a", 468},
	};
	uint64_t n[sizeof names / sizeof *names];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		n[i] = 1ull << i;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_formula *f = NULL;
		struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
		double v;

		opt.resolve = resolve;
		if (!strcmp(cases[i].text, "N0==1?a:b-1")) {
			/* The name a:b is known, so the choice has no ':' left. */
			struct tach_error err = TACH_ERROR_INIT;

			CHECK(tach_formula_compile(cases[i].text, &opt, &f, &err) ==
				      TACH_ERR_SYNTAX,
			      "%s", cases[i].text);
			CHECK(err.column == 12, "column %d", err.column);
			continue;
		}
		f = compile(cases[i].text, TACH_FORMULA_INFIX, 1);
		v = f ? tach_formula_eval(f, n, 500, NULL) : 0;
		CHECK(v == cases[i].value, "%s = %g", cases[i].text, v);
		tach_formula_free(f);
	}
}

static void bad_options(void)
{
	static const struct tach_formula_options bad[] = {
		{.size = 3, .noperands = -1},
		{.kind = (enum tach_formula_kind)2, .noperands = -1},
		{.noperands = -2},
		{.noperands = TACH_FORMULA_OPERANDS_MAX + 1},
	};
	struct tach_formula *f;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(tach_formula_compile("1", &bad[i], &f, NULL) == TACH_ERR_INVAL,
		      "number %zu", i);
}

static void errors(void)
{
	static const struct {
		const char *text;
		enum tach_formula_kind kind;
		int code, column;
		const char *part; /* of the sentence */
	} cases[] = {
		{"", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 1, "empty"},
		{" | ", TACH_FORMULA_POSTFIX, TACH_ERR_SYNTAX, 1, "empty"},
		{"N0+", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 4,
		 "operand expected before the end"},
		{"N0 N1", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 4,
		 "operator expected before 'N'"},
		{"(N0+N1", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 7, "column 1 is never closed"},
		{"N0+N1)", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 6,
		 "operator expected before ')'"},
		{"N0 * (N1 ; 2)", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 10, "column 6"},
		{"N0 + foo", TACH_FORMULA_INFIX, TACH_ERR_NOTFOUND, 6, "'foo'"},
		{"N7 - 1", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 1, "only N0 to N3"},
		{"12abc", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 3, "operator expected"},
		{"1.2.3", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 4, "operator expected"},
		{"1e999", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 1, "too large"},
		{"N0 & ", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 6, "operand expected"},
		{"N0 &&& 1", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 6, "operand expected"},
		{"N0 < N1 < N2", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 9, "operator expected"},
		{"N0 + smt", TACH_FORMULA_INFIX, TACH_ERR_NOTFOUND, 6, "'smt'"},
		{"2 * has_pmem", TACH_FORMULA_INFIX, TACH_ERR_NOTSUPP, 5, "has_pmem"},
		{"N0 > 1 ? 2", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 11, "':' expected"},
		{"min(N0)", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 7, "',' expected"},
		{"'abc", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 1, "never closed"},
		{"N0 \x80 1", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 4, "byte 0x80"},
		{"N0|N1", TACH_FORMULA_POSTFIX, TACH_ERR_SYNTAX, 6, "2 values are left"},
		{"N0|+|", TACH_FORMULA_POSTFIX, TACH_ERR_SYNTAX, 4, "takes 2 values, but 1"},
		{"N0||N1|+|", TACH_FORMULA_POSTFIX, TACH_ERR_SYNTAX, 4, "between the bars"},
		{"N0|x1|+|", TACH_FORMULA_POSTFIX, TACH_ERR_NOTFOUND, 4, "'x1'"},
		{"N0|12 3|+|", TACH_FORMULA_POSTFIX, TACH_ERR_SYNTAX, 6, "'|' expected"},
		{"N0|and|", TACH_FORMULA_POSTFIX, TACH_ERR_SYNTAX, 4, "takes 2 values, but 1"},
		{"N64", TACH_FORMULA_INFIX, TACH_ERR_SYNTAX, 1, "only N0 to N3"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_formula *f = NULL;
		int rc;

		opt.kind = cases[i].kind;
		opt.noperands = 4;
		rc = tach_formula_compile(cases[i].text, &opt, &f, &err);
		CHECK(rc == cases[i].code && !f, "'%s': %d", cases[i].text, rc);
		CHECK(err.code == rc && err.column == cases[i].column, "'%s': column %d",
		      cases[i].text, err.column);
		CHECK(strstr(err.text, cases[i].part), "'%s': %s", cases[i].text, err.text);
	}
}

/* A comparison is a value, and any value is a condition. */
static void logic(void)
{
	static const struct {
		const char *text;
		enum tach_formula_kind kind;
		double value;
	} cases[] = {
		{"N0 < N1", TACH_FORMULA_INFIX, 1},
		{"5 + (N1 <= N0) * 7", TACH_FORMULA_INFIX, 5},
		{"N2 ? 10 : 20", TACH_FORMULA_INFIX, 20},
		{"N0 ? 10 : 20", TACH_FORMULA_INFIX, 10},
		{"N0 > 2 & N1 > 4", TACH_FORMULA_INFIX, 1},
		{"N0 > 2 && N1 > 5", TACH_FORMULA_INFIX, 0},
		{"N0 > 3 | N1 > 4", TACH_FORMULA_INFIX, 1},
		{"N0 > 3 || N1 > 5", TACH_FORMULA_INFIX, 0},
		{"0 | 1 & 0", TACH_FORMULA_INFIX, 0}, /* & binds before | */
		{"N0 & N1", TACH_FORMULA_INFIX, 1},   /* there is no bitwise arithmetic */
		{"!N0", TACH_FORMULA_INFIX, 0},
		{"!(N0 > 5) * 3", TACH_FORMULA_INFIX, 3},
		{"-(N0 == 3) + !N2", TACH_FORMULA_INFIX, 0},
		{"N0 < N1 & !N2 ? N0 / N1 : 9", TACH_FORMULA_INFIX, 0.6},
		{"max(N0 > 1, N1 > 100) + min(N0 > 1, N1 > 100)", TACH_FORMULA_INFIX, 1},
		{"N0|N1|<|", TACH_FORMULA_POSTFIX, 1},
		{"N0|N1|<|2|+|", TACH_FORMULA_POSTFIX, 3},
		{"N2|1|2|?:|", TACH_FORMULA_POSTFIX, 2},
		{"N0|N2|and|N1|or|not|", TACH_FORMULA_POSTFIX, 0},
		{"N0 / N2 > 1 | N1", TACH_FORMULA_INFIX, 1}, /* NaN compares false */
		{"N127 + N64", TACH_FORMULA_INFIX, 30},
	};
	uint64_t n[TACH_FORMULA_OPERANDS_MAX] = {3, 5, 0};
	double error[TACH_FORMULA_OPERANDS_MAX] = {0}, bar = 0;

	n[64] = 10;
	n[127] = 20;
	error[127] = 2;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_formula *f = compile(cases[i].text, cases[i].kind, 0), *again;
		char text[400];
		double v = f ? tach_formula_eval_error(f, n, error, 0, &bar, NULL) : -1;

		CHECK(v == cases[i].value, "%s = %g", cases[i].text, v);
		if (!f)
			continue;
		tach_formula_print(f, TACH_FORMULA_INFIX, text, sizeof text);
		again = compile(text, TACH_FORMULA_INFIX, 0);
		CHECK(again && tach_formula_eval(again, n, 0, NULL) == v, "%s: %s",
		      cases[i].text, text);
		tach_formula_free(again);
		if (i + 1 == sizeof cases / sizeof *cases) {
			CHECK(bar == 2, "%g", bar);
			CHECK(tach_formula_uses(f, 127) && tach_formula_uses(f, 64) &&
				      !tach_formula_uses(f, 63) && !tach_formula_uses(f, -1) &&
				      !tach_formula_uses(f, TACH_FORMULA_OPERANDS_MAX),
			      "which operands");
		}
		tach_formula_free(f);
	}
}

static int parameter_value(void *context, const char *name, size_t length, double *value)
{
	(void)context;
	*value = 6;
	if (length == 7 && !memcmp(name, "sockets", 7))
		return 0;
	*value = NAN;
	if (length == 7 && !memcmp(name, "no_such", 7))
		return 0;
	return length == 4 && !memcmp(name, "dies", 4) ? TACH_ERR_NOTSUPP : TACH_ERR_NOTFOUND;
}

/* Parameters: a value of the caller has priority over the machine's. */
static void parameters(void)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *f = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	uint64_t none = 0;
	double v;

	opt.tsc_hz = 2e9;
	opt.parameter = parameter_value;
	CHECK(!tach_formula_compile("sockets * 10 + core_wide", &opt, &f, &err), "%s",
	      err.text);
	CHECK(f && tach_formula_eval(f, &none, 0, NULL) == 60, "sockets");
	tach_formula_free(f);
	CHECK(tach_formula_compile("dies", &opt, &f, &err) == TACH_ERR_NOTSUPP, "%s", err.text);
	CHECK(tach_formula_compile("sockets > no_such", &opt, &f, &err) == TACH_ERR_NOTSUPP &&
		      err.column == 11,
	      "column %d: %s", err.column, err.text);
	f = NULL;
	CHECK(!tach_formula_compile("tsc / 2", &opt, &f, &err), "%s", err.text);
	v = f ? tach_formula_eval(f, &none, 1000, NULL) : 0;
	CHECK(v == 1000, "tsc / 2 = %g", v);
	tach_formula_free(f);
	f = NULL;
	CHECK(!tach_formula_compile("(smt_on == 0 | smt_on == 1) & threads_per_core > 0", NULL,
				    &f, &err) ||
		      err.code == TACH_ERR_NOTSUPP,
	      "%s", err.text);
	tach_formula_free(f);
}

static double value_of(const char *text, const struct tach_formula_options *opt)
{
	const uint64_t n[] = {2000000000, 1000000000};
	struct tach_formula *f = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	double value;

	CHECK(tach_formula_compile(text, opt, &f, &err) == 0, "%.60s: %s", text, err.text);
	value = f ? tach_formula_eval(f, n, 0, NULL) : NAN;
	tach_formula_free(f);
	return value;
}

static int endless(void *context, const char *name, size_t length, double *value)
{
	(void)context, (void)name, (void)length;
	*value = INFINITY;
	return 0;
}

/* An infinite parameter or clock is refused; a large number in the text is fine. */
static void large_numbers(void)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *f = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	opt.max_hz = INFINITY;
	CHECK(tach_formula_compile("max_hz", &opt, &f, &err) == TACH_ERR_NOTSUPP &&
		      err.column == 1 && strstr(err.text, "max_hz"),
	      "%s", err.text);
	opt.max_hz = 0;
	opt.parameter = endless;
	CHECK(tach_formula_compile("1 + rate", &opt, &f, &err) == TACH_ERR_NOTSUPP &&
		      err.column == 5 && strstr(err.text, "rate"),
	      "%s", err.text);
	CHECK(value_of("N0 / N1 + 1e300", NULL) == 1e300);
	CHECK(value_of("1e305 - N0 / N1", NULL) == 1e305);
	CHECK(value_of("(N0 * 1e200) / (N1 * 1e200)", NULL) == 2);
	CHECK(value_of("N0 / N1 + 1e-300", NULL) == 2);
	CHECK(value_of("1e300 / (N0 / 1e300) > 1e100 ? 7 : 8", NULL) == 7);
}

/* A sum without parentheses is one level, however long it is. */
static void long_chains(void)
{
	char text[30000], printed[60000];
	struct tach_formula *f = NULL;
	double error[] = {0, 1}, bar;
	const uint64_t n[] = {7, 3};

	strcpy(text, "N0");
	for (int i = 0; i < 4000; i++)
		strcat(text, i % 2 ? "+N1" : "-N1");
	CHECK(value_of(text, NULL) == 2000000000.0);
	/* A program that cannot be folded. */
	strcpy(text, "N0");
	for (int i = 0; i < 1000; i++)
		strcat(text, i % 2 ? "*N1/N0" : "*N0/N1");
	CHECK(value_of(text, NULL) == 2000000000.0);
	CHECK(tach_formula_compile(text, NULL, &f, NULL) == 0 &&
	      tach_formula_eval_error(f, n, error, 0, &bar, NULL) > 6.9 && bar < 1e-9);
	for (int kind = TACH_FORMULA_INFIX; f && kind <= TACH_FORMULA_POSTFIX; kind++) {
		struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;

		opt.kind = (enum tach_formula_kind)kind;
		tach_formula_print(f, opt.kind, printed, sizeof printed);
		CHECK(value_of(printed, &opt) == 2000000000.0);
	}
	tach_formula_free(f);
	strcpy(text, "max(N0");
	for (int i = 0; i < 1000; i++)
		strcat(text, ",N1");
	CHECK(value_of(strcat(text, ")"), NULL) == 2000000000.0);
}

static void limits(void)
{
	char text[20001];
	struct tach_formula *f = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	memset(text, '(', 20000);
	text[20000] = 0;
	CHECK(tach_formula_compile(text, NULL, &f, &err) == TACH_ERR_TOOMANY, "%s", err.text);
	memset(text, '-', 20000);
	CHECK(tach_formula_compile(text, NULL, &f, &err) == TACH_ERR_TOOMANY, "%s", err.text);
	for (int i = 0; i < 10000; i++)
		memcpy(text + 2 * i, i ? "+1" : " 1", 2);
	CHECK(tach_formula_compile(text, NULL, &f, &err) == TACH_ERR_TOOMANY, "%s", err.text);
	CHECK(tach_formula_compile("N192", NULL, &f, &err) == TACH_ERR_TOOMANY, "%s", err.text);
	CHECK(tach_formula_compile("N0 / tsc_hz", NULL, &f, &err) == TACH_ERR_NOTSUPP ||
		      (f && tach_formula_uses(f, 0)),
	      "%s", err.text);
	tach_formula_free(f);
	f = NULL;
	/* A sum of more counts than the stack holds: no value is pending. */
	strcpy(text, "min(N0");
	for (int i = 1; i < 70; i++)
		sprintf(text + strlen(text), "%cN%d", i == 2 ? '+' : '-', i);
	strcat(text, ", 1e9)");
	if (!tach_formula_compile(text, NULL, &f, &err)) {
		uint64_t n[70];
		double v;

		for (uint64_t i = 0; i < 70; i++)
			n[i] = 1000 + i;
		v = tach_formula_eval(f, n, 0, NULL);
		CHECK(v == 1000 - 69 * 1000 - 2415 + 2 * 1002, "70 counts: %.17g", v);
	} else {
		CHECK(0, "70 counts: %s", err.text);
	}
	tach_formula_free(f);
	f = NULL;
	/* A number of 100 characters, and one of 101. */
	memset(text, '0', 101);
	text[101] = 0;
	CHECK(tach_formula_compile(text, NULL, &f, &err) == TACH_ERR_SYNTAX && err.column == 1,
	      "101 characters: %s", err.text);
	text[100] = 0;
	CHECK(!tach_formula_compile(text, NULL, &f, &err), "100 characters: %s", err.text);
	tach_formula_free(f);
	f = NULL;
	/* Values that cannot be folded and are pending: one more than the stack holds. */
	text[0] = 0;
	for (int i = 0; i < 66; i++)
		strcat(text, "N0*N1-(");
	strcat(text, "N0*N0");
	for (int i = 0; i < 66; i++)
		strcat(text, ")");
	CHECK(tach_formula_compile(text, NULL, &f, &err) == TACH_ERR_TOOMANY, "%s", err.text);
	CHECK(strstr(err.text, "at the same time"), "%s", err.text);
	tach_formula_free(NULL);
}

static void division_by_zero(void)
{
	static const char *const texts[] = {
		"N0/N1", "N0/(N0-N0)",	"0*(N0/N1)",	 "1/(N0/N1)/2",	 "N0*N0/(N1*N1)",
		"N0/0",	 "N0/N1-N0/N1", "min(N0/N1, 3)", "3/(1/(1/N1))", "N0/(N1*(N1-N0))"};
	static const uint64_t n[] = {5, 0};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tach_formula *f = compile(texts[i], TACH_FORMULA_INFIX, 0);
		uint32_t flags = TACH_FLAG_SYSCALL;

		CHECK(isnan(tach_formula_eval(f, n, 0, &flags)), "%s", texts[i]);
		CHECK(flags == (TACH_FLAG_SYSCALL | TACH_FLAG_DIVZERO), "%s: %x", texts[i],
		      flags);
		tach_formula_free(f);
	}
}

static void provenance(void)
{
	static const uint32_t flags[] = {TACH_FLAG_SYSCALL, TACH_FLAG_LOST, TACH_FLAG_SCALED};
	struct tach_formula *f = compile("N0 + N2 * 0", TACH_FORMULA_INFIX, 0);
	uint32_t own = 0;

	CHECK(tach_formula_uses(f, 0) && !tach_formula_uses(f, 1) && tach_formula_uses(f, 2) &&
		      !tach_formula_uses(f, 3),
	      "uses");
	CHECK(tach_formula_flags(f, flags) == (TACH_FLAG_SYSCALL | TACH_FLAG_SCALED),
	      "or of those used");
	tach_formula_free(f);
	f = NULL;
	/* The system's clock is either known or flagged; the caller's clock is known. */
	if (!tach_formula_compile("max_hz", NULL, &f, NULL)) {
		static const uint64_t none[1];

		CHECK(tach_formula_eval(f, none, 0, &own) > 1e6, "a clock in Hz");
		CHECK(own == tach_formula_flags(f, NULL) && (own & ~TACH_FLAG_CLOCK) == 0, "%x",
		      own);
		tach_formula_free(f);
	}
}

/* If the options give no clock, the system's clock is used, if its rate is known. */
static void clocks_of_the_system(void)
{
	uint32_t flags = 0;
	struct tach_formula *f = NULL;

	CHECK(!tach_formula_compile("max_hz", NULL, &f, NULL) == (tach__max_hz(&flags) > 0),
	      "max_hz");
	tach_formula_free(f);
	f = NULL;
	CHECK(!tach_formula_compile("tsc_hz", NULL, &f, NULL) == (tach__tsc_hz(&flags) > 0),
	      "tsc_hz");
	tach_formula_free(f);
}

static int numbered(void *context, const char *name, size_t length)
{
	(void)context;
	return length == 1 && *name == 'p' ? TACH_FORMULA_PART : TACH_ERR_NOTFOUND;
}

static const struct tach_formula *one_part(void *context, int i)
{
	return i == 0 ? context : NULL;
}

/*
 * Definitions of names are included completely: all branches of their choices, and the counts
 * they use.
 */
static void parts(void)
{
	static const uint64_t n[] = {10, 4, 3}, other[] = {1, 4, 3};
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *part = compile("-(N0 > 5 ? N1 : N2)", TACH_FORMULA_INFIX, 0);
	struct tach_formula *f = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	opt.resolve = numbered;
	opt.part = one_part;
	opt.context = part;
	CHECK(!tach_formula_compile("100 + p", &opt, &f, &err), "%s", err.text);
	if (f) {
		CHECK(tach_formula_eval(f, n, 0, NULL) == 96, "the first branch");
		CHECK(tach_formula_eval(f, other, 0, NULL) == 97, "the second branch");
		for (int i = 0; i < 4; i++)
			CHECK(tach_formula_uses(f, i) == (i < 3), "uses N%d", i);
	}
	tach_formula_free(f);
	f = NULL;
	/* The names' operands are added to the formula's own. */
	CHECK(!tach_formula_compile("N0 * N4 + p", &opt, &f, &err), "%s", err.text);
	for (int i = 0; f && i < 6; i++)
		CHECK(tach_formula_uses(f, i) == (i < 3 || i == 4), "uses N%d as well", i);
	tach_formula_free(f);
	tach_formula_free(part);
}

static void error_bars(void)
{
	static const uint64_t n[] = {10, 4, 3};
	static const double error[] = {0.5, 0.25, 2};
	static const struct {
		const char *text;
		double error;
	} cases[] = {
		{"N0", 0.5},
		{"3*N0 - 2*N1", 2},
		{"N0 - N0", 0},
		{"N0/N1", 0.5 / 4 + 10.0 / 16 * 0.25},
		{"N0/(N0+N1)", (1 / 14.0 - 10 / 196.0) * 0.5 + 10 / 196.0 * 0.25},
		{"N0*N1", 4 * 0.5 + 10 * 0.25},
		{"min(N0, N1*1)", 0.25},
		{"N0 > N1 ? N2 * 3 : N0", 6},
		{"N1*N1 > 0 ? -(N0*N0) : 1", 10},
		{"7", 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_formula *f = compile(cases[i].text, TACH_FORMULA_INFIX, 0);
		double e = -1, v = tach_formula_eval_error(f, n, error, 0, &e, NULL);

		CHECK(v == tach_formula_eval(f, n, 0, NULL), "%s = %g", cases[i].text, v);
		CHECK(fabs(e - cases[i].error) < 1e-12, "%s: error %g", cases[i].text, e);
		tach_formula_free(f);
	}
}

static void other_locale(void)
{
	static const uint64_t n[] = {3};
	struct tach_formula *f;
	char text[40];

	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		SKIP("no locale with a decimal comma is installed");
	f = compile("N0*0.1", TACH_FORMULA_INFIX, 0);
	CHECK(tach_formula_eval(f, n, 0, NULL) == 3 * 0.1, "decimal point");
	tach_formula_print(f, TACH_FORMULA_INFIX, text, sizeof text);
	CHECK(!strcmp(text, "N0 * 0.1"), "%s", text);
	tach_formula_free(f);
	setlocale(LC_ALL, "C");
}

static void printing(void)
{
	static const struct {
		const char *text, *infix, *postfix;
	} cases[] = {
		{"N0-(N1+(N2*5))", "N0 - (N1 + N2 * 5)", "N0|N1|N2|5|*|+|-|"},
		{"-(3)*N0", "-3 * N0", "-3|N0|*|"},
		{"-(N0+1)--2", "-(N0 + 1) - -2", "N0|1|+|neg|-2|-|"},
		{"(N0>#?1:2)>1?0:max(1,2,N1)",
		 "(N0 > max_hz ? 1 : 2) > 1 ? 0 : max(max(1, 2), N1)",
		 "N0|#|>|1|2|?:|1|>|0|1|2|max|N1|max|?:|"},
		{"N0/(N1/N2)/1e-7", "N0 / (N1 / N2) / 1e-07", "N0|N1|N2|/|/|1e-07|/|"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_formula *f;
		char text[200];
		int length;

		f = compile(cases[i].text, TACH_FORMULA_INFIX, 0);
		length = tach_formula_print(f, TACH_FORMULA_INFIX, text, sizeof text);
		CHECK(!strcmp(text, cases[i].infix), "%s", text);
		CHECK(length == (int)strlen(text), "length %d", length);
		length = tach_formula_print(f, TACH_FORMULA_POSTFIX, text, sizeof text);
		CHECK(!strcmp(text, cases[i].postfix), "%s", text);
		CHECK(tach_formula_print(f, TACH_FORMULA_POSTFIX, text, 5) == length &&
			      strlen(text) == 4,
		      "cut off like snprintf");
		tach_formula_free(f);
	}
}

/* No memory stays allocated, whether the formula compiles or not. */
static void nothing_is_kept(void)
{
	static const char *const text[] = {
		"N0 / N1 + 3", "N0 > N1 ? N0 : min(N1, 2)", "7", "N0 + ", "(N0", "N0 $ 1"};
	size_t before = 0;

	if (!HEAP_IS_KNOWN)
		SKIP(HEAP_SKIP);
	for (int round = 0; round < 60; round++) {
		/* The allocator caches some blocks of each size. */
		if (round == 30)
			before = heap_in_use();
		for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
			struct tach_formula *f = NULL;

			CHECK((tach_formula_compile(text[i], NULL, &f, NULL) == 0) == (i < 3));
			tach_formula_free(f);
		}
	}
	CHECK(heap_in_use() == before, "%zu bytes, were %zu", heap_in_use(), before);
}

int main(void)
{
	CASE(values);
	CASE(nothing_is_kept);
	CASE(longest_name);
	CASE(errors);
	CASE(bad_options);
	CASE(logic);
	CASE(parameters);
	CASE(large_numbers);
	CASE(long_chains);
	CASE(limits);
	CASE(division_by_zero);
	CASE(provenance);
	CASE(clocks_of_the_system);
	CASE(parts);
	CASE(error_bars);
	CASE(other_locale);
	CASE(printing);
	return check_done();
}
