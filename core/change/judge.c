/* SPDX-License-Identifier: MIT */
/*
 * The decision. Each pair of an old and a new value has a ratio. Mann-Whitney's test, applied
 * to each possible change, gives an interval of these ratios: the change is between the ratio
 * with k below it and the ratio with k above it. The decision compares this interval with the
 * bound.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/change/change.h"

/* The search for the change ends at this factor. */
#define CHANGE_MAX 1e9
/* A smaller relative difference is rounding, and not a change. */
#define ROUNDING 1e-9
/* Maximum probability that each end of the interval is wrong. */
#define TAIL 0.05
/*
 * Standard errors that an alarm adds to the correlation of a series, which is only an estimate.
 * A false alarm is worse than no answer.
 */
#define CAUTIOUS 1.0
#define LIKELY	 0.0

/* Both sides sorted, and space for the changed old values. */
struct pairs {
	double *old, *now, *changed;
	size_t nold, nnow;
	double all; /* number of pairs */
};

/* Returns the old value, changed by `by`. It replaces 0 by a tiny number, so that two zeros are
 * equal and any larger value is above. */
static double change_by(double old, double by)
{
	if (old == 0)
		return by > 0 ? DBL_TRUE_MIN : by < 0 ? -DBL_TRUE_MIN : 0;
	return old + fabs(old) * by;
}

static int is_sorted(const double *x, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (x[i] < x[i - 1])
			return 0;
	return 1;
}

/* Counts pairs whose new value is above (sign 1) or below (sign -1) the old one changed by
 * `by`. */
static double count_pairs(struct pairs *p, double by, int sign)
{
	double n = 0;

	for (size_t i = 0; i < p->nold; i++)
		p->changed[i] = change_by(p->old[i], by);
	if (!is_sorted(p->changed, p->nold))
		tach__sort(p->changed, p->nold);
	for (size_t i = 0, j = 0; i < p->nold; i++) {
		while (j < p->nnow &&
		       (p->now[j] < p->changed[i] || (sign > 0 && p->now[j] == p->changed[i])))
			j++;
		n += (double)(sign > 0 ? p->nnow - j : j);
	}
	return n;
}

/* Sign 1: returns the largest change that at least `least` pairs exceed. Sign -1: returns the
 * smallest change that is above at least `least` pairs. */
static double find_change(struct pairs *p, double least, int sign)
{
	double near = -sign * CHANGE_MAX, far = sign * CHANGE_MAX;

	if (count_pairs(p, near, sign) < least)
		return -sign * INFINITY;
	if (count_pairs(p, far, sign) >= least)
		return sign * INFINITY;
	for (int i = 0; i < 100; i++) {
		double middle = near / 2 + far / 2;

		if (count_pairs(p, middle, sign) >= least)
			near = middle;
		else
			far = middle;
	}
	return fabs(near) < ROUNDING / 1000 ? 0 : near;
}

/* Finds the interval. k pairs may be in the wrong order; if k is below 0, there is no
 * interval. */
static void find_interval(struct pairs *p, double k, double *low, double *high)
{
	*low = k < 0 ? -INFINITY : find_change(p, p->all - k, 1);
	*high = k < 0 ? INFINITY : find_change(p, p->all - k, -1);
}

/*
 * Correlated values contain less information: the interval grows with the square root of the
 * persistence.
 */
static double pairs_allowed(const struct pairs *p, double tail, double persistence)
{
	double k = tach__rank_bound(p->nold, p->nnow, tail);

	if (k >= 0 && persistence > 1)
		k = floor(p->all / 2 - (p->all / 2 - k) * sqrt(persistence));
	return k < 0 ? -1 : k;
}

/* Returns 1 if the values of one side differ by no more than the bound. */
static int is_steady(const double *sorted, size_t n, double bound)
{
	return sorted[n - 1] - sorted[0] <= (bound + ROUNDING) * fabs(sorted[0]);
}

static int is_exact(const struct pairs *p, const struct tach_change_rule *rule)
{
	return rule->flags & TACH_CHANGE_EXACT && is_steady(p->old, p->nold, rule->bound) &&
	       is_steady(p->now, p->nnow, rule->bound);
}

/* The size of a change for the worse. */
struct sides {
	double least, most;
};

static struct sides sides_of(double low, double high, const struct tach_change_rule *rule)
{
	return rule->flags & TACH_CHANGE_LESS ? (struct sides){-high, -low}
					      : (struct sides){low, high};
}

static enum tach_change decide_change(struct sides strict, struct sides shown, double bound)
{
	double more = bound + ROUNDING;

	if (strict.least > more)
		return TACH_CHANGE_WORSE;
	if (strict.most < -more)
		return TACH_CHANGE_BETTER;
	return shown.most <= more ? TACH_CHANGE_NONE : TACH_CHANGE_UNKNOWN;
}

static double persistence_of(const double *old, size_t nold, const double *now, size_t nnow,
			     double margin)
{
	double a = tach__persistence(old, nold, margin), b;

	b = tach__persistence(now, nnow, margin);
	return a > b ? a : b;
}

static void judge_pairs(struct pairs *p, const double *old, const double *now,
			const struct tach_change_rule *rule, struct tach_change_result *out)
{
	int turns = rule->flags & TACH_CHANGE_TURNS;
	double cautious = turns ? 1 : persistence_of(old, p->nold, now, p->nnow, CAUTIOUS);
	double likely = turns ? 1 : persistence_of(old, p->nold, now, p->nnow, LIKELY);
	double alpha = rule->alpha > 0 ? rule->alpha : TACH__ALPHA, half = ceil(p->all / 2);
	double low, high;

	out->old = tach__median(p->old, p->nold);
	out->now = tach__median(p->now, p->nnow);
	out->change = find_change(p, half, 1) / 2 + find_change(p, half, -1) / 2;
	if (is_exact(p, rule)) {
		find_interval(p, 0, &out->low, &out->high);
		low = out->low;
		high = out->high;
	} else {
		find_interval(p, pairs_allowed(p, TAIL, likely), &out->low, &out->high);
		find_interval(p, pairs_allowed(p, alpha / 2, cautious), &low, &high);
	}
	out->verdict = decide_change(sides_of(low, high, rule),
				     sides_of(out->low, out->high, rule), rule->bound);
}

static int is_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return 0;
	return 1;
}

/* Copies and sorts. Returns 0 without memory. */
static int open_pairs(struct pairs *p, const double *old, const double *now)
{
	p->all = (double)p->nold * (double)p->nnow;
	p->old = malloc((2 * p->nold + p->nnow) * sizeof *p->old);
	if (!p->old)
		return -1;
	p->now = p->old + p->nold;
	p->changed = p->now + p->nnow;
	memcpy(p->old, old, p->nold * sizeof *old);
	memcpy(p->now, now, p->nnow * sizeof *now);
	tach__sort(p->old, p->nold);
	tach__sort(p->now, p->nnow);
	return 0;
}

int tach_change_judge(const double *old, size_t nold, const double *now, size_t nnow,
		      const struct tach_change_rule *theirs, struct tach_change_result *result,
		      struct tach_error *err)
{
	struct tach_change_result ours, *out;
	struct tach_change_rule our_rule;
	const struct tach_change_rule *rule;
	struct pairs p = {.nold = nold, .nnow = nnow};

	rule = tach__sized_in(theirs, &our_rule, TACH__STRUCT(tach_change_rule), err);
	out = rule ? tach__sized_out(result, &ours, TACH__STRUCT(tach_change_result), err)
		   : NULL;
	if (!out)
		return TACH_ERR_INVAL;
	if (!(rule->bound >= 0 && rule->bound <= CHANGE_MAX) ||
	    !(rule->alpha >= 0 && rule->alpha < 1) || !is_finite(old, nold) ||
	    !is_finite(now, nnow))
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "values must be finite, the bound from 0 to %g, alpha from "
				   "0 to 1",
				   CHANGE_MAX);
	out->verdict = TACH_CHANGE_UNKNOWN;
	out->old = out->now = out->change = NAN;
	out->low = -INFINITY;
	out->high = INFINITY;
	if (nold && nnow) {
		if (open_pairs(&p, old, now) != 0)
			return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
		judge_pairs(&p, old, now, rule, out);
		free(p.old);
	}
	tach__sized_done(result, out, TACH__STRUCT(tach_change_result));
	return 0;
}
