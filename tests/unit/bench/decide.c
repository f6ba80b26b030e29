/* SPDX-License-Identifier: MIT */
/*
 * The decision of tach__decide on runs whose truth is known: how often it says worse where
 * nothing changed, and how often it finds what did. Random numbers of a fixed seed: the same
 * every time.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "tests/check.h"
#include "tests/random.h"
#include "core/bench/decide.h"

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

/* Of the i-th of all runs, in the order in which they were taken. */
typedef double noise(int i);

static double quiet(int i)
{
	(void)i;
	return 1 + 0.01 * normal();
}
/* One run in ten is preempted, and takes up to three times as long. */
static double spikes(int i)
{
	return quiet(i) * (uniform() < 0.1 ? 1 + 2 * uniform() : 1);
}
/* The machine warms up: 10 % from the first run to the last. */
static double drift(int i)
{
	return quiet(i) * (1 + 0.1 * i / (2 * RUNS));
}
/* What a run found the next finds likewise: 0.9 of it. */
static double wander(int i)
{
	static double at;

	at = i ? 0.9 * at + 0.436 * normal() : normal();
	return 1 + 0.03 * at;
}
/* A count that is one of two. */
static double two_valued(int i)
{
	(void)i;
	return uniform() < 0.3 ? 1.01 : 1;
}
/* Each run of a program has its own speed, which its samples do not show: the bound is for
 * that. */
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

/* Of GATES gates with COMPARISONS each, in how many one was worse. */
static int alarms(noise *n, double bound, double change, int interleaved)
{
	struct tach__rule rule = {
		.bound = bound, .alpha = ALPHA / COMPARISONS, .in_turns = interleaved};
	int found = 0;

	for (int g = 0; g < GATES; g++) {
		int worse = 0;

		for (int c = 0; c < COMPARISONS; c++) {
			double x[RUNS], y[RUNS];
			struct tach__values a = {x, RUNS}, b = {y, RUNS};
			struct tach__decision l;

			for (int i = 0, old = 0, new = 0; i < 2 * RUNS; i++) {
				int is_old = interleaved ? i % 2 == (i / 2) % 2 : i < RUNS;

				if (is_old)
					x[old++] = 1000 * n(i);
				else
					y[new ++] = 1000 * n(i) * (1 + change);
			}
			tach__decide(&l, &rule, a, b);
			worse |= l.verdict == TACH__WORSE;
		}
		found += worse;
	}
	return found;
}

/* With a bound of 0 every difference that is taken for one is an alarm. */
static void unchanged(void)
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
		int n = alarms(of[i].n, of[i].bound, 0, of[i].interleaved);

		printf("# %s: %d alarms in %d gates\n", of[i].name, n, GATES);
		CHECK(n <= GATES * ALPHA, "%s: %d", of[i].name, n);
	}
}

static void changed(void)
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
		int n = alarms(of[i].n, of[i].bound, of[i].change, 1);

		printf("# %s, %+.1f%% with a bound of %.1f%%: found in %d of %d gates\n",
		       of[i].name, 100 * of[i].change, 100 * of[i].bound, n, GATES);
		CHECK(n >= of[i].least, "%s: %d", of[i].name, n);
	}
	CHECK(alarms(exact, 0.005, 0.004, 1) == 0);
	CHECK(alarms(exact, 0.005, -0.1, 1) == 0);
}

/* What is said to be detectable is found, and a little less is not. */
static void detectable(void)
{
	struct tach__rule rule = {.bound = 0.02, .alpha = ALPHA, .in_turns = 1};
	double x[RUNS], y[RUNS];
	struct tach__values a = {x, RUNS}, b = {y, RUNS};
	struct tach__decision l, more, less;
	double base, detectable;

	for (int i = 0; i < RUNS; i++) {
		x[i] = 1000 * quiet(i);
		y[i] = 1000 * quiet(i);
	}
	tach__decide(&l, &rule, a, b);
	detectable = tach__detectable(&l, &rule, a, b);
	CHECK(detectable > 0.02 && detectable < 0.06, "%g", detectable);
	base = (detectable - l.change) * l.old;
	for (int i = 0; i < RUNS; i++)
		y[i] += base * 1.01;
	tach__decide(&more, &rule, a, b);
	CHECK(more.verdict == TACH__WORSE);
	for (int i = 0; i < RUNS; i++)
		y[i] -= base * 0.5;
	tach__decide(&less, &rule, a, b);
	CHECK(less.verdict != TACH__WORSE);
}

/* Less is worse; few runs; nothing before. */
static void edges(void)
{
	struct tach__rule rule = {.bound = 0.02, .alpha = ALPHA, .less = 1, .in_turns = 1};
	double x[RUNS], y[RUNS];
	struct tach__values a = {x, RUNS}, b = {y, RUNS};
	struct tach__decision l;

	for (int i = 0; i < RUNS; i++) {
		x[i] = 100;
		y[i] = 97;
	}
	tach__decide(&l, &rule, a, b);
	CHECK(l.verdict == TACH__WORSE);
	CHECK(fabs(l.change + 0.03) < 1e-12);
	tach__decide(&l, &rule, b, a);
	CHECK(l.verdict == TACH__BETTER);
	for (int i = 0; i < RUNS; i++)
		x[i] = 0;
	rule.less = 0;
	tach__decide(&l, &rule, a, b);
	CHECK(l.verdict == TACH__WORSE && isnan(l.change));
	CHECK(isinf(tach__detectable(&l, &rule, a, b)));
	CHECK(fabs(tach__least_p(10, 10) - 2.0 / 184756) < 1e-12);
	CHECK(tach__least_p(4, 4) > 0.01 && tach__least_p(5, 5) < 0.01);
}

int main(void)
{
	CASE(unchanged);
	CASE(changed);
	CASE(detectable);
	CASE(edges);
	return check_done();
}
