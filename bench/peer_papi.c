/* SPDX-License-Identifier: MIT */
/* PAPI: PAPI_read, PAPI_start with PAPI_stop, the high-level regions, threads. */
#include <papi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tach/arch.h>
#include "bench/driver.h"

const char bench_peer[] = "papi";

/* Five operators over four events, the same as in tach's own program. */
static const char definitions[] =
	"CPU,hsw\nCPU,skl\nCPU,skx\nCPU,amd64_fam19h_zen3\nCPU,arm_n1\n"
	"EVENT,BENCH_DERIVED,DERIVED_POSTFIX,N0|N1|-|N2|+|N3|*|1000|/|N0|+|,"
	"perf::INSTRUCTIONS,perf::CYCLES,perf::BRANCHES,perf::BRANCH-MISSES\n";

static int set = PAPI_NULL;
static long long value[BENCH_EVENTS_MAX];

static const char *ready(void)
{
	static int done;

	if (!done && PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return "PAPI_library_init failed";
	done = 1;
	for (int i = 0; i < PAPI_num_components(); i++) {
		const PAPI_component_info_t *c = PAPI_get_component_info(i);

		if (c && strcmp(c->name, "perf_event") == 0 && c->disabled &&
		    c->disabled_reason[0])
			return c->disabled_reason;
	}
	return NULL;
}

static int make_set(int *to, int n)
{
	int code = PAPI_create_eventset(to);

	for (int i = 0; i < n && code == PAPI_OK; i++)
		code = PAPI_add_named_event(*to, bench_events[i].papi);
	return code;
}

static const char *with_set(int n)
{
	const char *reason = ready();
	int code = reason ? PAPI_OK : make_set(&set, n);

	return reason ? reason : code == PAPI_OK ? NULL : PAPI_strerror(code);
}

static const char *started(int n)
{
	const char *reason = with_set(n);
	int code = reason ? PAPI_OK : PAPI_start(set);

	return reason ? reason : code == PAPI_OK ? NULL : PAPI_strerror(code);
}

/* The cost of a derived event in addition to reading its four native events: see bench/run. */
static const char *derived(int n)
{
	char path[] = "/tmp/tach-bench-papi.XXXXXX";
	int fd = mkstemp(path), code;
	const char *reason;

	(void)n;
	if (fd < 0 || write(fd, definitions, sizeof definitions - 1) < 0)
		return "cannot write the definition of a derived event";
	close(fd);
	setenv("PAPI_USER_EVENTS_FILE", path, 1);
	reason = ready();
	unlink(path);
	if (reason)
		return reason;
	code = PAPI_create_eventset(&set);
	if (code == PAPI_OK)
		code = PAPI_add_named_event(set, "BENCH_DERIVED");
	if (code == PAPI_OK)
		code = PAPI_start(set);
	return code == PAPI_OK ? NULL : PAPI_strerror(code);
}

static void run_read(uint64_t n)
{
	BENCH_REPEAT(n, PAPI_read(set, value));
}

static void run_accum(uint64_t n)
{
	BENCH_REPEAT(n, PAPI_accum(set, value));
}

static const char *preset(int n)
{
	const char *reason = ready();
	int code;

	(void)n;
	if (reason)
		return reason;
	code = PAPI_create_eventset(&set);
	if (code == PAPI_OK)
		code = PAPI_add_named_event(set, "PAPI_DP_OPS");
	if (code == PAPI_OK)
		code = PAPI_start(set);
	return code == PAPI_OK ? NULL : PAPI_strerror(code);
}

static void run_init(uint64_t n)
{
	(void)n;
	PAPI_library_init(PAPI_VER_CURRENT);
}

static void run_pair(uint64_t n)
{
	BENCH_REPEAT(n, PAPI_start(set); PAPI_stop(set, value));
}

static const char *high_level(int n)
{
	char names[256] = "";
	const char *reason = ready();

	for (int i = 0; i < n; i++) {
		strcat(names, i ? "," : "");
		strcat(names, bench_events[i].papi);
	}
	setenv("PAPI_EVENTS", names, 1);
	/*
	 * PAPI writes its results there at exit: bench/run gives it a folder; in a guest any
	 * folder will do.
	 */
	setenv("PAPI_OUTPUT_DIRECTORY", getenv("GUEST") ? "/tmp" : "/dev/null", 0);
	if (reason)
		return reason;
	return PAPI_hl_region_begin("warm") == PAPI_OK && PAPI_hl_region_end("warm") == PAPI_OK
		       ? NULL
		       : "PAPI_hl_region_begin failed";
}

static void run_region(uint64_t n)
{
	BENCH_REPEAT(n, PAPI_hl_region_begin("loop"); PAPI_hl_region_end("loop"));
}

static void run_nested(uint64_t n)
{
	BENCH_REPEAT(n, PAPI_hl_region_begin("outer"); PAPI_hl_region_begin("inner");
		     PAPI_hl_region_end("inner"); PAPI_hl_region_end("outer"));
}

/* The work of each additional thread. */
static void open_and_close(void)
{
	int mine = PAPI_NULL;
	long long v[4];

	if (make_set(&mine, 4) == PAPI_OK && PAPI_start(mine) == PAPI_OK)
		PAPI_stop(mine, v);
	PAPI_cleanup_eventset(mine);
	PAPI_destroy_eventset(&mine);
}

static const char *openable(int n)
{
	(void)n;
	return ready();
}

static void run_open(uint64_t n)
{
	BENCH_REPEAT(n, open_and_close());
}

static void run_startup(uint64_t n)
{
	int code;

	(void)n;
	PAPI_library_init(PAPI_VER_CURRENT);
	PAPI_event_name_to_code(bench_events[1].papi, &code);
}

const struct bench_op bench_ops[] = {
	{"read1", started, run_read, 1, 0, 0},
	{"read2", started, run_read, 2, 0, 0},
	{"read4", started, run_read, 4, 0, 0},
	{"read8", started, run_read, 8, 0, 0},
	{"pair1", with_set, run_pair, 1, 0, 0},
	{"pair2", with_set, run_pair, 2, 0, 0},
	{"pair4", with_set, run_pair, 4, 0, 0},
	{"pair8", with_set, run_pair, 8, 0, 0},
	{"read4+derived", derived, run_read, 0, 0, 0},
	{"accum4", started, run_accum, 4, 0, 0},
	{"preset", preset, run_read, 0, 0, 0},
	{"init", NULL, run_init, 0, 1, 0},
	{"region4", high_level, run_region, 4, 0, 0},
	{"nested4", high_level, run_nested, 4, 0, 0},
	{"open4", openable, run_open, 4, 0, 20},
	{"startup", NULL, run_startup, 0, 1, 0},
	{NULL, NULL, NULL, 0, 0, 0},
};

static uint64_t count(uint64_t n)
{
	PAPI_start(set);
	tach__arch_loop(n);
	PAPI_stop(set, value);
	return (uint64_t)value[0];
}

const struct bench_counting bench_counting = {with_set, count};
