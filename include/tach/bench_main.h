/* SPDX-License-Identifier: MIT */
/* A main for programs made of TACH_BENCH: include it in one file. It prints, which the library
 * itself never does. */
#ifndef TACH_BENCH_MAIN_H
#define TACH_BENCH_MAIN_H

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/bench_show.h>
#include <unistd.h>

static void tach__bench_usage(FILE *to)
{
	fputs("usage: PROGRAM [OPTION]... [REGEX]...\n\n"
	      "Runs the benchmarks whose names match a REGEX (extended; all without one) and "
	      "no\n"
	      "!REGEX, and compares each with the first in time, or with itself in an earlier "
	      "run.\n\n"
	      "  --events LIST    what to count (cycles,instructions); any number of events\n"
	      "  --samples N      samples of each (31)\n"
	      "  --seconds S      how long a sample lasts at least (0.001)\n"
	      "  --min-time S     how long all samples of a benchmark last at least\n"
	      "  --warmup S       how long each runs before its first sample (0)\n"
	      "  --wall           the time on the clock alone, without the processor's time\n"
	      "  --baseline NAME  compare with this benchmark, which is run first\n"
	      "  --against FILE   compare with what --json wrote there, or google-benchmark\n"
	      "  --bound PERCENT  with --against: what may change (5 in time, 0.5 in counts)\n"
	      "  --allow LIST     with --against, pass although: cannot-tell, gone\n"
	      "  --details        all of each result, instead of a row in a table\n"
	      "  --json           one JSON object a line\n"
	      "  --csv            a line for each value\n"
	      "  --markdown       a table with a row for each value\n"
	      "  --google         JSON as google-benchmark's compare.py reads it\n"
	      "  --list           names only\n"
	      "  --help           this\n\n"
	      "Without a PMU, tach run --emulate -- PROGRAM --events instructions counts\n"
	      "instructions exactly; times are then the emulator's.\n\n"
	      "Exit status: 0 done, 1 a benchmark failed or with --against became worse, 2 "
	      "bad\n"
	      "usage or no benchmark matches, 3 with --against undecided, or a value "
	      "is\n"
	      "gone.\n",
	      to);
}

/* ---- options ---- */

static double tach__bench_number(const char *word)
{
	char *end;
	double v = strtod(word, &end);

	return *word && !*end && v > 0 && v < 1e9 ? v : 0;
}

static int tach__bench_allow(struct tach__bench_main *m, const char *list)
{
	m->allow_unknown = strcmp(list, "gone") != 0;
	m->allow_gone = strcmp(list, "cannot-tell") != 0;
	return strcmp(list, "gone") == 0 || strcmp(list, "cannot-tell") == 0 ||
	       strcmp(list, "cannot-tell,gone") == 0 || strcmp(list, "gone,cannot-tell") == 0;
}

/* Returns the number of words used, 0: not one of our options. */
static int tach__bench_option(struct tach__bench_main *m, const char *word, const char *value)
{
	if (strcmp(word, "--json") == 0)
		return m->format = TACH_BENCH_JSON, 1;
	if (strcmp(word, "--google") == 0)
		return m->format = TACH_BENCH_GOOGLE, 1;
	if (strcmp(word, "--csv") == 0)
		return m->format = TACH_BENCH_CSV, 1;
	if (strcmp(word, "--markdown") == 0)
		return m->format = TACH_BENCH_MARKDOWN, 1;
	if (strcmp(word, "--wall") == 0)
		return m->opt.cpu = 0, 1;
	if (strcmp(word, "--details") == 0)
		return m->details = 1, 1;
	if (strcmp(word, "--list") == 0)
		return m->list = 1, 1;
	if (!value)
		return 0;
	if (strcmp(word, "--events") == 0)
		return m->opt.events = value, 2;
	if (strcmp(word, "--against") == 0)
		return m->against = value, 2;
	if (strcmp(word, "--baseline") == 0)
		return m->baseline = value, 2;
	if (strcmp(word, "--allow") == 0)
		return tach__bench_allow(m, value) ? 2 : 0;
	if (strcmp(word, "--bound") == 0)
		return (m->bound = tach__bench_number(value) / 100) > 0 ? 2 : 0;
	if (strcmp(word, "--samples") == 0)
		return (m->opt.samples = TACH__CAST(uint32_t, tach__bench_number(value))) ? 2
											  : 0;
	if (strcmp(word, "--min-time") == 0)
		return (m->min_time = tach__bench_number(value)) > 0 ? 2 : 0;
	if (strcmp(word, "--warmup") == 0)
		return (m->opt.warmup_seconds = tach__bench_number(value)) > 0 ? 2 : 0;
	if (strcmp(word, "--seconds") == 0)
		return (m->opt.sample_seconds = tach__bench_number(value)) > 0 ? 2 : 0;
	return 0;
}

/* ---- one benchmark ---- */

static void tach__bench_one(struct tach__bench_main *m, const struct tach_bench_case *c,
			    const char *name, const struct tach__bench_at *at)
{
	uint64_t n[TACH_BENCH_NUMBERS_MAX];
	struct tach_bench_options mine = m->opt;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench;
	int code;

	memcpy(n, at->number, sizeof n);
	mine.empty = c->empty;
	mine.counters = c->counters;
	mine.before = c->before;
	if (m->min_time > 0)
		mine.sample_seconds = m->min_time / (m->opt.samples ? m->opt.samples : 31);
	mine.threads = TACH__CAST(uint32_t, at->threads);
	mine.unit = c->units ? c->unit : TACH__NULL;
	mine.units = c->units ? c->units(n[0], n[1], n[2]) : 0;
	tach__bench_progress(name);
	if (c->setup)
		c->setup(n[0], n[1], n[2]);
	code = tach_bench_run(name, c->body, n, &mine, &bench, &err);
	if (c->teardown)
		c->teardown(n[0], n[1], n[2]);
	tach__bench_progress("");
	if (code == 0) {
		struct tach_bench_quantity q;

		memset(&q, 0, sizeof q);
		if (c->complexity && tach_bench_value(bench, 0, &q) == 0)
			tach__bench_fit_add(m, TACH__CAST(double, n[0]), q.median);
		tach__bench_done(m, bench);
		return;
	}
	fprintf(stderr, "%s: %s\n", name, err.text);
	m->bad = 1;
}

/* ---- all of them ---- */

/* Returns 1 if the name matches, 0 if not, or -1 if the text is not a regular expression. Few
 * characters in names have a meaning in regular expressions. */
static int tach__bench_matches(const char *pattern, const char *name)
{
	regex_t compiled;
	int hit;

	if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return -1;
	hit = regexec(&compiled, name, 0, TACH__NULL, 0) == 0;
	regfree(&compiled);
	return hit;
}

static int tach__bench_wanted(const struct tach__bench_main *m, const char *name)
{
	int hit = 0, wants = 0;

	for (int i = 0; i < m->npatterns; i++) {
		int without = m->patterns[i][0] == '!';

		if (without && tach__bench_matches(m->patterns[i] + 1, name) == 1)
			return 0;
		wants |= !without;
		hit |= !without && tach__bench_matches(m->patterns[i], name) == 1;
	}
	return hit | !wants;
}

typedef void tach__bench_visit(struct tach__bench_main *m, const struct tach_bench_case *c,
			       const char *name, const struct tach__bench_at *at);

/* Returns the number of this axis for combination `*rest`, and divides *rest by the size of the
 * axis. */
static uint64_t tach__bench_pick(const struct tach_bench_axis *axis, uint64_t *rest)
{
	uint64_t n = axis->count ? axis->number[*rest % axis->count] : 0;

	*rest /= axis->count ? axis->count : 1;
	return n;
}

/* Writes "name/8/2/threads:4". `growing`: writes * for the first number. */
static void tach__bench_call_it(const struct tach_bench_case *c,
				const struct tach__bench_at *at, int growing, char *name,
				size_t size)
{
	size_t n = TACH__CAST(size_t, snprintf(name, size, "%s", c->name));

	for (int i = 0; i < TACH_BENCH_NUMBERS_MAX && n < size; i++) {
		if (c->axis[i].count && i == 0 && growing)
			n += TACH__CAST(size_t, snprintf(name + n, size - n, "/*"));
		else if (c->axis[i].count)
			n += TACH__CAST(size_t, snprintf(name + n, size - n, "/%" PRIu64,
							 at->number[i]));
	}
	if (c->threads.count && n < size)
		snprintf(name + n, size - n, "/threads:%" PRIu64, at->threads);
}

static void tach__bench_walk(struct tach__bench_main *m, tach__bench_visit *visit)
{
	char name[256];

	for (const struct tach_bench_case *c = tach_bench_cases(); c; c = c->next) {
		struct tach__bench_at at;
		uint64_t i = 0, rest;

		do {
			rest = i++;
			for (int k = 0; k < TACH_BENCH_NUMBERS_MAX; k++)
				at.number[k] = tach__bench_pick(&c->axis[k], &rest);
			at.threads = tach__bench_pick(&c->threads, &rest);
			if (rest)
				break;
			tach__bench_call_it(c, &at, 0, name, sizeof name);
			if (tach__bench_wanted(m, name))
				visit(m, c, name, &at);
			/* The first number changes fastest. */
			if (m->nfit && i % (c->axis[0].count ? c->axis[0].count : 1) == 0) {
				tach__bench_call_it(c, &at, 1, name, sizeof name);
				tach__bench_grown(m, name);
			}
		} while (1);
	}
}

static void tach__bench_count(struct tach__bench_main *m, const struct tach_bench_case *c,
			      const char *name, const struct tach__bench_at *at)
{
	struct tach_bench *earlier = m->against ? tach__bench_earlier(m, name) : TACH__NULL;
	int length = TACH__CAST(int, strlen(name));

	(void)c;
	(void)at;
	m->number++;
	m->width = length > m->width ? length : m->width;
	m->comparisons += earlier ? tach__bench_judged(earlier) : 0;
	tach_bench_free(earlier);
	if (m->list)
		puts(name);
}

static void tach__bench_first(struct tach__bench_main *m, const struct tach_bench_case *c,
			      const char *name, const struct tach__bench_at *at)
{
	if (strcmp(name, m->baseline) == 0)
		tach__bench_one(m, c, name, at);
	m->nfit = 0;
}

static void tach__bench_rest(struct tach__bench_main *m, const struct tach_bench_case *c,
			     const char *name, const struct tach__bench_at *at)
{
	if (!m->baseline || strcmp(name, m->baseline) != 0)
		tach__bench_one(m, c, name, at);
}

static void tach__bench_all(struct tach__bench_main *m)
{
	m->width = 12;
	tach__bench_walk(m, tach__bench_count);
	if (m->number == 0) {
		fprintf(stderr, "no benchmark has that name; --list shows them\n");
		m->bad = 2;
	}
	if (m->list || m->bad)
		return;
	if (m->format == TACH_BENCH_GOOGLE)
		fputs("{\"context\": ", stdout);
#ifndef __OPTIMIZE__
	fprintf(stderr, "warning: this program was compiled without optimisation\n");
#endif
	if (m->format == TACH_BENCH_TEXT || m->format == TACH_BENCH_GOOGLE)
		m->bad |= tach__bench_print(TACH__NULL, m->format);
	if (m->format == TACH_BENCH_CSV)
		fputs("benchmark,quantity,thread,unit,median,low,high,confidence,mad,"
		      "samples\r\n",
		      stdout);
	if (m->format == TACH_BENCH_MARKDOWN)
		puts("| benchmark | quantity | median | interval | confidence | samples |\n"
		     "|---|---|---:|---:|---:|---:|");
	if (m->format == TACH_BENCH_GOOGLE)
		fputs(",\n\"benchmarks\": [\n", stdout);
	if (m->baseline) {
		tach__bench_walk(m, tach__bench_first);
		if (!m->base) {
			fprintf(stderr, "no benchmark '%s' runs; --list shows them\n",
				m->baseline);
			m->bad = 2;
		}
	}
	tach__bench_walk(m, tach__bench_rest);
	if (m->format == TACH_BENCH_GOOGLE)
		puts("\n]}");
	if (m->missing[0] && m->format == TACH_BENCH_TEXT)
		printf("%s\n", m->missing);
	if (m->unstable[0])
		fprintf(m->format == TACH_BENCH_TEXT ? stdout : stderr,
			"warning: times are uncertain: %s; more --samples, a longer --min-time "
			"or a quieter machine help\n",
			m->unstable);
	if (m->worse || m->unknown || m->gone)
		printf("%d of %d comparisons worse, %d undecided, %d gone. At most 1 %% "
		       "of comparisons without a change are called worse.\n",
		       m->worse, m->comparisons, m->unknown, m->gone);
	if (m->against && !m->comparisons && m->format == TACH_BENCH_TEXT) {
		printf("nothing was compared: %s has none of these benchmarks\n", m->against);
		m->gone++;
	}
	if (m->worse && !m->bad)
		m->bad = 1;
	if (((m->unknown && !m->allow_unknown) || (m->gone && !m->allow_gone)) && !m->bad)
		m->bad = 3;
	tach_bench_free(m->base);
	free(m->fit_n);
	free(m->fit_ns);
}

/* Shows a comparison. Returns 0 if there is nothing to compare with. */
static int tach__bench_comparable(struct tach__bench_main *m, const char *program)
{
	struct tach_bench *any;

	if (m->format != TACH_BENCH_TEXT) {
		fprintf(stderr, "%s: only the table shows a comparison: leave out --against\n",
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
		fprintf(stderr, "%s: %s: not what --json or google-benchmark writes\n", program,
			m->against);
	tach_bench_free(any);
	return any != TACH__NULL;
}

/* If a failed write were not reported, lost output would look like empty output. */
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
	m.opt.cpu = 1;
	m.patterns = argv + 1;
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
		if (took == 0 && tach__bench_matches(argv[i] + (argv[i][0] == '!'), "") < 0) {
			fprintf(stderr, "%s: no regular expression: '%s'\n", argv[0], argv[i]);
			return 2;
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
	return tach__bench_flush(argv[0]) && !m.bad ? 1 : m.bad;
}

#endif
