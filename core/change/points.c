/* SPDX-License-Identifier: MIT */
/*
 * Change points of a history: where the values of commits moved to another level.
 *
 * The method is the chart of Hawkins and Deng ("A Nonparametric Change-Point Control Chart",
 * Journal of Quality Technology 42, 2010): after each value, Mann-Whitney's test of every split
 * of the values since the last change point. Two things differ. The tail of each split is
 * exact, because the normal approximation hides a change for its first commits. And the window
 * is limited, so that a value costs the same in a long history.
 */
#include <math.h>
#include <stdlib.h>
#include "core/change/change.h"

/* Number of earlier values among which a split is searched. */
enum { WINDOW = TACH__POINTS_WINDOW };
/*
 * The tail of each test. It gives less than one false alarm in 1,000 values:
 * tests/unit/change/points.c counts them.
 */
#define TAIL 4e-5

struct scan {
	const double *x;
	size_t from, n; /* the window: x[from] .. x[n - 1] */
	/* [k % WINDOW]: pairs in order minus pairs in the wrong order, if split before x[k] */
	double order[WINDOW];
	struct tach__change_bounds *bounds;
};

static double sign_of(double v)
{
	return (v > 0) - (v < 0);
}

/* Returns the largest number of pairs in the wrong order that chance does not explain. */
static double bound_of(struct scan *s, size_t before, size_t after)
{
	size_t less = before < after ? before : after, more = before + after - less;
	double *bound = &s->bounds->plus_two[less][more];

	if (*bound == 0)
		*bound = tach__rank_bound(before, after, TAIL) + 2;
	return *bound - 2;
}

static void remove_first(struct scan *s)
{
	double pairs = 0;

	for (size_t k = s->n - 1; k > s->from; k--) {
		pairs += sign_of(s->x[k] - s->x[s->from]);
		s->order[k % WINDOW] -= pairs;
	}
	s->from++;
}

static void add_value(struct scan *s)
{
	double pairs = 0;

	if (s->n - s->from == WINDOW)
		remove_first(s);
	s->order[s->n % WINDOW] = 0;
	for (size_t k = s->from; k < s->n; k++) {
		pairs += sign_of(s->x[s->n] - s->x[k]);
		s->order[(k + 1) % WINDOW] += pairs;
	}
	s->n++;
}

/* Returns the split that chance explains least; 0: chance explains all splits. */
static size_t find_split(struct scan *s)
{
	double most = 0;
	size_t found = 0;

	for (size_t k = s->from + 1; k < s->n; k++) {
		size_t before = k - s->from, after = s->n - k;
		double pairs = (double)before * (double)after;
		double order = fabs(s->order[k % WINDOW]);

		if (order <= most * sqrt(pairs) ||
		    (pairs - order) / 2 > bound_of(s, before, after))
			continue;
		most = order / sqrt(pairs);
		found = k;
	}
	return found;
}

static size_t find_steps(const double *x, size_t n, struct tach__change_point *out)
{
	size_t found = 0;

	for (size_t i = 1; i < n; i++)
		if (x[i] != x[i - 1])
			out[found++] = (struct tach__change_point){.at = i, .seen = i};
	return found;
}

static size_t find_shifts(const double *x, size_t n, struct tach__change_bounds *bounds,
			  struct tach__change_point *out)
{
	struct scan s = {.x = x, .bounds = bounds};
	size_t found = 0;

	while (s.n < n) {
		size_t at;

		add_value(&s);
		at = find_split(&s);
		if (!at)
			continue;
		out[found++] = (struct tach__change_point){.at = at, .seen = s.n - 1};
		s.from = s.n = at; /* continue from the new level */
	}
	return found;
}

static double median_of(const double *x, size_t n, double *work)
{
	for (size_t i = 0; i < n; i++)
		work[i] = x[i];
	tach__sort(work, n);
	return tach__median(work, n);
}

int tach__change_points(const double *x, size_t n, struct tach__change_bounds *bounds,
			struct tach__change_point *out, size_t *found)
{
	double *work = malloc((n + 1) * sizeof *work);

	*found = 0;
	if (!work)
		return TACH_ERR_NOMEM;
	*found = bounds ? find_shifts(x, n, bounds, out) : find_steps(x, n, out);
	for (size_t i = 0; i < *found; i++) {
		size_t from = i ? out[i - 1].at : 0, end = i + 1 < *found ? out[i + 1].at : n;

		out[i].before = median_of(x + from, out[i].at - from, work);
		out[i].after = median_of(x + out[i].at, end - out[i].at, work);
	}
	free(work);
	return 0;
}
