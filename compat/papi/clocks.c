/* SPDX-License-Identifier: MIT */
/* Real time, the thread's own, and both in cycles. */
#include <time.h>
#include "compat/papi/state.h"

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static long long ns_to_cycles(long long ns)
{
	return ns / 1000 * pp_hardware()->cpu_max_mhz;
}

long long PAPI_get_real_nsec(void)
{
	return clock_ns(CLOCK_REALTIME);
}

long long PAPI_get_real_usec(void)
{
	return clock_ns(CLOCK_REALTIME) / 1000;
}

/* On x86 the clock counts at a constant rate. On other machines it is not the processor's
 * clock. */
long long PAPI_get_real_cyc(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return (long long)tach_clock();
#else
	return ns_to_cycles(clock_ns(CLOCK_REALTIME));
#endif
}

long long PAPI_get_virt_nsec(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

long long PAPI_get_virt_usec(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

long long PAPI_get_virt_cyc(void)
{
	return ns_to_cycles(clock_ns(CLOCK_THREAD_CPUTIME_ID));
}
