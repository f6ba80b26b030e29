/* SPDX-License-Identifier: MIT */
/* core/base/maths.c, compared with the C library's functions. */
#include <math.h>
#include "core/base/maths.h"
#include "tests/check.h"

static int close_to(double ours, double theirs, double relative)
{
	return fabs(ours - theirs) <= relative * fabs(theirs);
}

static void logarithms(void)
{
	for (double x = 1e-322; x < 1e307; x *= 1.37)
		CHECK(close_to(tach__log(x), log(x), 1e-13), "log %g: %.17g, not %.17g", x,
		      tach__log(x), log(x));
	for (double e = 1e-15; e < 0.5; e *= 1.7)
		CHECK(close_to(tach__log(1 - e), log(1 - e), 1e-13) &&
			      close_to(tach__log(1 + e), log(1 + e), 1e-13),
		      "log 1 -+ %g", e);
	CHECK(tach__log(1) == 0);
}

static void exponentials(void)
{
	for (double x = -708; x < 700; x += 0.3183)
		CHECK(close_to(tach__exp(x), exp(x), 1e-13), "exp %g: %.17g, not %.17g", x,
		      tach__exp(x), exp(x));
	CHECK(tach__exp(0) == 1 && tach__exp(-741) == 0 && tach__exp(-1e300) == 0);
	CHECK(tach__exp(-740) > 0);
}

static void error_functions(void)
{
	for (double x = 0; x < 26; x += 0.00317)
		CHECK(close_to(tach__erfc(x), erfc(x), 1e-12), "erfc %g: %.17g, not %.17g", x,
		      tach__erfc(x), erfc(x));
	CHECK(tach__erfc(0) == 1 && tach__erfc(100) == 0);
}

int main(void)
{
	CASE(logarithms);
	CASE(exponentials);
	CASE(error_functions);
	return check_done();
}
