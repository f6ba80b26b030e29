/* SPDX-License-Identifier: MIT */
/* Logarithm, exponential and error function by their series; see core/base/maths.h. */
#include <math.h>
#include "core/base/maths.h"

/*
 * log m = 2 atanh((m - 1) / (m + 1)); with m in [sqrt(1/2), sqrt(2)) each term is 1/34 of the
 * previous one.
 */
double tach__log(double x)
{
	double sum = 0, s, square;
	int exponent;

	x = frexp(x, &exponent);
	if (x < M_SQRT1_2) {
		x *= 2;
		exponent--;
	}
	s = (x - 1) / (x + 1);
	square = s * s;
	for (int k = 23; k > 0; k -= 2)
		sum = sum * square + 1.0 / k;
	return 2 * s * sum + exponent * M_LN2;
}

/* 2^k e^r with |r| <= log(2) / 2: 14 terms of the series for e^r. */
double tach__exp(double x)
{
	/* log(2) in two parts; k times the first part is exact. */
	const double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
	double k, r, sum = 1;

	if (x < -740)
		return 0;
	k = floor(x / M_LN2 + 0.5);
	r = x - k * high - k * low;
	for (int n = 15; n > 0; n--)
		sum = 1 + sum * r / n;
	return ldexp(sum, (int)k);
}

/*
 * Small x: 1 - erf, whose series has only positive terms; from 2 on the continued fraction
 * (DLMF 7.6.2 and 7.9.1).
 */
double tach__erfc(double x)
{
	double scale = tach__exp(-x * x) * M_2_SQRTPI;

	if (x < 2) {
		double term = x, sum = x;

		for (int n = 1; term > sum * 1e-17; n++) {
			term *= 2 * x * x / (2 * n + 1);
			sum += term;
		}
		return 1 - scale * sum;
	}
	double fraction = x;

	for (int n = 80; n > 0; n--)
		fraction = x + n / 2.0 / fraction;
	return scale / 2 / fraction;
}
