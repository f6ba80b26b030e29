/* SPDX-License-Identifier: MIT */
/*
 * A main for programs made of TACH_BENCH: include it in one file. It prints, as the library
 * itself never does.
 */
#ifndef TACH_BENCH_MAIN_H
#define TACH_BENCH_MAIN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/bench.h>

static void tach__bench_usage(FILE *to)
{
	fputs("usage: PROGRAM [--events LIST] [--samples N] [--json] [--list] [PATTERN]...\n\n"
	      "Runs the benchmarks whose names contain a PATTERN (all without one), then "
	      "compares\n"
	      "each with the first in time.\n\n"
	      "  --events LIST  what to count (cycles,instructions); any number of events\n"
	      "  --samples N    samples of each (31)\n"
	      "  --json         one JSON object a line\n"
	      "  --list         names only\n\n"
	      "Exit status: 0 done, 1 a benchmark failed, 2 bad usage.\n",
	      to);
}

static int tach__bench_print(const struct tach_bench *bench, enum tach_bench_format format)
{
	int length = tach_bench_format(bench, format, NULL, 0);
	char *text = (char *)malloc((size_t)length + 1);

	if (!text)
		return 1;
	tach_bench_format(bench, format, text, (size_t)length + 1);
	fputs(text, stdout);
	free(text);
	return 0;
}

static void tach__bench_against(const struct tach_bench *base, const struct tach_bench *bench)
{
	struct tach_bench_difference d;

	if (tach_bench_compare(base, bench, 0, &d) == 0)
		printf("  %s %s: %+.4f ns (p %.2g)\n",
		       d.differs ? "differs from" : "no difference to", tach_bench_name(base),
		       d.shift, d.p);
}

static int tach__bench_wanted(const char *name, int argc, char **argv)
{
	int hit = argc == 0;

	for (int i = 0; i < argc; i++)
		hit |= strstr(name, argv[i]) != NULL;
	return hit;
}

static int tach__bench_all(const struct tach_bench_options *opt, enum tach_bench_format format,
			   int argc, char **argv)
{
	struct tach_bench *base = NULL;
	int bad = 0;

	for (const struct tach_bench_case *c = tach_bench_cases(); c; c = c->next) {
		struct tach_bench_options mine = *opt;
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_bench *bench;

		if (!tach__bench_wanted(c->name, argc, argv))
			continue;
		mine.empty = c->empty;
		if (tach_bench_run(&bench, c->name, c->body, NULL, &mine, &err) != 0) {
			fprintf(stderr, "%s: %s\n", c->name, err.text);
			bad = 1;
			continue;
		}
		bad |= tach__bench_print(bench, format);
		if (base && format == TACH_BENCH_TEXT)
			tach__bench_against(base, bench);
		if (base)
			tach_bench_free(bench);
		else
			base = bench;
	}
	tach_bench_free(base);
	return bad;
}

int main(int argc, char **argv)
{
	struct tach_bench_options opt;
	enum tach_bench_format format = TACH_BENCH_TEXT;
	int patterns = 0;

	memset(&opt, 0, sizeof opt);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			format = TACH_BENCH_JSON;
		} else if (strcmp(argv[i], "--events") == 0 && i + 1 < argc) {
			opt.events = argv[++i];
		} else if (strcmp(argv[i], "--samples") == 0 && i + 1 < argc &&
			   atoi(argv[i + 1]) > 0) {
			opt.samples = (uint32_t)atoi(argv[++i]);
		} else if (strcmp(argv[i], "--list") == 0) {
			for (const struct tach_bench_case *c = tach_bench_cases(); c;
			     c = c->next)
				puts(c->name);
			return 0;
		} else if (argv[i][0] == '-') {
			int help = strcmp(argv[i], "--help") == 0;

			tach__bench_usage(help ? stdout : stderr);
			return help ? 0 : 2;
		} else {
			argv[patterns++] = argv[i];
		}
	}
	return tach__bench_all(&opt, format, patterns, argv);
}

#endif
