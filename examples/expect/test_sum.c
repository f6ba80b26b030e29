/* SPDX-License-Identifier: MIT */
/* A unit test that fails if a function becomes more expensive. */
#include <tach/expect.h>

static int numbers[1000];

static long sum(const int *x, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += x[i];
	return s;
}

int main(int argc, char **argv)
{
	int counts = argc > 1 && strcmp(argv[1], "instructions") == 0;
	volatile long result = 0;

	tach_expect_count(counts ? "instructions" : "");
	for (int i = 0; i < 100; i++) {
		TACH_START(sum);
		result = sum(numbers, 1000);
		TACH_STOP(sum);
	}
	/*
	 * For one compiler and its flags, instructions are exact, so the limit is 2 % above the
	 * present number. Time varies.
	 */
	if (counts)
		tach_expect("sum", "instructions", 1.02 * 10000);
	else
		tach_expect("sum", "time", 1e6);
	return tach_expect_done() | (result != 0);
}
