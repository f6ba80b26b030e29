/* SPDX-License-Identifier: MIT */
/*
 * face.c with LIKWID's markers over this library, for bench/faces. LIKWID has only regions.
 * FACE_COUNTERS=4: with 4 counters.
 */
#include <stdlib.h>
#include <string.h>
#define LIKWID_PERFMON
#include <likwid-marker.h>

static __attribute__((noinline)) void regions(long n)
{
	for (long i = 0; i < n; i++) {
		LIKWID_MARKER_START("face");
		LIKWID_MARKER_STOP("face");
	}
}

static __attribute__((noinline)) void nothing(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("");
}

int main(int argc, char **argv)
{
	static const char *const events[] = {"instructions",
					     "instructions,cycles,branches,branch-misses"};
	const char *counters = getenv("FACE_COUNTERS");
	long n = argc > 2 ? atol(argv[2]) : 0;

	setenv("LIKWID_EVENTS", events[counters && strcmp(counters, "4") == 0], 1);
	setenv("LIKWID_FILEPATH", "/dev/null", 1);
	LIKWID_MARKER_INIT;
	if (argc > 2 && strcmp(argv[1], "region") == 0)
		regions(n);
	else if (argc > 2 && strcmp(argv[1], "nothing") == 0)
		nothing(n);
	else
		return 2;
	LIKWID_MARKER_CLOSE;
	return 0;
}
