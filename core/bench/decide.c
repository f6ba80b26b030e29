/* SPDX-License-Identifier: MIT */
/*
 * Mann-Whitney's test of whether the new values lie above the old ones, each raised by the
 * bound. It assumes no distribution, and a run that a busy machine made twice as long is one
 * rank, not half of the result. Up to 64 values the probability is exact, ties included, so
 * counts that are the same in every run are judged by the same rule: ten alike against ten
 * alike and different are chance once in 92,378.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/bench/decide.h"
#include "core/bench/stats.h"

double tach__least_p(size_t na, size_t nb)
{
	double ways = 1;

	for (size_t i = 1; i <= na; i++)
		ways *= (double)(nb + i) / (double)i;
	return na && nb ? 2 / ways : 1;
}

static double median_of(struct tach__values s)
{
	double *sorted = malloc(s.n * sizeof *sorted + 1), median;

	if (!sorted)
		return NAN;
	memcpy(sorted, s.value, s.n * sizeof *sorted);
	tach__sort(sorted, s.n);
	median = tach__median(sorted, s.n);
	free(sorted);
	return median;
}

/*
 * b's values plus `more` against a's, each raised by that share of it (of one below 0 too):
 * *shift of the one against the other, and, unless p is NULL, how likely that is by chance.
 */
static void test(struct tach__values a, struct tach__values b, double raised, double more,
		 double persistence, double *shift, double *p)
{
	double *x = malloc(a.n * sizeof *x + 1), *y = malloc(b.n * sizeof *y + 1);

	*shift = 0;
	if (p)
		*p = 1;
	for (size_t i = 0; x && y && i < a.n; i++)
		x[i] = a.value[i] * (a.value[i] < 0 ? 1 - raised : 1 + raised);
	for (size_t i = 0; x && y && i < b.n; i++)
		y[i] = b.value[i] + more;
	if (x && y)
		*shift = tach__shift(x, a.n, y, b.n);
	if (x && y && p) {
		*p = tach__mann_whitney(x, a.n, y, b.n);
		*p = *p < 0 ? 1 : tach__persistent_p(*p, persistence);
	}
	free(x);
	free(y);
}

static double persistence_of(const struct tach__rule *rule, struct tach__values a,
			     struct tach__values b)
{
	double of_a, of_b;

	if (rule->in_turns)
		return 1;
	of_a = tach__persistence(a.value, a.n);
	of_b = tach__persistence(b.value, b.n);
	return of_a > of_b ? of_a : of_b;
}

void tach__decide(struct tach__decision *out, const struct tach__rule *rule,
		  struct tach__values a, struct tach__values b)
{
	double persistence = persistence_of(rule, a, b), sign = rule->less ? -1 : 1;
	double shift, beyond, p;

	out->old = median_of(a);
	out->now = median_of(b);
	test(a, b, 0, 0, 1, &shift, NULL);
	out->change = out->old != 0 ? shift / fabs(out->old) : NAN;
	out->p = 1;
	out->verdict = TACH__SAME;
	if (sign * shift > 0) {
		test(a, b, sign * rule->bound, 0, persistence, &beyond, &p);
		out->p = sign * beyond > 0 ? p : 1;
		if (sign * beyond > 0 && p <= rule->alpha)
			out->verdict = TACH__WORSE;
	} else if (sign * shift < 0) {
		test(a, b, -sign * rule->bound, 0, persistence, &beyond, &p);
		if (sign * beyond < 0 && p <= rule->alpha)
			out->verdict = TACH__BETTER;
	}
}

/*
 * With the spread that b has: it is moved to where it would be if it were no worse than the
 * bound, and from there away until the test calls it worse.
 */
double tach__detectable(const struct tach__decision *of, const struct tach__rule *rule,
			struct tach__values a, struct tach__values b)
{
	double persistence = persistence_of(rule, a, b), sign = rule->less ? -1 : 1;
	double raised = sign * rule->bound, step = sign * fabs(of->old);
	double shift, none, p = 1, low = 0, high = 1;

	if (of->old == 0)
		return INFINITY;
	test(a, b, raised, 0, persistence, &shift, NULL);
	for (int doubled = 0;; high *= 2) {
		test(a, b, raised, high * step - shift, persistence, &none, &p);
		if (p <= rule->alpha)
			break;
		if (doubled++ == 10)
			return INFINITY;
	}
	for (int i = 0; i < 24; i++) {
		double middle = (low + high) / 2;

		test(a, b, raised, middle * step - shift, persistence, &none, &p);
		if (p > rule->alpha)
			low = middle;
		else
			high = middle;
	}
	return rule->bound + high;
}
