/* SPDX-License-Identifier: MIT */
/* System calls: the one door through which the library reaches the kernel. */
#include <errno.h>
#include <pthread.h>
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

void tach__signals_hold(sigset_t *before)
{
	static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
		sigdelset(&set, raised[i]);
	/* Blocked in addition: if the caller blocked one of the six, it stays blocked. */
	pthread_sigmask(SIG_BLOCK, &set, before);
	tach__signals_held++;
}

void tach__signals_release(const sigset_t *before)
{
	tach__signals_held--;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}
