/* SPDX-License-Identifier: MIT */
/* System calls: the one door through which the library reaches the kernel. */
#include <errno.h>
#include <unistd.h>
#include "core/sys.h"

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
