/* SPDX-License-Identifier: MIT */
/*
 * LIKWID's marker macros over this library (compat/likwid): the same operations as
 * peer_likwid.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define LIKWID_PERFMON
#include <likwid-marker.h>
#include "bench/driver.h"

const char bench_peer[] = "marker";

static const char *marked(int n)
{
	char events[256] = "";

	for (int i = 0; i < n; i++)
		snprintf(events + strlen(events), sizeof events - strlen(events), "%s,",
			 bench_events[i].tach);
	setenv("LIKWID_FILEPATH", "/dev/null", 1);
	setenv("LIKWID_EVENTS", events, 1);
	LIKWID_MARKER_CLOSE;
	LIKWID_MARKER_INIT;
	LIKWID_MARKER_REGISTER("loop");
	LIKWID_MARKER_START("loop");
	return LIKWID_MARKER_STOP("loop") == 0 ? NULL : "the markers did not start";
}

static void run_region(uint64_t n)
{
	BENCH_REPEAT(n, LIKWID_MARKER_START("loop"); LIKWID_MARKER_STOP("loop"));
}

/* A name that is not a constant is hashed and compared each time. */
static void run_named(uint64_t n)
{
	const char *name = "loop";

	__asm__("" : "+r"(name));
	BENCH_REPEAT(n, LIKWID_MARKER_START(name); LIKWID_MARKER_STOP(name));
}

const struct bench_op bench_ops[] = {
	{"region1", marked, run_region, 1, 0, 0},
	{"region4", marked, run_region, 4, 0, 0},
	{"named1", marked, run_named, 1, 0, 0},
	{"named4", marked, run_named, 4, 0, 0},
	{NULL, NULL, NULL, 0, 0, 0},
};

const struct bench_counting bench_counting = {NULL, NULL};
