/* SPDX-License-Identifier: MIT */
/* Output of benchmark programs, a part of tach/bench_main.h: rows of a table, comparisons. */
#ifndef TACH_BENCH_SHOW_H
#define TACH_BENCH_SHOW_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/bench.h>
#include <unistd.h>

/* One run of a benchmark. */
struct tach__bench_at {
	uint64_t number[TACH_BENCH_NUMBERS_MAX], threads; /* 0: not used */
};

struct tach__bench_main {
	struct tach_bench_options opt;
	enum tach_bench_format format;
	int list, details, npatterns;
	char **patterns;     /* extended regular expressions */
	const char *against; /* file of an earlier run, or NULL */
	char *earlier;	     /* its content */
	size_t earlier_length;
	const char *baseline; /* a benchmark's name; NULL: the first benchmark */
	double min_time;      /* seconds; 0: not given */
	double bound;	      /* relative, of --against; negative: not given */
	int number, bad;      /* benchmarks so far; one failed, or became worse */
	int width, rows, comparisons, worse, unknown, gone;
	int said;	/* 1: the line contains a comparison already */
	char head[512]; /* heading of the present rows */
	int allow_unknown, allow_gone;
	char unstable[512]; /* benchmarks whose time is uncertain */
	struct tach_bench *base;
	double *fit_n, *fit_ns; /* numbers and times of the present benchmark */
	size_t nfit, fit_room;
	char missing[256];
};

/* Shows the running benchmark, if standard error is a terminal. "": removes the line. */
__attribute__((unused)) static void tach__bench_progress(const char *name)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s%s", name, *name ? " ..." : "");
	fflush(stderr);
}

/* Prints a result, or the machine if bench is NULL. */
static int tach__bench_print(const struct tach_bench *bench, enum tach_bench_format format)
{
	int length = bench ? tach_bench_print(bench, format, TACH__NULL, 0)
			   : tach_bench_context(format, TACH__NULL, 0);
	/* The load may have more digits at the second call. */
	size_t size = TACH__CAST(size_t, length) + 64;
	char *text = TACH__CAST(char *, malloc(size));

	if (!text)
		return 1;
	if (bench)
		tach_bench_print(bench, format, text, size);
	else
		tach_bench_context(format, text, size);
	fputs(text, stdout);
	free(text);
	return 0;
}

/* Returns the content of a file, or NULL if it cannot be read. */
__attribute__((unused)) static char *tach__bench_read(const char *file, size_t *length)
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

/* Finds this benchmark (NULL: any) in the file of an earlier run, in either of the two formats.
 * Returns NULL if it is not there. */
static struct tach_bench *tach__bench_earlier(const struct tach__bench_main *m,
					      const char *name)
{
	const char *line = m->earlier, *end = line + m->earlier_length;
	struct tach_bench *found;

	if (tach_bench_load_google(line, m->earlier_length, name, &found, TACH__NULL) == 0)
		return found;
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

/* Returns 1 if the value is compared: values of single threads are not. */
__attribute__((unused)) static int tach__bench_judged(const struct tach_bench *bench)
{
	struct tach_bench_quantity q;
	int n = 0;

	memset(&q, 0, sizeof q);
	for (int i = 0; tach_bench_value(bench, i, &q) == 0; i++)
		n += !q.thread;
	return n;
}

static void tach__bench_say(struct tach__bench_main *m, const char *name, const char *text)
{
	char shown[128];

	tach_printable(name, shown, sizeof shown);
	printf("%s%s %s", m->said++ ? "; " : "  ", shown, text);
}

/* Compares a value of this run with the same value of the earlier run. */
static void tach__bench_verdict(struct tach__bench_main *m, const struct tach_bench *earlier,
				const struct tach_bench *bench, int i)
{
	struct tach_change_result is;
	struct tach_bench_quantity q;
	char text[160], line[256];
	double bound;
	int code;

	memset(&q, 0, sizeof q);
	memset(&is, 0, sizeof is);
	if (tach_bench_value(bench, i, &q) != 0 || q.thread)
		return;
	bound = m->bound > 0			  ? m->bound
		: strncmp(q.name, "time", 4) == 0 ? 0.05
		: strcmp(q.name, "cpu time") == 0 ? 0.05
						  : 0.005;
	code = tach_bench_judge(earlier, bench, i, bound, 0.01 / m->comparisons, &is);
	if (code == TACH_ERR_NOTFOUND)
		tach__bench_say(m, q.name, "is new");
	if (code != 0)
		return;
	/* A ratio to a time of about 0 has no meaning. */
	if (q.flags & TACH_FLAG_SMALL) {
		tach__bench_say(m, q.name, "is about 0");
		return;
	}
	m->worse += is.verdict == TACH_CHANGE_WORSE;
	m->unknown += is.verdict == TACH_CHANGE_UNKNOWN;
	if (i && is.verdict == TACH_CHANGE_NONE && !m->details)
		return;
	tach_change_text(&is, text, sizeof text);
	snprintf(line, sizeof line, "%+.2f %%, %s (bound %.2g %%)", 100 * is.change, text,
		 100 * bound);
	tach__bench_say(m, q.name, line);
}

/* Lists the values that the earlier run has and this run does not have. */
static void tach__bench_gone(struct tach__bench_main *m, const struct tach_bench *earlier,
			     const struct tach_bench *bench)
{
	struct tach_bench_quantity old, now;

	memset(&old, 0, sizeof old);
	memset(&now, 0, sizeof now);
	for (int i = 0; tach_bench_value(earlier, i, &old) == 0; i++) {
		int found = 0;

		for (int k = 0; !found && tach_bench_value(bench, k, &now) == 0; k++)
			found = now.thread == old.thread && strcmp(now.name, old.name) == 0;
		if (found || old.thread)
			continue;
		tach__bench_say(m, old.name, "is gone");
		m->gone++;
	}
}

/* Compares this benchmark's time with the time of the first one, if possible. */
static void tach__bench_ratio(const struct tach_bench *base, const struct tach_bench *bench)
{
	struct tach_change_result is;
	struct tach_bench_quantity a, b;
	char name[256];

	memset(&is, 0, sizeof is);
	memset(&a, 0, sizeof a);
	memset(&b, 0, sizeof b);
	if (tach_bench_value(base, 0, &a) != 0 || tach_bench_value(bench, 0, &b) != 0 ||
	    (a.flags | b.flags) & TACH_FLAG_SMALL ||
	    tach_bench_judge(base, bench, 0, -1, 0.01, &is) != 0)
		return;
	tach_printable(tach_bench_name(base), name, sizeof name);
	if (is.low > 0 || is.high < 0)
		printf("  %.4g x %s", b.median / a.median, name);
	else if (is.verdict == TACH_CHANGE_NONE && !(is.low < -0.05))
		printf("  as %s", name);
	else
		printf("  %.4g x %s, cannot tell from the same", b.median / a.median, name);
}

/* Compares with an earlier run of the same benchmark, or with the time of the baseline. */
static void tach__bench_compare(struct tach__bench_main *m, const struct tach_bench *bench)
{
	m->said = 0;
	if (m->against) {
		struct tach_bench *earlier = tach__bench_earlier(m, tach_bench_name(bench));

		for (int i = 0; earlier && i < tach_bench_count(bench); i++)
			tach__bench_verdict(m, earlier, bench, i);
		if (earlier)
			tach__bench_gone(m, earlier, bench);
		else
			printf("  not in %s", m->against);
		tach_bench_free(earlier);
	} else if (m->base) {
		tach__bench_ratio(m->base, bench);
	}
	putchar('\n');
}

/* Prints the heading if it differs from the previous one. */
static void tach__bench_heading(struct tach__bench_main *m, const struct tach_bench *bench)
{
	char head[sizeof m->head];

	tach_bench_print(bench, TACH_BENCH_HEAD, head, sizeof head);
	if (strcmp(head, m->head) == 0)
		return;
	printf("%s%-*s%s\n", m->head[0] ? "\n" : "", m->width, "benchmark", head);
	memcpy(m->head, head, sizeof head);
}

/* A row of the table, or all details. */
static void tach__bench_show(struct tach__bench_main *m, const struct tach_bench *bench)
{
	char name[256];

	if (m->details) {
		m->bad |= tach__bench_print(bench, TACH_BENCH_TEXT);
	} else {
		tach__bench_heading(m, bench);
		tach_printable(tach_bench_name(bench), name, sizeof name);
		printf("%-*s", m->width, name);
		m->bad |= tach__bench_print(bench, TACH_BENCH_ROW);
	}
	if (!m->details || m->against || m->base)
		tach__bench_compare(m, bench);
	fflush(stdout);
}

/* Lists a time at the end if it is uncertain by more than 5 %. */
static void tach__bench_warn(struct tach__bench_main *m, const struct tach_bench *bench)
{
	size_t n = strlen(m->unstable);
	struct tach_bench_quantity q;
	char name[128];
	double off;

	memset(&q, 0, sizeof q);
	if (tach_bench_value(bench, 0, &q) != 0 || q.flags & TACH_FLAG_SMALL)
		return;
	off = 50 * (q.high - q.low) / q.median;
	tach_printable(tach_bench_name(bench), name, sizeof name);
	if (off > 5 && n + 1 < sizeof m->unstable)
		snprintf(m->unstable + n, sizeof m->unstable - n, "%s%s by %.0f %%",
			 n ? ", " : "", name, off);
}

/* Takes the result. */
__attribute__((unused)) static void tach__bench_done(struct tach__bench_main *m,
						     struct tach_bench *bench)
{
	if (*tach_bench_missing(bench))
		snprintf(m->missing, sizeof m->missing, "%s", tach_bench_missing(bench));
	tach__bench_warn(m, bench);
	if (m->format == TACH_BENCH_TEXT)
		tach__bench_show(m, bench);
	else if (m->format == TACH_BENCH_GOOGLE && m->rows++)
		fputs(",\n", stdout);
	if (m->format != TACH_BENCH_TEXT)
		m->bad |= tach__bench_print(bench, m->format);
	if (m->base)
		tach_bench_free(bench);
	else
		m->base = bench;
}

/* Adds a number of a benchmark, and its time. */
__attribute__((unused)) static void tach__bench_fit_add(struct tach__bench_main *m, double n,
							double ns)
{
	if (m->nfit == m->fit_room) {
		size_t room = m->fit_room ? 2 * m->fit_room : 64;
		double *more_n = TACH__CAST(double *, realloc(m->fit_n, room * sizeof *more_n));
		double *more_ns;

		if (more_n)
			m->fit_n = more_n;
		more_ns = TACH__CAST(double *, realloc(m->fit_ns, room * sizeof *more_ns));
		if (more_ns)
			m->fit_ns = more_ns;
		if (!more_n || !more_ns)
			return;
		m->fit_room = room;
	}
	m->fit_n[m->nfit] = n;
	m->fit_ns[m->nfit++] = ns;
}

/* Shows how the time of a benchmark grows with its number. */
__attribute__((unused)) static void tach__bench_grown(struct tach__bench_main *m,
						      const char *name)
{
	double factor, error;
	const char *law = tach_bench_fit(m->fit_n, m->fit_ns, m->nfit, &factor, &error);

	if (law && m->format == TACH_BENCH_TEXT)
		printf("%-*s %s, %.4g ns times that, error %.2g %%\n", m->width, name, law,
		       factor, 100 * error);
	m->nfit = 0;
}

#endif
