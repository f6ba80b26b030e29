/* SPDX-License-Identifier: MIT */
/* System calls: the one door through which the library reaches the kernel. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#include "core/os/sys.h"

long tach__sys_real(long number, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long result = syscall(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
}

long (*tach__sys)(long, long, long, long, long, long, long) = tach__sys_real;

__thread int tach__signals_held;

#define ONE(signal) (UINT64_C(1) << ((signal)-1))

#define ALL_BUT (ONE(SIGSEGV) | ONE(SIGBUS) | ONE(SIGILL) | ONE(SIGTRAP) | ONE(SIGSYS))

/*
 * The masks to block, as the kernel has them; every C library's sigset_t begins in this way. A
 * hold inside another also blocks SIGFPE, which the library never raises, so its mask is
 * different, too. Otherwise the kernel would return early, because the mask does not change
 * (kernel/signal.c, __set_current_blocked). Then calibration, which runs inside a hold, would
 * measure a lower cost than a hold has elsewhere, if the kernel counts, too.
 */
static const union {
	uint64_t mask;
	sigset_t set;
} held[] = {{~(ALL_BUT | ONE(SIGFPE))}, {~ALL_BUT}};

void tach__signals_hold(sigset_t *before)
{
	/* SIG_BLOCK: if the caller blocks one of the six signals, it stays blocked. The C
	 * library does not block its own signals. */
	pthread_sigmask(SIG_BLOCK, &held[tach__signals_held != 0].set, before);
	tach__signals_held++;
}

void tach__signals_release(const sigset_t *before)
{
	tach__signals_held--;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}
