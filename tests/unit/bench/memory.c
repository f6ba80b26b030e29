/* SPDX-License-Identifier: MIT */
/* Benchmarks and their results while each allocation fails once. */
#include <math.h>
#include <string.h>
#include <tach/bench.h>
#include "core/bench/bench.h"
#include "core/change/change.h"
#include "tests/allocations.h"
#include "tests/check.h"

/* Each error is TACH_ERR_NOMEM, without a position. */
static int told(int code, const struct tach_error *err)
{
	CHECK(code == 0 || (code == TACH_ERR_NOMEM && err->code == code && err->line == 0 &&
			    err->column == 0 && strcmp(err->text, "out of memory") == 0),
	      "%d at %d:%d: %s", code, err->line, err->column, err->text);
	return code;
}

static void nothing(void *context, uint64_t n)
{
	(void)context;
	for (; n; n--)
		__asm__ volatile("" : : : "memory");
}

static uint64_t mine;
static struct tach_bench_counter counter = {.name = "mine", .at = &mine};
static struct tach_bench_options opt = {.size = sizeof opt,
					.events = "page-faults",
					.samples = 5,
					.iterations = 10,
					.unit = "byte",
					.units = 1,
					.counters = &counter};

static int bench_job(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench = NULL;
	int code = tach_bench_run("nothing", nothing, NULL, &opt, &bench, &err);

	/* An error in a list of events has a column. */
	err.column = 0;
	told(code, &err);
	CHECK(!bench == (code != 0));
	CHECK(!bench || (bench->name && bench->unit && bench->nseries > 1));
	tach_bench_free(bench);
	return code;
}

static void benchmarks(void)
{
	exhaust(bench_job);
}

/* With several threads; the C library also allocates for them. */
static int team_job(void)
{
	struct tach_bench_options of_threads = opt;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench = NULL;
	int code;

	of_threads.events = "";
	of_threads.threads = 3;
	code = tach_bench_run("nothing", nothing, NULL, &of_threads, &bench, &err);
	CHECK(code == 0 || code == TACH_ERR_NOMEM, "%d: %s", code, err.text);
	CHECK(!bench == (code != 0));
	tach_bench_free(bench);
	return code;
}

static void teams(void)
{
	exhaust(team_job);
}

/* ---- reading ---- */

#define PLAIN "\"empty\":0,\"resolution\":0,\"outliers\":0,\"flags\":0,\"pass\":0,"
static const char json[] =
	"{\"schema\":\"tach-bench-1\",\"name\":\"x\",\"iterations\":1,\"passes\":1,"
	"\"drift\":0,\"confidence\":0.95,\"unit\":\"byte\",\"units\":1,\"values\":["
	"{\"name\":\"time\"," PLAIN "\"sample\":[8,3,6,1,7,4,5,2]},"
	"{\"name\":\"a\"," PLAIN "\"sample\":[18,13,16,11,17,14,15,12,10]}]}";

static int load_job(void)
{
	struct tach_error err = {.size = sizeof err, .line = 7, .column = 7};
	struct tach_bench *b = NULL;
	int code = told(tach_bench_load(json, strlen(json), &b, &err), &err);

	CHECK(!b == (code != 0));
	/* The parts that exist are complete. */
	CHECK(!b ||
	      (b->name && b->unit && b->nseries == 2 && b->series[0].name &&
	       b->series[1].name && b->series[0].samples == 8 && b->series[1].samples == 9));
	tach_bench_free(b);
	return code;
}

/* Memory of a partly loaded file is freed too. */
static int load_wrong_job(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b = NULL;
	int code = tach_bench_load(json, strlen(json) - 2, &b, &err);

	CHECK(!b && (code == TACH_ERR_SYNTAX || code == TACH_ERR_NOMEM), "%d", code);
	return code == TACH_ERR_SYNTAX ? 0 : code;
}

static int load_google_job(void)
{
	static const char google[] = "{\"benchmarks\":[{\"name\":\"a\",\"real_time\":1},"
				     "{\"name\":\"b\",\"real_time\":1}]}";
	struct tach_error err = {.size = sizeof err, .line = 7, .column = 7};
	struct tach_bench *b = NULL;
	int code = told(tach_bench_load_google(google, strlen(google), "a", &b, &err), &err);

	CHECK(!b == (code != 0));
	tach_bench_free(b);
	if (code == 0)
		CHECK(tach_bench_load_google(google, strlen(google), "c", &b, &err) < 0 && !b);
	return code;
}

static void files(void)
{
	exhaust(load_job);
	exhaust(load_wrong_job);
	exhaust(load_google_job);
}

/* ---- results ---- */

static struct tach_bench *result;

static int value_job(void)
{
	struct tach_bench_quantity v = {.size = sizeof v};
	int code = tach_bench_value(result, 0, &v);

	CHECK(code == TACH_ERR_NOMEM || (code == 0 && v.median == 4.5), "%d, %g", code,
	      v.median);
	return code;
}

/* Without memory the correlation cannot be estimated, so the maximum is assumed. */
static int persistence_job(void)
{
	static const double x[] = {8, 3, 6, 1, 7, 4, 5, 2};
	double p = tach__persistence(x, 8, 1);

#if WATCHED
	if (armed && calls > fail_at) {
		CHECK(fabs(p - 39) < 1e-9, "%g", p);
		return TACH_ERR_NOMEM;
	}
#endif
	CHECK(p == 1, "%g", p);
	return 0;
}

/* 10 and more after 8 and less is worse, but without memory nothing is reported as worse. */
static int judge_job(void)
{
	static const double x[] = {8, 3, 6, 1, 7, 4, 5, 2},
			    y[] = {18, 13, 16, 11, 17, 14, 15, 12, 10};
	struct tach_change_rule rule = {.size = sizeof rule};
	struct tach_change_result is = {.size = sizeof is};
	int code = tach_change_judge(x, 8, y, 9, &rule, &is, NULL);

	CHECK(code == TACH_ERR_NOMEM || (code == 0 && is.old == 4.5 && is.now == 14));
	if (code == 0 && is.verdict != TACH_CHANGE_WORSE) {
		CHECK(is.verdict == TACH_CHANGE_UNKNOWN);
		return TACH_ERR_NOMEM;
	}
	return code;
}

static void results(void)
{
	CHECK(tach_bench_load(json, strlen(json), &result, NULL) == 0);
	exhaust(value_job);
	exhaust(persistence_job);
	exhaust(judge_job);
	tach_bench_free(result);
}

int main(void)
{
	CASE(benchmarks);
	CASE(teams);
	CASE(files);
	CASE(results);
	return check_done();
}
