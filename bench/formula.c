/* SPDX-License-Identifier: MIT */
/*
 * Formulas and definition files, on this machine, without a PMU.
 *
 * `formula` measures instructions (it runs itself under callgrind) and time of one evaluation.
 * It compares code compiled by this library, code of the C compiler, and an evaluator that
 * parses the text each time like PAPI's (bench/README.md). `formula OP N` runs that operation N
 * times, for callgrind.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
#include <tach/derived.h>

/* Counts as a loop would read them; volatile, so that C also loads them. */
static volatile uint64_t counts[4] = {1000003, 500009, 20011, 3001};
static double result;

/* ---- the formulas: a/b, five operators that fold, and five that cannot be folded ---- */

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

#define COUNT(i)   ((double)(int64_t)n[i])
#define RATIO(n)   (COUNT(0) / COUNT(1))
#define FOLDS(n)   ((COUNT(0) + COUNT(1) * 2 + COUNT(2) * 4) / COUNT(3))
#define PROGRAM(n) ((COUNT(0) - COUNT(1) + COUNT(2)) * COUNT(3) / 1000 + COUNT(0))

static __attribute__((noinline)) double c_ratio(const volatile uint64_t *n)
{
	return RATIO(n);
}

static __attribute__((noinline)) double c_folds(const volatile uint64_t *n)
{
	return FOLDS(n);
}

static __attribute__((noinline)) double c_program(const volatile uint64_t *n)
{
	return PROGRAM(n);
}

static void c(int which)
{
	static double (*const functions[])(const volatile uint64_t *) = {c_ratio, c_folds,
									 c_program};

	result = functions[which](counts);
}

/*
 * An evaluator that parses the text every time: it copies and examines each token, converts
 * operands and constants from decimal, and applies operators to a stack.
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
			stack[top++] = (double)(int64_t)n[atoi(token + 1)];
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
	if (tach_derived_create(NULL, &d, NULL))
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
	int done; /* operations per call */
} ops[] = {
	{"empty", "the loop (its instructions are subtracted)", empty, 0, 1},
	{"tach-ratio", "a/b, compiled by tach", tach, 0, 1},
	{"c-ratio", "a/b, compiled by the C compiler", c, 0, 1},
	{"text-ratio", "a/b, read from text", text, 0, 1},
	{"tach-folds", "(a + 2b + 4c) / d, tach", tach, 1, 1},
	{"c-folds", "(a + 2b + 4c) / d, C", c, 1, 1},
	{"text-folds", "(a + 2b + 4c) / d, text", text, 1, 1},
	{"tach-program", "(a - b + c) * d / 1000 + a, tach", tach, 2, 1},
	{"c-program", "(a - b + c) * d / 1000 + a, C", c, 2, 1},
	{"text-program", "(a - b + c) * d / 1000 + a, text", text, 2, 1},
	{"load", "load PAPI's preset file", load, 0, 1},
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

/* Returns the median of five runs. */
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

/*
 * Instructions in repeat() and its callees, of a copy of this program under callgrind; -1: not
 * available.
 */
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

/* Per iteration: the difference of two runs of different length. */
static double instructions(const char *self, const struct op *op, long n)
{
	double a = collected(self, op->name, n), b = collected(self, op->name, 2 * n);

	return a < 0 || b < 0 ? -1 : (b - a) / (double)n;
}

static void show(const char *self, const struct op *op)
{
	static double loop;
	bool slow = op->run == load;
	double count = instructions(self, op, slow ? 1 : 1000 / op->done) - loop;

	printf("%-43s %14.1f %12.1f\n", op->label, count / op->done,
	       1e9 * median_seconds(op, slow ? 100 : 1000000 / op->done) / op->done);
	if (op == ops)
		loop = count;
}

static void prepare(void)
{
	glob_t found;

	for (int i = 0; i < 3; i++) {
		struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;

		opt.kind = TACH_FORMULA_POSTFIX;
		if (tach_formula_compile(texts[i], &opt, &formulas[i], NULL))
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
	for (int i = 0; i < NOPS; i++)
		if (ops[i].run != load || file_length)
			show(argv[0], &ops[i]);
	return 0;
}
