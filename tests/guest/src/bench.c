/* SPDX-License-Identifier: MIT */
/* The benchmark harness with exact counters: known bodies show their known counts. */
#include <math.h>
#include <tach/bench.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

enum { LENGTH = 50, BODY = MACHINE_LOOP_INSTRUCTIONS * LENGTH };

/* Loops of known length: body and empty loop differ by the loop and by loading its length. */
static void known(void *context, uint64_t n)
{
	uint64_t length = *(const uint64_t *)context;

	for (; n; n--) {
		machine_loop(length);
		__asm__ volatile("" : "+r"(n) : : "memory");
	}
}

static uint64_t length[2] = {LENGTH, 3 * LENGTH};

static struct tach_bench *run(int which, const char *events)
{
	struct tach_bench_options opt = {.events = events, .iterations = 200, .samples = 9};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench = NULL;

	CHECK(tach_bench_run("known", known, &length[which], &opt, &bench, &err) == 0, "%s",
	      err.text);
	return bench;
}

static int find(const struct tach_bench *bench, const char *name, struct tach_bench_quantity *v)
{
	for (int i = 0; tach_bench_value(bench, i, v) == 0; i++)
		if (strcmp(v->name, name) == 0)
			return i;
	return -1;
}

/*
 * A rescheduled sample may have a few instructions more, and on a busy host many samples are
 * rescheduled.
 */
static struct tach_bench *run_undisturbed(int which)
{
	for (int tries = 1;; tries++) {
		struct tach_bench_quantity v = {.size = sizeof v};
		struct tach_bench *bench = run(which, "instructions,cycles");

		if (find(bench, "instructions", &v) < 0 || !v.flags || tries == 1000)
			return bench;
		tach_bench_free(bench);
	}
}

static void a_known_body_is_counted_exactly(void)
{
	struct tach_bench_quantity shorter = {.size = sizeof shorter}, longer = shorter;
	struct tach_change_result is = {.size = sizeof is};
	struct tach_bench *a, *b;
	int i;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	a = run_undisturbed(0);
	b = run_undisturbed(1);
	CHECK(tach_bench_passes(a) == 1, "%d passes", tach_bench_passes(a));
	i = find(a, "instructions", &shorter);
	find(b, "instructions", &longer);
	/*
	 * The difference is not 100, because loading the length is part of the body; but it is
	 * equal both times.
	 */
	CHECK(fabs(longer.median - shorter.median - 2 * BODY) < 1e-9, "%g and %g",
	      shorter.median, longer.median);
	CHECK(shorter.mad == 0 && shorter.low == shorter.median, "%g +- %g from %g",
	      shorter.median, shorter.mad, shorter.low);
	CHECK(shorter.median >= BODY && shorter.median <= BODY + 3, "%g", shorter.median);
	CHECK(tach_bench_judge(a, b, i, 0, 0.01, &is) == 0 && is.verdict == TACH_CHANGE_WORSE &&
		      fabs(is.now - is.old - 2 * BODY) < 1e-9,
	      "%g, %g", is.old, is.now);
	CHECK(tach_bench_judge(a, a, i, 0, 0.01, &is) == 0 && is.verdict == TACH_CHANGE_NONE,
	      "from itself");
	tach_bench_free(a);
	tach_bench_free(b);
}

static void more_events_than_counters_take_passes(void)
{
	static const char x86[] = "cycles,branches,branch-misses,cache-references,cache-misses,"
				  "bus-cycles,r01c2,r02c2,r04c2,r08c2,r10c2,r20c2,r40c2";
	static const char arm64[] = "cycles,r00,r23,r24,r3c,r08,r11,"
				    "a=r23,b=r24,c=r3c,d=r08,e=r00";
	struct tach_bench_quantity v = {.size = sizeof v};
	struct tach_bench *bench;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	bench = run(0, machine_is_arm64() ? arm64 : x86);
	CHECK(tach_bench_passes(bench) > 1, "%d passes", tach_bench_passes(bench));
	CHECK(tach_bench_drift(bench) < 1e-9, "%g", tach_bench_drift(bench));
	CHECK(find(bench, "instructions", &v) > 0, "instructions are repeated in every pass");
	CHECK(tach_bench_count(bench) >= 13, "%d values: %s", tach_bench_count(bench),
	      tach_bench_missing(bench));
	tach_bench_free(bench);
}

static void without_a_pmu_there_is_time(void)
{
	struct tach_bench *bench;

	if (machine_has_pmu())
		SKIP("the machine has a PMU");
	bench = run(0, NULL);
	CHECK(tach_bench_count(bench) == 1 && tach_bench_missing(bench)[0], "%d values",
	      tach_bench_count(bench));
	tach_bench_free(bench);
}

int main(void)
{
	CASE(a_known_body_is_counted_exactly);
	CASE(more_events_than_counters_take_passes);
	CASE(without_a_pmu_there_is_time);
	return check_done();
}
