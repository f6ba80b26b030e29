/* SPDX-License-Identifier: MIT */
/* LIKWID: its marker API, which needs the environment that likwid-perfctr sets. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define LIKWID_PERFMON
#include <likwid-marker.h>
#include "bench/driver.h"

const char bench_peer[] = "likwid";

static const char *marked(int n)
{
	static const char *const groups[] = {
		"", "INSTR_RETIRED_ANY:FIXC0", NULL, NULL,
		"INSTR_RETIRED_ANY:FIXC0,CPU_CLK_UNHALTED_CORE:FIXC1,"
		"BR_INST_RETIRED_ALL_BRANCHES:PMC0,"
		"BR_MISP_RETIRED_ALL_BRANCHES:PMC1"};

	/* Debian's LIKWID uses model-specific registers and has no perf_event backend. */
	if (access("/dev/cpu/0/msr", R_OK | W_OK) != 0)
		return "Debian's LIKWID needs /dev/cpu/*/msr";
	setenv("LIKWID_EVENTS", groups[n], 1);
	setenv("LIKWID_THREADS", "0", 1);
	setenv("LIKWID_FILEPATH", "/dev/null", 1); /* discards its results */
	setenv("LIKWID_MODE", "0", 1);		   /* LIKWID accesses the registers directly */
	setenv("LIKWID_FORCE", "1", 1);
	setenv("LIKWID_DEBUG", "0", 1);
	LIKWID_MARKER_INIT;
	LIKWID_MARKER_REGISTER("loop");
	LIKWID_MARKER_START("loop");
	return likwid_markerStopRegion("loop") == 0 ? NULL : "its marker API did not start";
}

static void run_region(uint64_t n)
{
	BENCH_REPEAT(n, LIKWID_MARKER_START("loop"); LIKWID_MARKER_STOP("loop"));
}

const struct bench_op bench_ops[] = {
	{"region1", marked, run_region, 1, 0, 100},
	{"region4", marked, run_region, 4, 0, 100},
	{NULL, NULL, NULL, 0, 0, 0},
};

const struct bench_counting bench_counting = {NULL, NULL};
