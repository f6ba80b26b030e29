/* SPDX-License-Identifier: MIT */
/* The benchmark harness on a simulated machine where every number is known: see `step`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/bench.h"
#include "tests/check.h"

/*
 * An iteration of the body takes 9 ns and 4 counts, an iteration of the empty loop 2 ns and 1
 * count.
 */
static uint64_t clock_ns, counts, spike;
static unsigned calls;

static void body(void *context, uint64_t n)
{
	(void)context;
	calls++;
	clock_ns += 9 * n;
	counts += 4 * n;
	if (spike && calls % spike == 0)
		clock_ns += 1000 * n;
	clock_ns += calls % 3; /* a little noise, or the MAD would be 0 */
}

static void empty(void *context, uint64_t n)
{
	(void)context;
	clock_ns += 2 * n;
	counts += n;
}

static uint64_t clock_at, counts_at;

static void begin(struct tach__bench_source *source)
{
	(void)source;
	clock_at = clock_ns;
	counts_at = counts;
	clock_ns += 50; /* cost of measuring, the same in both loops */
	counts += 30;
}

static void end(struct tach__bench_source *source, uint64_t *delta, uint32_t *flags)
{
	delta[0] = clock_ns - clock_at;
	for (unsigned i = 1; i <= source->count; i++)
		delta[i] = counts - counts_at;
	flags[source->count] |= TACH_FLAG_RESCHEDULED;
}

static void sample(struct tach__bench_series *series, uint32_t n, double outlier)
{
	struct tach__bench_source source = {1, 50, begin, end, NULL, 1, 0, NULL};
	struct tach__bench_plan plan = {body, empty, NULL, 100, n};

	memset(series, 0, 2 * sizeof *series);
	series[0].sample = malloc(n * sizeof(double));
	series[1].sample = malloc(n * sizeof(double));
	CHECK(tach__bench_sample(&source, &plan, outlier, series) == 0, "no memory");
}

static void drop(struct tach__bench_series *series)
{
	free(series[0].sample);
	free(series[1].sample);
}

static void the_empty_loop_is_subtracted(void)
{
	struct tach__bench_series s[2];

	sample(s, 31, 5);
	CHECK(s[1].samples == 31 && s[1].sample[0] == 3 && s[1].sample[30] == 3);
	CHECK(s[1].empty == 1 + 30 / 100.0, "%g", s[1].empty);
	CHECK(s[1].flags == TACH_FLAG_RESCHEDULED && s[0].flags == 0);
	CHECK(fabs(s[0].sample[0] - 7) < 0.021, "%g", s[0].sample[0]);
	CHECK(s[0].resolution == 0.5 && s[1].resolution == 0, "50 ns in 100 iterations");
	drop(s);
}

/* A body with 3 counts per iteration shows exactly 3, for any number of iterations. */
static void whole_numbers_are_exact(void)
{
	struct tach__bench_source source = {1, 50, begin, end, NULL, 1, 0, NULL};
	double ns, count;
	struct tach__bench_series s[2] = {{.sample = &ns}, {.sample = &count}};

	for (uint64_t n = 1; n < 1000; n++) {
		struct tach__bench_plan plan = {body, empty, NULL, n, 1};

		CHECK(tach__bench_sample(&source, &plan, -1, s) == 0, "no memory");
		CHECK(count == 3, "%.17g in %llu iterations", count, (unsigned long long)n);
	}
}

/* Outliers are counted and stay in the result, because the machine behaves so. */
static void outliers_are_counted_and_stay(void)
{
	struct tach__bench_series s[2];
	double most = 0;

	spike = 10;
	calls = 0;
	sample(s, 31, 5);
	CHECK(s[0].outliers == 3 && s[0].samples == 31, "%u far off", s[0].outliers);
	for (int i = 0; i < 31; i++)
		most = s[0].sample[i] > most ? s[0].sample[i] : most;
	CHECK(most > 1000 && tach__bench_median(&s[0]) < 8, "in the order taken");
	drop(s);
	calls = 0;
	sample(s, 31, -1);
	CHECK(s[0].outliers == 0 && s[0].samples == 31);
	drop(s);
	spike = 0;
}

/* The machine slows by 2 % from loop to loop, so the second one seems longer. */
static double pace = 1;

static void slower_body(void *context, uint64_t n)
{
	(void)context;
	clock_ns += (uint64_t)(9000 * pace * (double)n);
	pace *= 1.02;
}

static void slower_empty(void *context, uint64_t n)
{
	(void)context;
	clock_ns += (uint64_t)(9000 * pace * (double)n);
	pace *= 1.02;
}

static void a_trend_favours_neither(void)
{
	struct tach__bench_source source = {0, 0, begin, end, NULL, 1, 0, NULL};
	struct tach__bench_plan plan = {slower_body, slower_empty, NULL, 100, 30};
	double x[30];
	struct tach__bench_series s = {.sample = x};
	int above = 0;

	CHECK(tach__bench_sample(&source, &plan, 5, &s) == 0, "no memory");
	for (int i = 0; i < 30; i++)
		above += x[i] > 0;
	CHECK(above == 15, "%d of 30 differences of equal loops are above 0", above);
}

static void iterations_last_long_enough(void)
{
	struct tach__bench_source source = {0, 0, begin, end, NULL, 1, 0, NULL};
	uint64_t n = tach__bench_choose(&source, body, empty, NULL, 1e6);

	CHECK(9 * n + 51 >= 1000000 && 9 * n < 2000000, "%llu", (unsigned long long)n);
	CHECK(tach__bench_choose(&source, body, empty, NULL, 1) == 1, "one is enough");
}

static void nothing(void *context, uint64_t n)
{
	(void)context;
	(void)n;
}

static void no_time(struct tach__bench_source *source, uint64_t *delta, uint32_t *flags)
{
	(void)source;
	(void)flags;
	delta[0] = 0;
}

/* Every other call takes long because something interrupted it. */
static void now_and_then(void *context, uint64_t n)
{
	static int turn;

	(void)context;
	clock_ns += turn++ % 2 ? n : n + 5000000;
}

static void an_interruption_is_not_taken_for_the_body(void)
{
	struct tach__bench_source source = {0, 0, begin, end, NULL, 1, 0, NULL};
	uint64_t n = tach__bench_choose(&source, now_and_then, empty, NULL, 1e6);

	CHECK(n >= 999950, "%llu", (unsigned long long)n);
}

static void a_clock_that_stands_still_is_survived(void)
{
	struct tach__bench_source source = {0, 0, begin, no_time, NULL, 1, 0, NULL};

	CHECK(tach__bench_choose(&source, nothing, nothing, NULL, 1e6) >= (uint64_t)1 << 40,
	      "gave up");
}

/* The empty loop has equal samples: with them, such a body would take 37 minutes. */
static void a_body_that_does_not_repeat_itself_is_survived(void)
{
	struct tach__bench_source source = {0, 0, begin, end, NULL, 1, 0, NULL};
	uint64_t n = tach__bench_choose(&source, nothing, empty, NULL, 1e6);

	CHECK(n >= 100000 && n <= 10000000, "%llu", (unsigned long long)n);
}

/* ---- the public face ---- */

static struct tach_bench *run(tach_bench_body f, const char *name)
{
	struct tach_bench_options opt = {.events = "", .iterations = 10, .samples = 25};
	struct tach_bench *bench = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_bench_run(name, f, NULL, &opt, &bench, &err) == 0, "%s", err.text);
	return bench;
}

static void a_run_without_events_gives_time(void)
{
	struct tach_bench *b = run(nothing, "no\"thing");
	struct tach_bench_quantity v = {.size = sizeof v};
	char text[2048];
	int n;

	CHECK(tach_bench_count(b) == 1 && tach_bench_passes(b) == 1, "%d values",
	      tach_bench_count(b));
	CHECK(tach_bench_iterations(b) == 10 && tach_bench_drift(b) == 0, "as told");
	CHECK(tach_bench_value(b, 0, &v) == 0 && strcmp(v.name, "time") == 0, "%s", v.name);
	CHECK(v.samples == 25 && v.low <= v.median && v.median <= v.high, "%u samples",
	      v.samples);
	CHECK(tach_bench_value(b, 1, &v) == TACH_ERR_INVAL, "there is one value");
	CHECK(tach_bench_value(b, -1, &v) == TACH_ERR_INVAL, "no number is negative");
	n = tach_bench_print(b, TACH_BENCH_JSON, text, sizeof text);
	CHECK(n == (int)strlen(text) && strstr(text, "\"name\":\"no\\\"thing\""), "%s", text);
	CHECK(tach_bench_print(b, TACH_BENCH_JSON, NULL, 0) == n, "the length without room");
	CHECK(tach_bench_print(b, TACH_BENCH_JSON, text, 10) == n && strlen(text) == 9,
	      "cut to size");
	tach_bench_free(b);
}

static void a_result_is_read_back_as_it_was_written(void)
{
	struct tach_bench_options opt = {
		.events = "", .iterations = 10, .unit = "\u00e9", .units = 3};
	struct tach_bench *b = NULL, *again = NULL;
	struct tach_change_result is = {.size = sizeof is};
	struct tach_error err = TACH_ERROR_INIT;
	char text[8192], twice[8192];
	int n;

	CHECK(tach_bench_run("a \"name\"", nothing, NULL, &opt, &b, &err) == 0, "%s", err.text);
	n = tach_bench_print(b, TACH_BENCH_JSON, text, sizeof text);
	CHECK(n < (int)sizeof text && strchr(text, '\n') == text + n - 1, "one line");
	CHECK(tach_bench_load(text, (size_t)n, &again, &err) == 0, "%s", err.text);
	CHECK(tach_bench_print(again, TACH_BENCH_JSON, twice, sizeof twice) == n &&
		      strcmp(text, twice) == 0,
	      "%s%s", text, twice);
	CHECK(tach_bench_judge(b, again, 0, 0, 0.01, &is) == 0 && is.old == is.now &&
	      is.verdict != TACH_CHANGE_WORSE);
	tach_bench_free(b);
	tach_bench_free(again);
}

static void other_texts_are_refused_with_their_place(void)
{
	static const struct {
		const char *text;
		int line, column;
	} bad[] = {
		{"", 1, 1},
		{"{\"schema\":\"other\"}", 1, 11},
		{"{}", 1, 1},
		{"\n [1]", 2, 2},
		{"{\"schema\":\"tach-bench-1\",\"name\":\"\",\"iterations\":-1}", 1, 49},
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_bench *b;
		int code = tach_bench_load(bad[i].text, strlen(bad[i].text), &b, &err);

		CHECK(code < 0 && !b && *err.text && err.line == bad[i].line &&
			      err.column == bad[i].column,
		      "%s: %d:%d %s", bad[i].text, err.line, err.column, err.text);
	}
}

static void bad_options_are_refused(void)
{
	static const struct tach_bench_options bad[] = {
		{.size = 3},
		{.samples = 10001},
		{.confidence = 1},
		{.confidence = -0.1},
		{.confidence = NAN},
		{.outlier = NAN},
		{.sample_seconds = 61},
		{.sample_seconds = -1},
		{.sample_seconds = NAN},
	};
	struct tach_bench *b;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tach_error err = TACH_ERROR_INIT;

		CHECK(tach_bench_run("x", nothing, NULL, &bad[i], &b, &err) == TACH_ERR_INVAL &&
			      !b && err.text[0],
		      "number %zu", i);
	}
	tach_bench_free(NULL);
}

static void null_pointers_are_refused(void)
{
	struct tach_bench_options opt = {.samples = 3, .iterations = 1, .events = ""};
	struct tach_bench_quantity v = {.size = sizeof v};
	struct tach_bench *b, *c;

	CHECK(tach_bench_run("x", nothing, NULL, &opt, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_run("x", NULL, NULL, &opt, &b, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_load("{}", 2, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_load(NULL, 2, &c, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_run(NULL, nothing, NULL, &opt, &b, NULL) == 0);
	CHECK(strcmp(tach_bench_name(b), "") == 0);
	CHECK(tach_bench_value(b, 0, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_value(NULL, 0, &v) == TACH_ERR_INVAL);
	tach_bench_free(b);
}

static struct tach_bench_case one = {.name = "one", .body = nothing};
static struct tach_bench_case two = {.name = "two", .body = nothing, .next = &one};

static void cases_come_in_order(void)
{
	CHECK(!tach_bench_cases(), "none yet");
	tach_bench_register(&one);
	tach_bench_register(&two);
	CHECK(tach_bench_cases() == &one && one.next == &two && !two.next, "as registered");
}

int main(void)
{
	CASE(the_empty_loop_is_subtracted);
	CASE(whole_numbers_are_exact);
	CASE(outliers_are_counted_and_stay);
	CASE(a_trend_favours_neither);
	CASE(iterations_last_long_enough);
	CASE(an_interruption_is_not_taken_for_the_body);
	CASE(a_clock_that_stands_still_is_survived);
	CASE(a_body_that_does_not_repeat_itself_is_survived);
	CASE(a_run_without_events_gives_time);
	CASE(a_result_is_read_back_as_it_was_written);
	CASE(other_texts_are_refused_with_their_place);
	CASE(bad_options_are_refused);
	CASE(null_pointers_are_refused);
	CASE(cases_come_in_order);
	return check_done();
}
