/* SPDX-License-Identifier: MIT */
/*
 * Formulas and definition files, on this machine, without a PMU:
 *
 *   formula	   instructions by callgrind (it runs itself under valgrind) and time, of one
 *		   evaluation: compiled here, by the C compiler, and by an evaluator that reads
 *the text each time as PAPI's does (bench/README.md) formula OP N  that operation N times: what
 *callgrind looks at
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
#include <tach/derived.h>

/* Counts as a loop would read them; volatile, so that C has to load them too. */
static volatile uint64_t counts[4] = {1000003, 500009, 20011, 3001};
static double result;

/* ---- the formulas: an a/b, five operators that fold, and five that cannot ---- */

static const char *const texts[] = {
	"N0|N1|/|",
	"N0|N1|2|*|+|N2|4|*|+|N3|/|",
	"N0|N1|-|N2|+|N3|*|1000|/|N0|+|",
};
static struct tach_formula *formulas[3];

static void tach(int which)
{
	uint32_t flags = 0;

	result = tach_formula_eval(formulas[which], (const uint64_t *)counts, 0, &flags);
}

static __attribute__((noinline)) double c_ratio(const volatile uint64_t *n)
{
	return (double)n[0] / (double)n[1];
}

static __attribute__((noinline)) double c_folds(const volatile uint64_t *n)
{
	return ((double)n[0] + (double)n[1] * 2 + (double)n[2] * 4) / (double)n[3];
}

static __attribute__((noinline)) double c_program(const volatile uint64_t *n)
{
	return ((double)n[0] - (double)n[1] + (double)n[2]) * (double)n[3] / 1000 +
	       (double)n[0];
}

static void c(int which)
{
	static double (*const functions[])(const volatile uint64_t *) = {c_ratio, c_folds,
									 c_program};

	result = functions[which](counts);
}

/*
 * What reading the text at every read means: each token is copied out and looked at, operands
 * and constants converted from decimal, operators applied to a stack.
 */
static double from_text(const char *formula, const volatile uint64_t *n)
{
	double stack[32];
	char token[64];
	int top = 0;

	while (*formula) {
		size_t length = 0;

		memset(token, 0, 16);
		while (*formula && *formula != '|')
			token[length++] = *formula++;
		formula += *formula == '|';
		if (!length)
			continue;
		if (token[0] == 'N') {
			stack[top++] = (double)n[atoi(token + 1)];
		} else if (token[0] >= '0' && token[0] <= '9') {
			stack[top++] = atoi(token);
		} else {
			double b = stack[--top], a = stack[--top];

			stack[top++] = token[0] == '+'	 ? a + b
				       : token[0] == '-' ? a - b
				       : token[0] == '*' ? a * b
							 : a / b;
		}
	}
	return stack[0];
}

static void text(int which)
{
	result = from_text(texts[which], counts);
}

/* ---- a whole file ---- */

static char *file;
static size_t file_length;

static void load(int which)
{
	struct tach_derived *d;

	(void)which;
	if (tach_derived_create(&d, NULL, NULL))
		return;
	tach_derived_load_text(d, "papi_events.csv", file, file_length, NULL);
	tach_derived_free(d);
}

static void empty(int which)
{
	result = which;
}

static const struct op {
	const char *name, *label;
	void (*run)(int which);
	int which;
} ops[] = {
	{"empty", "the loop (its instructions are subtracted)", empty, 0},
	{"tach-ratio", "a/b, compiled by tach", tach, 0},
	{"c-ratio", "a/b, compiled by the C compiler", c, 0},
	{"text-ratio", "a/b, read from text", text, 0},
	{"tach-folds", "(a + 2b + 4c) / d, tach", tach, 1},
	{"c-folds", "(a + 2b + 4c) / d, C", c, 1},
	{"text-folds", "(a + 2b + 4c) / d, text", text, 1},
	{"tach-program", "(a - b + c) * d / 1000 + a, tach", tach, 2},
	{"c-program", "(a - b + c) * d / 1000 + a, C", c, 2},
	{"text-program", "(a - b + c) * d / 1000 + a, text", text, 2},
	{"load", "load PAPI's preset file", load, 0},
};
enum { NOPS = sizeof ops / sizeof *ops };

static __attribute__((noinline)) void repeat(const struct op *op, long n)
{
	for (long i = 0; i < n; i++)
		op->run(op->which);
}

static double seconds(const struct op *op, long n)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	repeat(op, n);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/* The middle of five. */
static double median_seconds(const struct op *op, long n)
{
	double t[5];

	for (int i = 0; i < 5; i++) {
		int k = i;
		double now = seconds(op, n);

		for (; k > 0 && t[k - 1] > now; k--)
			t[k] = t[k - 1];
		t[k] = now;
	}
	return t[2] / (double)n;
}

/* Instructions in and below repeat(), of a copy of this program under callgrind; -1: cannot. */
static double collected(const char *self, const char *op, long n)
{
	char command[1024], line[512];
	double instructions = -1;
	FILE *out;

	snprintf(
		command, sizeof command,
		"valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no "
		"--toggle-collect=repeat %s %s %ld 2>&1",
		self, op, n);
	out = popen(command, "r");
	while (out && fgets(line, sizeof line, out)) {
		const char *at = strstr(line, "Collected : ");

		if (at)
			instructions = atof(at + strlen("Collected : "));
	}
	if (out)
		pclose(out);
	return instructions;
}

/* Per call and turn of the loop: the difference of two lengths of run. */
static double instructions(const char *self, const struct op *op)
{
	long few = op->run == load ? 1 : 1000;
	double a = collected(self, op->name, few), b = collected(self, op->name, 2 * few);

	return a < 0 || b < 0 ? -1 : (b - a) / (double)few;
}

static void prepare(void)
{
	glob_t found;

	for (int i = 0; i < 3; i++) {
		struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;

		opt.kind = TACH_FORMULA_POSTFIX;
		if (tach_formula_compile(&formulas[i], texts[i], &opt, NULL))
			exit(1);
	}
	if (glob("/usr/share/papi/*/papi_events.csv", 0, NULL, &found) == 0) {
		FILE *in = fopen(found.gl_pathv[0], "r");

		file = malloc(1 << 20);
		file_length = in && file ? fread(file, 1, 1 << 20, in) : 0;
		if (in)
			fclose(in);
		globfree(&found);
	}
}

int main(int argc, char **argv)
{
	prepare();
	if (argc == 3) {
		for (int i = 0; i < NOPS; i++)
			if (!strcmp(ops[i].name, argv[1]))
				repeat(&ops[i], atol(argv[2]));
		return 0;
	}
	printf("%-43s %14s %12s\n", "", "instructions", "ns");
	for (int i = 0; i < NOPS; i++) {
		static double loop;
		long n = ops[i].run == load ? 100 : 1000000;
		double count, ns;

		if (ops[i].run == load && !file_length)
			continue;
		count = instructions(argv[0], &ops[i]) - loop;
		ns = 1e9 * median_seconds(&ops[i], n);
		printf("%-43s %14.0f %12.1f\n", ops[i].label, count, ns);
		if (i == 0)
			loop = count;
	}
	return 0;
}
