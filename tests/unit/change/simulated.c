/* SPDX-License-Identifier: MIT */
/*
 * The decision for runs with a known result: how often it is "worse" without a change, how
 * often it finds a change, and how often it accepts a worse run. The seed of the random numbers
 * is fixed, so the result is the same every time.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "tests/check.h"
#include "tests/random.h"
#include <tach/change.h>

enum { RUNS = 12, COMPARISONS = 5, GATES = 1000 };
static const double ALPHA = 0.01;

static double uniform(void)
{
	return ((double)(random_next() >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979 * uniform());
}

/* Noise of run number i, in the order of the runs. */
typedef double noise(int i);

static double quiet(int i)
{
	(void)i;
	return 1 + 0.01 * normal();
}
/* One run in ten is interrupted by other work, and takes up to three times as long. */
static double spikes(int i)
{
	return quiet(i) * (uniform() < 0.1 ? 1 + 2 * uniform() : 1);
}
/* The machine warms up: 10 % from the first run to the last. */
static double drift(int i)
{
	return quiet(i) * (1 + 0.1 * i / (2 * RUNS));
}
/* Correlated noise: the next run keeps 0.9 of it. */
static double wander(int i)
{
	static double at;

	at = i ? 0.9 * at + 0.436 * normal() : normal();
	return 1 + 0.03 * at;
}
/* A count that has one of two values. */
static double two_valued(int i)
{
	(void)i;
	return uniform() < 0.3 ? 1.01 : 1;
}
/*
 * Each run of a program has its own speed, which its samples do not show: the bound must allow
 * for it.
 */
static double moods(int i)
{
	static double mood;

	if (i % RUNS == 0)
		mood = 1 + 0.01 * normal();
	return mood * (1 + 0.002 * normal());
}
static double exact(int i)
{
	(void)i;
	return 1;
}

/*
 * Results of gates with COMPARISONS each: the number of gates with a worse or undecided
 * comparison.
 */
struct said {
	int worse, unknown;
};

static struct said simulate(noise *n, double bound, double change, int interleaved)
{
	struct tach_change_rule rule = {.bound = bound,
					.alpha = ALPHA / COMPARISONS,
					.flags = interleaved ? TACH_CHANGE_TURNS : 0};
	struct said said = {0, 0};

	for (int g = 0; g < GATES; g++) {
		int worse = 0, unknown = 0;

		for (int c = 0; c < COMPARISONS; c++) {
			struct tach_change_result is = {.size = sizeof is};
			double x[RUNS], y[RUNS];

			for (int i = 0, old = 0, new = 0; i < 2 * RUNS; i++) {
				int is_old = interleaved ? i % 2 == (i / 2) % 2 : i < RUNS;

				if (is_old)
					x[old++] = 1000 * n(i);
				else
					y[new ++] = 1000 * n(i) * (1 + change);
			}
			CHECK(tach_change_judge(x, RUNS, y, RUNS, &rule, &is, NULL) == 0);
			worse |= is.verdict == TACH_CHANGE_WORSE;
			unknown |= is.verdict == TACH_CHANGE_UNKNOWN;
		}
		said.worse += worse;
		said.unknown += unknown;
	}
	return said;
}

/* With a bound of 0, every detected difference is a false alarm. */
static void false_alarms_are_rare(void)
{
	static const struct {
		const char *name;
		noise *n;
		int interleaved;
		double bound;
	} of[] = {{"moods, saved, bound of 5 %", moods, 0, 0.05},
		  {"quiet", quiet, 1, 0},
		  {"spikes", spikes, 1, 0},
		  {"drift", drift, 1, 0},
		  {"wander", wander, 1, 0},
		  {"two values", two_valued, 1, 0},
		  {"exact", exact, 1, 0},
		  {"quiet, saved", quiet, 0, 0},
		  {"spikes, saved", spikes, 0, 0}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct said n = simulate(of[i].n, of[i].bound, 0, of[i].interleaved);

		printf("# %s: %d alarms in %d gates\n", of[i].name, n.worse, GATES);
		CHECK(n.worse <= GATES * ALPHA, "%s: %d", of[i].name, n.worse);
	}
}

/* Quiet runs: each of five comparisons can be decided. */
static void quiet_gates_can_decide(void)
{
	static const struct {
		const char *name;
		noise *n;
		int interleaved;
		double bound;
		int most;
	} of[] = {{"exact", exact, 0, 0, 0},
		  {"quiet", quiet, 1, 0.02, GATES / 10},
		  {"spikes", spikes, 1, 0.05, GATES / 10},
		  {"quiet, saved", quiet, 0, 0.05, GATES / 5}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct said n = simulate(of[i].n, of[i].bound, 0, of[i].interleaved);

		printf("# %s, bound %.0f%%: %d of %d gates cannot tell\n", of[i].name,
		       100 * of[i].bound, n.unknown, GATES);
		CHECK(n.unknown <= of[i].most, "%s: %d", of[i].name, n.unknown);
	}
}

static void changes_are_detected(void)
{
	static const struct {
		const char *name;
		noise *n;
		double bound, change;
		int least;
	} of[] = {{"exact", exact, 0.005, 0.006, GATES},
		  {"exact", exact, 0.002, 0.005, GATES},
		  {"quiet", quiet, 0.02, 0.05, GATES * 99 / 100},
		  {"spikes", spikes, 0.02, 0.05, GATES * 99 / 100},
		  {"drift", drift, 0.02, 0.10, GATES / 2}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct said n = simulate(of[i].n, of[i].bound, of[i].change, 1);

		printf("# %s, %+.1f%% with a bound of %.1f%%: found in %d of %d gates\n",
		       of[i].name, 100 * of[i].change, 100 * of[i].bound, n.worse, GATES);
		CHECK(n.worse >= of[i].least, "%s: %d", of[i].name, n.worse);
	}
	CHECK(simulate(exact, 0.005, 0.004, 1).worse == 0);
	CHECK(simulate(exact, 0.005, -0.1, 1).worse == 0);
}

/*
 * A change beyond the bound counts as no change in at most 5 % of comparisons, the part of a 90
 * % interval beyond one end. In saved runs, noise common to all runs of a side is not detected;
 * the bound must allow for it.
 */
static void missed_changes_are_rare(void)
{
	static const struct {
		const char *name;
		noise *n;
		double bound, change;
		int interleaved;
	} of[] = {{"quiet", quiet, 0.02, 0.021, 1},   {"quiet", quiet, 0.02, 0.03, 1},
		  {"spikes", spikes, 0.02, 0.021, 1}, {"drift", drift, 0.02, 0.021, 1},
		  {"wander", wander, 0.05, 0.051, 1}, {"quiet, saved", quiet, 0.02, 0.021, 0}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		int passed = 0, n = 0;

		for (; n < GATES; n++) {
			struct tach_change_rule rule = {
				.bound = of[i].bound,
				.flags = of[i].interleaved ? TACH_CHANGE_TURNS : 0};
			struct tach_change_result is = {.size = sizeof is};
			double x[RUNS], y[RUNS];

			for (int k = 0, old = 0, new = 0; k < 2 * RUNS; k++) {
				if (of[i].interleaved ? k % 2 == (k / 2) % 2 : k < RUNS)
					x[old++] = of[i].n(k);
				else
					y[new ++] = of[i].n(k) * (1 + of[i].change);
			}
			CHECK(tach_change_judge(x, RUNS, y, RUNS, &rule, &is, NULL) == 0);
			passed += is.verdict == TACH_CHANGE_NONE;
		}
		printf("# %s, %+.1f%% with a bound of %.1f%%: passed in %d of %d comparisons\n",
		       of[i].name, 100 * of[i].change, 100 * of[i].bound, passed, n);
		CHECK(passed <= n * 6 / 100, "%s: %d", of[i].name, passed);
	}
}

int main(void)
{
	CASE(false_alarms_are_rare);
	CASE(quiet_gates_can_decide);
	CASE(changes_are_detected);
	CASE(missed_changes_are_rare);
	return check_done();
}
