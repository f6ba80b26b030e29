/* SPDX-License-Identifier: MIT */
/*
 * Tests how often a benchmark's interval contains the true value: the harness on simulated
 * machines with known distributions, a thousand runs each, from fixed seeds. A 95 % interval
 * must contain the true value in 93 of 100 runs; an interval with a lower stated confidence
 * must reach that confidence.
 *
 * "# scenario ..." lines are the table of bench/README.md.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/bench.h"
#include "tests/check.h"
#include "tests/random.h"

enum { RUNS = 1000, SAMPLES_MOST = 101, ITERATIONS = 1000 };
#define BODY	   900.0 /* ns per iteration, including the loop */
#define LOOP	   200.0
#define NOISE_BODY 9.0
#define NOISE_LOOP 2.0
/*
 * For the two machines with two speeds: the part of the time that they are slow, and by what
 * factor.
 */
#define SLOW	 0.3
#define SLOWDOWN 1.25

static double normal(void)
{
	double a = random_uniform(), b = random_uniform();

	return sqrt(-2 * log(1 - a)) * cos(2 * M_PI * b);
}

static double exponential(double mean)
{
	return -mean * log(1 - random_uniform());
}

/* ---- the machine ---- */

static double now, started;  /* ns */
static double mood;	     /* autoregressive, standard normal */
static int slow;	     /* the clock is */
static unsigned turn, turns; /* index of the pair of loops, and the number of pairs */

static double steady(void)
{
	return 1;
}

static double drifting(void)
{
	return 0.95 + 0.1 * turn / turns;
}

static double two_speeds(void)
{
	return random_uniform() < SLOW ? SLOWDOWN : 1;
}

/*
 * Two speeds, but the machine stays in one of them: in the slow one for 5 pairs of loops on
 * average.
 */
static double regimes(void)
{
	return slow ? SLOWDOWN : 1;
}

static double moody(void)
{
	return 1 + 0.03 * mood;
}

static double quiet(double share)
{
	(void)share;
	return 0;
}

/* Other work on the processor: rare and long; longer loops meet it more often. */
static double preempted(double share)
{
	return random_uniform() < 0.15 * share ? exponential(3000) : 0;
}

static double loaded(double share)
{
	return random_uniform() < 0.3 * share ? 4000 * random_uniform() : 0;
}

/* Never faster than the minimum; the median is the true value. */
static double skewed(double share)
{
	return share * (exponential(30) - 30 * M_LN2);
}

struct machine {
	const char *name;
	double (*pace)(void);
	double (*spike)(double share);
	double memory; /* part of its present speed that the machine keeps for the next pair */
};
static const struct machine machines[] = {
	{"normal noise", steady, quiet, 0},
	{"skewed noise", steady, skewed, 0},
	{"preemption, 15 % of samples", steady, preempted, 0},
	{"load, 30 % of samples", steady, loaded, 0},
	{"drift by 10 %", drifting, quiet, 0},
	{"two clocks, at random", two_speeds, quiet, 0},
	{"two clocks, by turns", regimes, quiet, 0},
	{"correlated, 0.5", moody, quiet, 0.5},
	{"correlated, 0.8", moody, quiet, 0.8},
};
static const struct machine *machine;

static void loop(double ns, double noise)
{
	now += ITERATIONS *
	       (ns * machine->pace() + noise * normal() + machine->spike(ns / BODY));
}

static void body(void *context, uint64_t n)
{
	(void)context;
	(void)n;
	loop(BODY, NOISE_BODY);
}

static void empty(void *context, uint64_t n)
{
	(void)context;
	(void)n;
	loop(LOOP, NOISE_LOOP);
}

static void begin(struct tach__bench_source *source)
{
	(void)source;
	started = now;
}

/* A turn consists of two loops; the machine changes between turns. */
static void end(struct tach__bench_source *source, uint64_t *delta, uint32_t *flags)
{
	static int half;

	(void)source;
	(void)flags;
	delta[0] = (uint64_t)(now - started);
	half = !half;
	if (half)
		return;
	turn++;
	mood = machine->memory * mood + sqrt(1 - machine->memory * machine->memory) * normal();
	/*
	 * If the machine leaves the fast state with this probability, it is slow for SLOW of
	 * the time.
	 */
	slow = slow ? random_uniform() >= 0.2 : random_uniform() < 0.2 * SLOW / (1 - SLOW);
}

static void reset(unsigned samples)
{
	now = 1e9;
	turn = 0;
	turns = samples - 1;
	mood = normal();
	slow = random_uniform() < SLOW;
}

/* ---- the truth ---- */

static double pair_below(double x, double mean)
{
	double sigma = sqrt(NOISE_BODY * NOISE_BODY + NOISE_LOOP * NOISE_LOOP);

	return erfc((mean - x) / sigma / M_SQRT2) / 2;
}

/*
 * Returns the median of a pair's difference; without a formula it is the median of very many
 * pairs.
 */
static double truth_of(const struct machine *m)
{
	enum { MANY = 100001 };
	static double x[MANY];
	struct tach__bench_source source = {0, 0, begin, end, NULL, 1, 0, NULL};
	struct tach__bench_plan plan = {body, empty, NULL, ITERATIONS, MANY};
	struct tach__bench_series s = {.sample = x};
	double low = 0, high = 10000;

	if (m->pace == regimes) {
		while (high - low > 1e-9) {
			double at = (low + high) / 2, below;

			below = (1 - SLOW) * pair_below(at, BODY - LOOP) +
				SLOW * pair_below(at, (BODY - LOOP) * SLOWDOWN);
			*(below < 0.5 ? &low : &high) = at;
		}
		return low;
	}
	if (m->spike == quiet && m->pace != two_speeds)
		return BODY - LOOP;
	machine = m;
	reset(MANY);
	CHECK(tach__bench_sample(&source, &plan, -1, &s) == 0);
	return tach__bench_median(&s);
}

/* ---- runs ---- */

struct outcome {
	double covered, said, width;
};

static struct outcome run(const struct machine *m, uint32_t samples, double truth)
{
	struct tach__bench_source source = {0, 0, begin, end, NULL, 1, 0, NULL};
	struct tach__bench_plan plan = {body, empty, NULL, ITERATIONS, samples};
	struct outcome o = {0, 0, 0};

	machine = m;
	for (int i = 0; i < RUNS; i++) {
		double x[SAMPLES_MOST];
		struct tach__bench_series s = {.name = (char *)(uintptr_t) "time", .sample = x};
		struct tach_bench b = {.confidence = 0.95, .nseries = 1, .series = &s};
		struct tach_bench_quantity v = {.size = sizeof v};

		reset(samples);
		CHECK(tach__bench_sample(&source, &plan, 5, &s) == 0 &&
		      tach_bench_value(&b, 0, &v) == 0);
		o.covered += v.low <= truth && truth <= v.high ? 1.0 / RUNS : 0;
		o.said += v.confidence / RUNS;
		o.width += (v.high - v.low) / RUNS;
	}
	return o;
}

static void intervals_cover_the_truth(void)
{
	static const uint32_t samples[] = {7, 31, 101};

	random_seed = RANDOM_SEED;
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		double truth = truth_of(&machines[i]);

		for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
			struct outcome o = run(&machines[i], samples[k], truth);

			printf("# %s | %u | %.1f | %.1f | %.1f of %.1f\n", machines[i].name,
			       samples[k], 100 * o.covered, 100 * o.said, o.width, truth);
			CHECK(o.covered >= 0.93 || o.covered >= o.said,
			      "%s, %u samples: %.3f covered, %.3f said", machines[i].name,
			      samples[k], o.covered, o.said);
			/*
			 * If the default number of samples can decide, too many undecided
			 * results are a failure.
			 */
			if (samples[k] >= 31 && machines[i].memory == 0 &&
			    machines[i].pace != drifting)
				CHECK(o.covered >= 0.93 && o.said >= 0.85, "%s, %u: %.3f, %.3f",
				      machines[i].name, samples[k], o.covered, o.said);
		}
	}
}

/*
 * An empty body under load: nearly always below the resolution, and never negative beyond the
 * error.
 */
static void empty_bodies_are_never_negative(void)
{
	static double x[31];
	struct tach__bench_source source = {0, 0, begin, end, NULL, 1, 0, NULL};
	struct tach__bench_plan plan = {empty, empty, NULL, ITERATIONS, 31};
	int unsaid = 0, covered = 0;

	machine = &machines[2];
	for (int i = 0; i < RUNS; i++) {
		struct tach__bench_series s = {.name = (char *)(uintptr_t) "time", .sample = x};
		struct tach_bench b = {.confidence = 0.95, .nseries = 1, .series = &s};
		struct tach_bench_quantity v = {.size = sizeof v};

		reset(31);
		CHECK(tach__bench_sample(&source, &plan, 5, &s) == 0 &&
		      tach_bench_value(&b, 0, &v) == 0);
		unsaid += v.high <= 0 && !(v.flags & TACH_FLAG_SMALL);
		covered += v.low <= 0 && v.high >= 0;
	}
	CHECK(unsaid == 0, "%d", unsaid);
	CHECK(covered >= RUNS * 93 / 100, "%d", covered);
}

int main(void)
{
	CASE(intervals_cover_the_truth);
	CASE(empty_bodies_are_never_negative);
	return check_done();
}
