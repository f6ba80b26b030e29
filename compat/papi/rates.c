/* SPDX-License-Identifier: MIT */
/*
 * Calls that return a rate since the previous call: instructions per cycle, operations per
 * second.
 */
#include "compat/papi/state.h"

enum mode { NONE, FLIPS, FLOPS, PER_CYCLE, PER_EVENT };

static __thread struct {
	int set, first;
	enum mode mode;
	long long real, virtual;
} rate = {.set = PAPI_NULL};

/* Starts the library with threads, for programs that make no other call. */
static int begin_threads(void)
{
	if (pp_process.level == (PAPI_LOW_LEVEL_INITED | PAPI_THREAD_LEVEL_INITED))
		return PAPI_OK;
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return PAPI_EINVAL;
	return PAPI_thread_init(NULL) == PAPI_OK ? PAPI_OK : PAPI_EINVAL;
}

static int stop_rate(long long *values)
{
	int code = PAPI_stop(rate.set, values);

	if (code == PAPI_OK) {
		PAPI_cleanup_eventset(rate.set);
		PAPI_destroy_eventset(&rate.set);
	}
	return code;
}

static int start_rate(enum mode mode, int *events, int n)
{
	int code;

	rate.set = PAPI_NULL;
	rate.mode = NONE;
	PAPI_hl_stop(); /* one set runs at a time */
	code = PAPI_create_eventset(&rate.set);
	if (code == PAPI_OK) {
		code = PAPI_add_events(rate.set, events, n);
		rate.real = PAPI_get_real_usec();
		rate.virtual = PAPI_get_virt_usec();
		if (code == PAPI_OK)
			code = PAPI_start(rate.set);
		if (code != PAPI_OK) {
			PAPI_cleanup_eventset(rate.set);
			PAPI_destroy_eventset(&rate.set);
			return code;
		}
		rate.mode = mode;
		rate.first = events[0];
	}
	return code;
}

/*
 * The first call starts counting, and so does a call for another rate. Every other call returns
 * the values since the previous call.
 */
static int call_rate(enum mode mode, int *events, int n, float *rtime, float *ptime,
		     long long *count, float *per, long long *values)
{
	long long real, virtual;
	int code = begin_threads();

	for (int i = 0; code == PAPI_OK && i < n && mode != PER_CYCLE; i += 2)
		code = PAPI_query_event(events[i]);
	if (code != PAPI_OK)
		return code;
	if (rate.mode != mode || rate.first != events[0]) {
		if (rate.mode != NONE)
			code = stop_rate(values);
		for (int i = 0; i < n; i++)
			values[i] = 0;
		if (code != PAPI_OK)
			return code;
		*rtime = *ptime = *per = 0;
		*count = 0;
		return start_rate(mode, events, n);
	}
	code = PAPI_stop(rate.set, values);
	if (code != PAPI_OK) {
		rate.mode = NONE;
		return code;
	}
	real = PAPI_get_real_usec();
	virtual = PAPI_get_virt_usec();
	*rtime = (float)(real - rate.real) * 1e-6f;
	*ptime = (float)(virtual - rate.virtual) * 1e-6f;
	*count = values[0];
	if (mode == FLIPS || mode == FLOPS)
		*per = virtual > rate.virtual
			       ? (float)values[0] / (float)(virtual - rate.virtual)
			       : 0;
	else if (values[1])
		*per = (float)values[0] / (float)values[1];
	rate.real = real;
	rate.virtual = virtual;
	code = PAPI_start(rate.set);
	if (code != PAPI_OK)
		rate.mode = NONE;
	return code;
}

int PAPI_flips_rate(int event, float *rtime, float *ptime, long long *flpins, float *mflips)
{
	long long value[1];

	if (event != PAPI_FP_INS && event != PAPI_VEC_SP && event != PAPI_VEC_DP)
		return PAPI_ENOEVNT;
	if (!rtime || !ptime || !flpins || !mflips)
		return PAPI_EINVAL;
	return call_rate(FLIPS, &event, 1, rtime, ptime, flpins, mflips, value);
}

int PAPI_flops_rate(int event, float *rtime, float *ptime, long long *flpops, float *mflops)
{
	long long value[1];

	if (event != PAPI_FP_OPS && event != PAPI_SP_OPS && event != PAPI_DP_OPS)
		return PAPI_ENOEVNT;
	if (!rtime || !ptime || !flpops || !mflops)
		return PAPI_EINVAL;
	return call_rate(FLOPS, &event, 1, rtime, ptime, flpops, mflops, value);
}

int PAPI_ipc(float *rtime, float *ptime, long long *ins, float *ipc)
{
	int events[] = {PAPI_TOT_INS, PAPI_TOT_CYC};
	long long values[2];

	if (!rtime || !ptime || !ins || !ipc)
		return PAPI_EINVAL;
	return call_rate(PER_CYCLE, events, 2, rtime, ptime, ins, ipc, values);
}

int PAPI_epc(int event, float *rtime, float *ptime, long long *ref, long long *core,
	     long long *evt, float *epc)
{
	int events[] = {event ? event : PAPI_TOT_INS, PAPI_TOT_CYC, PAPI_REF_CYC}, code, n;
	long long values[3] = {0, 0, 0};

	if (!rtime || !ptime || !ref || !core || !evt || !epc)
		return PAPI_EINVAL;
	code = begin_threads();
	if (code != PAPI_OK)
		return code;
	n = PAPI_query_event(PAPI_REF_CYC) == PAPI_OK ? 3 : 2;
	code = call_rate(PER_EVENT, events, n, rtime, ptime, evt, epc, values);
	*ref = values[2];
	*core = values[1];
	return code;
}

int PAPI_rate_stop(void)
{
	long long values[3];
	int code;

	if (rate.mode == NONE)
		return PAPI_ENOEVNT;
	code = stop_rate(values);
	rate.mode = NONE;
	return code;
}
