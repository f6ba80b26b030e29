/* SPDX-License-Identifier: MIT */
/*
 * tach derived eval: evaluates one formula with counts from the command line, or many formulas
 * with counts from lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tools/tach/batch.h"
#include "tools/tach/commands.h"
#include "tools/tach/derived.h"

enum { OPERANDS = TACH_FORMULA_OPERANDS_MAX };

/*
 * Parses a count below 2^63, which may be negative (a counter that decreased). Returns the text
 * after it.
 */
static const char *count(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = (uint64_t)strtoll(text, &end, 10);
	if (end == text || errno || strchr(" \t+", *text))
		return NULL;
	return end;
}

/* 17 digits restore the same double. The sign of NaN has no meaning. */
static void print_value(double value)
{
	printf(value != value ? "nan" : "%.17g", value);
}

static void print_flags(uint32_t flags)
{
	if (!(flags & (TACH_FLAG_DIVZERO | TACH_FLAG_CLOCK)))
		putchar('-');
	if (flags & TACH_FLAG_DIVZERO)
		printf("divzero");
	if (flags & TACH_FLAG_CLOCK)
		printf("%sclock", flags & TACH_FLAG_DIVZERO ? "," : "");
}

static struct tach_formula *compile(const struct derived_arguments *a, const char *text,
				    enum tach_formula_kind kind, int noperands,
				    struct tach_error *err)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_formula *f;

	opt.kind = kind;
	opt.noperands = noperands;
	opt.max_hz = a->max_hz;
	opt.tsc_hz = a->tsc_hz;
	return tach_formula_compile(text, &opt, &f, err) == 0 ? f : NULL;
}

/* N<i>=<count>, each once */
static int parse_operand(const char *text, uint64_t *n, unsigned char *given)
{
	char *end;
	unsigned long i;
	const char *rest;

	if (text[0] != 'N' || text[1] < '0' || text[1] > '9')
		return -1;
	i = strtoul(text + 1, &end, 10);
	if (i >= OPERANDS || *end != '=' || given[i])
		return -1;
	rest = count(end + 1, &n[i]);
	given[i] = 1;
	return rest && !*rest ? 0 : -1;
}

int derived_eval(const struct derived_arguments *a, int argc, char **argv)
{
	uint64_t n[OPERANDS] = {0};
	unsigned char given[OPERANDS] = {0};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *f;
	uint32_t flags = 0;
	double value;

	if (!argc) {
		fputs("tach derived eval: a formula expected\n", stderr);
		return print_usage_error("derived");
	}
	for (int i = 1; i < argc; i++)
		if (parse_operand(argv[i], n, given) < 0) {
			fprintf(stderr,
				"tach derived eval: N<number>=<count> expected, each once, not "
				"'%s'\n",
				argv[i]);
			return print_usage_error("derived");
		}
	f = compile(a, argv[0], a->postfix ? TACH_FORMULA_POSTFIX : TACH_FORMULA_INFIX, -1,
		    &err);
	if (!f) {
		fprintf(stderr, "tach derived eval: %s\n", err.text);
		if (err.column)
			fprintf(stderr, "  %s\n  %*s\n", argv[0], err.column, "^");
		return EXIT_NO;
	}
	for (int i = 0; i < OPERANDS; i++)
		if (tach_formula_uses(f, i) && !given[i]) {
			fprintf(stderr, "tach derived eval: N%d has no value\n", i);
			tach_formula_free(f);
			return EXIT_NO;
		}
	value = tach_formula_eval(f, n, a->elapsed_ns, &flags);
	print_value(value);
	if (flags) {
		putchar('\t');
		print_flags(flags);
	}
	putchar('\n');
	tach_formula_free(f);
	return EXIT_DONE;
}

/* ---- batch ---- */

static const char *after_blanks(const char *text)
{
	return text + strspn(text, " ");
}

/*
 * Parses counts separated by commas. Returns their number, or -1 on an error. Empty text gives
 * 0.
 */
static int parse_values(const char *text, uint64_t *n, struct tach_error *err)
{
	int i = 0;

	text = after_blanks(text);
	while (*text) {
		const char *rest = i < OPERANDS ? count(text, &n[i]) : NULL;

		rest = rest ? after_blanks(rest) : "?";
		if (*rest && *rest != ',') {
			snprintf(err->text, sizeof err->text,
				 i == OPERANDS
					 ? "more than %d values"
					 : "value %d, '%.*s', is no whole number of 63 bits",
				 i + (i < OPERANDS), (int)strcspn(text, ","), text);
			return -1;
		}
		i++;
		text = after_blanks(rest + (*rest == ','));
	}
	return i;
}

enum type { NOT_DERIVED, ADD, SUB, PS, ADD_PS, CMPD, POSTFIX, INFIX, NO_TYPE };

/* Accepts upper and lower case, with or without DERIVED_. */
static enum type type_of(const char *name)
{
	static const char *const names[] = {"NOT_DERIVED", "ADD",  "SUB",     "PS",
					    "ADD_PS",	   "CMPD", "POSTFIX", "INFIX"};
	int type = 0;

	if (!strncasecmp(name, "DERIVED_", 8))
		name += 8;
	while (type < NO_TYPE && strcasecmp(name, names[type]) != 0)
		type++;
	return (enum type)type;
}

/* Writes the postfix formula of a type that has none, for n operands. */
static void formula_of(enum type type, int n, char *text, size_t size)
{
	int rate = type == PS || type == ADD_PS;
	int last = type == PS ? 2 : type == NOT_DERIVED || type == CMPD ? 1 : n;
	size_t at = (size_t)snprintf(text, size, "N%d|", rate);

	for (int i = rate + 1; i < last; i++)
		at += (size_t)snprintf(text + at, size - at, "N%d|%s", i,
				       type == SUB ? "-|" : "+|");
	if (rate)
		snprintf(text + at, size - at, "#|*|N0|/|");
}

static struct tach_formula *of_line(const struct derived_arguments *a, const char *name,
				    const char *formula, int n, struct tach_error *err)
{
	enum type type = type_of(name);
	int least = type == PS ? 2 : type == ADD_PS ? 3 : 1;
	char text[16 * OPERANDS];

	if (type == POSTFIX)
		return compile(a, formula, TACH_FORMULA_POSTFIX, n, err);
	if (type == INFIX)
		return compile(a, formula, TACH_FORMULA_INFIX, n, err);
	if (type == NO_TYPE)
		snprintf(err->text, sizeof err->text, "no type '%.100s'", name);
	else if (n < least)
		snprintf(err->text, sizeof err->text, "'%.100s' needs %d value%s, not %d", name,
			 least, least > 1 ? "s" : "", n);
	if (type == NO_TYPE || n < least)
		return NULL;
	formula_of(type, n, text, sizeof text);
	return compile(a, text, TACH_FORMULA_POSTFIX, n, err);
}

/* Removes blanks around a field. */
static char *trimmed(char *field)
{
	size_t n;

	field += strspn(field, " ");
	for (n = strlen(field); n && field[n - 1] == ' '; n--)
		field[n - 1] = 0;
	return field;
}

static int answer_line(const struct derived_arguments *a, const struct batch *b)
{
	uint64_t n[OPERANDS] = {0};
	struct tach_error err = TACH_ERROR_INIT;
	char *line = b->text, *type = strsep(&line, "\t"), *formula = strsep(&line, "\t"),
	     *counts = strsep(&line, "\t");
	struct tach_formula *f = NULL;
	uint32_t flags = 0;
	int count = -1;

	if (b->nul)
		snprintf(err.text, sizeof err.text, "a NUL byte in the line");
	else if (!formula)
		snprintf(err.text, sizeof err.text, "type TAB formula TAB v0,v1,... expected");
	else
		count = parse_values(counts ? counts : "", n, &err);
	if (count >= 0)
		f = of_line(a, trimmed(type), formula, count, &err);
	if (!f) {
		printf("error");
		if (err.column)
			printf(" in column %d", err.column);
		printf(": %s\n", err.text);
		return -1;
	}
	print_value(tach_formula_eval(f, n, a->elapsed_ns, &flags));
	putchar('\t');
	print_flags(flags);
	putchar('\n');
	tach_formula_free(f);
	return 0;
}

int derived_batch(const struct derived_arguments *a, FILE *from)
{
	struct batch b = {.from = from, .command = "tach derived"};
	int status = EXIT_DONE;

	while (batch_next(&b))
		if (answer_line(a, &b) < 0)
			status = EXIT_NO;
	return batch_end(&b, status);
}
