/* SPDX-License-Identifier: MIT */
/*
 * A main for programs made of TACH_BENCH: include it in one file. It prints, as the library
 * itself never does.
 */
#ifndef TACH_BENCH_MAIN_H
#define TACH_BENCH_MAIN_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/bench.h>
#include <unistd.h>

struct tach__bench_main {
	struct tach_bench_options opt;
	enum tach_bench_format format;
	int list, npatterns;
	char **patterns;
	const char *against; /* file of an earlier run, or NULL */
	char *earlier;	     /* what is in it */
	size_t earlier_length;
	int number, bad; /* benchmarks so far; one failed */
	struct tach_bench *base;
	char missing[256];
};

static void tach__bench_usage(FILE *to)
{
	fputs("usage: PROGRAM [--events LIST] [--samples N] [--seconds S] [--json]\n"
	      "               [--against FILE] [--list] [PATTERN]...\n\n"
	      "Runs the benchmarks whose names contain a PATTERN (all without one), and "
	      "compares\n"
	      "each with the first in time, or with itself in an earlier run.\n\n"
	      "  --events LIST   what to count (cycles,instructions); any number of events\n"
	      "  --samples N     samples of each (31)\n"
	      "  --seconds S     how long a sample lasts at least (0.001)\n"
	      "  --json          one JSON object a line\n"
	      "  --against FILE  compare with what --json wrote there\n"
	      "  --list          names only\n"
	      "  --help          this\n\n"
	      "Exit status: 0 done, 1 a benchmark failed or none matches, 2 bad usage.\n",
	      to);
}

/* ---- options ---- */

static double tach__bench_number(const char *word)
{
	char *end;
	double v = strtod(word, &end);

	return *word && !*end && v > 0 && v < 1e9 ? v : 0;
}

/* How many words it took, 0: none of ours. */
static int tach__bench_option(struct tach__bench_main *m, const char *word, const char *value)
{
	if (strcmp(word, "--json") == 0)
		return m->format = TACH_BENCH_JSON, 1;
	if (strcmp(word, "--list") == 0)
		return m->list = 1, 1;
	if (!value)
		return 0;
	if (strcmp(word, "--events") == 0)
		return m->opt.events = value, 2;
	if (strcmp(word, "--against") == 0)
		return m->against = value, 2;
	if (strcmp(word, "--samples") == 0)
		return (m->opt.samples = TACH__CAST(uint32_t, tach__bench_number(value))) ? 2
											  : 0;
	if (strcmp(word, "--seconds") == 0)
		return (m->opt.sample_seconds = tach__bench_number(value)) > 0 ? 2 : 0;
	return 0;
}

/* ---- one benchmark ---- */

/* On a terminal, what is running; "": nothing any more. */
static void tach__bench_progress(const char *name)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s%s", name, *name ? " ..." : "");
	fflush(stderr);
}

static int tach__bench_print(const struct tach_bench *bench, enum tach_bench_format format)
{
	int length = tach_bench_print(bench, format, TACH__NULL, 0);
	char *text = TACH__CAST(char *, malloc(TACH__CAST(size_t, length) + 1));

	if (!text)
		return 1;
	tach_bench_print(bench, format, text, TACH__CAST(size_t, length) + 1);
	fputs(text, stdout);
	free(text);
	return 0;
}

static void tach__bench_compare(const struct tach_bench *base, const struct tach_bench *bench,
				const char *what, int quantity)
{
	struct tach_bench_difference d;
	struct tach_bench_quantity a, b;

	a.size = b.size = sizeof a;
	if (tach_bench_compare(base, bench, quantity, &d) != 0 ||
	    tach_bench_value(base, quantity, &a) != 0 ||
	    tach_bench_value(bench, quantity, &b) != 0)
		return;
	printf("  %s %s: %+.4f %s", d.differs ? "differs from" : "no difference to", what,
	       d.shift, quantity ? a.name : "ns");
	if (d.differs && !(a.flags & TACH_FLAG_SMALL) && !(b.flags & TACH_FLAG_SMALL))
		printf(", %.4g times as much", b.median / a.median);
	printf(" (p %.2g)\n", d.p);
}

/* A whole file; NULL: it cannot be read. */
static char *tach__bench_read(const char *file, size_t *length)
{
	FILE *from = fopen(file, "r");
	char *text = TACH__NULL, *more;
	size_t room = 0, n = 1;

	*length = 0;
	while (from && n) {
		if (*length == room) {
			room = room ? 2 * room : 65536;
			more = TACH__CAST(char *, realloc(text, room));
			if (!more)
				break;
			text = more;
		}
		n = fread(text + *length, 1, room - *length, from);
		*length += n;
	}
	if (from)
		fclose(from);
	return text;
}

/* The line of an earlier run that has this benchmark (NULL: any). NULL: there is none. */
static struct tach_bench *tach__bench_earlier(const struct tach__bench_main *m,
					      const char *name)
{
	const char *line = m->earlier, *end = line + m->earlier_length;
	struct tach_bench *found;

	while (line < end) {
		const char *next = TACH__CAST(
			const char *, memchr(line, '\n', TACH__CAST(size_t, end - line)));
		size_t n = TACH__CAST(size_t, (next ? next : end) - line);

		if (tach_bench_load(line, n, &found, TACH__NULL) == 0) {
			if (!name || strcmp(tach_bench_name(found), name) == 0)
				return found;
			tach_bench_free(found);
		}
		line += n + 1;
	}
	return TACH__NULL;
}

/* Takes the result. */
static void tach__bench_done(struct tach__bench_main *m, struct tach_bench *bench)
{
	struct tach_bench *earlier = TACH__NULL;

	m->bad |= tach__bench_print(bench, m->format);
	if (*tach_bench_missing(bench))
		snprintf(m->missing, sizeof m->missing, "%s", tach_bench_missing(bench));
	if (m->against && m->format == TACH_BENCH_TEXT) {
		earlier = tach__bench_earlier(m, tach_bench_name(bench));
		for (int i = 0; earlier && i < tach_bench_count(bench); i++)
			tach__bench_compare(earlier, bench, m->against, i);
		if (!earlier)
			printf("  %s does not have it\n", m->against);
		tach_bench_free(earlier);
	} else if (m->base && m->format == TACH_BENCH_TEXT) {
		tach__bench_compare(m->base, bench, tach_bench_name(m->base), 0);
	}
	if (m->base)
		tach_bench_free(bench);
	else
		m->base = bench;
}

static void tach__bench_one(struct tach__bench_main *m, const struct tach_bench_case *c,
			    const char *name, uint64_t arg)
{
	struct tach_bench_options mine = m->opt;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench;
	int code;

	mine.empty = c->empty;
	mine.unit = c->units ? c->unit : TACH__NULL;
	mine.units = c->units ? c->units(arg) : 0;
	tach__bench_progress(name);
	if (c->setup)
		c->setup(arg);
	code = tach_bench_run(name, c->body, &arg, &mine, &bench, &err);
	if (c->teardown)
		c->teardown(arg);
	tach__bench_progress("");
	if (code == 0) {
		tach__bench_done(m, bench);
		return;
	}
	fprintf(stderr, "%s: %s\n", name, err.text);
	m->bad = 1;
}

/* ---- all of them ---- */

static int tach__bench_wanted(const struct tach__bench_main *m, const char *name)
{
	int hit = m->npatterns == 0;

	for (int i = 0; i < m->npatterns; i++)
		hit |= strstr(name, m->patterns[i]) != TACH__NULL;
	return hit;
}

static void tach__bench_all(struct tach__bench_main *m)
{
	char name[256];

	for (const struct tach_bench_case *c = tach_bench_cases(); c; c = c->next) {
		for (uint32_t i = 0; i < (c->nargs ? c->nargs : 1); i++) {
			uint64_t arg = c->nargs ? c->args[i] : 0;

			snprintf(name, sizeof name, "%s", c->name);
			if (c->nargs)
				snprintf(name, sizeof name, "%s/%" PRIu64, c->name, arg);
			if (!tach__bench_wanted(m, name))
				continue;
			m->number++;
			if (m->list)
				puts(name);
			else
				tach__bench_one(m, c, name, arg);
		}
	}
	if (m->number == 0) {
		fprintf(stderr, "no benchmark has that name; --list shows them\n");
		m->bad = 1;
	}
	if (m->missing[0] && m->format == TACH_BENCH_TEXT)
		printf("%s\n", m->missing);
	tach_bench_free(m->base);
}

/* Whether there is something to compare with, and it will be seen. */
static int tach__bench_comparable(struct tach__bench_main *m, const char *program)
{
	struct tach_bench *any;

	if (m->format == TACH_BENCH_JSON) {
		fprintf(stderr, "%s: --json shows no comparison: leave out --against\n",
			program);
		return 0;
	}
	m->earlier = tach__bench_read(m->against, &m->earlier_length);
	if (!m->earlier) {
		fprintf(stderr, "%s: %s: %s\n", program, m->against, strerror(errno));
		return 0;
	}
	any = tach__bench_earlier(m, TACH__NULL);
	if (!any)
		fprintf(stderr, "%s: %s: not what --json writes\n", program, m->against);
	tach_bench_free(any);
	return any != TACH__NULL;
}

/* Output that is lost without a word would pass for none. */
static int tach__bench_flush(const char *program)
{
	if (!ferror(stdout) && fflush(stdout) == 0)
		return 0;
	fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct tach__bench_main m;
	int took;

	memset(&m, 0, sizeof m);
	m.patterns = argv;
	for (int i = 1; i < argc; i += took) {
		took = tach__bench_option(&m, argv[i], i + 1 < argc ? argv[i + 1] : TACH__NULL);
		if (took == 0 && argv[i][0] == '-') {
			int help = strcmp(argv[i], "--help") == 0;

			if (!help)
				fprintf(stderr, "%s: cannot use '%s%s%s'\n", argv[0], argv[i],
					i + 1 < argc ? " " : "",
					i + 1 < argc ? argv[i + 1] : "");
			tach__bench_usage(help ? stdout : stderr);
			return help ? 0 : 2;
		}
		if (took == 0) {
			m.patterns[m.npatterns++] = argv[i];
			took = 1;
		}
	}
	if (m.against && !tach__bench_comparable(&m, argv[0])) {
		free(m.earlier);
		return 2;
	}
	tach__bench_all(&m);
	free(m.earlier);
	return m.bad | tach__bench_flush(argv[0]);
}

#endif
