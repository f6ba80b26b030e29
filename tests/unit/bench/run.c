/* SPDX-License-Identifier: MIT */
/*
 * A whole run on a machine with a scripted clock and scripted counters: options, values of both
 * loops, passes, and events that are omitted because the kernel refuses them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "core/bench/bench.h"
#include "core/set/set.h"
#include "tests/check.h"
#include "tests/heap.h"
#include "tests/results.h"
#include "tests/unit/region/fakekernel.h"

/* ---- the clock ---- */

static uint64_t clock_ns;
static unsigned looks; /* since a run began */
/* Number of the clock reading before which the clock makes its smallest step. */
static unsigned smallest = 100;

/*
 * A run reads the clock 101 times to find its smallest step, which is 3; one more reading would
 * find 1. From then on, a reading takes 4 ns.
 */
static uint64_t step_before(unsigned look)
{
	static const uint64_t steps[] = {5, 0, 9};

	if (look == smallest)
		return 3;
	return look <= 100 ? steps[look % 3] : look == 101 ? 1 : 4;
}

#pragma GCC visibility push(default)
int clock_gettime(clockid_t which, struct timespec *t)
{
	clock_ns += step_before(looks++);
	t->tv_sec = which == CLOCK_MONOTONIC ? (time_t)(clock_ns / 1000000000) : 0;
	t->tv_nsec = (long)(clock_ns % 1000000000);
	return 0;
}
#pragma GCC visibility pop

/* ---- loops ---- */

static uint64_t mine, others;
static struct perf_event_attr opened; /* the event that was opened last */
/* number of the pass; ran: the pass has run its loops, so the next pass opens */
static int pass, ran;

static long watched_sys(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_perf_event_open) {
		memcpy(&opened, (const void *)a, sizeof opened);
		pass += ran;
		ran = 0;
	}
	return fake_sys(number, a, b, c, d, e, f);
}

/* An iteration takes 9 ns, 3 counts, and 5 and 7 of the test's own counters. */
static void body(void *context, uint64_t n)
{
	CHECK(context == &mine);
	clock_ns += 9 * n;
	fake_count += 3 * n;
	mine += 5 * n;
	others += 7 * n;
}

/* An iteration takes 2 ns, one count, and one of the test's own counters. */
static void empty(void *context, uint64_t n)
{
	CHECK(context == &mine);
	clock_ns += 2 * n;
	fake_count += n;
	mine += n;
}

static struct tach_bench *run(tach_bench_body f, const struct tach_bench_options *opt)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b = NULL;

	tach__sys = watched_sys;
	looks = 0;
	clock_ns = 1999999500; /* a second begins soon */
	CHECK(tach_bench_run("x", f, &mine, opt, &b, &err) == 0, "%s", err.text);
	CHECK(fake_opens == fake_closes, "%d events open", fake_opens - fake_closes);
	return b;
}

/*
 * Eight iterations: reading the clock adds 4 ns to either loop, and two reads of the counters
 * add 17 counts. The second event counts twice as fast as the first.
 */
static void every_value_is_what_the_loops_differ_by(void)
{
	struct tach_bench_counter second = {.name = "others", .at = &others},
				  first = {.name = "mine",
					   .at = &mine,
					   .rate = 1,
					   .next = &second};
	struct tach_bench_options opt = {.size = sizeof opt,
					 .events = "a=r01c4,cycles",
					 .samples = 5,
					 .iterations = 8,
					 .confidence = 0.9,
					 .empty = empty,
					 .unit = "byte",
					 .units = 64,
					 .counters = &first};
	struct tach_bench *b;

	fake_members = 2;
	b = run(body, &opt);
	if (!b)
		return;
	CHECK(strcmp(shown(b, TACH_BENCH_JSON),
		     "{\"schema\":\"tach-bench-1\",\"name\":\"x\",\"iterations\":8,"
		     "\"passes\":1,\"drift\":0,\"confidence\":0.9,\"unit\":\"byte\","
		     "\"units\":64,\"values\":[" RESULT_OF_FIVE("time", "7", "6.625", "7.375", "2.5", "0.375", "0", "") "," RESULT_OF_FIVE(
			     "a", "2", "2", "2", "3.125", "0", "4",
			     "") "," RESULT_OF_FIVE("cycles", "4", "4", "4", "6.25", "0", "4",
						    "") "," RESULT_OF_FIVE("mine", "4", "4",
									   "4", "1", "0", "0",
									   "\"rate\":1,") "," RESULT_OF_FIVE("others",
													     "7",
													     "7",
													     "7",
													     "0",
													     "0",
													     "0",
													     "") "],"
														 "\"missin"
														 "g\":"
														 "\"\"}"
														 "\n") ==
		      0,
	      "%s", shown(b, TACH_BENCH_JSON));
	CHECK(opened.exclude_kernel && !opened.exclude_user, "the program's own");
	tach_bench_free(b);
	opt.privilege = TACH_PRIVILEGE_KERNEL;
	b = run(body, &opt);
	CHECK(!opened.exclude_kernel && opened.exclude_user, "the kernel's");
	tach_bench_free(b);
	/* The right step is neither the first nor the last. */
	smallest = 50;
	b = run(body, &opt);
	smallest = 100;
	CHECK(strstr(shown(b, TACH_BENCH_JSON), "\"resolution\":0.375,"));
	tach_bench_free(b);
}

/* ---- defaults ---- */

static void ten_ns(void *context, uint64_t n)
{
	(void)context;
	clock_ns += 10 * n;
}

static unsigned turn;

/* The median is 10 and the MAD 1; four samples are outliers: two by 7, two by 8. */
static void uneven(void *context, uint64_t n)
{
	static const uint64_t ns[] = {10, 11, 9, 18, 10, 11, 9, 17, 10, 2, 3};

	(void)context;
	clock_ns += ns[turn++ % 11] * n;
}

static void what_is_not_said_is_what_the_header_says(void)
{
	struct tach_bench_options opt = {.size = sizeof opt, .events = ""};
	struct tach_bench_quantity v = {.size = sizeof v};
	struct tach_bench *b = run(ten_ns, &opt);

	/* 100,000 iterations of 10 ns are the first power of ten that lasts a millisecond. */
	CHECK(tach_bench_iterations(b) == 100000 && tach_bench_value(b, 0, &v) == 0 &&
		      v.samples == 31 && v.confidence > 0.95 && v.confidence < 1,
	      "%u, %g", v.samples, v.confidence);
	CHECK(strstr(shown(b, TACH_BENCH_JSON), "\"confidence\":0.95,\"values\"") &&
		      !strstr(shown(b, TACH_BENCH_JSON), "\"unit\""),
	      "%s", shown(b, TACH_BENCH_JSON));
	tach_bench_free(b);
	/* A tenth of 10 ms, and two times 10 ms. */
	opt.sample_seconds = 0.00999;
	b = run(ten_ns, &opt);
	CHECK(tach_bench_iterations(b) == 1000000);
	tach_bench_free(b);
	fake_members = 2;
	b = run(ten_ns, NULL);
	CHECK(tach_bench_count(b) == 3 && tach_bench_value(b, 1, &v) == 0 &&
	      strcmp(v.name, "cycles") == 0 && tach_bench_value(b, 2, &v) == 0 &&
	      strcmp(v.name, "instructions") == 0);
	tach_bench_free(b);
	/* Five scaled MADs are 7.413. */
	opt.iterations = 1000;
	opt.samples = 11;
	for (opt.outlier = 0; opt.outlier >= -1; opt.outlier--) {
		turn = 0;
		b = run(uneven, &opt);
		CHECK(tach_bench_value(b, 0, &v) == 0 && v.mad == 1 &&
			      v.outliers == (opt.outlier < 0 ? 0 : 2),
		      "%g, %u far off", v.mad, v.outliers);
		tach_bench_free(b);
	}
}

static void options_have_limits(void)
{
	static struct tach_bench_counter counter[17];
	static const char several[] =
		"samples must be at most 10000, confidence between 0 and "
		"1, sample_seconds above 0 and at most 60, units above 0, "
		"warmup_seconds at most 3600";
	static const char many[] = "counters are at most 16, threads 256";
	static const struct {
		struct tach_bench_options opt;
		int code;
		const char *text;
	} of[] = {
		{{.samples = 10001}, TACH_ERR_INVAL, several},
		{{.samples = 10000}, 0, NULL},
		{{.samples = 1, .confidence = 1}, TACH_ERR_INVAL, several},
		{{.samples = 1, .confidence = -0.5}, TACH_ERR_INVAL, several},
		{{.samples = 1, .sample_seconds = 60}, 0, NULL},
		{{.samples = 1, .sample_seconds = 60.001}, TACH_ERR_INVAL, several},
		{{.samples = 1, .sample_seconds = -1}, TACH_ERR_INVAL, several},
		{{.samples = 1, .outlier = NAN}, TACH_ERR_INVAL, several},
		{{.samples = 1, .unit = "x"}, TACH_ERR_INVAL, several},
		{{.samples = 1, .unit = "x", .units = 0.5}, 0, NULL},
		{{.samples = 1, .units = -1}, 0, NULL},
		{{.samples = 1, .counters = counter}, TACH_ERR_TOOMANY, many},
		{{.samples = 1, .counters = counter + 1}, 0, NULL},
		{{.samples = 1, .threads = 257}, TACH_ERR_TOOMANY, many},
		{{.samples = 1, .threads = 1}, 0, NULL},
		{{.samples = 1, .interrupts = TACH_SET_INTERRUPTS}, 0, NULL},
		{{.samples = 1, .interrupts = TACH_SET_INTERRUPTS | TACH_SET_CORRECT}, 0, NULL},
		{{.samples = 1, .interrupts = TACH_SET_INTERRUPTS | TACH_SET_OPTIONAL},
		 TACH_ERR_INVAL,
		 "interrupts are TACH_SET_INTERRUPTS or TACH_SET_CORRECT"},
	};

	for (int i = 0; i < 17; i++)
		counter[i] = (struct tach_bench_counter){
			.name = "own", .at = &mine, .next = i < 16 ? &counter[i + 1] : NULL};
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach_error err = {.size = sizeof err, .line = 7, .column = 7};
		struct tach_bench_options opt = of[i].opt;
		struct tach_bench *b = NULL;
		int code;

		opt.size = sizeof opt;
		opt.events = "";
		opt.iterations = 1;
		code = tach_bench_run("x", ten_ns, NULL, &opt, &b, &err);
		CHECK(code == of[i].code && !b == !!code, "number %zu: %d, %s", i, code,
		      err.text);
		CHECK(!code || (err.code == code && err.line == 0 && err.column == 0 &&
				strcmp(err.text, of[i].text) == 0),
		      "number %zu: %d:%d: %s", i, err.line, err.column, err.text);
		tach_bench_free(b);
	}
}

/* ---- passes ---- */

static int counts[3]; /* the cost of an iteration in each of three passes */

/* Both loops count five more, so no counter decreases. */
static void by_pass(void *context, uint64_t n)
{
	(void)context;
	fake_count += (uint64_t)(5 + counts[pass]) * n;
	ran = 1;
}

static void five(void *context, uint64_t n)
{
	(void)context;
	fake_count += 5 * n;
}

/* Repeated passes are freed, and so is a set that does not open. */
static void nothing_is_kept(void)
{
	struct tach_bench_options opt = {.size = sizeof opt,
					 .events = "r01c4,r02c4,r04c4,r08c4,r10c4",
					 .samples = 3,
					 .iterations = 10};
	struct tach_bench_options no_room = opt;
	size_t before = 0;

	if (!HEAP_IS_KNOWN)
		SKIP(HEAP_SKIP);
	no_room.events = "cycles,instructions";
	no_room.interrupts = TACH_SET_CORRECT;
	for (int i = 0; i < 40; i++) {
		/* The allocator caches some blocks of each size. */
		if (i == 20)
			before = heap_in_use();
		fake_members = 5;
		tach_bench_free(run(ten_ns, &opt));
		fake_members = 2;
		fake_opens = fake_closes = 0;
		fake_room = 2;
		tach_bench_free(run(ten_ns, &no_room));
		fake_room = 0;
	}
	CHECK(heap_in_use() == before, "%zu bytes, were %zu", heap_in_use(), before);
}

/*
 * Twelve events on four counters; `instructions`, which is in each pass, counts five times as
 * much as the first event.
 */
static void passes_are_put_together(void)
{
	static const struct {
		int counts[3];
		double drift;
	} of[] = {
		{{3, 3, 3}, 0},	      {{3, 4, 2}, 1.0 / 3}, {{3, 2, 4}, 1.0 / 3},
		{{-3, -4, -3}, 0.25}, {{3, -4, 3}, 1.75},   {{-4, -4, 3}, 1.75},
	};
	struct tach_bench_options opt = {
		.size = sizeof opt,
		.events = "r01c4,r02c4,r04c4,r08c4,r10c4,r20c4,r40c4,r80c4,r03c4,r05c4,r06c4,"
			  "r07c4",
		.samples = 3,
		.iterations = 10,
		.empty = five};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach_bench *b;

		memcpy(counts, of[i].counts, sizeof counts);
		fake_members = 5;
		pass = ran = 0;
		b = run(by_pass, &opt);
		CHECK(b && tach_bench_passes(b) == 3 && tach_bench_count(b) == 14, "%s",
		      tach_bench_missing(b));
		CHECK(fabs(tach_bench_drift(b) - of[i].drift) < 1e-12, "%g, not %g",
		      tach_bench_drift(b), of[i].drift);
		for (int k = 0; k < tach_bench_count(b); k++) {
			struct tach_bench_quantity v = {.size = sizeof v};
			/*
			 * The first pass has time, four events and `instructions`; the next two
			 * have four events each.
			 */
			int in = k < 6 ? 0 : k < 10 ? 1 : 2;
			int place = k < 6 ? k : (k - 6) % 4 + 1;

			CHECK(tach_bench_value(b, k, &v) == 0 && (int)v.pass == in &&
				      v.median == place * counts[in],
			      "%s: %g in pass %u", v.name, v.median, v.pass);
			CHECK(k != 0 || strcmp(v.name, "time") == 0);
			CHECK((k == 5) == (strcmp(v.name, "instructions") == 0), "%s", v.name);
		}
		tach_bench_free(b);
	}
}

/* ---- events that cannot be counted ---- */

static void what_the_kernel_refuses_is_left_out(void)
{
	struct tach_bench_options opt = {
		.size = sizeof opt, .events = "cycles", .samples = 3, .iterations = 10};
	struct tach_bench *b;

	fake_members = 1;
	fake_open_error = ENOSPC;
	b = run(ten_ns, &opt);
	fake_open_error = 0;
	CHECK(b && tach_bench_count(b) == 1 && *tach_bench_missing(b), "%s",
	      b ? tach_bench_missing(b) : "");
	tach_bench_free(b);
	/* Each event opens alone; the group does not. */
	opt.events = "cycles,instructions";
	fake_members = 2;
	fake_opens = fake_closes = 0;
	fake_room = 1;
	b = run(ten_ns, &opt);
	fake_room = 0;
	CHECK(b && tach_bench_count(b) == 1 && *tach_bench_missing(b), "%s",
	      b ? tach_bench_missing(b) : "");
	tach_bench_free(b);
	/* One of the two events opens. */
	fake_members = 1;
	opt.events = "cycles,r01c4";
	fake_refused = 0x1c4;
	b = run(ten_ns, &opt);
	fake_refused = 0;
	CHECK(b && tach_bench_count(b) == 2 && strstr(tach_bench_missing(b), "r01c4"), "%s",
	      b ? tach_bench_missing(b) : "");
	tach_bench_free(b);
}

/* If counters are short, interrupts are given up first. */
static void interrupts_make_room(void)
{
	struct tach_bench_options opt = {.size = sizeof opt,
					 .events = "cycles,instructions",
					 .samples = 3,
					 .iterations = 10,
					 .interrupts = TACH_SET_CORRECT};
	struct tach_bench *b;

	fake_members = 2;
	fake_opens = fake_closes = 0;
	fake_room = 2;
	b = run(ten_ns, &opt);
	CHECK(b && tach_bench_count(b) == 3 &&
		      strcmp(tach_bench_missing(b), TACH__NO_ROOM_FOR_INTERRUPTS) == 0,
	      "%s", b ? tach_bench_missing(b) : "");
	tach_bench_free(b);
	/* There is no counter, not even for one event. */
	fake_opens = 2;
	fake_closes = 0;
	b = NULL;
	CHECK(tach_bench_run("x", ten_ns, NULL, &opt, &b, NULL) == 0 &&
		      tach_bench_count(b) == 1,
	      "%d: %s", b ? tach_bench_count(b) : 0, b ? tach_bench_missing(b) : "");
	tach_bench_free(b);
	fake_room = fake_opens = 0;
}

/* Five events and one for interrupts. */
static void interrupted(void *context, uint64_t n)
{
	(void)context;
	fake_count += 2 * n;
	fake_extra[1] += 2 * n;
	fake_extra[2] += n;
}

static void interrupts_come_off(void)
{
	struct tach_bench_options opt = {.size = sizeof opt,
					 .events = "cycles,instructions",
					 .samples = 3,
					 .iterations = 10,
					 .interrupts = TACH_SET_CORRECT};
	struct tach_bench_quantity v = {.size = sizeof v};
	struct tach_bench *b;

	fake_members = 3;
	fake_still = 2;
	b = run(interrupted, &opt);
	fake_still = -1;
	CHECK(b && tach_bench_count(b) == 4, "%s", b ? tach_bench_missing(b) : "");
	CHECK(tach_bench_value(b, 1, &v) == 0 && v.median == 2 &&
	      !(v.flags & TACH_FLAG_CORRECTED));
	CHECK(tach_bench_value(b, 2, &v) == 0 && v.median == 5 &&
		      (v.flags & TACH_FLAG_CORRECTED),
	      "%g", v.median);
	CHECK(tach_bench_value(b, 3, &v) == 0 && v.median == 1 &&
	      strcmp(v.name, "interrupts") == 0 && !(v.flags & TACH_FLAG_CORRECTED));
	tach_bench_free(b);
}

static void what_no_machine_counts_is_an_error(void)
{
	struct tach_bench_options opt = {.size = sizeof opt, .events = "cycles,"};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *b = NULL;

	opt.events = "cycles:nosuch=1";
	CHECK(tach_bench_run("x", ten_ns, NULL, &opt, &b, &err) < 0 && !b && *err.text, "%s",
	      err.text);
	CHECK(fake_opens == fake_closes);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	CASE(every_value_is_what_the_loops_differ_by);
	CASE(what_is_not_said_is_what_the_header_says);
	CASE(options_have_limits);
	CASE(passes_are_put_together);
	CASE(nothing_is_kept);
	CASE(what_the_kernel_refuses_is_left_out);
	CASE(interrupts_make_room);
	CASE(interrupts_come_off);
	CASE(what_no_machine_counts_is_an_error);
	return check_done();
}
