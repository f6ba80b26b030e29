/* SPDX-License-Identifier: MIT */
/*
 * Change points of histories with a known result: false alarms in quiet commits, and how many
 * commits it takes to find a step. The seed is fixed, so the numbers are the same in every run.
 * They are the table in man/tach-history.1 and docs/recipes/history.md.
 */
#include <math.h>
#include <stdlib.h>
#include "tests/check.h"
#include "tests/random.h"
#include "core/change/change.h"

enum { COMMITS = 50000, TRIALS = 200, BEFORE = 60, AFTER = 100 };
static struct tach__change_bounds bounds;
static struct tach__change_point point[COMMITS];
static double x[COMMITS];

static double normal(void)
{
	return sqrt(-2 * log(random_uniform() + 0x1p-54)) *
	       cos(2 * 3.14159265358979 * random_uniform());
}

typedef double noise(int i);

static double quiet(int i)
{
	(void)i;
	return 1 + 0.01 * normal();
}
/* The machine is busy during one commit in ten, which takes up to three times as long.
 */
static double spikes(int i)
{
	return quiet(i) * (random_uniform() < 0.1 ? 1 + 2 * random_uniform() : 1);
}
static double two_valued(int i)
{
	(void)i;
	return random_uniform() < 0.3 ? 1.01 : 1;
}
static double rarely_other(int i)
{
	(void)i;
	return random_uniform() < 0.02 ? 2 : 1;
}
/* Consecutive values are correlated, by 0.5. */
static double wander(int i)
{
	static double at;

	at = i ? 0.5 * at + 0.866 * normal() : normal();
	return 1 + 0.01 * at;
}

static size_t find(size_t n)
{
	size_t found = 0;

	CHECK(tach__change_points(x, n, &bounds, point, &found) == 0);
	return found;
}

static void false_alarms(void)
{
	static const struct {
		const char *name;
		noise *of;
		double most; /* of 1,000 commits */
	} of[] = {{"noise of 1 %", quiet, 1},
		  {"one in ten up to three times", spikes, 1},
		  {"one of two values", two_valued, 0.1},
		  {"one in fifty twice as much", rarely_other, 0.1},
		  {"each resembles the one before", wander, 40}};

	for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
		double rate;

		for (int i = 0; i < COMMITS; i++)
			x[i] = of[k].of(i);
		rate = (double)find(COMMITS) * 1000 / COMMITS;
		printf("# %s: %.1f false alarms in 1,000 commits\n", of[k].name, rate);
		CHECK(rate <= of[k].most, "%s", of[k].name);
	}
}

struct found {
	size_t n, near;
	double delay[TRIALS];
};

static struct found try_steps(noise *of, double step)
{
	struct found f = {0};

	for (int t = 0; t < TRIALS; t++) {
		size_t n = 0, i = 0;

		for (int c = 0; c < BEFORE + AFTER; c++)
			x[c] = of(c) * (c < BEFORE ? 1 : 1 + step);
		n = find(BEFORE + AFTER);
		while (i < n && point[i].seen < BEFORE)
			i++;
		if (i == n)
			continue;
		f.delay[f.n++] = (double)(point[i].seen - BEFORE + 1);
		f.near += point[i].at + 1 >= BEFORE && point[i].at <= BEFORE + 1;
	}
	tach__sort(f.delay, f.n);
	return f;
}

static void delays(void)
{
	static const struct {
		const char *name;
		noise *of;
		double step;
		size_t least;
		double most;
	} of[] = {{"noise of 1 %", quiet, 0.01, TRIALS * 8 / 10, 25},
		  {"noise of 1 %", quiet, 0.05, TRIALS, 4},
		  {"noise of 1 %", quiet, 0.2, TRIALS, 4},
		  {"spikes", spikes, 0.01, TRIALS * 3 / 10, 40},
		  {"spikes", spikes, 0.05, TRIALS * 9 / 10, 9},
		  {"spikes", spikes, 0.2, TRIALS * 9 / 10, 8}};

	for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
		struct found f = try_steps(of[k].of, of[k].step);

		CHECK(f.n >= of[k].least, "%s, %g: %zu", of[k].name, of[k].step, f.n);
		if (!f.n)
			continue;
		printf("# %s, %g %% more: %zu of %d found, after %g commits, nine in ten after "
		       "%g; %zu at the right commit or beside it\n",
		       of[k].name, 100 * of[k].step, f.n, TRIALS, f.delay[f.n / 2],
		       f.delay[f.n * 9 / 10], f.near);
		CHECK(f.delay[f.n / 2] <= of[k].most, "%s, %g", of[k].name, of[k].step);
		CHECK(of[k].step < 0.02 || f.near * 10 >= f.n * 7, "%s, %g: %zu", of[k].name,
		      of[k].step, f.near);
	}
}

/* Exact counts: one commit is enough in both directions, for any difference. */
static void exact_steps(void)
{
	static const double v[] = {100, 100, 101, 101, 101, 99, 99};
	size_t found;

	CHECK(tach__change_points(v, 7, NULL, point, &found) == 0 && found == 2);
	CHECK(point[0].at == 2 && point[0].seen == 2);
	CHECK(point[0].before == 100 && point[0].after == 101);
	CHECK(point[1].at == 5 && point[1].before == 101 && point[1].after == 99);
	CHECK(tach__change_points(v, 0, NULL, point, &found) == 0 && found == 0);
}

/* Later commits do not move existing marks. */
static void marks_stay(void)
{
	struct tach__change_point early[8];
	size_t n, more;

	for (int i = 0; i < 200; i++)
		x[i] = quiet(i) * (i < 50 ? 1 : i < 120 ? 1.04 : 0.99);
	n = find(90);
	CHECK(n == 1);
	for (size_t i = 0; i < n; i++)
		early[i] = point[i];
	more = find(200);
	CHECK(more >= 2, "%zu", more);
	for (size_t i = 0; i < n; i++)
		CHECK(point[i].at == early[i].at && point[i].seen == early[i].seen);
	CHECK(fabs(point[0].before - 1) < 0.01 && fabs(point[0].after - 1.04) < 0.01);
}

int main(void)
{
	CASE(false_alarms);
	CASE(delays);
	CASE(exact_steps);
	CASE(marks_stay);
	return check_done();
}
