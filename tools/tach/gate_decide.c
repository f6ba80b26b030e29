/* SPDX-License-Identifier: MIT */
/*
 * The decision of `tach gate`: Mann-Whitney's test of whether the new runs lie above the old
 * ones, each raised by the bound. It assumes no distribution, and a run that a busy machine
 * made twice as long is one rank, not half of the result. Up to 64 runs the probability is
 * exact, ties included, so counts that are the same in every run are judged by the same rule:
 * ten alike against ten alike and different are chance once in 92,378.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/stats.h"
#include "tools/tach/gate.h"

const char *const gate_verdicts[GATE_VERDICTS] = {"ok", "worse", "better", "new", "gone"};

double gate_least_p(size_t na, size_t nb)
{
	double ways = 1;

	for (size_t i = 1; i <= na; i++)
		ways *= (double)(nb + i) / (double)i;
	return na && nb ? 2 / ways : 1;
}

static double median_of(const struct gate_series *s)
{
	double *sorted = malloc(s->n * sizeof *sorted + 1), median;

	if (!sorted)
		return NAN;
	memcpy(sorted, s->value, s->n * sizeof *sorted);
	tach__sort(sorted, s->n);
	median = tach__median(sorted, s->n);
	free(sorted);
	return median;
}

/* a's values times `scale`, b's plus `more`: how likely by chance; *shift: of b against a. */
static double chance(const struct gate_series *a, const struct gate_series *b, double scale,
		     double more, double persistence, double *shift)
{
	double *x = malloc(a->n * sizeof *x + 1), *y = malloc(b->n * sizeof *y + 1), p = 1;

	*shift = 0;
	for (size_t i = 0; x && y && i < a->n; i++)
		x[i] = a->value[i] * scale;
	for (size_t i = 0; x && y && i < b->n; i++)
		y[i] = b->value[i] + more;
	if (x && y) {
		p = tach__mann_whitney(x, a->n, y, b->n);
		p = p < 0 ? 1 : tach__persistent_p(p, persistence);
		*shift = tach__shift(x, a->n, y, b->n);
	}
	free(x);
	free(y);
	return p;
}

static double persistence_of(const struct gate_series *a, const struct gate_series *b,
			     int interleaved)
{
	double of_a, of_b;

	if (interleaved)
		return 1;
	of_a = tach__persistence(a->value, a->n);
	of_b = tach__persistence(b->value, b->n);
	return of_a > of_b ? of_a : of_b;
}

static double sign_of(const struct gate_line *l)
{
	return l->rule->less ? -1 : 1;
}

void gate_decide(struct gate_line *l, const struct gate_series *a, const struct gate_series *b,
		 double alpha, int interleaved)
{
	double persistence = persistence_of(a, b, interleaved), sign = sign_of(l);
	double shift, other, back;

	l->old = median_of(a);
	l->now = median_of(b);
	chance(a, b, 1, 0, persistence, &shift);
	l->change = l->old != 0 ? shift / fabs(l->old) : NAN;
	l->p = chance(a, b, 1 + sign * l->rule->bound, 0, persistence, &shift);
	other = chance(a, b, 1 - sign * l->rule->bound, 0, persistence, &back);
	l->verdict = GATE_SAME;
	if (sign * shift > 0 && l->p <= alpha)
		l->verdict = GATE_WORSE;
	else if (sign * back < 0 && other <= alpha)
		l->verdict = GATE_BETTER;
	if (sign * shift <= 0)
		l->p = 1;
}

/*
 * With the spread that b has: it is moved to where it would be if it were no worse than the
 * bound, and from there away until the test calls it worse.
 */
void gate_detect(struct gate_line *l, const struct gate_series *a, const struct gate_series *b,
		 double alpha, int interleaved)
{
	double persistence = persistence_of(a, b, interleaved), sign = sign_of(l);
	double scale = 1 + sign * l->rule->bound, step = sign * fabs(l->old);
	double shift, none, low = 0, high = 1;

	l->detectable = INFINITY;
	if (l->old == 0)
		return;
	chance(a, b, scale, 0, persistence, &shift);
	for (int doubled = 0;
	     chance(a, b, scale, high * step - shift, persistence, &none) > alpha; high *= 2)
		if (doubled++ == 10)
			return;
	for (int i = 0; i < 24; i++) {
		double middle = (low + high) / 2;

		if (chance(a, b, scale, middle * step - shift, persistence, &none) > alpha)
			low = middle;
		else
			high = middle;
	}
	l->detectable = l->rule->bound + high;
}
