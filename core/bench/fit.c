/* SPDX-License-Identifier: MIT */
/* Complexity: how times grow with a number; finds the best of six laws by least squares. */
#include <math.h>
#include <stddef.h>
#include <tach/bench.h>
#include "core/base/maths.h"

static double law_value(int which, double n)
{
	double log2 = n > 1 ? tach__log(n) / M_LN2 : 0;

	switch (which) {
	case 0:
		return 1;
	case 1:
		return log2;
	case 2:
		return n;
	case 3:
		return n * log2;
	case 4:
		return n * n;
	default:
		return n * n * n;
	}
}

/* The error relative to the mean; NaN if the law is 0 everywhere. */
static double fit_law(int which, const double *n, const double *ns, size_t count,
		      double *coefficient)
{
	double squares = 0, products = 0, mean = 0, rest = 0;

	for (size_t i = 0; i < count; i++) {
		squares += law_value(which, n[i]) * law_value(which, n[i]);
		products += law_value(which, n[i]) * ns[i];
		mean += ns[i] / (double)count;
	}
	*coefficient = products / squares;
	for (size_t i = 0; i < count; i++) {
		double off = ns[i] - *coefficient * law_value(which, n[i]);

		rest += off * off / (double)count;
	}
	return sqrt(rest) / mean;
}

const char *tach_bench_fit(const double *n, const double *ns, size_t count, double *coefficient,
			   double *error)
{
	static const char *const names[] = {"O(1)",	  "O(log n)", "O(n)",
					    "O(n log n)", "O(n^2)",   "O(n^3)"};
	const char *best = NULL;

	*coefficient = *error = NAN;
	for (int which = 0; count >= 3 && which < 6; which++) {
		double c, e = fit_law(which, n, ns, count, &c);

		if (isfinite(e) && !(e >= *error)) {
			*error = e;
			*coefficient = c;
			best = names[which];
		}
	}
	return best;
}
