/* SPDX-License-Identifier: MIT */
/*
 * A rank of a job: it enters region "solve" as often as its number plus one; only rank 2 enters
 * "last". With an argument, that signal ends the program.
 */
#include <signal.h>
#include <stdlib.h>
#include <tach.h>

/* In milliseconds: a time that becomes 0 after the overhead is subtracted has no imbalance. */
static double work(void)
{
	volatile double sum = 0;

	for (int i = 1; i < 1000000; i++)
		sum += 1.0 / i;
	return sum;
}

int main(int argc, char **argv)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	int n = rank ? atoi(rank) : 0;

	for (int k = 0; k <= n; k++) {
		TACH_START(solve);
		work();
		TACH_STOP(solve);
	}
	if (n == 2) {
		TACH_START(last);
		work();
		TACH_STOP(last);
	}
	if (argc > 1)
		raise(atoi(argv[1]));
	return 0;
}
