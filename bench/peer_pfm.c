/* SPDX-License-Identifier: MIT */
/*
 * libpfm-4: initialisation, and encoding of an event string to a perf_event_attr with its full
 * name.
 */
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "bench/driver.h"

const char bench_peer[] = "libpfm-4";

static int encode(const char *event)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	char *name = NULL;
	int code;

	memset(&attr, 0, sizeof attr);
	memset(&arg, 0, sizeof arg);
	arg.attr = &attr;
	arg.fstr = &name;
	arg.size = sizeof arg;
	code = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	free(name);
	return code;
}

static const char *ready(int n)
{
	int code;

	(void)n;
	/* also PMUs that this machine does not have */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	code = pfm_initialize();
	if (code == PFM_SUCCESS)
		code = encode(BENCH_ENCODED);
	return code == PFM_SUCCESS ? NULL : pfm_strerror(code);
}

static void run_encode(uint64_t n)
{
	BENCH_REPEAT(n, encode(BENCH_ENCODED));
}

static const char *prepare(int n)
{
	(void)n;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return NULL;
}

static void run_startup(uint64_t n)
{
	(void)n;
	pfm_initialize();
	encode(BENCH_ENCODED);
}

const struct bench_op bench_ops[] = {
	{"encode", ready, run_encode, 0, 0, 100},
	{"startup", prepare, run_startup, 0, 1, 0},
	{NULL, NULL, NULL, 0, 0, 0},
};

const struct bench_counting bench_counting = {NULL, NULL};
